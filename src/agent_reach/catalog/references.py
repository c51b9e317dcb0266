"""References inside one schema: found, checked, kept by reference, never fetched.

After this step every `$ref` is a JSON pointer into the same document (`#/...`) that exists, and no chain of
in-place keywords (`$ref, allOf, anyOf, oneOf, not, if, then, else`) leads back to itself without consuming a part of
the value. Recursion through properties and items stays, by reference. Remote and missing targets become places that
accept any value, with a finding. Nothing here opens a file or a connection.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from agent_reach.catalog.bounded import Path, path_pointer
from agent_reach.catalog.dialect import Dialect
from agent_reach.text.pointers import unescape_pointer

MAX_UNFOLDED = 100_000

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")


def settle_references(dialect: Dialect, root: dict[str, Any]) -> None:
    """Check and rewrite every reference that the walk collected."""
    if not dialect.references:
        return
    for node, path in dialect.references:
        reference = node.get("$ref")
        if not isinstance(reference, str):
            continue
        target = local_pointer(reference, root, dialect.anchors)
        if target is None:
            code = "reference_remote" if _is_remote(reference) else "reference_missing"
            dialect.note(code, path, target=reference)
            del node["$ref"]
        elif target != reference:
            node["$ref"] = target
    _break_cycles(dialect, root)


def _is_remote(reference: str) -> bool:
    return not reference.startswith("#")


def local_pointer(reference: str, root: Any, anchors: dict[str, Path]) -> str | None:
    """The reference as `#/pointer` into the document, or None if it leads nowhere inside it."""
    if reference in ("", "#"):
        return "#"
    if reference in anchors:
        return _checked(root, path_pointer(anchors[reference]))
    base, _, fragment = reference.partition("#")
    if base and base not in anchors:
        tail = base.rsplit("/", 1)[-1]
        near = [name for name in anchors if name.rsplit("/", 1)[-1] == tail and not name.startswith("#")]
        if len(near) != 1 or _scheme(base):
            return None
        base = near[0]
    prefix = path_pointer(anchors[base]) if base else ""
    if fragment and not fragment.startswith("/"):
        anchor = "#" + fragment
        return _checked(root, path_pointer(anchors[anchor])) if anchor in anchors else None
    return _checked(root, prefix + unquote(fragment))


def _checked(root: Any, pointer: str) -> str | None:
    if not isinstance(follow_pointer(root, pointer), (dict, bool)):
        return None
    return "#" + quote(pointer, safe="/~!$&'()*+,;=:@")


def _scheme(base: str) -> bool:
    return ":" in base.split("/", 1)[0]


def follow_reference(root: Any, reference: str) -> Any:
    """The value that a settled reference (`#/...`, percent-encoded) leads to, or None."""
    return follow_pointer(root, unquote(reference[1:])) if reference.startswith("#") else None


def follow_pointer(root: Any, pointer: str) -> Any:
    """The value at a JSON pointer, or None."""
    node = root
    for raw in pointer.split("/")[1:]:
        part = unescape_pointer(raw)
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isascii() and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def in_place_children(node: dict[str, Any], root: Any) -> list[Any]:
    """The schemas that apply to the same value as this one: the target of its reference and its combinations."""
    children: list[Any] = []
    reference = node.get("$ref")
    if isinstance(reference, str):
        children.append(follow_reference(root, reference))
    for key in _IN_PLACE_LISTS:
        options = node.get(key)
        if isinstance(options, list):
            children.extend(options)
    children.extend(node[key] for key in _IN_PLACE if key in node)
    dependent = node.get("dependentSchemas")
    if isinstance(dependent, dict):
        children.extend(dependent.values())
    return [child for child in children if isinstance(child, dict)]


def _break_cycles(dialect: Dialect, root: dict[str, Any]) -> None:
    """Remove references that close an in-place cycle, and those whose unfolding multiplies beyond all use."""
    weight: dict[int, int] = {}
    paths = {id(node): path for node, path in dialect.references}
    for start, _ in dialect.references:
        if id(start) in weight:
            continue
        open_ids: set[int] = set()
        work: list[tuple[dict[str, Any], bool]] = [(start, False)]
        while work:
            node, done = work.pop()
            identity = id(node)
            if done:
                open_ids.discard(identity)
                total = 1 + sum(weight.get(id(child), 1) for child in in_place_children(node, root))
                if total > MAX_UNFOLDED:
                    total = _cut_unfolding(dialect, node, paths.get(identity), total)
                weight[identity] = total
                continue
            if identity in weight or identity in open_ids:
                continue
            if "$ref" in node:
                target = follow_reference(root, node["$ref"])
                if isinstance(target, dict) and (id(target) in open_ids or target is node):
                    dialect.note("reference_cycle", paths.get(identity, ()), target=node["$ref"])
                    del node["$ref"]
            open_ids.add(identity)
            work.append((node, True))
            work.extend((child, False) for child in in_place_children(node, root))


def _cut_unfolding(dialect: Dialect, node: dict[str, Any], path: Path | None, total: int) -> int:
    if "$ref" not in node:
        return total
    dialect.note("reference_explosion", path or (), limit=MAX_UNFOLDED)
    del node["$ref"]
    return 1
