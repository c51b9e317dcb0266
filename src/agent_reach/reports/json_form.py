"""Records as JSON text, fast enough for ten thousand attempts and written piece by piece.

The form is that of `records/codec` (fields at their default are left out, `from_json` puts them back) with one
difference: what readers of a report look for first is always written, a metric with all its keys above all. Numbers
keep every digit; a lone surrogate becomes its JSON escape; a number that JSON does not know (NaN, infinity) becomes its
name as a string, so that one odd argument never costs the whole report. It knows nothing of files.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from agent_reach.records.message import Message
from agent_reach.records.report import CatalogInfo, CauseSummary, Confusion, Report, RunInfo, ToolSummary
from agent_reach.records.score import AttemptScore, Decision, Interval, Metric, TaskScore

DECISION_LOG_FIELDS: tuple[str, ...] = (
    "task_id",
    "step",
    "model_raw",
    "selected_tool",
    "expected_tool",
    "arguments",
    "expected_arguments",
    "error",
    "context_blocks",
    "used_blocks",
)

ALWAYS_WRITTEN: Mapping[type, tuple[str, ...]] = {
    Report: ("schema_version", "sufficient", "causes", "tools", "confusions", "tasks"),
    RunInfo: ("agent", "model", "scorer_version", "deterministic", "repeats"),
    CatalogInfo: ("tokens", "similar_pairs"),
    Metric: ("value", "numerator", "denominator", "interval"),
    Interval: ("low", "high", "level", "method"),
    CauseSummary: ("name", "layer", "lost", "share"),
    ToolSummary: ("tool", "required", "reached", "called"),
    Confusion: ("expected", "chosen", "count", "predicted"),
    TaskScore: ("task_id", "kind", "state", "attempts"),
    AttemptScore: ("index", "state", "share", "passed", "decisions"),
    Decision: (*DECISION_LOG_FIELDS, "attempt", "verdict", "decision_success", "cause"),
}
_ABSENT = object()

Plan = tuple[tuple[str, Any], ...]


@cache
def _plan(kind: type) -> Plan:
    """Field name and the default that makes a field superfluous; `_ABSENT` for fields that are always written."""
    always = ALWAYS_WRITTEN.get(kind, ())
    plan: list[tuple[str, Any]] = []
    for field in dataclasses.fields(kind):
        default: Any = _ABSENT
        if field.name not in always:
            if field.default is not dataclasses.MISSING:
                default = field.default
            elif field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
        plan.append((field.name, default))
    return tuple(plan)


def record_fields(value: Any) -> dict[str, Any]:
    """The fields of one record that are written, their values as they are (records inside stay records)."""
    kind: Any = type(value)
    plan = _plan(kind)
    if kind is Report:
        return {name: getattr(value, name) for name, _ in plan}
    if kind is Metric:
        return _metric_fields(value)
    fields: dict[str, Any] = {}
    for name, default in plan:
        item = getattr(value, name)
        if item is default or item == default:
            continue
        fields[name] = item
    return fields


def _metric_fields(metric: Metric) -> dict[str, Any]:
    """A metric with all its keys; whole counts stay whole however often the report is read and written."""
    fields: dict[str, Any] = {
        "value": metric.value,
        "numerator": _whole(metric.numerator),
        "denominator": _whole(metric.denominator),
        "interval": metric.interval,
    }
    if metric.reason:
        fields["reason"] = metric.reason
    return fields


def _whole(number: float) -> float:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _other(value: Any) -> Any:
    """What the JSON encoder does not know by itself."""
    if isinstance(value, Message):
        return {"en": value.en, "zh": value.zh}
    if dataclasses.is_dataclass(value):
        return record_fields(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


_encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_other
).encode


def json_text(value: Any) -> str:
    """The JSON text of a record or of plain values, on one line."""
    try:
        text = _encode(value)
    except (ValueError, TypeError):
        text = _encode(_legal(value))
    return text


def _legal(value: Any) -> Any:
    """The same value with every number JSON does not know written as its name and every key as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, Mapping):
        return {str(key): _legal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_legal(item) for item in value]
    return _legal(_other(value))
