"""Two schemas compared part by part: what a change means to those who call, or to those who read the result.

For arguments, allowing more is compatible and demanding more is breaking; for results it is the other way round. A
keyword whose change cannot be judged counts as breaking: better a question too many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent_reach.catalog.shape import allowed_values, is_nullable, parameter_types, resolved_schema
from agent_reach.records.message import Message
from agent_reach.text.pointers import escape_pointer

_TEXT = frozenset(
    {"title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly", "$schema"}
)
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_HANDLED = frozenset(
    {"type", "properties", "required", "enum", "const", "items", "$ref", "$defs", "definitions", "nullable"}
)
_MAX_DEPTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One change of one field: `field` names it (`description`, `input_schema`), `pointer` the place inside a schema,
    `kind` what it means (see `diff`)."""

    field: str
    pointer: str
    kind: Literal["wording", "compatible", "breaking", "wider"]
    before: Any = None
    after: Any = None
    message: Message


def schema_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], *, field: str, output: bool = False
) -> list[FieldChange]:
    """The changes from one schema to the other; `output` turns demanding and allowing round."""
    if old == new:
        return []
    comparison = _Comparison(old, new, field, output)
    comparison.compare(old, new, "", 0)
    return comparison.changes


class _Comparison:
    def __init__(self, old_root: Any, new_root: Any, field: str, output: bool) -> None:
        self.old_root = old_root
        self.new_root = new_root
        self.field = field
        self.output = output
        self.changes: list[FieldChange] = []
        self.seen: set[tuple[int, int]] = set()

    def add(
        self, pointer: str, wider: bool | None, before: Any, after: Any, english: str, chinese: str
    ) -> None:
        """`wider` True: more is allowed than before, False: less, None: only the wording."""
        kind: Literal["wording", "compatible", "breaking"]
        kind = "wording" if wider is None else "compatible" if wider is not self.output else "breaking"
        self.changes.append(
            FieldChange(
                field=self.field,
                pointer=pointer,
                kind=kind,
                before=before,
                after=after,
                message=Message(english, chinese),
            )
        )

    def compare(self, old: Any, new: Any, pointer: str, depth: int) -> None:
        if depth > _MAX_DEPTH or (old == new and self.old_root == self.new_root):
            return
        before, after = resolved_schema(old, self.old_root), resolved_schema(new, self.new_root)
        pair = (id(old), id(new))
        if pair in self.seen:
            return
        self.seen.add(pair)
        if isinstance(before, bool) or isinstance(after, bool):
            self._booleans(before, after, pointer)
            return
        if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
            return
        self._types(before, after, pointer)
        self._values(before, after, pointer)
        self._required(before, after, pointer)
        self._properties(before, after, pointer, depth)
        if "items" in before and "items" in after:
            self.compare(before["items"], after["items"], f"{pointer}/items", depth + 1)
        elif ("items" in before) != ("items" in after):
            self.add(
                f"{pointer}/items",
                "items" in before,
                before.get("items"),
                after.get("items"),
                "items changed",
                "items 有变化",
            )
        self._others(before, after, pointer)

    def _booleans(self, before: Any, after: Any, pointer: str) -> None:
        before = {} if before is True else before
        after = {} if after is True else after
        if before != after:
            self.add(
                pointer,
                before is False or after == {},
                before,
                after,
                "what is allowed changed",
                "允许的值有变化",
            )

    def _types(self, before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> None:
        old, new = _kinds(before, self.old_root), _kinds(after, self.new_root)
        if old == new:
            return
        wider = not new or (bool(old) and old <= new | ({"integer"} if "number" in new else set()))
        shown = (sorted(old) or "any", sorted(new) or "any")
        self.add(
            f"{pointer}/type",
            wider,
            *shown,
            f"type {_list(old)} -> {_list(new)}",
            f"类型 {_list(old)} -> {_list(new)}",
        )

    def _values(self, before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> None:
        old, new = allowed_values(before, self.old_root), allowed_values(after, self.new_root)
        if old == new or (old is not None and new is not None and _same_values(old, new)):
            return
        place = f"{pointer}/enum"
        if old is None or new is None:
            english = "the values are listed now" if old is None else "the values are no longer listed"
            chinese = "现在列出了可选值" if old is None else "不再列出可选值"
            self.add(place, new is None, old, new, english, chinese)
            return
        gone = [value for value in old if not _among(value, new)]
        come = [value for value in new if not _among(value, old)]
        if gone:
            self.add(place, False, list(old), list(new), f"values removed: {gone}", f"去掉的值：{gone}")
        if come:
            self.add(place, True, list(old), list(new), f"values added: {come}", f"新增的值：{come}")

    def _required(self, before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> None:
        old, new = _names(before.get("required")), _names(after.get("required"))
        known = before.get("properties") if isinstance(before.get("properties"), Mapping) else {}
        for name in new:
            if name not in old and (self.output or name in (known or {})):
                self.add(
                    f"{pointer}/required", False, old, new, f"{name!r} is required now", f"{name!r} 现在必填"
                )
        for name in old:
            if name not in new and name in (after.get("properties") or {}):
                self.add(
                    f"{pointer}/required", True, old, new, f"{name!r} is optional now", f"{name!r} 现在可选"
                )

    def _properties(
        self, before: Mapping[str, Any], after: Mapping[str, Any], pointer: str, depth: int
    ) -> None:
        old = before.get("properties") if isinstance(before.get("properties"), Mapping) else {}
        new = after.get("properties") if isinstance(after.get("properties"), Mapping) else {}
        assert isinstance(old, Mapping)
        assert isinstance(new, Mapping)
        for name, part in old.items():
            place = f"{pointer}/properties/{escape_pointer(name)}"
            if name in new:
                self.compare(part, new[name], place, depth + 1)
            else:
                # a caller may no longer send it; a reader no longer gets it
                self._sided(place, "breaking", part, None, f"{name!r} is gone", f"{name!r} 没有了")
        for name, part in new.items():
            if name in old:
                continue
            place = f"{pointer}/properties/{escape_pointer(name)}"
            demanded = name in _names(after.get("required")) and not self.output
            english = f"{name!r} is new and required" if demanded else f"{name!r} is new"
            chinese = f"新增必填的 {name!r}" if demanded else f"新增 {name!r}"
            self._sided(place, "breaking" if demanded else "compatible", None, part, english, chinese)

    def _sided(
        self,
        pointer: str,
        kind: Literal["compatible", "breaking"],
        before: Any,
        after: Any,
        english: str,
        chinese: str,
    ) -> None:
        self.changes.append(
            FieldChange(
                field=self.field,
                pointer=pointer,
                kind=kind,
                before=before,
                after=after,
                message=Message(english, chinese),
            )
        )

    def _others(self, before: Mapping[str, Any], after: Mapping[str, Any], pointer: str) -> None:
        choices = ("anyOf", "oneOf")
        for key in sorted({*before, *after} - _HANDLED):
            old, new = before.get(key), after.get(key)
            if old == new and key in before and key in after:
                continue
            if key in _TEXT:
                self.add(f"{pointer}/{key}", None, old, new, f"{key} changed", f"{key} 有变化")
            elif key == "default":
                self._sided(
                    f"{pointer}/default",
                    "compatible",
                    old,
                    new,
                    f"default {old!r} -> {new!r}",
                    f"默认值 {old!r} -> {new!r}",
                )
            elif key in _LOWER or key in _UPPER:
                self._bound(key, old, new, pointer)
            elif key in ("additionalProperties", "unevaluatedProperties"):
                opened = (new is not False and old is False) or (key not in after and old is not True)
                self.add(f"{pointer}/{key}", opened, old, new, f"{key} changed", f"{key} 有变化")
            elif key in choices and self._only_nullable(before, after):
                continue
            else:
                self.add(f"{pointer}/{key}", key not in after, old, new, f"{key} changed", f"{key} 有变化")

    def _only_nullable(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """True if the choice differs only in allowing null, which the types have told already."""
        strip = [
            _without_null(schema, root) for schema, root in ((before, self.old_root), (after, self.new_root))
        ]
        return bool(strip[0] == strip[1])

    def _bound(self, key: str, old: Any, new: Any, pointer: str) -> None:
        if old is None or new is None:
            wider = new is None
        else:
            wider = new < old if key in _LOWER else new > old
        self.add(f"{pointer}/{key}", wider, old, new, f"{key} {old} -> {new}", f"{key} {old} -> {new}")


def _kinds(schema: Mapping[str, Any], root: Any) -> frozenset[str]:
    kinds = parameter_types(schema, root)
    return kinds | {"null"} if kinds and is_nullable(schema, root) else kinds


def _without_null(schema: Mapping[str, Any], root: Any) -> Any:
    """The schema as one that does not allow null, where that is all that a choice is for."""
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list):
            rest = [option for option in options if option != {"type": "null"}]
            if len(rest) == 1:
                return resolved_schema(rest[0], root)
            return rest
    words = _TEXT | {"default"}
    return {key: value for key, value in schema.items() if key not in words}


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, (list, tuple)) else []


def _among(value: Any, values: tuple[Any, ...]) -> bool:
    return any(type(value) is type(other) and value == other for other in values)


def _same_values(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    return all(_among(value, new) for value in old) and all(_among(value, old) for value in new)


def _list(kinds: frozenset[str]) -> str:
    return "|".join(sorted(kinds)) or "any"
