"""A starter suite of twenty tasks from a person's own catalog: real tool names, sketched arguments, to be completed.

Twelve tasks must call, four may, four must not. Look-alike pairs come first, because they are what a suite is most often
short of. Every task that needs a person is marked `review: true`. Nothing here calls a model.
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
_MAY: Mapping[Language, str] = {
    "en": "Tell me about this, and look it up only if you have to: {what}{arguments}",
    "zh": "说说这件事，确有必要时再查询：{what}{arguments}",
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
    """Twenty tasks in that language; tools repeat where the catalog has fewer than it takes."""
    alike = similar_pairs(catalog) if pairs is None else pairs
    rivals = {pair.left: pair.right for pair in reversed(alike)} | {
        pair.right: pair.left for pair in reversed(alike)
    }
    chosen = list(islice(cycle(_ordered(catalog, alike)), MUST))
    tasks = [_must(index, tool, rivals.get(tool.key), language) for index, tool in enumerate(chosen)]
    readers = [tool for tool in catalog if tool.is_read_only] or list(catalog)
    tasks += [_may(index, tool, language) for index, tool in enumerate(islice(cycle(readers), MAY))]
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


def _must(index: int, tool: Tool, rival: str | None, language: Language) -> Task:
    args = sketch_arguments(tool)
    asks = _ASKS[language]
    query = asks[index % len(asks)].format(what=_what(tool), arguments=_said(args, language))
    return _task(f"must-{index + 1:02}", "must", query, tool, args, rival)


def _may(index: int, tool: Tool, language: Language) -> Task:
    args = sketch_arguments(tool)
    query = _MAY[language].format(what=_what(tool), arguments=_said(args, language))
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


def _what(tool: Tool) -> str:
    """The first sentence of the description, or the name in words."""
    from agent_reach.text.tokens import split_identifier

    text = (tool.note.summary if tool.note is not None else "") or tool.description or tool.title
    first = re.split(r"(?<=[.!?])\s|[。！？\n]", text.strip(), maxsplit=1)[0].strip().rstrip(".")
    return (first or " ".join(split_identifier(tool.name)))[:160]


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
