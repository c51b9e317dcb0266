"""Schemas made to fit what a provider accepts, with every change told.

A form is a record of limits (`SchemaLimits`); one walk rewrites a schema to them. What a provider cannot express is
dropped from what is shown and stays in what is checked. Keys that a provider refuses get an alias, which leads back by a
table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.shape import is_nullable, parameter_types, resolved_schema
from agent_reach.records.message import Message
from agent_reach.text.pointers import escape_pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportChange:
    """One difference between a tool and what was exported: `rule` names it, `pointer` the place in the schema."""

    tool: str
    rule: str
    message: Message
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """What a provider accepts in a schema. `keywords` None: any; `key_pattern` is for property names."""

    keywords: frozenset[str] | None = None
    key_pattern: str = r"^[a-zA-Z0-9_.-]{1,64}$"
    references: bool = True
    root_choices: bool = False
    types_required: bool = False
    plain_patterns: bool = True
    upper_types: bool = False
    string_enums: bool = False
    formats: frozenset[str] | None = None
    max_inline_depth: int = 6


_RULES = {
    "array_items_added": ("an array without items gets items: {{}}", "数组缺少 items，补上 items: {{}}"),
    "boolean_schema": ("a boolean schema is written as an object", "布尔模式改写为对象"),
    "pattern_dropped": ("the pattern {found} is not portable; left out", "模式 {found} 不可移植，已省略"),
    "key_renamed": (
        "{found} is called {meant}; renamed back on the call",
        "{found} 改名为 {meant}，调用时还原",
    ),
    "keyword_dropped": ("{found} is not accepted; left out", "{found} 不被接受，已省略"),
    "const_as_enum": ("const is written as an enum of one", "const 改写为单值枚举"),
    "enum_null_dropped": ("null in the enum is told as nullable", "枚举中的 null 改为 nullable"),
    "enum_as_text": ("enum values that are no strings stand in the description", "非字符串枚举值写入描述"),
    "type_added": ("the type {found} is stated", "补上类型 {found}"),
    "choice_as_any_of": ("{found} is written as anyOf", "{found} 改写为 anyOf"),
    "choice_merged": ("{found} is merged into one object", "{found} 合并为一个对象"),
    "reference_inlined": ("references are written out", "引用已展开"),
    "recursion_cut": ("the recursion through {found} is cut", "{found} 的递归被截断"),
    "bound_rewritten": ("{found} is written as {meant}", "{found} 改写为 {meant}"),
    "format_dropped": ("the format {found} is not accepted; left out", "格式 {found} 不被接受，已省略"),
    "nullable_as_keyword": ("null is told by nullable", "null 用 nullable 表示"),
}
_NOT_PORTABLE = re.compile(r"\(\?[=!<]|\\[pP]\{|\\[AzZG]|\(\?P|\\[1-9]|\(\?[a-z]+\)|[*+?}]\+")
_SUB_ONE = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedProperties", "unevaluatedItems")  # fmt: skip
_SUB_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_SUB_MAP = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


class PortableSchema:
    """Rewrites one tool's schema to the limits; `changes` and `aliases` (alias -> own name) fill while it walks."""

    def __init__(self, tool: str, root: Mapping[str, Any], limits: SchemaLimits) -> None:
        self.tool = tool
        self.root = root
        self.limits = limits
        self.changes: list[ExportChange] = []
        self.aliases: dict[str, str] = {}
        self._renamed: dict[str, str] = {}
        self._key = re.compile(limits.key_pattern)
        self._taken = {name for name in _all_keys(root) if self._key.match(name)}

    def change(self, rule: str, pointer: str, **facts: Any) -> None:
        """Note a change once per rule and place."""
        english, chinese = _RULES[rule]
        message = Message(english.format_map(facts), chinese.format_map(facts))
        made = ExportChange(tool=self.tool, rule=rule, pointer=pointer, message=message)
        if made not in self.changes:
            self.changes.append(made)

    def rewrite(self) -> dict[str, Any]:
        """The whole schema within the limits."""
        root = {key: value for key, value in self.root.items() if key != "$schema"}
        if not self.limits.root_choices:
            root = self._flat_root(root)
        made = self.visit(root, "", 0, ())
        made.setdefault("type", "OBJECT" if self.limits.upper_types else "object")
        if not self.limits.upper_types or made.get("properties") != {}:
            made.setdefault("properties", {})
        return made

    # -- root ----------------------------------------------------------------------------------------------

    def _flat_root(self, root: dict[str, Any]) -> dict[str, Any]:
        """Choices and references at the root merged into one object: all names, only what all branches require."""
        if "$ref" in root:
            merged = resolved_schema(root, self.root)
            root = dict(merged) if isinstance(merged, Mapping) else {"type": "object"}
            self.change("reference_inlined", "")
        for key in ("allOf", "anyOf", "oneOf"):
            options = root.get(key)
            if not isinstance(options, list):
                continue
            root = {name: value for name, value in root.items() if name != key}
            self._merge(
                root, [resolved_schema(option, self.root) for option in options], every=key == "allOf"
            )
            self.change("choice_merged", "/" + key, found=key)
        for key in ("not", "if", "then", "else", "enum", "const"):
            if key in root:
                root = {name: value for name, value in root.items() if name != key}
                self.change("keyword_dropped", "/" + key, found=key)
        return root

    def _merge(self, root: dict[str, Any], options: list[Any], *, every: bool) -> None:
        properties = dict(root.get("properties") or {})
        needed: list[set[str]] = []
        for option in options:
            if not isinstance(option, Mapping):
                continue
            for name, part in (option.get("properties") or {}).items():
                if name in properties and properties[name] != part and not every:
                    known = properties[name]
                    listed = (
                        known["anyOf"] if isinstance(known, Mapping) and set(known) == {"anyOf"} else [known]
                    )
                    properties[name] = {"anyOf": [*listed, part]} if part not in listed else known
                else:
                    properties[name] = part
            needed.append(set(option.get("required") or ()))
        root["properties"] = properties
        common = set().union(*needed) if every else set.intersection(*needed) if needed else set()
        required = [name for name in properties if name in common or name in (root.get("required") or ())]
        if required:
            root["required"] = required

    # -- nodes ---------------------------------------------------------------------------------------------

    def visit(self, node: Any, pointer: str, depth: int, trail: tuple[str, ...]) -> dict[str, Any]:
        """One schema within the limits."""
        if node is True:
            self.change("boolean_schema", pointer)
            return {}
        if node is False:
            self.change("boolean_schema", pointer)
            return {"not": {}} if self._allowed("not") else {}
        if not isinstance(node, Mapping):
            return {}
        node = dict(node)
        if "$ref" in node and not self.limits.references:
            reference = str(node["$ref"])
            if reference in trail or depth > self.limits.max_inline_depth:
                self.change("recursion_cut", pointer, found=reference)
                node = {key: value for key, value in node.items() if key == "description"} | {
                    "type": "object"
                }
            else:
                self.change("reference_inlined", pointer)
                node = dict(resolved_schema({"$ref": reference}, self.root) or {}) | {
                    key: value for key, value in node.items() if key != "$ref"
                }
                trail = (*trail, reference)
        node = self._plain(node, pointer)
        made: dict[str, Any] = {}
        for key, value in node.items():
            if not self._allowed(key):
                if key not in (
                    "$defs",
                    "definitions",
                    "$comment",
                    "examples",
                    "additionalProperties",
                    "title",
                ) or (key == "additionalProperties" and value is not False):
                    self.change("keyword_dropped", f"{pointer}/{key}", found=key)
                continue
            made[key] = self._inside(key, value, f"{pointer}/{key}", depth, trail)
        if "required" in made:
            made["required"] = [self._renamed.get(name, name) for name in made["required"]]
        return self._finished(made, pointer)

    def _inside(self, key: str, value: Any, pointer: str, depth: int, trail: tuple[str, ...]) -> Any:
        if key in _SUB_ONE:
            if key in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems") and isinstance(
                value, bool
            ):
                return value
            return self.visit(value, pointer, depth + 1, trail)
        if key in _SUB_LIST and isinstance(value, list):
            return [
                self.visit(item, f"{pointer}/{index}", depth + 1, trail) for index, item in enumerate(value)
            ]
        if key in _SUB_MAP and isinstance(value, Mapping):
            table: dict[str, Any] = {}
            for name, item in value.items():
                shown = self._shown_key(name, pointer) if key == "properties" else name
                table[shown] = self.visit(item, f"{pointer}/{escape_pointer(name)}", depth + 1, trail)
            return table
        return value

    def _allowed(self, keyword: str) -> bool:
        return self.limits.keywords is None or keyword in self.limits.keywords

    def _shown_key(self, name: str, pointer: str) -> str:
        if self._key.match(name):
            return name
        known = self._renamed.get(name)
        if known is None:
            stem = re.sub(r"[^a-zA-Z0-9_.-]+", "_", name).strip("_.-")[:56] or "argument"
            if self.limits.upper_types and not re.match(r"[A-Za-z_]", stem):
                stem = "a_" + stem
            known, count = stem, 2
            while known in self._taken or not self._key.match(known):
                known = f"{stem}_{count}"
                count += 1
            self._taken.add(known)
            self._renamed[name] = known
            self.aliases[known] = name
        self.change("key_renamed", f"{pointer}/{escape_pointer(name)}", found=repr(name), meant=repr(known))
        return known

    def _plain(self, node: dict[str, Any], pointer: str) -> dict[str, Any]:
        """The node with keywords rewritten whose meaning can be told in accepted ones."""
        pattern = node.get("pattern")
        if isinstance(pattern, str) and self.limits.plain_patterns and _NOT_PORTABLE.search(pattern):
            del node["pattern"]
            self.change("pattern_dropped", f"{pointer}/pattern", found=repr(pattern))
        if "const" in node and not self._allowed("const"):
            node["enum"] = [node.pop("const")]
            self.change("const_as_enum", f"{pointer}/const")
        if "oneOf" in node and not self._allowed("oneOf"):
            node["anyOf"] = node.pop("oneOf")
            self.change("choice_as_any_of", f"{pointer}/oneOf", found="oneOf")
        if "allOf" in node and not self._allowed("allOf"):
            options = [resolved_schema(option, self.root) for option in node.pop("allOf")]
            for option in options:
                for key, value in option.items() if isinstance(option, Mapping) else ():
                    node.setdefault(key, value)
            self._merge(node, options, every=True) if any(
                isinstance(option, Mapping) and "properties" in option for option in options
            ) else None
            self.change("choice_merged", f"{pointer}/allOf", found="allOf")
        for exclusive, plain, step in (
            ("exclusiveMinimum", "minimum", 1),
            ("exclusiveMaximum", "maximum", -1),
        ):
            if exclusive in node and not self._allowed(exclusive):
                bound = node.pop(exclusive)
                whole = node.get("type") == "integer" and isinstance(bound, int)
                node[plain] = bound + step if whole else bound
                self.change(
                    "bound_rewritten",
                    f"{pointer}/{exclusive}",
                    found=exclusive,
                    meant=f"{plain} {node[plain]}",
                )
        if "format" in node and self.limits.formats is not None and node["format"] not in self.limits.formats:
            self.change("format_dropped", f"{pointer}/format", found=repr(node["format"]))
            del node["format"]
        if self.limits.types_required:
            self._state_type(node, pointer)
        if self.limits.string_enums:
            self._string_enum(node, pointer)
        return node

    def _state_type(self, node: dict[str, Any], pointer: str) -> None:
        nullable = is_nullable(node, self.root)
        kind = node.get("type")
        if isinstance(kind, list):
            others = [item for item in kind if item != "null"]
            if len(others) == 1:
                node["type"] = others[0]
            else:
                del node["type"]
                if others:
                    node["anyOf"] = [{"type": item} for item in others]
            if nullable:
                self.change("nullable_as_keyword", pointer)
        options = node.get("anyOf")
        if isinstance(options, list):
            rest = [item for item in options if item != {"type": "null"}]
            if len(rest) == 1 and isinstance(rest[0], Mapping):
                del node["anyOf"]
                inner = resolved_schema(rest[0], self.root)
                node.update({key: value for key, value in (inner or {}).items() if key not in node})
                self.change("nullable_as_keyword", pointer)
            elif len(rest) != len(options):
                node["anyOf"] = rest
                self.change("nullable_as_keyword", pointer)
        if nullable:
            node["nullable"] = True
        if "type" not in node:
            kinds = parameter_types(node, self.root)
            if len(kinds) == 1:
                (only,) = kinds
                node["type"] = only
                self.change("type_added", pointer, found=only)

    def _string_enum(self, node: dict[str, Any], pointer: str) -> None:
        values = node.get("enum")
        if not isinstance(values, (list, tuple)):
            return
        plain = [value for value in values if value is not None]
        if len(plain) != len(values):
            node["nullable"] = True
            self.change("enum_null_dropped", f"{pointer}/enum")
        if not plain:
            del node["enum"]
        elif all(isinstance(value, str) for value in plain):
            node["enum"] = plain
            node.setdefault("type", "string")
        else:
            del node["enum"]
            text = f"One of: {', '.join(map(str, plain))}."
            known = node.get("description")
            node["description"] = f"{known} {text}" if isinstance(known, str) and known else text
            self.change("enum_as_text", f"{pointer}/enum")

    def _finished(self, made: dict[str, Any], pointer: str) -> dict[str, Any]:
        kind = made.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if "array" in kinds and "items" not in made and "prefixItems" not in made:
            made["items"] = {}
            self.change("array_items_added", pointer)
        if self.limits.upper_types and isinstance(kind, str):
            made["type"] = kind.upper()
        return made


def _all_keys(node: Any, depth: int = 0) -> set[str]:
    """Every key of every mapping inside: names an alias must not take."""
    names: set[str] = set()
    if depth > 200:
        return names
    if isinstance(node, Mapping):
        names.update(node)
        for item in node.values():
            names |= _all_keys(item, depth + 1)
    elif isinstance(node, list):
        for item in node:
            names |= _all_keys(item, depth + 1)
    return names


@dataclass(slots=True)
class PortableResult:
    """A rewritten schema with what was changed and the aliases of its keys."""

    schema: dict[str, Any]
    changes: list[ExportChange] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)


def make_portable(tool: str, schema: Mapping[str, Any], limits: SchemaLimits) -> PortableResult:
    """The schema within the limits, what was changed, and the aliases."""
    portable = PortableSchema(tool, schema, limits)
    return PortableResult(portable.rewrite(), portable.changes, portable.aliases)
