"""Schemas as people write them, brought to one dialect: JSON Schema 2020-12 with local pointers only.

Every dialect from draft-04 to OpenAPI and Gemini is told apart keyword by keyword and rewritten where its meaning is
certain; every rewriting is a finding. Where the meaning is not certain, the place accepts any value, or, for a source
that must obey the protocol, the tool is given up. References are the business of `references`; whether the result
compiles is asked in `schema`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from agent_reach.catalog.bounded import CUT_KEY, Path, path_pointer
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.keywords import (
    COUNTS,
    on_anchor,
    on_dependencies,
    on_dependent_required,
    on_enum,
    on_examples,
    on_flag,
    on_nullable,
    on_number,
    on_pattern,
    on_reference,
    on_text,
)
from agent_reach.catalog.type_words import JSON_TYPES, read_type
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message

RepairTypes = Literal["auto", "always", "never"]

_ONE_WORDS = (
    "additionalProperties items contains not if then else propertyNames unevaluatedItems unevaluatedProperties"
    " contentSchema additionalItems"
)
_ONE = frozenset(_ONE_WORDS.split())
_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAP = frozenset({"$defs", "definitions", "patternProperties", "dependentSchemas"})
_TEXT = frozenset({"title", "description", "$comment", "format", "contentEncoding", "contentMediaType"})
_FLAGS = frozenset({"deprecated", "readOnly", "writeOnly", "uniqueItems"})
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_ANNOTATIONS = frozenset(
    ["title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"]
)
_SPECIAL_WORDS = (
    "type properties required enum examples dependencies nullable $ref $dynamicRef $recursiveRef $anchor"
    " $dynamicAnchor $recursiveAnchor $id id $vocabulary pattern dependentRequired"
)
_SPECIAL = frozenset(_SPECIAL_WORDS.split())
KEYWORDS = (
    _ONE | _LIST | _MAP | _TEXT | _FLAGS | COUNTS | _BOUNDS | _SPECIAL | {"const", "default", "$schema"}
)
_PLAIN = frozenset({"description", "title", "default", "const", "$schema", CUT_KEY})

SCHEMA_2020_12 = "https://json-schema.org/draft/2020-12/schema"
_REF_ALONE = ("draft-04", "draft-05", "draft-06", "draft-07", "draft-03")


class Illegal(Exception):
    """A schema whose meaning cannot be repaired; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message.en)
        self.finding = finding


class Dialect:
    """One schema on its way to 2020-12.

    `repair` says whether illegal types and keywords are repaired (True) or give the tool up (False). `references`
    collects `(node, path)` of everything that refers, `anchors` maps `$id`, `$anchor` and the like to paths.
    """

    def __init__(self, subject: str, *, repair: bool, part: str = "input") -> None:
        self.subject = subject
        self.repair = repair
        self.part = part
        self.findings: list[Finding] = []
        self.references: list[tuple[dict[str, Any], Path]] = []
        self.anchors: dict[str, Path] = {}
        self.patterns: list[tuple[dict[str, Any], str, Path]] = []
        self.converted = False
        self.has_cuts = False
        self.reference_alone = False

    def note(self, code: str, path: Path, **facts: Any) -> None:
        """Add a finding about a place of this schema."""
        if len(self.findings) < 200:
            if self.part != "input":
                facts["part"] = self.part
            self.findings.append(make_finding(code, self.subject, path_pointer(path), **facts))

    def illegal(self, code: str, path: Path, **facts: Any) -> None:
        """Give the schema up, unless illegal things are repaired: then the caller goes on."""
        if not self.repair:
            if self.part != "input":
                facts["part"] = self.part
            raise Illegal(make_finding(code, self.subject, path_pointer(path), **facts))

    def read(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a whole schema (already a bounded copy) in place and return it."""
        declared = schema.get("$schema")
        if isinstance(declared, str):
            self.reference_alone = any(draft in declared for draft in _REF_ALONE)
        elif declared is not None:
            del schema["$schema"]
        result = self.visit(schema, ())
        if isinstance(result, dict) and self.converted and "$schema" in result:
            result["$schema"] = SCHEMA_2020_12
        return result if isinstance(result, dict) else {}

    # -- one node ------------------------------------------------------------------------------------------

    def visit(self, node: Any, path: Path) -> Any:
        """The node in 2020-12; a boolean schema stays."""
        if node is True or node is False:
            return node
        if not isinstance(node, dict):
            return self._not_a_schema(node, path)
        if self.has_cuts and any(isinstance(value, dict) and CUT_KEY in value for value in node.values()):
            return {
                key: value for key, value in node.items() if key == "description" and isinstance(value, str)
            }
        for key in list(node):
            if key in _PLAIN and (key == "default" or key == "const" or isinstance(node[key], str)):
                continue
            handler = _HANDLERS.get(key)
            if handler is not None and key in node:
                handler(self, node, key, path)
        if "$ref" in node:
            self._reference(node, path)
        return node

    def _not_a_schema(self, node: Any, path: Path) -> Any:
        if node is None or node == "":
            return {}
        if isinstance(node, str):
            known = read_type(node)
            if known is not None:
                self.illegal("type_illegal", path, found=node)
                self.note("type_alias", path, found=node, meant=_type_word(known))
                return known
        if isinstance(node, list) and len(node) == 1 and isinstance(node[0], dict):
            self.illegal("schema_illegal", path, detail="a list stands where a schema belongs")
            self.note("schema_repaired", path, detail="a list stands where a schema belongs")
            return self.visit(node[0], path)
        detail = f"{type(node).__name__} stands where a schema belongs"
        self.illegal("schema_illegal", path, detail=detail)
        self.note("schema_repaired", path, detail=detail)
        return {}

    def drop(self, node: dict[str, Any], key: str, path: Path, detail: str) -> None:
        """Remove a keyword that is illegal and whose meaning is unknown."""
        self.illegal("schema_illegal", (path, key), detail=detail)
        self.note("schema_repaired", (path, key), detail=detail)
        node.pop(key, None)

    # -- keywords ------------------------------------------------------------------------------------------

    def on_one(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        if value is None:
            del node[key]
        elif key == "items" and isinstance(value, list):
            self._tuple_items(node, path)
        elif key == "additionalItems":
            if "prefixItems" in node and "items" not in node:
                node["items"] = self.visit(node.pop(key), (path, key))
            elif not isinstance(node.get("items"), list):
                del node[key]
        elif key in ("additionalProperties", "unevaluatedProperties") and isinstance(value, str):
            word = value.strip().casefold()
            if word in ("true", "false"):
                self.note("annotation_repaired", (path, key), detail=f"{value!r} is read as {word}")
                node[key] = word == "true"
            else:
                node[key] = self.visit(value, (path, key))
        else:
            node[key] = self.visit(value, (path, key))

    def _tuple_items(self, node: dict[str, Any], path: Path) -> None:
        items = node.pop("items")
        rest = node.pop("additionalItems", None)
        if items and "prefixItems" not in node:
            place = (path, "items")
            node["prefixItems"] = [self.visit(item, (place, index)) for index, item in enumerate(items)]
            if rest is not None:
                node["items"] = self.visit(rest, (path, "additionalItems"))
        self.converted = True
        self.note("draft_dialect", (path, "items"), detail="items is a list", meant="prefixItems")

    def on_list(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        if isinstance(value, dict) and not isinstance(value.get("type"), list) and value:
            self.illegal("schema_illegal", (path, key), detail=f"{key} is no list")
            self.note("annotation_repaired", (path, key), detail=f"{key} is one schema, not a list of them")
            value = [value]
        if not isinstance(value, list) or not value:
            self.drop(node, key, path, f"{key} is no list of schemas")
            return
        place = (path, key)
        node[key] = [self.visit(item, (place, index)) for index, item in enumerate(value)]

    def on_map(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        if value is None:
            del node[key]
            return
        if not isinstance(value, dict):
            self.drop(node, key, path, f"{key} is no mapping")
            return
        place = (path, key)
        for name, item in value.items():
            value[name] = self.visit(item, (place, name))
        if key == "patternProperties":
            self.patterns.extend((value, name, place) for name in value)

    def on_properties(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        place = (path, key)
        if isinstance(value, list):
            value = self._named_list(value, path)
        if value is None:
            node[key] = {}
            return
        if not isinstance(value, dict):
            self.drop(node, key, path, "properties is no mapping")
            return
        node[key] = value
        lifted: list[str] = []
        for name in list(value):
            item = value[name]
            if not isinstance(item, (dict, bool)) and self._misplaced(node, value, name, path):
                continue
            if isinstance(item, dict) and isinstance(item.get("required"), bool):
                if item.pop("required"):
                    lifted.append(name)
                self.converted = True
                self.note(
                    "draft_dialect", ((place, name), "required"), detail="required is a flag", meant="a list"
                )
            value[name] = self.visit(item, (place, name))
        if lifted:
            listed = node.get("required")
            known = listed if isinstance(listed, list) else []
            node["required"] = list(dict.fromkeys([*known, *lifted]))

    def _named_list(self, value: list[Any], path: Path) -> Any:
        named = {
            item["name"]: item
            for item in value
            if isinstance(item, dict) and isinstance(item.get("name"), str)
        }
        if len(named) != len(value):
            return value
        self.illegal("schema_illegal", (path, "properties"), detail="properties is a list")
        self.note("parameters_list", (path, "properties"))
        return {
            name: {key: part for key, part in item.items() if key != "name"} for name, item in named.items()
        }

    def _misplaced(self, node: dict[str, Any], properties: dict[str, Any], name: str, path: Path) -> bool:
        """True if the entry is a keyword that slipped into `properties`; it is moved to where it belongs."""
        item = properties[name]
        others = set(properties) - {name}
        certain = (
            (
                name == "required"
                and isinstance(item, list)
                and all(isinstance(part, str) and part in others for part in item)
            )
            or (name == "type" and item == "object")
            or (name == "additionalProperties" and item is None)
            or (
                name in ("title", "description", "$schema")
                and isinstance(item, str)
                and read_type(item) is None
            )
        )
        if not certain:
            return False
        del properties[name]
        fix = Message(
            f"write {name}: {item!r} beside properties", f"把 {name}: {item!r} 写在 properties 旁边"
        )
        if len(self.findings) < 200:
            place = path_pointer(((path, "properties"), name))
            self.findings.append(
                make_finding(
                    "misplaced_keyword", self.subject, place, fix=fix, keyword=name, suggestion={name: item}
                )
            )
        if name == "required":
            listed = node.get("required")
            node["required"] = list(dict.fromkeys([*(listed if isinstance(listed, list) else []), *item]))
        else:
            node.setdefault(name, item)
        return True

    def on_required(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            if len(set(value)) != len(value):
                node[key] = list(dict.fromkeys(value))
            return
        if value is None or isinstance(value, bool):
            del node[key]
            if value is not None:
                self.converted = True
                self.note("draft_dialect", (path, key), detail="required is a flag", meant="nothing here")
            return
        properties = node.get("properties")
        if isinstance(value, str) and isinstance(properties, dict) and value in properties:
            self.illegal("schema_illegal", (path, key), detail="required is no list")
            self.note("draft_dialect", (path, key), detail="required is one name", meant="a list of it")
            node[key] = [value]
            return
        self.drop(node, key, path, "required is no list of names")

    def on_type(self, node: dict[str, Any], key: str, path: Path) -> None:
        value = node[key]
        if isinstance(value, str):
            if value not in JSON_TYPES:
                self._alias(node, value, path)
            return
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            if not all(item in JSON_TYPES for item in value):
                self._alias(node, " | ".join(value), path)
            elif len(set(value)) != len(value):
                node[key] = list(dict.fromkeys(value))
            return
        if value is None:
            del node[key]
            return
        if isinstance(value, dict) and self.repair:
            self.note("schema_repaired", (path, key), detail="type is itself a schema")
            del node[key]
            inner = self.visit(value, (path, key))
            for name, item in inner.items() if isinstance(inner, dict) else ():
                node.setdefault(name, item)
            return
        self.drop(node, key, path, f"type is {type(value).__name__}")

    def _alias(self, node: dict[str, Any], word: str, path: Path) -> None:
        self.illegal("type_illegal", (path, "type"), found=word)
        if word.isupper() and word.lower() in JSON_TYPES:  # the spelling of Gemini's declarations
            node["type"] = word.lower()
            return
        known = read_type(word)
        del node["type"]
        if known is None:
            meant = "string" if isinstance(node.get("enum"), list) else None
            if "properties" in node:
                meant = "object"
            if meant is None:
                self.note("type_unknown", (path, "type"), found=word)
                return
            known = {"type": meant}
        if word.strip().casefold() == "enum" and "enum" in node:
            known = {}
        self.note("type_alias", (path, "type"), found=word, meant=_type_word(known))
        for name, item in known.items():
            node.setdefault(name, item)

    def _reference(self, node: dict[str, Any], path: Path) -> None:
        if self.reference_alone:
            for name in [name for name in node if name in KEYWORDS]:
                if name not in _ANNOTATIONS and name not in ("$ref", "$defs", "definitions", "$schema"):
                    if path == () and name in ("type", "properties", "required"):
                        continue
                    del node[name]
        self.references.append((node, path))


Handler = Callable[[Dialect, dict[str, Any], str, Path], None]

_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_ONE, Dialect.on_one),
    **dict.fromkeys(_LIST, Dialect.on_list),
    **dict.fromkeys(_MAP, Dialect.on_map),
    **dict.fromkeys(_TEXT, on_text),
    **dict.fromkeys(_FLAGS, on_flag),
    **dict.fromkeys(COUNTS | _BOUNDS, on_number),
    **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), on_reference),
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$id", "id", "$vocabulary"), on_anchor),
    "type": Dialect.on_type,
    "properties": Dialect.on_properties,
    "required": Dialect.on_required,
    "enum": on_enum,
    "examples": on_examples,
    "dependencies": on_dependencies,
    "dependentRequired": on_dependent_required,
    "nullable": on_nullable,
    "pattern": on_pattern,
}


def _type_word(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(kind)
    return str(kind) if kind else "any of several" if schema else "any"


__all__ = ["KEYWORDS", "SCHEMA_2020_12", "Dialect", "Illegal", "RepairTypes"]
