"""Settings of the map: weights, lines of trust, limits. Defaults are those of the definitions; all can be set in `reach.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from agent_reach.errors import ConfigError
from agent_reach.text.tokens import nearest_names

DEFAULT_META_TOOLS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = dict.fromkeys(
    (
        "execute_tool",
        "call_tool",
        "run_tool",
        "use_tool",
        "invoke_tool",
        "tool_execute",
        "execute_action",
        "use_mcp_tool",
    ),
    (
        ("tool_name", "tool", "name", "toolName", "function", "action"),
        ("arguments", "args", "params", "parameters", "input", "tool_input"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How evidence becomes edges and what counts as far.

    `weights` and `lines` are (structural, planning, execution); an edge is trusted when its score is above `trust_above`
    and, unless `trust` is `score`, each kind seen at least `min_seen` times clears its line. `far` hops or fewer are near;
    `latency_unit` seconds is the latency that doubles nothing. `meta_tools` maps a tool that calls others to the
    names of the argument that holds the other's name and of the one that holds its arguments. `offered` lists the tools
    that the agent is shown when no trace says so (None: all).
    """

    weights: tuple[float, float, float] = (0.3, 0.4, 0.3)
    lines: tuple[float, float, float] = (0.3, 0.1, 0.3)
    trust_above: float = 0.4
    trust: Literal["lines", "score"] = "lines"
    min_seen: int = 5
    far: int = 3
    latency_unit: float = 2.0
    meta_tools: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=lambda: DEFAULT_META_TOOLS
    )
    offered: tuple[str, ...] | None = None
    value_flow: bool = True
    infer: bool = True
    drawn: int = 200
    targets: tuple[str, ...] = ()
    accepted_cycles: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any], *, where: str = "reach.yaml: map") -> GraphOptions:
        """The options of a project's `map:` section; raises `ConfigError` for an unknown key or a value out of range."""
        known = {item.name for item in fields(cls)}
        values: dict[str, Any] = {}
        for key, value in settings.items():
            if key not in known:
                near = nearest_names(str(key), sorted(known), limit=1)
                raise ConfigError(
                    f"unknown key {key!r}", where=where,
                    next_step=f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}",
                )  # fmt: skip
            values[key] = _checked(key, value, where)
        return cls(**values)


def _checked(key: str, value: Any, where: str) -> Any:
    if key in ("weights", "lines"):
        parts = (
            [value.get(name) for name in ("structural", "planning", "execution")]
            if isinstance(value, Mapping)
            else value
        )
        if not isinstance(parts, (list, tuple)) or len(parts) != 3 or not all(_share(part) for part in parts):
            raise ConfigError(
                f"{key} must be three numbers from 0 to 1",
                where=where,
                next_step=f"write `{key}: [0.3, 0.4, 0.3]`",
            )
        if key == "weights" and not any(parts):
            raise ConfigError("weights must not all be 0", where=where)
        return tuple(float(part) for part in parts)
    if key == "trust_above" and not _share(value):
        raise ConfigError("trust_above must be a number from 0 to 1", where=where)
    if key == "trust" and value not in ("lines", "score"):
        raise ConfigError(f"trust must be lines or score, not {value!r}", where=where)
    if key in ("min_seen", "far", "drawn") and (
        isinstance(value, bool) or not isinstance(value, int) or value < 0
    ):
        raise ConfigError(f"{key} must be a whole number, 0 or more", where=where)
    if key in ("offered", "targets"):
        return (
            None if value is None else tuple(map(str, value if isinstance(value, (list, tuple)) else [value]))
        )
    if key == "accepted_cycles":
        return tuple(tuple(map(str, cycle)) for cycle in value or ())
    if key == "latency_unit" and (
        isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0
    ):
        raise ConfigError("latency_unit must be a number of seconds above 0", where=where)
    if key == "meta_tools":
        return {**DEFAULT_META_TOOLS, **{str(name): _meta(rule) for name, rule in dict(value or {}).items()}}
    return value


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _meta(rule: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(rule, Mapping):
        return (str(rule.get("name", "name")),), (str(rule.get("arguments", "arguments")),)
    return (str(rule),), DEFAULT_META_TOOLS["execute_tool"][1]
