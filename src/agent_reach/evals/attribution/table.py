"""Every cause of a lost decision: its layer and its first fix, in the order in which causes are tried.

The one place to read or extend: a new cause is one entry here and one detector function.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_reach.records.message import Message
from agent_reach.records.score import Layer


@dataclass(frozen=True, slots=True)
class CauseEntry:
    """A cause: the layer in which the decision was lost and what to try first."""

    layer: Layer
    fix: Message


CAUSES: dict[str, CauseEntry] = {
    "rate_limited": CauseEntry(
        "infrastructure",
        Message(
            "Lower the concurrency or retry after the time the server names; the decision itself was right.",
            "降低并发，或按服务端给出的时间重试；决策本身是对的。",
        ),
    ),
    "timed_out": CauseEntry(
        "infrastructure",
        Message(
            "Raise the time limit or make the tool faster; look up whether the call happened before repeating it.",
            "放宽超时或加快工具；重试前先确认调用是否已经生效。",
        ),
    ),
    "tool_failed": CauseEntry(
        "infrastructure",
        Message(
            "Repair the tool or its back end: it failed on arguments that were right.",
            "修复工具或其后端：参数正确却执行失败。",
        ),
    ),
    "empty_result": CauseEntry(
        "infrastructure",
        Message(
            "Make the tool say why it has nothing, and check its data: a right call got nothing to use.",
            "让工具说明为何没有结果并检查数据：正确的调用没有得到可用内容。",
        ),
    ),
    "cascaded": CauseEntry(
        "execution",
        Message(
            "Mend the earlier step first; this one needed its result.",
            "先解决前面的步骤；本步骤依赖它的结果。",
        ),
    ),
    "unavailable": CauseEntry(
        "discovery",
        Message(
            "Bring the tool into the catalog: start its server, repair its definition or correct the name in the suite.",
            "让工具进入目录：启动其服务、修复其定义，或更正任务集里的名称。",
        ),
    ),
    "not_offered": CauseEntry(
        "discovery",
        Message(
            "Offer the tool for this request: widen the exposed list or raise its limit.",
            "在该请求中提供此工具：放宽暴露的工具列表或其上限。",
        ),
    ),
    "not_recalled": CauseEntry(
        "discovery",
        Message(
            "Give the tool a note with the words people use (summary and triggers), so that recall finds it.",
            "给工具补充备注（概述与触发语句），用用户的说法描述它，使召回能找到它。",
        ),
    ),
    "permission_denied": CauseEntry(
        "execution",
        Message(
            "Grant what the tool needs in this environment, or take it out of the list offered here.",
            "在该环境授予工具所需的权限，或不要在此处提供它。",
        ),
    ),
    "out_of_window": CauseEntry(
        "retention",
        Message(
            "Keep the lost block in the window: raise the token budget, trim the rest, or hold the value in a state slot.",
            "把丢失的内容留在窗口内：提高 token 预算、精简其余内容，或用状态槽保存该值。",
        ),
    ),
    "description_truncated": CauseEntry(
        "understanding",
        Message(
            "Shorten the description so that what decides stands in the part that is shown.",
            "缩短工具描述，让关键信息处于会被展示的部分。",
        ),
    ),
    "unparsable_call": CauseEntry(
        "execution",
        Message(
            "Use the endpoint's native tool calls or constrain the output to the schema; raise the output token limit.",
            "使用端点原生的工具调用或按 schema 约束输出，并提高输出 token 上限。",
        ),
    ),
    "name_hallucinated": CauseEntry(
        "understanding",
        Message(
            "Refuse unknown names with the nearest real ones, and add the invented name as an alias where it is meant.",
            "拒绝未知名称并提示最接近的真实名称；若含义明确，把该名称设为别名。",
        ),
    ),
    "talked_not_called": CauseEntry(
        "execution",
        Message(
            "Tell the model to act by calling, not by describing; say in the description that only the call takes effect.",
            "提示模型通过调用来执行而不是口头描述；在描述中写明只有调用才会生效。",
        ),
    ),
    "rival_chosen": CauseEntry(
        "understanding",
        Message(
            "Write down the boundary between the two tools in both descriptions or as a conflict note.",
            "在两个工具的描述或冲突备注中写清各自的边界。",
        ),
    ),
    "context_overload": CauseEntry(
        "retention",
        Message(
            "Give fewer passages and shorter results, the request first and the constraints right after it.",
            "减少检索段落、缩短结果，请求放在最前，约束紧随其后。",
        ),
    ),
    "crowded_out": CauseEntry(
        "discovery",
        Message(
            "Offer fewer tools per request (the reach layer puts the right five to eight in front).",
            "每次请求提供更少的工具（由触达层选出最合适的 5-8 个）。",
        ),
    ),
    "no_call": CauseEntry(
        "understanding",
        Message(
            "Say in the description when the tool has to be used, in the words of such requests.",
            "在描述中用这类请求的说法写明何时必须使用该工具。",
        ),
    ),
    "over_called": CauseEntry(
        "understanding",
        Message(
            "Say in the description when the tool must not be used, and guard writes.",
            "在描述中写明何时不得使用该工具，并对写操作加保护。",
        ),
    ),
    "loop": CauseEntry(
        "execution",
        Message(
            "Stop repeated calls: make the result say what comes next, and limit repeats.",
            "阻止重复调用：让结果说明下一步，并限制重复次数。",
        ),
    ),
    "wrong_order": CauseEntry(
        "understanding",
        Message(
            "State in the description which call has to come first.",
            "在描述中写明哪个调用必须先执行。",
        ),
    ),
    "missing_required": CauseEntry(
        "understanding",
        Message(
            "Mark the argument as required and say where its value comes from.",
            "将该参数标为必填，并说明取值来源。",
        ),
    ),
    "unknown_argument": CauseEntry(
        "understanding",
        Message(
            "Name the parameter as people would, or add the used name to its hints.",
            "采用人们惯用的参数名，或把用到的名称加入参数提示。",
        ),
    ),
    "wrong_type": CauseEntry(
        "understanding",
        Message(
            "State the type with an example in the parameter's description.",
            "在参数描述中写明类型并给出示例。",
        ),
    ),
    "wrong_format": CauseEntry(
        "understanding",
        Message(
            "State the format with an example (for instance YYYY-MM-DD) in the parameter's description.",
            "在参数描述中写明格式并举例（如 YYYY-MM-DD）。",
        ),
    ),
    "enum_synonym": CauseEntry(
        "understanding",
        Message(
            "Map the words people use to the legal values in the parameter's hints.",
            "在参数提示中把用户的说法映射到合法取值。",
        ),
    ),
    "state_lost": CauseEntry(
        "retention",
        Message(
            "Keep the value from the earlier result in a state slot that is shown with every step.",
            "把前面结果中的值存入状态槽，并在每一步展示。",
        ),
    ),
    "wrong_entity": CauseEntry(
        "retention",
        Message(
            "Return fewer entities, each with a telling label, so that the right one is not mistaken.",
            "让结果返回更少且标注清楚的实体，避免取错对象。",
        ),
    ),
    "wrong_value": CauseEntry(
        "understanding",
        Message(
            "Say in the parameter's description how the value follows from the request.",
            "在参数描述中说明取值如何由请求得出。",
        ),
    ),
}

CAUSE_ORDER: tuple[str, ...] = tuple(CAUSES)
