"""What every way of executing a call has in common: the Protocol, and how failures and values become outcomes.

A backend never raises for a failed call: everything that goes wrong with one call is a `CallOutcome`. What it
cannot see: whether the call was the right one, and whether it should be tried again.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Protocol, runtime_checkable

from agent_reach.errors import ConfigError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome, ErrorKind
from agent_reach.text.tokens import nearest_names

BACKENDS: Mapping[str, str] = {
    "recorded": "agent_reach.backends.recorded:RecordedBackend",
    "python": "agent_reach.backends.python:PythonBackend",
    "mcp": "agent_reach.backends.mcp:McpBackend",
    "http": "agent_reach.backends.http:HttpBackend",
}
"""The built-in ways of executing calls: name to class."""
ENTRY_POINTS = "agent_reach.backends"
"""The entry-point group in which installed packages name further ones."""

_MAY_HAVE_HAPPENED: frozenset[str] = frozenset({"timeout", "transport", "cancelled"})
_MAX_DEPTH = 100


@runtime_checkable
class Backend(Protocol):
    """One way of executing calls.

    `call` returns an outcome for every failure of the call itself; only the cancellation of the caller's own task
    passes through it. `timeout` is in seconds, None leaves the backend's own limit. `aclose` may be called twice.
    """

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute one call."""
        ...

    async def aclose(self) -> None:
        """Give back processes, connections and folders."""
        ...


def backend_class(name: str) -> Any:
    """The class of a way to execute calls, built in or brought by a package; raises `ConfigError` for an unknown name."""
    from importlib.metadata import EntryPoint, entry_points

    if name in BACKENDS:
        return EntryPoint(name=name, value=BACKENDS[name], group=ENTRY_POINTS).load()
    found = entry_points(group=ENTRY_POINTS)
    if name in found.names:
        return found[name].load()
    known = [*BACKENDS, *sorted(found.names)]
    near = nearest_names(name, known)
    raise ConfigError(
        f"no backend is called {name!r}",
        next_step=f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}",
    )


def failure(
    kind: ErrorKind,
    message: str,
    *,
    tool: Tool | None = None,
    sent: bool = True,
    text: str = "",
    value: Any = None,
    latency_ms: float | None = None,
    retry_after: float | None = None,
    findings: tuple[Finding, ...] = (),
    metadata: Mapping[str, Any] | None = None,
) -> CallOutcome:
    """The outcome of a call that did not work.

    A time-out, a lost connection or a cancellation after sending is `unknown` unless `tool` is known to change
    nothing: the call may have happened. `sent=False` says that it never left, which makes every kind `failed`.
    """
    harmless = tool is not None and tool.is_read_only
    unknown = kind in _MAY_HAVE_HAPPENED and sent and not harmless
    return CallOutcome(
        status="unknown" if unknown else "failed",
        error_kind=kind,
        value=value,
        text=text or message,
        message=message,
        latency_ms=latency_ms,
        retry_after=retry_after,
        reached_backend=sent,
        findings=findings,
        metadata=metadata or {},
    )


def is_cancelled() -> bool:
    """Someone wants the current task to end; False where a `CancelledError` was only raised by code that it runs."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def success(value: Any, *, text: str | None = None, latency_ms: float | None = None) -> CallOutcome:
    """The outcome of a call that worked; `text` defaults to the value as the model reads it."""
    plain = json_value(value)
    return CallOutcome(
        status="ok",
        value=plain,
        text=value_text(plain) if text is None else text,
        latency_ms=latency_ms,
    )


def value_text(value: Any) -> str:
    """A JSON value as a model is shown it: text as it is, everything else as compact JSON, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def json_value(value: Any, _depth: int = 0) -> Any:
    """Any Python value as plain JSON values: records, models, enums, dates, sets and bytes included.

    What has no JSON form becomes its text; nesting deeper than 100 (or a cycle) ends in the text `...`.
    """
    if value is None or isinstance(value, (str, bool)):
        return str(value) if isinstance(value, str) and type(value) is not str else value
    if isinstance(value, enum.Enum):
        return json_value(value.value, _depth + 1)
    if isinstance(value, (int, float)):
        return _json_number(value)
    if _depth > _MAX_DEPTH:
        return "..."
    if isinstance(value, Mapping):
        return {_json_key(key): json_value(item, _depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item, _depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((json_value(item, _depth + 1) for item in value), key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: json_value(getattr(value, field.name), _depth + 1)
            for field in dataclasses.fields(value)
        }
    return _foreign_value(value, _depth)


def _foreign_value(value: Any, depth: int) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return json_value(dump(), depth + 1)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (decimal.Decimal, uuid.UUID, PurePath)):
        return str(value)
    if hasattr(value, "__iter__") and not hasattr(value, "read"):
        return [json_value(item, depth + 1) for item in value]
    return str(value)


def _json_number(value: int | float) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def _json_key(key: Any) -> str:
    if isinstance(key, enum.Enum):
        return str(key.value)
    return str(key)
