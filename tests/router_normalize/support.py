"""Tools and shortcuts for the normaliser's tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.records.tool import AgentNote, ParameterHint, Tool
from agent_reach.router.normalize import NormalizedCall, normalize_call

NOW = "2025-12-10T10:00:00"
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}


def tool(
    properties: Mapping[str, Any] | None = None,
    required: Sequence[str] = (),
    *,
    effects: Sequence[str] = (),
    hints: Mapping[str, ParameterHint] | None = None,
    name: str = "probe",
    **schema: Any,
) -> Tool:
    return Tool(
        name=name,
        input_schema={
            "type": "object",
            "properties": dict(properties or {}),
            "required": list(required),
            **schema,
        },
        effects=frozenset(effects),  # type: ignore[arg-type]
        note=AgentNote(param_hints=hints) if hints else None,
    )


def normalize(of: Tool, arguments: Any, **settings: Any) -> NormalizedCall:
    settings.setdefault("now", NOW)
    return normalize_call(of, arguments, **settings)


def rules(call: NormalizedCall) -> list[str]:
    return [change.rule for change in call.changes]


def codes(call: NormalizedCall) -> list[str]:
    return [problem.code for problem in call.problems]
