"""A starter suite of twenty tasks from a person's own catalog: real tool names, sketched arguments, to be completed.

Twelve tasks must call, four may, four must not. Look-alike pairs come first, because they are what a suite is most often
short of. Every task that needs a person is marked `review: true`. Where there are fewer tools than tasks a tool comes again in another
situation, its arguments left open. Nothing here calls a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.evals.suite.language import language_of
from agent_reach.evals.suite.sketch import sketch_arguments, sketch_value
from agent_reach.records.message import Language
from agent_reach.records.report import SimilarPair
from agent_reach.records.task import GoldenCall, GoldenPath, Task, TaskKind
from agent_reach.records.tool import Tool

MUST, MAY, FORBID = 12, 4, 4

_ASKS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "{what}{arguments}",
        "Please help: {what}{arguments}",
        "I need this done: {what}{arguments}",
        "Could you do this for me: {what}{arguments}",
    ),
    "zh": (
        "{what}{arguments}",
        "请帮忙：{what}{arguments}",
        "麻烦处理一下：{what}{arguments}",
        "帮我做这件事：{what}{arguments}",
    ),
}
_AGAIN: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "A colleague rang me up about {what}; take care of it before lunch",
        "Yesterday's attempt broke off halfway, so once more from the start: {what}",
        "Somebody is standing at my desk waiting for {what} right now",
        "Between two meetings, quickly: {what}, nothing else",
        "I never know how this works. {what}, can you?",
        "My notes say {what} is due this week and has not happened",
        "Before I close the case, {what} still has to follow",
        "The new person in our team wants to see {what} done once",
        "Same procedure as last month, that is {what}",
        "Writing from my phone, short: {what} please, thanks",
        "An email just came in, it is about {what}",
    ),
    "zh": (
        "同事刚打电话来问{what}，午饭前处理掉",
        "昨天那次中途断了，从头再来一遍：{what}",
        "有人正站在我桌边等着{what}",
        "两个会议之间，赶紧把{what}弄一下，别的不用管",
        "我一直不清楚怎么操作，{what}你能做吗？",
        "我的备忘录上写着本周该{what}，可还没动",
        "结案之前还差一步，就是{what}",
        "组里新来的人想看一次{what}的完整过程",
        "跟上个月一样的流程，也就是{what}",
        "手机上打字，简单说：{what}，多谢",
        "刚收到一封邮件，内容是关于{what}",
    ),
}
_MAY: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Tell me about this, and look it up only if you have to: {what}{arguments}",
        "What would you say about {what}? A guess from memory is fine too",
        "Explain to a beginner what {what} means, with data if that helps",
        "Is {what} worth my while today, or can it wait until Friday?",
    ),
    "zh": (
        "说说这件事，确有必要时再查询：{what}{arguments}",
        "关于{what}你怎么看？凭印象猜也行",
        "给新手讲讲{what}是什么意思，有数据更好",
        "{what}今天值得做吗，还是拖到周五也无妨？",
    ),
}
_FORBID: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Thanks, that was all for today.",
        "In general, how do you decide which tool to use?",
        "Do not change anything yet: I only want to know what you would need from me.",
        "Rewrite this sentence more politely: send it now.",
    ),
    "zh": (
        "谢谢，今天就到这里。",
        "一般来说，你怎么决定用哪个工具？",
        "先不要改任何东西：我只想知道你需要我提供什么。",
        "把这句话改得更礼貌：马上发过来。",
    ),
}


def starter_tasks(
    catalog: Catalog, language: Language = "en", *, pairs: Sequence[SimilarPair] | None = None
) -> tuple[Task, ...]:
    """Twenty tasks in that language; where there are fewer tools, one comes again in another situation."""
    alike = similar_pairs(catalog) if pairs is None else pairs
    rivals = {pair.left: pair.right for pair in reversed(alike)} | {
        pair.right: pair.left for pair in reversed(alike)
    }
    ordered = _ordered(catalog, alike)
    tasks = [
        _must(index, index // len(ordered), tool, rivals.get(tool.key), language)
        for index, tool in enumerate(islice(cycle(ordered), MUST))
    ]
    readers = [tool for tool in catalog if tool.is_read_only] or list(catalog)
    tasks += [
        _may(index, index // len(readers), tool, language)
        for index, tool in enumerate(islice(cycle(readers), MAY))
    ]
    tasks += [
        Task(id=f"forbid-{index + 1:02}", kind="forbid", query=text, language=language_of(text), review=True)
        for index, text in enumerate(_FORBID[language][:FORBID])
    ]
    return tuple(tasks)


def _ordered(catalog: Catalog, pairs: Sequence[SimilarPair]) -> list[Tool]:
    """Tools of look-alike pairs first (at most half of the must tasks), then the servers in turn."""
    confusable = list(dict.fromkeys(key for pair in pairs for key in (pair.left, pair.right)))[: MUST // 2]
    by_server: dict[str, list[Tool]] = {}
    for tool in catalog:
        if tool.key not in confusable:
            by_server.setdefault(tool.server, []).append(tool)
    rest: list[Tool] = []
    for position in range(max((len(tools) for tools in by_server.values()), default=0)):
        rest += [tools[position] for tools in by_server.values() if position < len(tools)]
    return [catalog.get(key) for key in confusable] + rest


def _must(index: int, time: int, tool: Tool, rival: str | None, language: Language) -> Task:
    """The task of that number; `time` counts how often the tool came before."""
    args = sketch_arguments(tool)
    if time:
        args = _left_open(args)
        query = _AGAIN[language][(time - 1) % len(_AGAIN[language])].format(what=_in_words(tool))
    else:
        asks = _ASKS[language]
        query = asks[index % len(asks)].format(what=_what(tool), arguments=_said(args, language))
    return _task(f"must-{index + 1:02}", "must", query, tool, args, rival)


def _may(index: int, time: int, tool: Tool, language: Language) -> Task:
    args = _left_open(sketch_arguments(tool)) if time else sketch_arguments(tool)
    what = _in_words(tool) if time else _what(tool)
    query = _MAY[language][time % MAY].format(what=what, arguments=_said(args, language))
    return _task(f"may-{index + 1:02}", "may", query, tool, args, None)


def _task(
    task_id: str, kind: TaskKind, query: str, tool: Tool, args: Mapping[str, Any], rival: str | None
) -> Task:
    call = GoldenCall(tool=tool.key, args=args, result=_result(tool), has_result=True)
    return Task(
        id=task_id,
        kind=kind,
        query=query,
        language=language_of(query),
        tags=("confusable",) if rival else (),
        paths=(GoldenPath(stages=((call,),)),),
        forbid=(rival,) if rival else (),
        review=True,
    )


def _left_open(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"$any": True} for name in args}


def _in_words(tool: Tool) -> str:
    from agent_reach.text.tokens import split_identifier

    return " ".join(split_identifier(tool.name)) or tool.name


def _what(tool: Tool) -> str:
    """The first sentence of the description, or the name in words."""
    text = (tool.note.summary if tool.note is not None else "") or tool.description or tool.title
    first = re.split(r"(?<=[.!?])\s|[。！？\n]", text.strip(), maxsplit=1)[0].strip().rstrip(".")
    return (first or _in_words(tool))[:160]


def _said(args: Mapping[str, Any], language: Language) -> str:
    literal = {name: value for name, value in args.items() if value != {"$any": True}}
    if not literal:
        return ""
    said = [
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in literal.items()
    ]
    return f"（{'，'.join(said)}）" if language == "zh" else f" ({', '.join(said)})"


def _result(tool: Tool) -> Any:
    """A recorded answer, so that the suite runs at once: sketched from the output schema where there is one."""
    if tool.output_schema is None:
        return {"ok": True}
    sketch = sketch_value(tool.output_schema, tool.output_schema, tool.name)
    return sketch.value if sketch.found else {"ok": True}
