"""Definitions from any source gathered into tools: names checked, schemas read, twins told apart.

Every source hands its definitions to one `Gatherer`; it makes `Tool`s, quarantines what cannot be used, and keeps the
findings. It knows nothing of files or servers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agent_reach.catalog.bounded import bounded_copy
from agent_reach.catalog.catalog import Catalog, Provenance, QuarantinedTool, SourceInfo
from agent_reach.catalog.definitions import annotation_effects, read_definition
from agent_reach.catalog.dialect import RepairTypes
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.identity import hashed_definition
from agent_reach.catalog.reading import read_schema
from agent_reach.records.codec import content_hash
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool, tool_key

_BARE_KEYS = frozenset({"$schema", "title", "description", "$id", "$comment"})


class Gatherer:
    """Collects tools, quarantined definitions, findings and sources of one catalog."""

    def __init__(self, repair_types: RepairTypes = "auto") -> None:
        self.repair_types = repair_types
        self.tools: dict[tuple[str, str], Tool] = {}
        self.quarantined: list[QuarantinedTool] = []
        self.findings: list[Finding] = []
        self.sources: list[SourceInfo] = []
        self._stripped: Counter[str] = Counter()
        self._per_server: Counter[str] = Counter()

    def add_entry(
        self, entry: Any, index: int, *, server: str = "", protocol: bool = False, source: str = ""
    ) -> None:
        """Add one definition in any known form. `protocol` says that it was an answer of the protocol."""
        if isinstance(entry, Tool):
            self.add_tool(entry)
            return
        if not isinstance(entry, Mapping):
            found = type(entry).__name__
            self._quarantine(
                server,
                f"#{index}",
                make_finding("not_a_tool", tool_key(server, f"#{index}"), index=index, found=found),
                {"value": bounded_copy(entry)[0]},
            )
            return
        original, _ = bounded_copy(entry)
        definition = read_definition(entry)
        if definition is None:
            reason = make_finding("name_missing", tool_key(server, f"#{index}"), index=index, source=source)
            self._quarantine(server, f"#{index}", reason, original)
            return
        owner = definition.server or server
        key = tool_key(owner, definition.name)
        repair = self.repair_types == "always" or (self.repair_types == "auto" and not protocol)
        found_input = read_schema(definition.input_schema, key, repair=repair)
        for finding in (*definition.findings, *found_input.findings):
            self.findings.append(_about(finding, key, source))
        self._count_schema(owner, definition.input_schema)
        if found_input.fatal is not None:
            self._quarantine(owner, definition.name, _about(found_input.fatal, key, source), original)
            return
        tool = Tool(
            name=definition.name,
            server=owner,
            title=definition.title,
            description=definition.description,
            input_schema=found_input.schema,
            output_schema=self._output_schema(definition.output_schema, key, source),
            annotations=bounded_copy(definition.annotations)[0],
            original=original,
            effects=annotation_effects(definition.annotations),
        )
        self.add_tool(tool)

    def add_tool(self, tool: Tool) -> None:
        """Add a tool that is already made; a twin of one identity collapses quietly or is quarantined."""
        identity = (tool.server, tool.name)
        known = self.tools.get(identity)
        self._per_server[tool.server] += 1
        if known is None:
            self.tools[identity] = tool
            return
        if _definition_hash(known) != _definition_hash(tool):
            finding = make_finding("duplicate_tool", tool.key)
            self.findings.append(finding)
            self.quarantined.append(
                QuarantinedTool(
                    key=tool.key, reason=finding, original=tool.original, server=tool.server, name=tool.name
                )
            )

    def _output_schema(self, raw: Any, key: str, source: str) -> dict[str, Any] | None:
        if raw is None or raw == {}:
            return None
        read = read_schema(raw, key, repair=True, arguments=False)
        for finding in read.findings:
            self.findings.append(_about(finding, key, source))
        if read.fatal is not None:
            self.findings.append(
                make_finding("output_schema_unusable", key, source=source, detail=read.fatal.message.en)
            )
            return None
        return read.schema

    def _quarantine(self, server: str, name: str, reason: Finding, original: Any) -> None:
        self.findings.append(reason)
        self.quarantined.append(
            QuarantinedTool(
                key=tool_key(server, name), reason=reason, original=original, server=server, name=name
            )
        )

    def _count_schema(self, server: str, raw: Any) -> None:
        if isinstance(raw, Mapping) and raw and "$schema" in raw and set(raw) <= _BARE_KEYS:
            self._stripped[server] += 1

    def note(self, finding: Finding) -> None:
        """Keep a finding of a source."""
        self.findings.append(finding)

    def source(self, info: SourceInfo) -> None:
        """Remember where tools came from."""
        self.sources.append(info)

    def catalog(self, *, git_commit: str = "", created_at: float | None = None) -> Catalog:
        """The finished catalog."""
        for server, count in self._stripped.items():
            total = self._per_server[server]
            if count * 2 >= total:
                self.findings.append(make_finding("schemas_stripped", server, count=count, total=total))
        provenance = Provenance(sources=tuple(self.sources), git_commit=git_commit, created_at=created_at)
        return Catalog(
            self.tools.values(),
            quarantined=self.quarantined,
            findings=self.findings,
            provenance=provenance,
        )


def _definition_hash(tool: Tool) -> str:
    return content_hash(bounded_copy(hashed_definition(tool))[0])


def _about(finding: Finding, key: str, source: str) -> Finding:
    if finding.subject == key and finding.source == source:
        return finding
    return Finding(
        code=finding.code,
        severity=finding.severity,
        message=finding.message,
        subject=key,
        pointer=finding.pointer,
        source=source,
        line=finding.line,
        fix=finding.fix,
        data=finding.data,
    )
