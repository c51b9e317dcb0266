"""Parameter names that a model wrote in another way: snake for camel, a noted name, a safe alias of a strange key.

A rename happens only to a name that the schema does not know, only to a declared name that is not given yet, and only
where one single name is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from agent_reach.catalog.portable import SchemaLimits, make_portable
from agent_reach.router.normalize.state import NormalizeState, join_pointer


def plain_name(name: str) -> str:
    """A name without case, width and separators: `imageType`, `image_type` and `Image-Type` are one."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "", folded)


_ALIASES: dict[int, tuple[Mapping[str, Any], Mapping[str, str]]] = {}


def shown_aliases(schema: Mapping[str, Any]) -> Mapping[str, str]:
    """The names under which keys that providers refuse (`ids[]`) are shown to a model -> the tool's own; mostly empty."""
    known = _ALIASES.get(id(schema))
    if known is None or known[0] is not schema:
        known = (schema, make_portable("", schema, SchemaLimits()).aliases)
        if len(_ALIASES) > 20_000:
            _ALIASES.clear()
        _ALIASES[id(schema)] = known
    return known[1]


def repair_names(
    state: NormalizeState, schema: Mapping[str, Any], value: dict[str, Any], pointer: str
) -> dict[str, Any]:
    """The mapping with unknown names led to the declared ones they certainly mean."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties or not state.on("parameter_name"):
        return value
    if all(key in properties for key in value):
        return value
    further = schema.get("additionalProperties")
    if further is True or (isinstance(further, Mapping) and further):
        return value
    patterns = schema.get("patternProperties")
    meant: dict[str, str] = {}
    for key in value:
        if key in properties or (isinstance(patterns, Mapping) and any(re.search(p, key) for p in patterns)):
            continue
        target = _target(state, key, properties, pointer)
        # An empty place under the right name is padding, not another value.
        if target is not None and value.get(target) in (None, ""):
            meant[key] = target
    targets = list(meant.values())
    renamed: dict[str, Any] = {}
    for key, item in value.items():
        target = meant.get(key)
        if target is None or targets.count(target) > 1:
            if targets.count(key) != 1:
                renamed[key] = item
            continue
        renamed[target] = item
        state.change("parameter_name", join_pointer(pointer, target), key, target, text="renamed")
    return renamed


def _target(state: NormalizeState, key: str, properties: Mapping[str, Any], pointer: str) -> str | None:
    plain = plain_name(key)
    if not plain:
        return None
    shown = shown_aliases(state.root).get(key)
    if shown in properties:
        return shown
    same = [name for name in properties if plain_name(name) == plain]
    if len(same) == 1:
        return same[0]
    if same:
        return None
    noted = [
        name
        for name in properties
        if (hint := state.hint(join_pointer(pointer, name))) is not None
        and plain in {plain_name(other) for other in hint.names}
    ]
    if len(noted) == 1:
        return noted[0]
    if noted:
        return None
    number = [name for name in properties if _singular(plain_name(name)) == _singular(plain)]
    return number[0] if len(number) == 1 else None


def _singular(name: str) -> str:
    if name.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    if name.endswith("s") and not name.endswith(("ss", "us", "is")) and len(name) > 3:
        return name[:-1]
    return name
