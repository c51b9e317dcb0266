"""Another tool for the same wish: who may stand in for a tool that fails, and with which arguments.

A stand-in takes every argument that was meant, under its own names, and must find them legal; an argument that has no
place in it is a reason not to switch. Writes are neither left nor entered unless allowed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.schema import parameter_types
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentChange, CallOutcome
from agent_reach.router.execute_records import ExecutionPolicy
from agent_reach.router.normalize import NormalizeOptions, normalize_call
from agent_reach.router.normalize.names import plain_name
from agent_reach.text.tokens import split_identifier, words

_NEVER = frozenset({"cancelled", "write_blocked", "context_lost"})
_TRANSIENT = frozenset({"timeout", "transport", "rate_limited"})
_TRANSIENT_STATUS = frozenset({408, 429, 502, 503, 504})
_LEAST_SIMILAR = 0.25
_COMMON = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "for",
        "on",
        "and",
        "or",
        "by",
        "with",
        "from",
        "get",
        "list",
        "fetch",
        "query",
        "search",
        "find",
        "show",
        "read",
        "tool",
        "的",
        "查询",
        "获取",
    ]
)

_SAYS_NOTHING = frozenset(
    (
        "name",
        "id",
        "string",
        "value",
        "number",
        "text",
        "input",
        "parameter",
        "argument",
        "optional",
        "required",
    )
)
_SAME_THING = (
    ("city", "location", "place", "town", "城市", "地点", "位置"),
    ("query", "q", "keyword", "keywords", "term", "search", "关键词", "关键字"),
    ("email", "mail", "邮箱"),
    ("date", "day", "日期"),
    ("person", "user", "customer", "用户", "客户"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchRequest:
    """What a finder is asked: the failing tool, its arguments, the words of the request, keys to leave out, how many."""

    tool: Tool
    arguments: Mapping[str, Any]
    query: str = ""
    exclude: frozenset[str] = frozenset()
    limit: int = 5


Finder = Callable[[SwitchRequest], Iterable[Tool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A tool that can take over, with the arguments as it wants them."""

    tool: Tool
    arguments: dict[str, Any]
    changes: tuple[ArgumentChange, ...] = ()


def may_fail_over(tool: Tool, outcome: CallOutcome) -> bool:
    """Whether another provider of the same thing may be asked at once: time-outs, lost connections, rate limits and an
    overloaded server, of a tool that is safe to repeat or a call that never left. Wrong arguments, missing permission and
    the caller's own cancel stay where they are."""
    if outcome.ok or outcome.error_kind in _NEVER:
        return False
    status = outcome.metadata.get("http_status", outcome.metadata.get("status_code"))
    transient = outcome.error_kind in _TRANSIENT or (
        outcome.error_kind not in ("argument", "permission", "not_found") and status in _TRANSIENT_STATUS
    )
    if not transient:
        return False
    return tool.is_idempotent or (outcome.status == "failed" and not outcome.reached_backend)


def counts_as_failure(outcome: CallOutcome) -> bool:
    """Whether an outcome counts toward a switch: `failed` of any kind but a cancel or a write block, never `unknown`."""
    return outcome.status == "failed" and outcome.error_kind not in _NEVER


def may_switch(tool: Tool, policy: ExecutionPolicy) -> bool:
    """Whether a tool may be left for, or entered from, another one."""
    return tool.is_read_only or tool.key in policy.allow_write_switch


def lexical_finder(tools: Sequence[Tool]) -> Finder:
    """A finder over a list of tools by the words they share with the failing one; for use without a ranking.

    Words weigh by their rarity among the tools, so that the phrases all descriptions share make nothing similar.
    """
    vocabulary = {tool.key: _vocabulary(tool) for tool in tools}
    counts: dict[str, int] = {}
    for known in vocabulary.values():
        for word in known:
            counts[word] = counts.get(word, 0) + 1
    weights = {word: math.log(1 + len(vocabulary) / count) for word, count in counts.items()}

    def find(request: SwitchRequest) -> list[Tool]:
        own = vocabulary.get(request.tool.key) or _vocabulary(request.tool)
        scored = [
            (similarity(own, vocabulary[tool.key], weights), tool)
            for tool in tools
            if tool.key not in request.exclude and tool.key != request.tool.key
        ]
        scored = [pair for pair in scored if pair[0] >= _LEAST_SIMILAR]
        scored.sort(key=lambda pair: (-pair[0], pair[1].key))
        return [tool for _, tool in scored[: request.limit]]

    return find


def _vocabulary(tool: Tool) -> frozenset[str]:
    note = tool.note.summary if tool.note else ""
    text = " ".join([" ".join(split_identifier(tool.name)), tool.description, note])
    return frozenset(word.removesuffix("s") if word.isascii() else word for word in words(text)) - _COMMON


def similarity(left: frozenset[str], right: frozenset[str], weights: Mapping[str, float]) -> float:
    """Weight of the shared words over the weight of all (weighted Jaccard); an unknown word weighs 1."""
    everything = sum(weights.get(word, 1.0) for word in left | right)
    return sum(weights.get(word, 1.0) for word in left & right) / everything if everything > 0 else 0.0


def stand_ins(
    request: SwitchRequest,
    finder: Finder,
    policy: ExecutionPolicy,
    *,
    conversation: Any = None,
    now: Any = None,
    options: NormalizeOptions | None = None,
) -> list[StandIn]:
    """The tools that can take over, best first, each with its own arguments."""
    if not may_switch(request.tool, policy):
        return []
    found: list[StandIn] = []
    for tool in finder(request):
        if tool.key == request.tool.key or tool.key in request.exclude or not may_switch(tool, policy):
            continue
        mapped = map_arguments(request.tool, tool, request.arguments)
        if mapped is None:
            continue
        call = normalize_call(tool, mapped, conversation=conversation, now=now, options=options)
        if call.problems or call.arguments is None:
            continue
        found.append(StandIn(tool=tool, arguments=call.arguments, changes=call.changes))
    return found


def map_arguments(source: Tool, target: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments under the names of another tool; None where one of them has no certain place there."""
    made: dict[str, Any] = {}
    free = dict(target.parameters)
    waiting: list[str] = []
    for name, value in arguments.items():
        same = [other for other in free if plain_name(other) == plain_name(name)] or _noted(
            source, target, name, free
        )
        if len(same) == 1:
            made[same[0]] = value
            del free[same[0]]
        elif source.parameters.get(name, {}) and _is_default(source.parameters[name], value):
            continue
        else:
            waiting.append(name)
    for name in waiting:
        place = _alike(source, target, name, free)
        if place is None:
            return None
        made[place] = arguments[name]
        del free[place]
    return made


def _is_default(schema: Any, value: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema and bool(schema["default"] == value)


def _noted(source: Tool, target: Tool, name: str, free: Mapping[str, Any]) -> list[str]:
    known = {plain_name(name)}
    if source.note and name in source.note.param_hints:
        known |= {plain_name(other) for other in source.note.param_hints[name].names}
    found = []
    for other in free:
        hint = target.note.param_hints.get(other) if target.note else None
        names = {plain_name(other), *(plain_name(word) for word in (hint.names if hint else ()))}
        if names & known:
            found.append(other)
    return found


def _alike(source: Tool, target: Tool, name: str, free: Mapping[str, Any]) -> str | None:
    """The one free parameter of the same type that shares words with the argument."""
    schema = source.parameters.get(name)
    types = parameter_types(schema, source.input_schema) if schema is not None else frozenset()
    same_type = [
        other
        for other, part in free.items()
        if not types or parameter_types(part, target.input_schema) & types
    ]
    own = _words_of(name, schema)
    scored = sorted(((len(own & _words_of(other, free[other])), other) for other in same_type), reverse=True)
    if scored and scored[0][0] >= 1 and (len(scored) == 1 or scored[0][0] > scored[1][0]):
        return scored[0][1]
    return None


def _words_of(name: str, schema: Any) -> frozenset[str]:
    description = str(schema.get("description") or "") if isinstance(schema, Mapping) else ""
    plain = {*split_identifier(name), *(re.sub(r"s$", "", word) for word in words(description))}
    plain |= {group[0] for group in _SAME_THING if plain & set(group)}
    return frozenset(plain) - _COMMON - _SAYS_NOTHING
