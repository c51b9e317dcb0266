"""What one kind of client is offered at one endpoint: the list it is shown, and which names it may call.

Showing and calling come from one table: whatever a list or a search names is callable by that name, and a tool that is not
shown is never said not to exist. A view belongs to one version of the catalog and is made anew with the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.catalog.needs import WORDS, missing_needs
from agent_reach.gateway.eras import client_definition
from agent_reach.gateway.meta_tools import META_TOOLS, meta_definitions
from agent_reach.gateway.paging import version_of
from agent_reach.gateway.settings import ClientRule, GatewaySettings, Mode, Profile
from agent_reach.records.tool import Tool
from agent_reach.router.reach_find import hidden_tools
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants
    from agent_reach.router.history import History
    from agent_reach.router.reach import Reach

OFFERED_IN_TRACES = 100
"""A trace names the offered tools up to this number; of longer lists only the first trace of a client does."""

REASONS = {
    "not_listed": "it is not among the tools that are allowed here",
    "permission": "it needs {lacks}, which is not granted{where}",
}
"""What a client is told of a tool that it may not use."""


class UnknownNameError(Exception):
    """No tool is meant by a name, or several are; the message says what to write instead."""


class NotAllowedError(Exception):
    """The `tool` exists and may not be used here; the message says why."""

    def __init__(self, message: str, tool: Tool) -> None:
        super().__init__(message)
        self.tool = tool


class View:
    """One client's part of one version of the catalog.

    `visible` holds the tools it may use, `hidden` the others with the reason, `lacks` what the environment does not grant to
    them; `history` and `reach_options` (of `Reach`) are for its searches.
    """

    def __init__(
        self,
        catalog: Catalog,
        version: str,
        settings: GatewaySettings,
        rule: ClientRule,
        *,
        grants: EnvironmentGrants | None = None,
        withheld: Mapping[str, str] | None = None,
        history: History | None = None,
        reach_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.catalog = catalog
        self.settings = settings
        self._history = history
        self._reach_options = dict(reach_options or {})
        self.hidden: dict[str, str] = dict(withheld or {})
        self._environment = grants.name if grants is not None else ""
        missing = {
            tool.key: lacks
            for tool in catalog.tools
            if grants is not None and tool.needs and (lacks := missing_needs(tool.needs, grants))
        }
        gateway, findings = hidden_tools(
            catalog.tools, settings.allow, settings.deny, dict.fromkeys(missing, "missing")
        )
        client, more = hidden_tools(catalog.tools, rule.allow, rule.deny, None)
        self.findings = (*findings, *more)
        for key, reason in (*client.items(), *gateway.items()):
            self.hidden.setdefault(key, reason)
        self.lacks = {
            key: tuple(f"{WORDS[kind]} {name}" for kind, name in lacks)
            for key, lacks in missing.items()
            if self.hidden.get(key) == "permission"
        }
        self.visible = tuple(tool for tool in catalog.tools if tool.key not in self.hidden)
        self.version = version_of(version, *sorted(self.hidden))
        self._shown: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        self._profiles: dict[str, tuple[Tool, ...]] = {}

    @cached_property
    def reach(self) -> Reach:
        """The reach layer over what is visible, made when first needed."""
        from agent_reach.router.reach import Reach

        whole = len(self.visible) == len(self.catalog.tools)
        catalog = self.catalog if whole else self.catalog.subset(self.visible)
        return Reach(
            catalog,
            pins=self._known(self.settings.pins),
            history=self._history,
            **self._reach_options,
        )

    @property
    def has_reach(self) -> bool:
        """Whether the reach layer is made already."""
        return "reach" in self.__dict__

    def tools_of(self, mode: Mode, profile: Profile | None) -> tuple[Tool, ...]:
        """The catalog's tools that an endpoint lists, in order."""
        if mode == "all" and profile is None:
            return self.visible
        if profile is None:
            return tuple(self.catalog.get(key) for key in self._known(self.settings.pins))
        if profile.name not in self._profiles:
            pinned = [self.catalog.get(key) for key in self._known((*self.settings.pins, *profile.pins))]
            # without past requests: a list that is fixed must not follow what clients do
            matches = self.reach.finder(profile.text, profile.count, past=False) if profile.text else ()
            found = [one.tool for one in matches]
            self._profiles[profile.name] = tuple({tool.key: tool for tool in (*pinned, *found)}.values())
        return self._profiles[profile.name]

    def definitions(
        self, mode: Mode, profile: Profile | None, protocol: str, more: Sequence[Tool] = ()
    ) -> list[dict[str, Any]]:
        """The list in protocol form, for a client of that revision; `more` tools come at its end."""
        key = (mode, profile.name if profile is not None else "", protocol)
        shown = self._shown.get(key)
        if shown is None:
            shown = meta_definitions(len(self.visible)) if mode == "search" and profile is None else []
            tools = self.tools_of(mode, profile)
            shown = [
                client_definition(one, protocol)
                for one in (*shown, *(self.definition(tool) for tool in tools))
            ]
            self._shown[key] = shown
        if not more:
            return shown
        names = {one["name"] for one in shown}
        extra = [self.definition(tool) for tool in more if tool.key not in self.hidden]
        return [*shown, *(client_definition(one, protocol) for one in extra if one["name"] not in names)]

    def definition(self, tool: Tool) -> dict[str, Any]:
        """A tool as its server defined it, under the name on the wire, with the note where one was written."""
        original = tool.original if tool.original.get("inputSchema") is not None else {}
        shown: dict[str, Any] = {**original, "name": self.wire_name(tool)}
        if not original:
            shown.update(inputSchema=dict(tool.input_schema))
            optional = (("title", tool.title), ("outputSchema", tool.output_schema))
            shown.update({key: value for key, value in optional if value})
            if tool.annotations:
                shown["annotations"] = dict(tool.annotations)
        shown["description"] = _described(tool, self.settings.notes)
        if not shown["description"]:
            del shown["description"]
        return shown

    def wire_name(self, tool: Tool) -> str:
        """The name a client sees; one that a meta-tool has is taken from the tool."""
        name = self.catalog.wire_name(tool)
        return f"{name}_tool" if self.settings.mode == "search" and name in META_TOOLS else name

    def tool(self, name: str) -> Tool:
        """The tool that a name means; raises `UnknownNameError` or `NotAllowedError`."""
        found = self.catalog.from_wire(name)
        if found is None and self.settings.mode == "search" and name.removesuffix("_tool") in META_TOOLS:
            found = self.catalog.from_wire(name.removesuffix("_tool"))
        if found is None:
            resolved = resolve_emitted_name(name, self.catalog)
            if resolved.tool is None and resolved.is_ambiguous:
                raise UnknownNameError(
                    f"{name!r} could be {', '.join(resolved.candidates)}: write one of these"
                )
            found = resolved.tool
        if found is None:
            near = nearest_names(name, [self.wire_name(tool) for tool in self.visible], limit=5)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            raise UnknownNameError(f"Unknown tool: {name}{hint}")
        reason = self.hidden.get(found.key)
        if reason is not None:
            why = self._why(found.key, reason)
            raise NotAllowedError(f"{found.key} may not be used here: {why}", found)
        return found

    def _why(self, key: str, reason: str) -> str:
        where = f" in {self._environment}" if self._environment else ""
        return REASONS.get(reason, reason).format(lacks=", ".join(self.lacks.get(key, ())), where=where)

    def _known(self, names: Sequence[str]) -> list[str]:
        keys = []
        for name in names:
            if name in self.catalog:
                tool = self.catalog.get(name)
                if tool.key not in self.hidden:
                    keys.append(tool.key)
        return keys


def _described(tool: Tool, notes: bool) -> str:
    note = tool.note
    if note is None or not notes:
        return tool.description
    lines = [note.summary] if note.summary and note.summary not in tool.description else []
    lines.append(tool.description)
    for parameter, hint in note.param_hints.items():
        values = [f"{value} ({', '.join(words)})" if words else value for value, words in hint.values.items()]
        facts = [fact for fact in (hint.format, "; ".join(values)) if fact]
        if facts:
            lines.append(f"{parameter}: {'; '.join(facts)}")
    if note.conflicts:
        lines.append("Not for: " + "; ".join(f"{text} ({rival})" for rival, text in note.conflicts.items()))
    return "\n".join(line for line in lines if line)
