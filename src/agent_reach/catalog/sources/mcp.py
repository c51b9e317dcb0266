"""Live MCP servers as a source: all servers of a file started side by side, their tool lists gathered.

Starting, protocol eras and paging are the business of `wire`; here a listing becomes tools, and a server that failed
becomes a finding while the rest loads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agent_reach.catalog.catalog import SourceInfo
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.gather import Gatherer
from agent_reach.errors import CatalogError

if TYPE_CHECKING:
    from agent_reach.catalog.load import LoadOptions
    from agent_reach.wire.startup import ServerListing

Result = TypeVar("Result")


def gather_servers(document: Mapping[str, Any], options: LoadOptions, gatherer: Gatherer) -> None:
    """Start every server of an `mcpServers` document and add its tools; each has `options.timeout` seconds.

    Raises `CatalogError` where not one of several servers could be used and nothing else is in the catalog.
    """
    from agent_reach.wire.servers import parse_servers
    from agent_reach.wire.session import SessionOptions
    from agent_reach.wire.startup import list_servers

    configs = parse_servers(document, options.environment or {}, options.where)
    wanted = SessionOptions(startup_timeout=options.timeout)
    listings = run_apart(list_servers(configs, wanted))
    for listing in listings:
        add_listing(listing, gatherer)
    if listings and all(listing.error is not None for listing in listings) and options.strict:
        first = listings[0].error
        raise CatalogError(
            f"no server could be used; the first one: {first}",
            where=options.where,
            next_step="see the findings",
        )


def add_listing(listing: ServerListing, gatherer: Gatherer) -> None:
    """Add what one server offers, or the finding that it failed."""
    for finding in listing.findings:
        gatherer.note(finding)
    told = any(finding.code == "server_failed" for finding in listing.findings)
    if listing.error is not None and not told:
        gatherer.note(make_finding("server_failed", listing.name, detail=listing.error.message))
    for index, entry in enumerate(listing.tools):
        gatherer.add_entry(
            _without_server(entry), index, server=listing.name, protocol=True, source=listing.config.where
        )
    details: dict[str, Any] = {"pages": listing.pages, "protocol": listing.protocol_version}
    details["server_info"] = {
        key: value for key, value in dict(listing.info).items() if key in ("name", "version")
    }
    if listing.error is not None:
        details = {"failed": True}
    gatherer.source(
        SourceInfo(
            kind="mcp",
            location=listing.config.where,
            server=listing.name,
            tools=len(listing.tools),
            details=details,
        )
    )


def _without_server(entry: Any) -> Any:
    """A definition as the server gave it; a server must not say that a tool is another server's."""
    if isinstance(entry, Mapping) and "server" in entry:
        return {key: value for key, value in entry.items() if key != "server"}
    return entry


def run_apart(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, run to its end from ordinary code or from inside a running event loop (then in a
    thread of its own)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="agent-reach-list", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
