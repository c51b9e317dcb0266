"""The words that every report form shares, in English and Chinese: metrics, causes, layers, verdicts, reasons.

Names without an entry (of a plug-in, of a later version) are shown as they are. It holds no sentence about a run: those
come with the records.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_reach.records.message import Language, Message

METRICS: Mapping[str, Message] = {
    "tool_reachability": Message("Tool reachability", "工具触达率"),
    "first_choice_rate": Message("First choice right", "首选正确率"),
    "param_hit_rate": Message("Param hit rate", "参数命中率"),
    "param_pass_rate": Message("Param pass rate", "参数全对率"),
    "param_legality": Message("Param legality", "参数合法率"),
    "param_legality_sent": Message("Param legality, as sent", "参数合法率（发送时）"),
    "optional_unused_rate": Message("Optional unused", "可选参数漏用率"),
    "context_utilization": Message("Context utilization", "上下文利用率"),
    "state_slot_use": Message("State slot use", "状态槽使用率"),
    "over_call_rate": Message("Over-call rate", "过度调用率"),
    "may_call_rate": Message("Calls where allowed", "可调任务调用率"),
    "extra_calls": Message("Extra calls per decision", "每决策多余调用"),
    "decision_success": Message("Decision success", "决策成功率"),
    "execution_success": Message("Execution success", "执行成功率"),
    "call_success": Message("Call success", "调用成功率"),
    "task_pass": Message("Task pass", "任务通过率"),
}

METRIC_MEANINGS: Mapping[str, Message] = {
    "tool_reachability": Message(
        "decisions with the right tool / required decisions", "选对工具的决策 / 必需决策"
    ),
    "first_choice_rate": Message(
        "right tool at the first try / required decisions", "第一次就选对工具 / 必需决策"
    ),
    "param_hit_rate": Message(
        "mean over right-tool calls: required 0.7, optional 0.3",
        "选对工具的调用的平均值：必填 0.7，可选 0.3",
    ),
    "param_pass_rate": Message(
        "right-tool calls with every required argument right", "必填参数全对的调用 / 选对工具的调用"
    ),
    "param_legality": Message(
        "calls the schema accepts as the model wrote them / calls of known tools",
        "模型原样输出即符合模式的调用 / 已知工具的调用",
    ),
    "param_legality_sent": Message(
        "calls the schema accepts as they were sent / calls of known tools",
        "发送时符合模式的调用 / 已知工具的调用",
    ),
    "optional_unused_rate": Message(
        "expected optional arguments left out / expected", "漏掉的可选参数 / 应给的可选参数"
    ),
    "context_utilization": Message(
        "blocks whose key fact was used / identifiable blocks given", "关键信息被用到的块 / 给出的可识别块"
    ),
    "state_slot_use": Message("state slots used / filled", "用到的状态槽 / 已填的状态槽"),
    "over_call_rate": Message(
        "tasks with a call that must not be / tasks that forbid calls",
        "出现误调用的任务 / 设有禁止调用的任务",
    ),
    "may_call_rate": Message("optional tasks in which the agent called", "可调可不调的任务中发生调用的比例"),
    "extra_calls": Message(
        "calls outside the golden path / required decisions", "标准路径之外的调用 / 必需决策"
    ),
    "decision_success": Message(
        "right tool and every required argument right / required decisions",
        "工具和必填参数全对 / 必需决策",
    ),
    "execution_success": Message(
        "calls that ended ok / calls that a backend or their own recording answered",
        "执行成功的调用 / 得到后端或其录制应答的调用",
    ),
    "call_success": Message(
        "required decisions that ended with a usable result", "以可用结果结束的必需决策 / 必需决策"
    ),
    "task_pass": Message("tasks in which everything was right", "全部正确的任务 / 任务"),
}

METRIC_REASONS: Mapping[str, Message] = {
    message.en: message
    for message in (
        Message("no required decision", "没有必需决策"),
        Message("no right-tool call with arguments to score", "没有可评分参数的正确工具调用"),
        Message("no call of a known tool", "没有已知工具的调用"),
        Message("no call was sent to a backend", "没有调用发送到后端"),
        Message("no optional argument was expected", "没有应给的可选参数"),
        Message("no block with an identifying fact was given", "没有给出可识别的块"),
        Message("no state slot was filled", "没有状态槽被填充"),
        Message("no task of kind forbid and none with a forbid list", "没有禁止调用的任务"),
        Message("no task of kind may", "没有可调可不调的任务"),
        Message("no call was answered by a backend or its own recording", "没有调用得到后端或其录制的应答"),
        Message("no attempt that can pass or fail", "没有可判定通过与否的尝试"),
    )
}
"""Why a metric was not evaluated, in both languages; a reason without an entry is shown as it is."""

LOWER_IS_BETTER = frozenset({"over_call_rate", "optional_unused_rate", "extra_calls"})
PLAIN_NUMBERS = frozenset({"extra_calls"})
HEADLINE_METRICS = (
    "tool_reachability",
    "param_hit_rate",
    "decision_success",
    "call_success",
    "over_call_rate",
)

CAUSES: Mapping[str, Message] = {
    "rate_limited": Message("Rate limited", "被限流"),
    "timed_out": Message("Timed out", "执行超时"),
    "tool_failed": Message("Tool failed", "工具执行失败"),
    "empty_result": Message("Empty result", "结果为空"),
    "cascaded": Message("Lost with an earlier step", "受前一步失败牵连"),
    "unavailable": Message("Tool unavailable", "工具不可用"),
    "not_offered": Message("Tool not offered", "工具未提供给模型"),
    "not_recalled": Message("Tool not recalled", "工具未被召回"),
    "permission_denied": Message("Permission denied", "权限不足"),
    "out_of_window": Message("Fell out of the context", "信息掉出上下文"),
    "description_truncated": Message("Description cut", "工具描述被截断"),
    "unparsable_call": Message("Call could not be read", "调用无法解析"),
    "name_hallucinated": Message("Invented tool name", "编造工具名"),
    "talked_not_called": Message("Talked instead of calling", "只说不调"),
    "rival_chosen": Message("Look-alike chosen", "选了相似工具"),
    "context_overload": Message("Too much context", "上下文过载"),
    "crowded_out": Message("Lost in a long tool list", "淹没在长工具列表中"),
    "no_call": Message("No call", "没有调用"),
    "over_called": Message("Called what it must not", "误调用"),
    "loop": Message("Went in circles", "循环调用"),
    "wrong_order": Message("Wrong order", "顺序错误"),
    "missing_required": Message("Required argument missing", "缺少必填参数"),
    "unknown_argument": Message("Unknown argument", "未知参数"),
    "wrong_type": Message("Wrong type", "参数类型错误"),
    "wrong_format": Message("Wrong format", "参数格式错误"),
    "enum_synonym": Message("Synonym of an enum value", "枚举值用了同义词"),
    "state_lost": Message("State lost between steps", "步骤间状态丢失"),
    "wrong_entity": Message("Wrong entity", "实体错误"),
    "wrong_value": Message("Wrong value", "参数值错误"),
    "other_tool": Message("Other tool chosen", "选了其他工具"),
    "undetermined": Message("Undetermined", "未能判定"),
}

LAYERS: Mapping[str, Message] = {
    "discovery": Message("discovery", "发现"),
    "understanding": Message("understanding", "理解"),
    "retention": Message("retention", "记忆"),
    "execution": Message("execution", "执行"),
    "infrastructure": Message("infrastructure", "基础设施"),
}

VERDICTS: Mapping[str, Message] = {
    "right": Message("right", "正确"),
    "deviation": Message("deviation", "偏差"),
    "wrong": Message("wrong", "错误"),
}

KINDS: Mapping[str, Message] = {
    "must": Message("must call", "必须调用"),
    "may": Message("may call", "可以调用"),
    "forbid": Message("must not call", "禁止调用"),
}

GROUPS: Mapping[str, Message] = {
    "tag": Message("By tag", "按标签"),
    "kind": Message("By kind", "按类型"),
    "language": Message("By language", "按语言"),
    "suite": Message("By suite", "按套件"),
}

BLOCK_KINDS: Mapping[str, Message] = {
    "instruction": Message("instruction", "指令"),
    "constraint": Message("constraint", "约束"),
    "tools": Message("tools", "工具定义"),
    "state_slot": Message("state slot", "状态槽"),
    "tool_result": Message("tool result", "工具结果"),
    "history": Message("history", "历史"),
    "retrieval": Message("retrieval", "检索"),
}

BLOCK_STATES: Mapping[str, Message] = {
    "used": Message("used", "已使用"),
    "unused": Message("unused", "未使用"),
    "not_identifiable": Message("not identifiable", "无法识别"),
}

DROP_REASONS: Mapping[str, Message] = {
    "max_passages": Message("over the passage limit, never sent", "超过段落上限，未发送"),
    "token_budget": Message("over the token budget, never sent", "超过 token 预算，未发送"),
    "cut": Message("cut short", "被截短"),
    "out_of_window": Message("fell out of the window", "掉出窗口"),
}

ARGUMENT_VERDICTS: Mapping[str, Message] = {
    "right": Message("right", "正确"),
    "wrong": Message("wrong", "错误"),
    "missing": Message("missing", "缺失"),
    "unused": Message("left out (optional)", "漏用（可选）"),
    "legal": Message("legal, no gold", "合法（无标准值）"),
    "illegal": Message("illegal", "不合法"),
    "unknown": Message("no such argument", "无此参数"),
    "ignored": Message("not compared", "不比较"),
}

BLAMES: Mapping[str, Message] = {
    "model": Message("model", "模型"),
    "reach_layer": Message("reach layer", "触达层"),
    "normaliser": Message("normaliser", "参数规范化"),
    "tool": Message("tool", "工具"),
    "undetermined": Message("undetermined", "未判定"),
}

PROOFS: Mapping[str, Message] = {
    "proved": Message("proved", "已证实"),
    "refuted": Message("refuted", "已否定"),
    "undecided": Message("undecided", "未定"),
}

STATUSES: Mapping[str, Message] = {
    "ok": Message("ok", "成功"),
    "failed": Message("failed", "失败"),
    "unknown": Message("unknown (may have happened)", "未知（可能已发生）"),
}

ERROR_KINDS: Mapping[str, Message] = {
    "argument": Message("arguments refused", "参数被拒"),
    "not_found": Message("not found", "未找到"),
    "permission": Message("no permission", "无权限"),
    "rate_limited": Message("rate limited", "被限流"),
    "timeout": Message("timed out", "超时"),
    "transport": Message("connection lost", "连接中断"),
    "tool_error": Message("tool error", "工具报错"),
    "malformed_result": Message("malformed result", "结果格式错误"),
    "empty": Message("empty result", "结果为空"),
    "cancelled": Message("cancelled", "已取消"),
    "write_blocked": Message("write blocked", "写操作被拦"),
    "context_lost": Message("lost from the context", "上下文丢失"),
}

ATTEMPT_STATES: Mapping[str, Message] = {
    "scored": Message("scored", "已评分"),
    "agent_timeout": Message("agent timed out", "智能体超时"),
    "infra_error": Message("infrastructure error, left out", "基础设施错误，不计入"),
}

EXTRA_KINDS: Mapping[str, Message] = {
    "exploratory": Message("exploratory", "探索性"),
    "forbidden": Message("forbidden", "被禁止"),
    "over_call": Message("over-call", "误调用"),
    "hallucinated": Message("no such tool", "无此工具"),
    "duplicate": Message("duplicate", "重复"),
}

HIDDEN_REASONS: Mapping[str, Message] = {
    "permission": Message("permission", "权限"),
    "not_listed": Message("not listed", "未列入"),
    "limit": Message("over the limit", "超过数量上限"),
    "not_recalled": Message("not recalled", "未召回"),
    "unavailable": Message("unavailable", "不可用"),
    "quarantined": Message("quarantined", "已隔离"),
}

GATE_VERDICTS: Mapping[str, Message] = {
    "regression": Message("Regression", "退化"),
    "suspect": Message("Suspect", "可疑"),
    "incomparable": Message("Not comparable", "不可比较"),
    "insufficient": Message("Not enough data", "数据不足"),
    "pass": Message("Pass", "通过"),
    "improved": Message("Improved", "改善"),
    "not_evaluated": Message("not evaluated", "未评估"),
}

LANGUAGE_NAMES: Mapping[str, Message] = {
    "en": Message("English", "英文"),
    "zh": Message("Chinese", "中文"),
    "mixed": Message("mixed", "中英混合"),
}


def word(table: Mapping[str, Message], name: str, language: Language) -> str:
    """The word for `name` in that language; the name itself where the table has none."""
    message = table.get(name)
    return name if message is None else message.text(language)


def cause_word(name: str, language: Language) -> str:
    """The words for a cause; `cascaded(step)` keeps its step."""
    base, bracket, rest = name.partition("(")
    known = CAUSES.get(base)
    if known is None:
        return name
    return f"{known.text(language)} ({rest}" if bracket else known.text(language)
