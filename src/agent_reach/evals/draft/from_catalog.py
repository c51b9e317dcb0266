"""Tasks drafted from what a catalog says of its tools: phrasings of the notes, first lines, look-alike pairs.

Kinds come 6 : 2 : 2 (must, may, forbid), and every look-alike pair is asked from both sides. Values are sketched from the
schema. No model is asked; every task is marked for review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.similar import similar_pairs
from agent_reach.evals.suite.language import language_of
from agent_reach.evals.suite.sketch import sketch_arguments, sketch_value
from agent_reach.evals.tune.wording import language_of_tool
from agent_reach.lint.base import first_line
from agent_reach.records.message import Language
from agent_reach.records.report import SimilarPair
from agent_reach.records.task import GoldenCall, GoldenPath, Task, TaskKind
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import split_identifier

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

CONFUSABLE = "confusable"
_ANY = {"$any": True}
_PLACE = re.compile(r"…|\.\.\.|\{[^}]*\}|<[^>]*>")
_ASKS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "{what}{values}",
        "Please {what}{values}",
        "I need this: {what}{values}",
        "Can you help? {what}{values}",
    ),
    "zh": ("{what}{values}", "请{what}{values}", "需要{what}{values}", "帮忙{what}{values}"),
}
_MAY: Mapping[Language, str] = {
    "en": "I am only curious, look it up if it helps: {what}{values}",
    "zh": "只是随便问问，有需要再查：{what}{values}",
}
_FORBID: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Do not do anything yet, only explain what this means: {what}",
        "Yesterday a colleague did this already, nothing is left to do: {what}",
        "Write one friendly sentence that announces this, do not carry it out: {what}",
    ),
    "zh": (
        "先不要操作，只解释一下这是什么意思：{what}",
        "这件事同事昨天已经做完了，不用再做：{what}",
        "写一句友好的通知说明这件事，不要执行：{what}",
    ),
}


def drafted_from_catalog(
    catalog: Catalog, *, count: int | None = None, languages: Sequence[Language] = (), per_tool: int = 1
) -> list[Task]:
    """Tasks for every tool (`per_tool` must-tasks each) and both sides of every look-alike pair, with as many may and forbid
    tasks as the mix asks for; at most `count`. `languages` empty: the language of each tool's description."""
    pairs = similar_pairs(catalog)
    must = _mixed(
        list(_confusable(catalog, pairs, languages)), list(_plain(catalog, pairs, languages, per_tool))
    )
    if count is not None:
        must = must[: max(1, round(count * 0.6))]
    each = max(1, round(len(must) / 3))
    readers = [tool for tool in catalog if tool.is_read_only] or list(catalog)
    may = [_may(tool, language) for tool, language in _turns(readers, each, languages)]
    writers = [tool for tool in catalog if not tool.is_read_only] or list(catalog)
    forbid = [
        _forbid(number, tool, language)
        for number, (tool, language) in enumerate(_turns(writers, each, languages))
    ]
    return _numbered([*must, *may, *forbid])


def _mixed(first: list[Task], second: list[Task]) -> list[Task]:
    """Two confusable tasks for three plain ones as long as there are both, so that a short draft holds either."""
    found: list[Task] = []
    while first or second:
        found += first[:2] + second[:3]
        first, second = first[2:], second[3:]
    return found


def _numbered(tasks: Sequence[Task]) -> list[Task]:
    """Ids made unique: `must-query_stock-1`."""
    counts: dict[str, int] = {}
    found = []
    for task in tasks:
        counts[task.id] = counts.get(task.id, 0) + 1
        found.append(replace(task, id=f"{task.id}-{counts[task.id]}"))
    return found


def _turns(
    tools: Sequence[Tool], count: int, languages: Sequence[Language]
) -> Iterator[tuple[Tool, Language]]:
    spoken = cycle(languages) if languages else None
    for number, tool in zip(range(count), cycle(tools), strict=False):
        del number
        yield tool, next(spoken) if spoken is not None else _language(tool)


def _language(tool: Tool) -> Language:
    return "zh" if language_of_tool(tool) == "zh" else "en"


def _confusable(
    catalog: Catalog, pairs: Sequence[SimilarPair], languages: Sequence[Language]
) -> Iterator[Task]:
    """Each pair from both sides: one is right, the other forbidden."""
    spoken = cycle(languages) if languages else None
    for pair in pairs:
        for right, rival in ((pair.left, pair.right), (pair.right, pair.left)):
            tool = catalog.get(right)
            language = next(spoken) if spoken is not None else _language(tool)
            yield _must(tool, language, 0, forbid=(rival,))


def _plain(
    catalog: Catalog, pairs: Sequence[SimilarPair], languages: Sequence[Language], per_tool: int
) -> Iterator[Task]:
    asked = {key for pair in pairs for key in (pair.left, pair.right)}
    spoken = cycle(languages) if languages else None
    for number in range(per_tool):
        for tool in catalog:
            if number or tool.key not in asked:
                yield _must(tool, next(spoken) if spoken is not None else _language(tool), number)


def _must(tool: Tool, language: Language, number: int, forbid: tuple[str, ...] = ()) -> Task:
    args = sketch_arguments(tool)
    query = _request(tool, args, language, number)
    return _task("must", tool, query, args, forbid)


def _may(tool: Tool, language: Language) -> Task:
    args = sketch_arguments(tool)
    query = _MAY[language].format(what=_what(tool), values=_said(args, language))
    return _task("may", tool, query, args, ())


def _forbid(number: int, tool: Tool, language: Language) -> Task:
    texts = _FORBID[language]
    query = texts[number % len(texts)].format(what=_what(tool))
    return Task(
        id=f"forbid-{tool.name}",
        kind="forbid",
        query=query,
        language=language_of(query),
        tags=("drafted",),
        forbid=(tool.key,),
        review=True,
    )


def _task(kind: TaskKind, tool: Tool, query: str, args: Mapping[str, Any], forbid: tuple[str, ...]) -> Task:
    call = GoldenCall(tool=tool.key, args=args, result=_result(tool), has_result=True)
    return Task(
        id=f"{kind}-{tool.name}",
        kind=kind,
        query=query,
        language=language_of(query),
        tags=("drafted", CONFUSABLE) if forbid else ("drafted",),
        paths=(GoldenPath(stages=((call,),)),),
        forbid=forbid,
        review=True,
    )


def _request(tool: Tool, args: Mapping[str, Any], language: Language, number: int) -> str:
    """A phrasing of the note with the values in it, else the first line as a request."""
    triggers = tool.note.triggers if tool.note is not None else ()
    fitting = [text for text in triggers if language_of(text) in ("", language)] or list(triggers)
    values = [_text(value) for value in args.values() if value != _ANY]
    if fitting:
        text = fitting[number % len(fitting)]
        if _PLACE.search(text):
            waiting = iter(values)
            filled = _PLACE.sub(lambda match: next(waiting, match.group()), text)
            left = dict(zip(list(args)[: len(values)], values, strict=False))
            said = {
                name: value
                for name, value in args.items()
                if value != _ANY and left.get(name, "") not in filled
            }
            return filled + _said(said, language)
        return text + _said(args, language)
    asks = _ASKS[language]
    what = _what(tool)
    if language_of(what) not in ("", language):
        asks = asks[1:]  # the description is in another language: at least the asking is in this one
    lowered = (
        what[:1].lower() + what[1:]
        if language == "en" and asks[number % len(asks)].startswith("Please")
        else what
    )
    return asks[number % len(asks)].format(what=lowered, values=_said(args, language))


def _what(tool: Tool) -> str:
    summary = tool.note.summary if tool.note is not None else ""
    line = summary or first_line(tool.description) or tool.title or " ".join(split_identifier(tool.name))
    sentence = re.split(r"(?<=[.!?])\s|[。！？]", line, maxsplit=1)[0]
    return sentence.strip().rstrip(".")[:140]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _said(args: Mapping[str, Any], language: Language) -> str:
    said = [f"{name} {_text(value)}" for name, value in args.items() if value != _ANY]
    if not said:
        return ""
    return f"（{'，'.join(said)}）" if language == "zh" else f" ({', '.join(said)})"


def _result(tool: Tool) -> Any:
    if tool.output_schema is None:
        return {"ok": True}
    sketch = sketch_value(tool.output_schema, tool.output_schema, tool.name)
    return sketch.value if sketch.found and sketch.value not in (None, "", [], {}) else {"ok": True}
