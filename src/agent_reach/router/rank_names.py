"""Names that a request says outright: they survive every cut.

`find_orders`, `docs/search`, a quoted name, or a request that is nothing but a name, in any case and with or without its
server. An ordinary word that happens to be a tool's name (`search for a flight`) is not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_reach.records.tool import Tool
from agent_reach.text.folding import fold
from agent_reach.text.tokens import split_identifier

_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-/:]*")
_QUOTED = re.compile(
    r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|(?<!\w)'([^'\n]{1,120})'(?!\w)"
)
_LOOKS_LIKE_NAME = re.compile(r"[_.\-/:]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d")
_LAST_PART = re.compile(r"(?:[./:]|__)(?=[^./:]+$)")
_EDGES = " \t\r\n.,;:!?'\"`“”‘’。，；：！？()[]{}<>"
MAX_NAME = 120  # characters; a longer request is nothing but a name of no tool
MAX_SHARED = 5  # a bare last part that more tools than this share names none of them


class NameTable:
    """All the ways to write each tool's name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._full: dict[str, list[str]] = {}
        self._bare: dict[str, list[str]] = {}
        self._words: dict[str, list[str]] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Enter a tool."""
        key = tool.key
        for name in {tool.name, key, f"{tool.server}__{tool.name}" if tool.server else key, *tool.aliases}:
            _enter(self._full, _low(name), key)
        for name in (tool.name, *tool.aliases):
            _enter(self._words, " ".join(split_identifier(name)), key)
            parts = _LAST_PART.split(name)
            if len(parts) > 1:
                _enter(self._bare, _low(parts[-1]), key)

    def named_in(self, request: str) -> list[str]:
        """The keys of the tools that the request names, in the order of the request."""
        if len(request) > 20000:
            return []
        found: dict[str, None] = {}
        whole = request.strip(_EDGES)
        if len(whole) <= MAX_NAME:
            for key in self._exactly(whole) or self._words.get(" ".join(split_identifier(whole)), []):
                found[key] = None
        if any(mark in request for mark in "`\"'“"):
            for match in _QUOTED.finditer(request):
                for key in self._exactly(next(group for group in match.groups() if group is not None)):
                    found[key] = None
        tokens = request.split() if request.isascii() else _TOKEN.findall(request)
        for token in tokens:
            token = token.strip(_EDGES)
            if (not token.islower() or not token.isalpha()) and _LOOKS_LIKE_NAME.search(token):
                found.update(dict.fromkeys(self._exactly(token.rstrip(".-/:"))))
        return list(found)

    def _exactly(self, name: str) -> list[str]:
        low = _low(name.strip(_EDGES))
        known = self._full.get(low)
        if known:
            return known
        bare = self._bare.get(low, [])
        return bare if len(bare) <= MAX_SHARED else []


def _low(name: str) -> str:
    return name.lower() if name.isascii() else fold(name)


def _enter(table: dict[str, list[str]], name: str, key: str) -> None:
    if name:
        keys = table.setdefault(name, [])
        if key not in keys:
            keys.append(key)
            keys.sort()
