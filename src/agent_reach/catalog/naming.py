"""Names on the wire, and names as models emit them.

A wire name is what a provider accepts as a tool's name: the bare name where it is unique and legal, else
`server__name`, else that cut and marked with a digest. It is made for a whole catalog at once, leads back through a
table, and is never taken apart. An emitted name may be damaged in known ways; repairs are tried from the certain to the
less certain, and a name that could mean two tools is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.errors import AmbiguousToolError
from agent_reach.records.tool import Tool
from agent_reach.text.folding import fold
from agent_reach.text.tokens import split_identifier

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

MAX_WIRE_NAME = 64
_LEGAL = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def wire_names(tools: Iterable[Tool]) -> dict[tuple[str, str], str]:
    """`(server, name)` -> wire name: unique, legal, and the same in whatever order the tools come."""
    identities = sorted({(tool.server, tool.name) for tool in tools})
    bare = Counter(name for _, name in identities)
    table: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    rest: list[tuple[tuple[str, str], str, bool]] = []
    for identity in identities:
        server, name = identity
        if bare[name] == 1 and _LEGAL.match(name):
            table[identity] = name
            taken.add(name)
        else:
            composed = bool(server) and bare[name] > 1
            rest.append((identity, f"{server}__{name}" if composed else name, composed))
    wanted = Counter(candidate for _, candidate, _ in rest)
    for identity, candidate, composed in rest:
        if composed and wanted[candidate] == 1 and candidate not in taken and _LEGAL.match(candidate):
            table[identity] = candidate
            taken.add(candidate)
    for identity, candidate, _ in rest:
        if identity not in table:
            table[identity] = _marked(identity, candidate, taken)
            taken.add(table[identity])
    return table


def _marked(identity: tuple[str, str], candidate: str, taken: set[str]) -> str:
    """The candidate with illegal characters replaced, cut, and a digest of the identity behind it."""
    digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogatepass")).hexdigest()
    stem = _OTHER.sub("_", candidate).strip("_-") or "tool"
    for length in range(8, 40, 8):
        name = f"{stem[: MAX_WIRE_NAME - length - 1]}_{digest[:length]}"
        if name not in taken:
            return name
    return digest


@dataclass(frozen=True, slots=True)
class NameResolution:
    """What an emitted name stands for: the tool (None: unknown or refused), how the name was repaired (empty: not at
    all; `ambiguous` or `unknown` where there is no tool), and the keys or nearest names that came into question."""

    tool: Tool | None
    repair: str = ""
    candidates: tuple[str, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Several tools could be meant; nothing may be called."""
        return self.repair == "ambiguous"


_CONTROL = re.compile(
    r"<\|.*|<｜.*|[\x00-\x1f\x7f].*|</?(?:tool|function|channel|arg)[_a-z]*>.*", re.DOTALL | re.I
)
_PREFIX = re.compile(r"^(?:functions?|tools?|default_api|multi_tool_use|mcp)(?:[.:/]|__)+", re.IGNORECASE)
_QUALIFIED = re.compile(r"[.:/]|__|--")
_SUFFIXES = frozenset({"tool", "function", "tools"})
MAX_NEAREST = 5


def resolve_emitted_name(name: str, catalog: Catalog) -> NameResolution:
    """The tool that a model's name means.

    Tried in order: the name itself (key, unique name, alias, wire name); cut at the first control token; stripped of
    quotes and call brackets; without a calling prefix (`functions.`, `mcp__`); as server and name; without regard to case,
    hyphens and word style; without `Tool` at its end. An ambiguous step ends the search without a tool. An unknown name gets
    its nearest names, at most five, and is never executed as one of them.
    """
    exact = _try(name, catalog, "")
    if exact is not None:
        return exact
    text = _CONTROL.sub("", name) if isinstance(name, str) else ""
    steps = [("control_token_cut", text)]
    text = text.strip().strip("`'\"").strip()
    text = text.split("(", 1)[0].rstrip()
    steps.append(("stripped", text))
    bare = _PREFIX.sub("", text)
    steps.append(("prefix_removed", bare))
    for repair, candidate in steps:
        if candidate and candidate != name:
            found = _try(candidate, catalog, repair)
            if found is not None:
                return found
    for candidate in dict.fromkeys((text, bare)):
        found = _qualified(candidate, catalog) or _folded(candidate, catalog)
        if found is not None:
            return found
    near = catalog.nearest(bare, MAX_NEAREST) if bare else []
    return NameResolution(None, "unknown", tuple(near))


def _try(name: str, catalog: Catalog, repair: str) -> NameResolution | None:
    try:
        tool = catalog.resolve(name)
    except AmbiguousToolError as error:
        return NameResolution(None, "ambiguous", error.candidates)
    return NameResolution(tool, repair, (tool.key,)) if tool is not None else None


def _qualified(name: str, catalog: Catalog) -> NameResolution | None:
    """A name written as server and tool with some mark between."""
    found: dict[str, Tool] = {}
    for match in _QUALIFIED.finditer(name):
        tool = catalog.identified(name[: match.start()], name[match.end() :])
        if tool is not None:
            found[tool.key] = tool
    return _one(found, "server_and_name")


def folded_name(name: str) -> str:
    """The words of a name in one style; two names of one form differ only in case, hyphens or word style."""
    return "_".join(split_identifier(fold(name) if not name.isascii() else name))


def _folded(name: str, catalog: Catalog) -> NameResolution | None:
    low = fold(name).replace("-", "_")
    found = {tool.key: tool for tool in catalog.by_lower_name.get(low, ())}
    if found:
        return _one(found, "case_or_hyphen")
    form = folded_name(name)
    if not form:
        return None
    found = {tool.key: tool for tool in catalog.by_folded_name.get(form, ())}
    if found:
        return _one(found, "word_style")
    words = form.split("_")
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
        found = {tool.key: tool for tool in catalog.by_folded_name.get("_".join(words), ())}
        if found:
            return _one(found, "suffix_removed")
    return None


def _one(found: dict[str, Tool], repair: str) -> NameResolution | None:
    if not found:
        return None
    if len(found) > 1:
        return NameResolution(None, "ambiguous", tuple(sorted(found)))
    (tool,) = found.values()
    return NameResolution(tool, repair, (tool.key,))
