"""Whether golden values are well formed, and what a matcher (`{$one_of: [...]}` and its kin) can be held against a
schema with.

What a matcher means for a call is decided where calls are scored; how each is written stands in `records.matchers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_reach.errors import SuiteError
from agent_reach.evals.suite.checks.base import task_finding
from agent_reach.records.finding import Finding
from agent_reach.records.matchers import MATCHER_NAMES, MATCHERS, form_problem, is_matcher
from agent_reach.records.task import Task
from agent_reach.text.patterns import pattern_search
from agent_reach.text.pointers import escape_pointer
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.evals.suite.load import Suite

_CLEARLY_MEANT = 0.8
"""Names this alike (ratio of common letters) are slips of the pen whatever stands under them."""


def has_matcher_key(value: Any) -> bool:
    """A mapping with a key that begins with `$`: a matcher, a slip of the pen, or a literal of another language."""
    return isinstance(value, Mapping) and any(isinstance(key, str) and key.startswith("$") for key in value)


def matchers_in(value: Any, pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every mapping with a `$` key inside a golden value, with its pointer, outer ones first."""
    if isinstance(value, Mapping):
        if has_matcher_key(value):
            yield pointer, value
        for key, item in value.items():
            form = MATCHERS.get(key) if is_matcher(value) else None
            if form is None or form.holds_golds:
                yield from matchers_in(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from matchers_in(item, f"{pointer}/{index}")


def matchers_of_arguments(
    arguments: Mapping[str, Any], pointer: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The same for arguments, whose own keys are names of arguments (`$filter` may be one)."""
    for name, value in arguments.items():
        yield from matchers_in(value, f"{pointer}/{escape_pointer(name)}")


def matcher_problem(matcher: Mapping[str, Any]) -> str:
    """Why a mapping with a `$` key cannot be what its author meant; empty when it is a matcher, or a literal."""
    unknown = [key for key in matcher if key not in MATCHERS]
    if not unknown:
        return form_problem(matcher) or _pattern_problem(matcher.get("$pattern"))
    for key in unknown:
        meant = _meant(key, matcher[key])
        if meant:
            return f"there is no matcher {key!r}: did you mean {meant!r}?"
    if len(unknown) == len(matcher):
        return ""
    return f"there is no matcher {unknown[0]!r}: known are {', '.join(MATCHER_NAMES)}"


def _pattern_problem(pattern: Any) -> str:
    if pattern is None or pattern_search(pattern) is not None:
        return ""
    return "'$pattern' is no regular expression that can be searched for (write it as in JSON Schema)"


def _meant(key: Any, value: Any) -> str:
    """The matcher that a key is a misspelling of; empty where it may be a name of its own (`$gt`, `$ref`)."""
    import difflib

    if not isinstance(key, str) or not key.startswith("$"):
        return ""
    near = nearest_names(key, list(MATCHERS), limit=1)
    if not near:
        return ""
    plain, other = (name.replace("_", "").replace("-", "").casefold() for name in (key, near[0]))
    alike = difflib.SequenceMatcher(None, plain, other).ratio()
    return near[0] if alike >= _CLEARLY_MEANT or not MATCHERS[near[0]].problem(value) else ""


def check_matchers(task: Task) -> Iterator[Finding]:
    """Matchers that are written wrongly (errors), and mappings that only look like one (warnings)."""
    told: set[int] = set()
    for pointer, values in _golden_values(task):
        if id(values) in told:
            continue
        told.add(id(values))
        if is_matcher(values):
            yield _malformed(task, pointer, values, "it stands in place of the arguments")
            continue
        for place, matcher in matchers_of_arguments(values, pointer):
            problem = matcher_problem(matcher)
            if problem:
                yield _malformed(task, place, matcher, problem)
            elif not is_matcher(matcher):
                yield _literal(task, place, matcher)


def refuse_malformed(suite: Suite) -> Suite:
    """The suite with the warnings of its matchers; raises `SuiteError` where a matcher is written wrongly.

    Only matchers are looked at, without a catalog: a gold that silently means something else makes every figure wrong.
    """
    findings = [finding for task in suite.tasks for finding in check_matchers(task)]
    bad = [finding for finding in findings if finding.severity == "error"]
    if bad:
        first = bad[0]
        where = f"{first.source or suite.name}{f':{first.line}' if first.line else ''}"
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise SuiteError(
            f"task {first.subject!r}: {first.message.en}{more}",
            where=f"{where} {first.pointer}".strip(),
            next_step="mend it; `agent-reach suite lint` lists all, docs/suite.md the matchers",
        )
    return replace(suite, findings=(*suite.findings, *findings)) if findings else suite


def _golden_values(task: Task) -> Iterator[tuple[str, Mapping[str, Any]]]:
    several = len(task.paths) > 1
    for number, path in enumerate(task.paths):
        base = f"/paths/{number}" if several else "/path"
        for position, stage in enumerate(path.stages):
            for index, call in enumerate(stage):
                place = f"{base}/{position}/{index}" if len(stage) > 1 else f"{base}/{position}"
                yield f"{place}/args", call.args
                yield f"{place}/optional", call.optional
    for number, result in enumerate(task.results):
        if result.args is not None:
            yield f"/results/{number}/args", result.args


def _malformed(task: Task, pointer: str, matcher: Mapping[str, Any], problem: str) -> Finding:
    return task_finding(
        task,
        "matcher_malformed",
        "error",
        f"malformed matcher: {problem}",
        f"匹配器写法有误：{problem}",
        pointer=pointer,
        fix=("see docs/suite.md, section Matchers", "见 docs/suite.md 的 Matchers 一节"),
        data={"matcher": dict(matcher)},
    )


def _literal(task: Task, pointer: str, matcher: Mapping[str, Any]) -> Finding:
    names = ", ".join(key for key in matcher if isinstance(key, str) and key.startswith("$"))
    return task_finding(
        task,
        "matcher_unknown",
        "warning",
        f"there is no matcher {names}: the mapping is taken as it stands, as a literal value",
        f"没有名为 {names} 的匹配器：该映射按字面值处理",
        pointer=pointer,
        fix=(f"matchers are {', '.join(MATCHER_NAMES)}", f"可用的匹配器：{'、'.join(MATCHER_NAMES)}"),
        data={"matcher": dict(matcher)},
    )


def samples(value: Any, limit: int = 64) -> list[Any] | None:
    """Values that the golden value stands for, to hold against a schema: a literal is itself, `$one_of` its items,
    `$approx` its number, `$date` its text; None where a matcher inside leaves the value open."""
    if isinstance(value, Mapping):
        if not is_matcher(value):
            return _combined({key: samples(item, limit) for key, item in value.items()}, limit)
        if "$one_of" in value:
            found: list[Any] = []
            for item in value["$one_of"]:
                inner = samples(item, limit)
                if inner is None:
                    return None
                found += inner
            return found[:limit]
        if "$approx" in value or "$date" in value:
            return [value["$approx"] if "$approx" in value else value["$date"]]
        return samples(value["$unordered"], limit) if "$unordered" in value else None
    if isinstance(value, (list, tuple)):
        combined = _combined({index: samples(item, limit) for index, item in enumerate(value)}, limit)
        return None if combined is None else [list(item.values()) for item in combined]
    return [value]


def _combined(parts: Mapping[Any, list[Any] | None], limit: int) -> list[dict[Any, Any]] | None:
    """One sample per value of each part in turn (not all combinations: each value turns up once)."""
    if any(part is None for part in parts.values()):
        return None
    filled = {key: part for key, part in parts.items() if part}
    count = max((len(part) for part in filled.values()), default=1)
    return [
        {key: part[min(index, len(part) - 1)] for key, part in filled.items()}
        for index in range(min(count, limit))
    ]
