"""Whether each golden value can come from anywhere: the request, a block, an earlier recorded result, an enum, a default.

A value that nothing supplies makes every agent fail. Words of one's own (free text), small numbers, dates that a clock
or a relative expression can give, and values of a call that was not recorded are given the benefit of the doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.base import PlacedCall, placed_calls, shown, task_finding
from agent_reach.evals.suite.checks.corpus import ISO_DATE, Corpora, Corpus, given_text, schema_text, texts_in
from agent_reach.evals.suite.checks.references import check_clock, check_references
from agent_reach.records.finding import Finding, Severity
from agent_reach.records.matchers import is_matcher
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.text.pointers import escape_pointer


def check_sources(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """Golden values that nothing can supply, `$from` references that lead nowhere, clocks that are missing."""
    yield from check_clock(task, catalog)
    given = given_text(task)
    by_path: dict[int, list[PlacedCall]] = {}
    for placed in placed_calls(task, catalog):
        by_path.setdefault(placed.path, []).append(placed)
    told: set[tuple[str, str]] = set()
    for calls in by_path.values():
        for placed in calls:
            earlier = [other for other in calls if other.stage < placed.stage]
            yield from check_references(task, placed, earlier, calls)
            if placed.tool is not None:
                for finding in _check_call(task, placed, placed.tool, earlier, given, catalog):
                    key = (finding.code, finding.message.en)
                    if key not in told:
                        told.add(key)
                        yield finding


def _check_call(
    task: Task, placed: PlacedCall, tool: Tool, earlier: list[PlacedCall], given: list[str], catalog: Catalog
) -> Iterator[Finding]:
    texts = list(given)
    for other in earlier:
        texts += texts_in(other.call.result)
        texts += texts_in(other.call.args)
        texts.append(other.call.error)
    for recorded in task.results:
        texts += texts_in(recorded.result)
    corpus = Corpus(texts)
    open_call = any(not other.call.has_result and not other.call.error for other in earlier)
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for name, value in values.items():
            if _is_ignored(task, tool, name):
                continue
            for leaf in _unsupplied(value, Corpora(corpus, Corpus(schema_text(tool, name)))):
                severity = _severity(task, leaf, open_call, tool, catalog)
                if severity is not None:
                    pointer = f"{placed.pointer}/{part}/{escape_pointer(name)}"
                    yield _unsourced(task, tool, name, leaf, pointer, severity)


def _is_ignored(task: Task, tool: Tool, name: str) -> bool:
    places = {name, f"{tool.name}.{name}", f"{tool.key}.{name}"}
    return bool(places & set(task.match.ignore_args))


def _unsupplied(value: Any, corpus: Corpora) -> list[Any]:
    """The literal parts of a golden value that the corpus does not hold; an alternative that it holds suffices."""
    if isinstance(value, Mapping) and is_matcher(value):
        if "$one_of" in value and isinstance(value["$one_of"], (list, tuple)):
            per_item = [_unsupplied(item, corpus) for item in value["$one_of"]]
            return min(per_item, key=len) if per_item else []
        if "$approx" in value:
            return _unsupplied(value["$approx"], corpus)
        if "$date" in value:
            return _unsupplied(value["$date"], corpus)
        if "$unordered" in value or "$contains" in value:
            return _unsupplied(value.get("$unordered", value.get("$contains")), corpus)
        return []
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _unsupplied(item, corpus)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _unsupplied(item, corpus)]
    return [] if corpus.holds(value) else [value]


def _is_identifier(value: Any) -> bool:
    """A value nobody could make up: a long number, or text with a digit and without blanks."""
    if isinstance(value, (int, float)):
        return True
    return any(character.isdigit() for character in value) and not any(
        character.isspace() for character in value
    )


def _severity(task: Task, value: Any, open_call: bool, tool: Tool, catalog: Catalog) -> Severity | None:
    if open_call:
        return None
    if not _is_identifier(value):
        return "info"
    if isinstance(value, str) and ISO_DATE.fullmatch(value):
        return "warning"
    # numbers may be computed; an identifier may still come from a call that nobody recorded
    if isinstance(value, (int, float)):
        return "warning"
    offered = task.tools or [other.key for other in catalog]
    others = [name for name in offered if name not in (tool.key, tool.name)]
    return "error" if task.environment or not others else "warning"


def _unsourced(task: Task, tool: Tool, name: str, value: Any, pointer: str, severity: Severity) -> Finding:
    return task_finding(
        task,
        "gold_unsourced_value",
        severity,
        f"{name!r} of {tool.key!r}: the gold {shown(value)} is in no block, request, earlier recorded result, "
        "default or enum",
        f"{tool.key!r} 的 {name!r}：标准值 {shown(value)} 不在任何上下文块、请求、先前的录制结果、默认值或枚举中",
        pointer=pointer,
        fix=(
            "say it in the request or a block, record the call that returns it, or match it with $from, $pattern or $any",
            "在请求或上下文块中给出它，录制返回它的调用，或改用 $from、$pattern、$any",
        ),
        data={"argument": name, "value": value},
    )
