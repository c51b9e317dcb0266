"""Which tools of a catalog look alike, computed once per catalog and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

_CACHE_LIMIT = 1024
_cache: dict[int, tuple[Catalog, Mapping[str, frozenset[str]]]] = {}


def look_alikes(catalog: Catalog) -> Mapping[str, frozenset[str]]:
    """Tool key -> keys of its look-alikes: the catalog's similar pairs and the rivals that notes name."""
    known = _cache.get(id(catalog))
    if known is not None and known[0] is catalog:
        return known[1]
    from agent_reach.catalog.similar import similar_pairs

    found: dict[str, set[str]] = {}
    for pair in similar_pairs(catalog):
        found.setdefault(pair.left, set()).add(pair.right)
        found.setdefault(pair.right, set()).add(pair.left)
    for tool in catalog.tools:
        for name in tool.note.conflicts if tool.note is not None else ():
            rival = catalog.resolve(name)
            if rival is not None and rival.key != tool.key:
                found.setdefault(tool.key, set()).add(rival.key)
                found.setdefault(rival.key, set()).add(tool.key)
    frozen = {key: frozenset(others) for key, others in found.items()}
    if len(_cache) >= _CACHE_LIMIT:
        _cache.clear()
    _cache[id(catalog)] = (catalog, frozen)
    return frozen
