"""Rules for single fields, by where they stand: `customer.phone`, `crm/*.arguments.note`, `*.result.owner`.

A rule names the end of a place; its parts are shell patterns, and the places of list items are those of their list. In
traces the arguments of a call stand at `TOOL.arguments`, what it answered at `TOOL.result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal, get_args

Action = Literal["mask", "remove", "keep"]
ACTIONS: tuple[str, ...] = get_args(Action)
"""`mask`: equal values become equal placeholders; `remove`: nothing of the value is left, not even that it equals another;
`keep`: the field is left as it is, whatever other rules say."""

Place = tuple[str, ...]


class FieldRules:
    """Rules by place; of several that fit, the one with the most parts holds, then the one written last."""

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules = sorted(
            ((tuple(rule.split(".")), action) for rule, action in rules.items()), key=lambda one: len(one[0])
        )
        self.action = lru_cache(maxsize=4096)(self._action)

    def _action(self, place: Place) -> str:
        """What is done with the field at a place; empty when no rule names it."""
        parts = tuple(part for step in place for part in step.split("."))
        found = ""
        for rule, action in self._rules:
            tail = parts[-len(rule) :]
            if len(tail) == len(rule) and all(map(_fits, tail, rule)):
                found = action
        return found


def _fits(part: str, rule: str) -> bool:
    """A tool is meant by its key and by its name."""
    return fnmatchcase(part, rule) or fnmatchcase(part.rpartition("/")[2], rule)
