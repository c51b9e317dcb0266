"""The `execution` part of a run configuration: how calls are carried out, which writes are allowed, planted faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from agent_reach.config.agent import words_of
from agent_reach.config.fields import Section, number_problem, shown
from agent_reach.config.settings import BACKENDS, FAULT_KINDS, ExecutionConfig, FaultRule, HookConfig

_SYNONYMS = {
    "mode": "backend",
    "type": "backend",
    "kind": "backend",
    "writes": "allow_writes",
    "timeout": "call_timeout",
    "module": "handlers",
    "miss": "on_miss",
}
_FAULT_SYNONYMS = {
    "type": "kind",
    "fault": "kind",
    "error": "kind",
    "name": "tool",
    "count": "times",
    "nth": "calls",
}
_KIND_SYNONYMS = {
    "429": "rate_limited",
    "rate_limit": "rate_limited",
    "error": "tool_error",
    "error_result": "tool_error",
    "time_out": "timeout",
    "truncate": "truncated",
    "malformed": "malformed_result",
}
_FUNCTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def read_execution(section: Section, folder: Path) -> ExecutionConfig:
    """The execution settings; a bare word is the backend, an absent part `recorded`."""
    value = section.raw("execution")
    inner = section.child(
        "execution", {"backend": value} if isinstance(value, str) else value, synonyms=_SYNONYMS
    )
    isolation = inner.choice("isolation", ("attempt", "shared"), "")
    config = ExecutionConfig(
        backend=inner.choice(
            "backend", BACKENDS, "recorded", {"live": "mcp", "openapi": "http", "recording": "recorded"}
        ),
        handlers=_handlers(inner, folder),
        allow_writes=_allow_writes(inner),
        isolation=cast(Any, isolation or None),
        on_miss=cast(Any, inner.choice("on_miss", ("not_found", "any_args", "stop"), "not_found")),
        recorded_fallback=inner.flag("recorded_fallback", True),
        faults=tuple(_fault(entry) for entry in inner.sections("faults", synonyms=_FAULT_SYNONYMS)),
        setup=_hook(inner, "setup"),
        teardown=_hook(inner, "teardown"),
        call_timeout=inner.number("call_timeout", 60.0, above=0, allow_null=True),
    )
    inner.finish()
    return config


def _handlers(inner: Section, folder: Path) -> str:
    from agent_reach.config.places import existing_path

    text = inner.text("handlers")
    return existing_path(inner, "handlers", text, folder, "Python file") if text.endswith(".py") else text


def _allow_writes(inner: Section) -> tuple[str, ...]:
    value = inner.raw("allow_writes")
    if value is False:
        return ()
    if value is True:
        inner.refuse(
            "allow_writes", "must name the tools that may write", "write names, or ['*'] for all of them"
        )
        return ()
    return inner.texts("allow_writes")


def _fault(entry: Section) -> FaultRule:
    if entry.raw("kind") is None and entry.values:
        entry.refuse("kind", "is missing", f"add `kind: {' | '.join(FAULT_KINDS)}`")
    rule = FaultRule(
        tool=entry.text("tool", "*"),
        kind=entry.choice("kind", FAULT_KINDS, "tool_error", _KIND_SYNONYMS),
        calls=_call_numbers(entry),
        times=entry.whole("times", None, minimum=1, allow_null=True),
        probability=entry.number("probability", 1.0, minimum=0, maximum=1),
        retry_after=entry.number("retry_after", None, minimum=0, allow_null=True),
        message=entry.text("message"),
        keep=entry.whole("keep", 200, minimum=0),
        delay=entry.number("delay", 0.0, minimum=0),
    )
    entry.finish()
    return rule


def _call_numbers(entry: Section) -> tuple[int, ...]:
    value = entry.raw("calls")
    if value is None:
        return ()
    numbers = value if isinstance(value, (list, tuple)) else [value]
    for number in numbers:
        problem = number_problem(number, whole=True, minimum=1)
        if problem:
            entry.refuse("calls", f"{problem}, not {shown(number)}", "calls count from 1: calls: [1, 2]")
            return ()
    return tuple(int(number) for number in numbers)


def _hook(inner: Section, key: str) -> HookConfig:
    value: Any = inner.raw(key)
    if isinstance(value, str) and _FUNCTION.fullmatch(value):
        return HookConfig(function=value)
    return HookConfig(command=words_of(inner, key))
