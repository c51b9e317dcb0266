"""Two walks beside each other, step by step; and one walk beside another catalog or router, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.catalog.schema import argument_problems
from agent_reach.evals.replay.backend import sent
from agent_reach.records.codec import canonical_json
from agent_reach.records.trace import Call, Trace

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

Kind = Literal["same", "outcome", "arguments", "tool", "only_before", "only_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDifference:
    """One place of the walk: the call before and after, what differs (`arguments` lists names), how either ended;
    `outcome` is the same call that ended otherwise."""

    kind: Kind
    before: str = ""
    after: str = ""
    before_arguments: Mapping[str, Any] | None = None
    after_arguments: Mapping[str, Any] | None = None
    arguments: tuple[str, ...] = ()
    before_outcome: str = ""
    after_outcome: str = ""


def compare_walks(before: Trace, after: Trace) -> tuple[StepDifference, ...]:
    """The calls of two traces aligned: equal ones together, then calls of the same tool, then those of the same place."""
    old, new = list(before.calls), list(after.calls)
    names = SequenceMatcher(a=[_tool(call) for call in old], b=[_tool(call) for call in new], autojunk=False)
    rows: list[StepDifference] = []
    for tag, a, b, c, d in names.get_opcodes():
        if tag == "equal":
            rows += [_pair(x, y) for x, y in zip(old[a:b], new[c:d], strict=True)]
            continue
        shared = min(b - a, d - c)
        rows += [_pair(x, y) for x, y in zip(old[a : a + shared], new[c : c + shared], strict=True)]
        rows += [_alone(call, "only_before") for call in old[a + shared : b]]
        rows += [_alone(call, "only_after") for call in new[c + shared : d]]
    return tuple(rows)


def _tool(call: Call) -> str:
    return (call.tool or call.name).rpartition("/")[2]


def _pair(old: Call, new: Call) -> StepDifference:
    left, right = dict(sent(old)), dict(sent(new))
    differing = tuple(
        name
        for name in dict.fromkeys([*left, *right])
        if (name in left) != (name in right) or canonical_json(left[name]) != canonical_json(right[name])
    )
    kind: Kind = "same" if _ended(old) == _ended(new) else "outcome"
    if differing or _tool(old) != _tool(new):
        kind = "arguments" if _tool(old) == _tool(new) else "tool"
    return StepDifference(
        kind=kind,
        before=old.tool or old.name,
        after=new.tool or new.name,
        before_arguments=left,
        after_arguments=right,
        arguments=differing,
        before_outcome=_ended(old),
        after_outcome=_ended(new),
    )


def _alone(call: Call, kind: Literal["only_before", "only_after"]) -> StepDifference:
    name, arguments, ended = call.tool or call.name, dict(sent(call)), _ended(call)
    if kind == "only_before":
        return StepDifference(kind=kind, before=name, before_arguments=arguments, before_outcome=ended)
    return StepDifference(kind=kind, after=name, after_arguments=arguments, after_outcome=ended)


def _ended(call: Call) -> str:
    outcome = call.outcome
    if outcome is None:
        return "no outcome"
    if outcome.metadata.get("divergence"):
        return f"diverged: {outcome.metadata['divergence']}"
    return outcome.status if outcome.error_kind is None else f"{outcome.status}: {outcome.error_kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogCheck:
    """One recorded call against another catalog: `tool` is what its name means there (None: nothing), `problems` how its
    arguments fail there. With a router: the `place` of the tool among what it offers now (None: not offered, from 1),
    where it stood when recorded, and arguments that it would change."""

    call_id: str
    name: str
    tool: str | None
    nearest: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    place: int | None = None
    recorded_place: int | None = None
    changed: tuple[str, ...] = ()


def check_walk(trace: Trace, catalog: Catalog, router: Any = None, *, k: int = 8) -> tuple[CatalogCheck, ...]:
    """Every recorded call against the catalog, and against a router (a `Reach`) where one is given; no model is asked."""
    found: list[CatalogCheck] = []
    query, offered = trace.query, _offered(router, trace.query, k)
    for step in trace.steps:
        if step.kind == "user" and step.text:
            query = step.text
            offered = _offered(router, query, k)
        recorded = [candidate.tool for candidate in step.candidates]
        for call in step.calls:
            found.append(_check(call, catalog, router, offered, recorded, query, trace))
    return tuple(found)


def _offered(router: Any, query: str, k: int) -> list[str]:
    return [] if router is None else [item.tool.key for item in router.find(query, k)]


def _check(
    call: Call,
    catalog: Catalog,
    router: Any,
    offered: Sequence[str],
    recorded: Sequence[str],
    query: str,
    trace: Trace,
) -> CatalogCheck:
    tool = resolve_emitted_name(call.tool or call.name, catalog).tool
    if tool is None:
        return CatalogCheck(
            call_id=call.call_id, name=call.name, tool=None, nearest=tuple(catalog.nearest(call.name, 3))
        )
    emitted = call.arguments or {}
    arguments = dict(emitted)
    changed: tuple[str, ...] = ()
    if router is not None:
        normal = router.normalize(tool, emitted, conversation=[{"role": "user", "content": query}])
        arguments = dict(normal.arguments or {})
        before = dict(sent(call))
        changed = tuple(
            name
            for name in dict.fromkeys([*before, *arguments])
            if canonical_json(before.get(name)) != canonical_json(arguments.get(name))
        )
    problems = tuple(
        f"{problem.code} {problem.pointer}".strip() for problem in argument_problems(tool, arguments)
    )
    names = (tool.key, tool.name)
    return CatalogCheck(
        call_id=call.call_id,
        name=call.name,
        tool=tool.key,
        problems=problems,
        place=offered.index(tool.key) + 1 if tool.key in offered else None,
        recorded_place=next((n for n, name in enumerate(recorded, start=1) if name in names), None),
        changed=changed,
    )
