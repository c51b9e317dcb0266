"""The `lint` part of `reach.yaml` into options, with every mistake named."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from agent_reach.config.fields import did_you_mean, shown
from agent_reach.errors import ConfigError
from agent_reach.lint.base import Thresholds
from agent_reach.lint.engine import LintOptions, Suppression

_KEYS = ("select", "ignore", "severity", "suppress", "thresholds", "fail_on")
SEVERITIES = ("error", "warning", "info")
FAIL_LEVELS = (*SEVERITIES, "never")


def read_lint_options(settings: Mapping[str, Any], *, where: str = "reach.yaml: lint") -> LintOptions:
    """Options from a mapping with `select`, `ignore` (codes, prefixes or names), `severity` (code: level), `suppress`
    (`tool`, `code`, `reason`) and `thresholds`. Raises `ConfigError` for what it does not know."""
    for key in settings:
        if key not in _KEYS:
            raise ConfigError(f"unknown key {key!r}", where=where, next_step=did_you_mean(str(key), _KEYS))
    read_fail_on(settings, where=where)
    return LintOptions(
        select=_names(settings, "select", where),
        ignore=_names(settings, "ignore", where),
        severity={
            code: _severity(level, f"{where}.severity.{code}")
            for code, level in _table(settings, "severity", where).items()
        },
        suppress=tuple(
            _suppression(item, f"{where}.suppress[{index}]")
            for index, item in enumerate(_list(settings, "suppress", where))
        ),
        thresholds=_thresholds(_table(settings, "thresholds", where), f"{where}.thresholds"),
    )


def read_fail_on(settings: Mapping[str, Any], *, where: str = "reach.yaml: lint") -> str:
    """The severity from which lint fails: `error` unless `fail_on` says `warning`, `info` or `never`."""
    level = settings.get("fail_on")
    if level is None:
        return "error"
    if level not in FAIL_LEVELS:
        raise ConfigError(
            f"{shown(level)} is no level to fail on",
            where=f"{where}.fail_on",
            next_step=f"one of {', '.join(FAIL_LEVELS)}",
        )
    return str(level)


def _names(settings: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = settings.get(key, [])
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ConfigError(
            f"expected a list of codes, found {shown(value)}",
            where=f"{where}.{key}",
            next_step="write [AR103, AR2]",
        )
    return tuple(items)


def _list(settings: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = settings.get(key) or []
    if not isinstance(value, list):
        raise ConfigError(
            f"expected a list, found {shown(value)}",
            where=f"{where}.{key}",
            next_step="write one item a line, each with a dash",
        )
    return value


def _table(settings: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = settings.get(key) or {}
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"expected a mapping, found {shown(value)}", where=f"{where}.{key}", next_step="write name: value"
        )
    return value


def _severity(level: Any, where: str) -> Any:
    if level not in SEVERITIES:
        raise ConfigError(
            f"{shown(level)} is no severity", where=where, next_step=f"one of {', '.join(SEVERITIES)}"
        )
    return level


def _suppression(item: Any, where: str) -> Suppression:
    if not isinstance(item, Mapping) or not all(
        isinstance(item.get(key), str) and item[key].strip() for key in ("tool", "code", "reason")
    ):
        raise ConfigError(
            f"a suppression needs tool, code and reason, found {shown(item)}",
            where=where,
            next_step="write {tool: server/name, code: AR105, reason: why it is fine}",
        )
    return Suppression(tool=item["tool"], code=item["code"].upper(), reason=item["reason"])


def _thresholds(values: Mapping[str, Any], where: str) -> Thresholds:
    known = {field.name for field in dataclasses.fields(Thresholds)}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(
                f"unknown threshold {key!r}", where=where, next_step=did_you_mean(str(key), known)
            )
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
            raise ConfigError(
                f"{shown(value)} is no limit", where=f"{where}.{key}", next_step="write a number, 0 or more"
            )
    return Thresholds(**dict(values))
