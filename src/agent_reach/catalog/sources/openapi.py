"""OpenAPI 3 documents as a source: one operation, one tool.

Parameters and body become one argument object, the success response the output schema, the method the effect hints,
security schemes the needs. How a call is to be sent is kept in the definition under `_meta` (`CALL_KEY`), the links of its
responses beside it. Only references inside the document are followed; Swagger 2 is refused with advice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.bounded import bounded_copy
from agent_reach.catalog.catalog import SourceInfo
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.gather import Gatherer
from agent_reach.catalog.sources.components import MAX_DEFINITIONS, Components
from agent_reach.catalog.sources.openapi_links import LINKS_KEY, LinkReader, ListedOperation
from agent_reach.errors import CatalogError
from agent_reach.records.tool import Effect, Needs

if TYPE_CHECKING:
    from agent_reach.catalog.load import LoadOptions

CALL_KEY = "agent-reach/http"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_EFFECTS: dict[str, tuple[Effect, ...]] = {
    "get": ("read",),
    "head": ("read",),
    "options": ("read",),
    "trace": ("read",),
    "query": ("read",),
    "put": ("write", "idempotent"),
    "delete": ("write", "destructive", "idempotent"),
    "post": ("write",),
    "patch": ("write",),
}
_SENT_BY_CLIENTS = frozenset({"accept", "content-type", "authorization"})
_MAX_BYTES = 50_000_000


def gather_address(address: str, options: LoadOptions, gatherer: Gatherer) -> None:
    """Read the OpenAPI document at an address that a person gave (no other address is ever fetched)."""
    import urllib.error
    import urllib.request

    from agent_reach.catalog.load import gather_document, parse_text

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(address, headers={"Accept": "application/json, application/yaml, */*"})
    try:
        with opener.open(request, timeout=options.timeout) as response:
            text = response.read(_MAX_BYTES).decode("utf-8-sig", "replace")
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise CatalogError(
            f"cannot be read: {error}", where=address, next_step="is the service running?"
        ) from error
    if text.lstrip().startswith("{"):
        document = parse_text(text, address)
    else:
        from agent_reach.config.documents import parse_yaml

        document = parse_yaml(text, address, error=CatalogError).value
    if not isinstance(document, Mapping) or not ("openapi" in document or "swagger" in document):
        raise CatalogError(
            "this is no OpenAPI document",
            where=address,
            next_step="give an MCP server in an mcpServers file instead",
        )
    gather_document(document, replace(options, where=address), gatherer)


def gather_openapi(document: Mapping[str, Any], options: LoadOptions, gatherer: Gatherer) -> None:
    """Add a tool for every operation of the document."""
    version = str(document.get("openapi") or "")
    if "swagger" in document and not version:
        raise CatalogError(
            f"this is Swagger {document['swagger']}, not OpenAPI 3",
            where=options.where,
            next_step="convert it first (for example with swagger2openapi, or the export of your editor)",
        )
    if not version.startswith("3"):
        raise CatalogError(
            f"OpenAPI {version!r} is not known", where=options.where, next_step="give OpenAPI 3.x"
        )
    copied, _ = bounded_copy(document, max_depth=160, max_nodes=5_000_000)
    reader = _OpenApiReader(copied, options, gatherer)
    before = len(gatherer.tools)
    reader.read()
    gatherer.source(
        SourceInfo(
            kind="openapi",
            location=options.where,
            server=options.server or "",
            tools=len(gatherer.tools) - before,
            details={"openapi": version, "title": _title(copied)},
        )
    )


class _OpenApiReader:
    def __init__(self, document: dict[str, Any], options: LoadOptions, gatherer: Gatherer) -> None:
        self.document = document
        self.options = options
        self.gatherer = gatherer
        self.names: set[str] = set()
        self.listed: list[ListedOperation] = []
        self.parts = Components(document, self.too_many)
        self.is_3_0 = str(document.get("openapi")).startswith("3.0")

    def read(self) -> None:
        paths = self.document.get("paths")
        if not isinstance(paths, dict) or not paths:
            self.skip("/paths", "the document has no paths")
            return
        for path, item in paths.items():
            found = self.parts.deref(item)
            if not isinstance(found, dict):
                self.skip(f"/paths/{path}", "this is no path item")
                continue
            for method in METHODS:
                operation = found.get(method)
                if isinstance(operation, dict):
                    self.operation(path, method, found, operation)
        self.add_links()

    def too_many(self, tool: str) -> None:
        """Tell that a tool needs more component schemas than are kept."""
        detail = f"more than {MAX_DEFINITIONS} component schemas; the farther ones accept any value"
        self.gatherer.note(make_finding("operation_note", tool, source=self.options.where, detail=detail))

    def skip(self, pointer: str, detail: str, subject: str = "") -> None:
        self.gatherer.note(
            make_finding("operation_skipped", subject, pointer, source=self.options.where, detail=detail)
        )

    # -- one operation -------------------------------------------------------------------------------------

    def operation(self, path: str, method: str, item: dict[str, Any], operation: dict[str, Any]) -> None:
        name = self.name(path, method, operation)
        where = f"/paths/{path}/{method}"
        call: dict[str, Any] = {"method": method.upper(), "path": path, "parameters": {}}
        base = self.base_address(item, operation)
        if base:
            call["base_url"] = base
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        required: list[str] = []
        for parameter in self.parameters(item, operation, where, name):
            self.add_parameter(parameter, schema, required, call)
        self.add_body(operation, schema, required, call, where, name)
        if required:
            schema["required"] = list(dict.fromkeys(required))
        self.parts.attach_definitions(schema, name)
        entry: dict[str, Any] = {
            "name": name,
            "description": _description(operation, item),
            "inputSchema": schema,
            "annotations": _annotations(method),
            "_meta": {CALL_KEY: call},
        }
        if isinstance(operation.get("summary"), str) and operation["summary"] != entry["description"]:
            entry["title"] = operation["summary"]
        output = self.output_schema(operation, name)
        if output is not None:
            entry["outputSchema"] = output
        self.add(entry, method, self.needs(operation))
        self.listed.append(ListedOperation(name, path, method, operation, call))

    def add(self, entry: dict[str, Any], method: str, needs: Needs) -> None:
        server = self.options.server or ""
        noted = len(self.gatherer.findings)
        self.gatherer.add_entry(entry, len(self.names), server=server, source=self.options.where)
        if self.is_3_0:  # there these are the dialect itself, not a mistake
            fresh = self.gatherer.findings[noted:]
            own = ("nullable_keyword", "draft_dialect")
            self.gatherer.findings[noted:] = [finding for finding in fresh if finding.code not in own]
        identity = (server, entry["name"])
        if identity in self.gatherer.tools:
            tool = self.gatherer.tools[identity]
            self.gatherer.tools[identity] = replace(tool, needs=needs, effects=frozenset(_EFFECTS[method]))

    def name(self, path: str, method: str, operation: dict[str, Any]) -> str:
        written = operation.get("operationId")
        if isinstance(written, str) and written.strip():
            name = written.strip()
        else:
            name = "_".join([method, *re.findall(r"[A-Za-z0-9]+", path)])
        unique, count = name, 2
        while unique in self.names:
            unique = f"{name}_{count}"
            count += 1
        if unique != name:
            detail = f"the operationId {name!r} is used twice; this one is called {unique!r}"
            self.gatherer.note(
                make_finding(
                    "operation_note",
                    unique,
                    f"/paths/{path}/{method}",
                    source=self.options.where,
                    detail=detail,
                )
            )
        self.names.add(unique)
        return unique

    def base_address(self, item: dict[str, Any], operation: dict[str, Any]) -> str:
        for holder in (operation, item, self.document):
            servers = holder.get("servers")
            if isinstance(servers, list) and servers and isinstance(servers[0], dict):
                address = str(servers[0].get("url") or "")
                variables = servers[0].get("variables")
                for variable, facts in (variables if isinstance(variables, dict) else {}).items():
                    default = facts.get("default", "") if isinstance(facts, dict) else ""
                    address = address.replace("{" + str(variable) + "}", str(default))
                return address
        return ""

    def parameters(
        self, item: dict[str, Any], operation: dict[str, Any], where: str, name: str
    ) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for holder in (item, operation):
            listed = holder.get("parameters")
            for index, written in enumerate(listed if isinstance(listed, list) else []):
                parameter = self.parts.deref(written)
                if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
                    self.skip(f"{where}/parameters/{index}", "the parameter cannot be read", name)
                    continue
                place = str(parameter.get("in") or "query")
                if place == "header" and parameter["name"].casefold() in _SENT_BY_CLIENTS:
                    continue
                found[(parameter["name"], place)] = parameter
        return list(found.values())

    def add_parameter(
        self, parameter: dict[str, Any], schema: dict[str, Any], required: list[str], call: dict[str, Any]
    ) -> None:
        written, place = parameter["name"], str(parameter.get("in") or "query")
        name = _free_name(written, place, schema["properties"])
        part = parameter.get("schema")
        if part is None and isinstance(parameter.get("content"), dict) and parameter["content"]:
            first = next(iter(parameter["content"].values()))
            part = first.get("schema") if isinstance(first, dict) else None
        made = self.parts.schema(part if part is not None else {})
        if isinstance(made, dict):
            made = _with_words(made, parameter)
        schema["properties"][name] = made
        if parameter.get("required") is True or place == "path":
            required.append(name)
        sent: dict[str, Any] = {"in": place, "name": written}
        for key in ("style", "explode", "allowReserved"):
            if key in parameter:
                sent[key] = parameter[key]
        call["parameters"][name] = sent

    def add_body(
        self,
        operation: dict[str, Any],
        schema: dict[str, Any],
        required: list[str],
        call: dict[str, Any],
        where: str,
        name: str,
    ) -> None:
        if "requestBody" not in operation:
            return
        body = self.parts.deref(operation["requestBody"])
        content = body.get("content") if isinstance(body, dict) else None
        if not isinstance(content, dict) or not content:
            self.skip(f"{where}/requestBody", "the body cannot be read", name)
            return
        kind = _best_content(content)
        part = content[kind].get("schema", {}) if isinstance(content[kind], dict) else {}
        is_required = body.get("required") is True
        whole = self.parts.schema(part)
        plain = self.parts.merged_object(whole)
        call["content_type"] = kind
        if plain is None:
            self.whole_body(whole, body, schema, required, call, is_required)
            return
        call["body"] = {}
        for written, item in plain["properties"].items():
            resolved = self.parts.resolved(item)
            if isinstance(resolved, dict) and resolved.get("readOnly") is True:
                continue
            shown = _free_name(written, "body", schema["properties"])
            schema["properties"][shown] = item
            call["body"][shown] = written
            if is_required and written in plain.get("required", ()):
                required.append(shown)
        if plain.get("additionalProperties") not in (None, False):
            schema["additionalProperties"] = plain["additionalProperties"]

    def whole_body(
        self,
        whole: Any,
        body: dict[str, Any],
        schema: dict[str, Any],
        required: list[str],
        call: dict[str, Any],
        is_required: bool,
    ) -> None:
        shown = _free_name("body", "request", schema["properties"])
        schema["properties"][shown] = _with_words(whole, body) if isinstance(whole, dict) else whole
        call["body_argument"] = shown
        if is_required:
            required.append(shown)

    # -- schemas -------------------------------------------------------------------------------------------

    def output_schema(self, operation: dict[str, Any], name: str) -> dict[str, Any] | None:
        responses = operation.get("responses")
        if not isinstance(responses, dict):
            return None
        good = sorted(
            code for code in map(str, responses) if re.fullmatch(r"2(\d\d|XX)", code, re.IGNORECASE)
        )
        for code in [*good, *(["default"] if not good else [])]:
            response = self.parts.deref(
                responses.get(code, responses.get(int(code)) if code.isdigit() else None)
            )
            content = response.get("content") if isinstance(response, dict) else None
            if not isinstance(content, dict):
                continue
            for kind, media in content.items():
                if "json" in kind and isinstance(media, dict) and media.get("schema"):
                    made = self.parts.schema(media["schema"])
                    if isinstance(made, dict):
                        self.parts.attach_definitions(made, name)
                        return made
        return None

    # -- links ---------------------------------------------------------------------------------------------

    def add_links(self) -> None:
        """Put the links of each operation beside the way it is called, once the arguments of all tools are known."""
        reader = LinkReader(self.parts, self.listed, self.broken_link)
        for listed in self.listed:
            found = reader.links(listed)
            identity = (self.options.server or "", listed.tool)
            tool = self.gatherer.tools.get(identity)
            meta = tool.original.get("_meta") if tool is not None else None
            if found and tool is not None and isinstance(meta, Mapping) and meta.get(CALL_KEY) == listed.call:
                original = {**tool.original, "_meta": {**meta, LINKS_KEY: found}}
                self.gatherer.tools[identity] = replace(tool, original=original)

    def broken_link(self, listed: ListedOperation, pointer: str, detail: str) -> None:
        """Tell what is wrong with a link."""
        self.gatherer.note(
            make_finding(
                "operation_note",
                listed.tool,
                pointer,
                severity="warning",
                source=self.options.where,
                detail=detail,
            )
        )

    # -- needs ---------------------------------------------------------------------------------------------

    def needs(self, operation: dict[str, Any]) -> Needs:
        """The first way in that the document allows; nothing where one of them is to need nothing."""
        wanted = operation.get("security", self.document.get("security"))
        if not isinstance(wanted, list) or not wanted or {} in wanted or not isinstance(wanted[0], dict):
            return Needs()
        services: list[str] = []
        scopes: list[str] = []
        for name, listed in wanted[0].items():
            services.append(str(name))
            scopes.extend(str(scope) for scope in (listed if isinstance(listed, list) else ()))
        return Needs(services=tuple(services), scopes=tuple(dict.fromkeys(scopes)))


def _title(document: dict[str, Any]) -> str:
    info = document.get("info")
    return str(info.get("title") or "") if isinstance(info, dict) else ""


def _best_content(content: dict[str, Any]) -> str:
    """JSON first, then forms, then what comes first."""
    for test in (
        lambda kind: kind.split(";")[0].strip() == "application/json",
        lambda kind: "json" in kind,
        lambda kind: "form" in kind,
    ):
        for kind in content:
            if test(kind.casefold()):
                return str(kind)
    return str(next(iter(content)))


def _free_name(name: str, place: str, taken: Mapping[str, Any]) -> str:
    if name not in taken:
        return name
    candidate, count = f"{name}_{place}", 2
    while candidate in taken:
        candidate = f"{name}_{place}_{count}"
        count += 1
    return candidate


def _with_words(schema: dict[str, Any], holder: dict[str, Any]) -> dict[str, Any]:
    """The schema with the description and the examples of what holds it."""
    made = dict(schema)
    text = holder.get("description")
    if isinstance(text, str) and text and not made.get("description"):
        made["description"] = text
    if "example" in holder and "examples" not in made:
        made["examples"] = [holder["example"]]
    elif isinstance(holder.get("examples"), dict) and "examples" not in made:
        values = [item.get("value") for item in holder["examples"].values() if isinstance(item, dict)]
        made["examples"] = [value for value in values if value is not None]
    return made


def _description(operation: dict[str, Any], item: dict[str, Any]) -> str:
    summary = operation.get("summary") or item.get("summary")
    text = operation.get("description") or item.get("description")
    parts = [part.strip() for part in (summary, text) if isinstance(part, str) and part.strip()]
    if len(parts) == 2 and (parts[1].startswith(parts[0]) or parts[0] == parts[1]):
        parts = parts[1:]
    if operation.get("deprecated") is True:
        parts.append("Deprecated.")
    return "\n".join(parts)


def _annotations(method: str) -> dict[str, bool]:
    effects = _EFFECTS[method]
    if "read" in effects:
        return {"readOnlyHint": True}
    return {
        "readOnlyHint": False,
        "destructiveHint": "destructive" in effects,
        "idempotentHint": "idempotent" in effects,
    }
