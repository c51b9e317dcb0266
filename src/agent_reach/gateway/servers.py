"""All servers behind the gateway and the catalog they make together.

Started side by side; one that fails is a finding, and its last known tools stay. Lists are kept on disk by content, so
that a gateway answers before its servers have started. Each server's list is read once per content; a change of one
server does not touch the others.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog, Provenance
from agent_reach.catalog.gather import Gatherer
from agent_reach.catalog.overlay import Overlay
from agent_reach.catalog.sources.mcp import add_listing
from agent_reach.config.whole_file import write_whole_file
from agent_reach.errors import InputError
from agent_reach.gateway.paging import version_of
from agent_reach.gateway.upstream import Upstream
from agent_reach.records.finding import Finding
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import SessionOptions
from agent_reach.wire.startup import ServerListing

SETTLE = 0.05
"""Seconds that announcements of one server are collected before it is asked again."""

MOST_OWN = 100
"""Sessions with tokens of clients that are kept."""

OnChange = Callable[[str, str], Awaitable[None]]
"""Told what changed (`tools`, `prompts`, `resources`, `updated`) and the server, or the address of a resource."""


class Servers:
    """The servers of one gateway, by name, and their catalog.

    `catalog` always exists; it grows with each list that arrives. `version` names its content. Kept lists are told apart
    by `variant`, because some servers offer more to clients that can do more.
    """

    def __init__(
        self,
        configs: Iterable[ServerConfig],
        options: SessionOptions,
        *,
        overlay: Overlay | None = None,
        static: Catalog | None = None,
        cache: str = "",
        variant: str = "",
        capabilities: Callable[[], Mapping[str, Any]] = dict,
        on_change: OnChange | None = None,
    ) -> None:
        self.upstreams = {
            config.name: Upstream(config, options, self._changed, capabilities) for config in configs
        }
        self.on_change = on_change
        self._variant = variant
        self._options = options
        self._capabilities = capabilities
        self._own: OrderedDict[tuple[str, str], Upstream] = OrderedDict()
        self.overlay = overlay
        self.version = ""
        self._static = static
        self._cache = Path(cache) if cache else None
        self._gathered: dict[str, tuple[str, Catalog]] = {}
        self._listed: dict[str, ServerListing] = {}
        self._fresh: set[str] = set()
        self._refreshing: dict[str, asyncio.Task[bool]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.catalog = static or Catalog()
        for name, upstream in self.upstreams.items():
            kept = self._read(upstream.config)
            if kept is not None:
                self._take(name, kept)
        self._rebuild()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the servers and their lists."""
        return self.catalog.findings

    @property
    def unknown(self) -> tuple[str, ...]:
        """Servers of which no list is known, kept or fresh."""
        return tuple(name for name in self.upstreams if name not in self._listed)

    @property
    def stale(self) -> tuple[str, ...]:
        """Servers whose list was not read in this process."""
        return tuple(name for name in self.upstreams if name not in self._fresh)

    async def known(self, seconds: float) -> None:
        """Wait until every server's list is known or has failed, at most that long."""
        if self.unknown:
            await self.refresh(self.unknown, seconds)

    async def refresh(self, names: Iterable[str] | None = None, seconds: float | None = None) -> bool:
        """Read the lists of these servers again (all that are not fresh); whether the catalog changed.

        What is not ready within `seconds` goes on and changes the catalog when it is.
        """
        wanted = [self._refreshed(name) for name in (self.stale if names is None else names)]
        if not wanted:
            return False
        done, _ = await asyncio.wait(wanted, timeout=seconds)
        return any(task.result() for task in done if not task.cancelled() and task.exception() is None)

    def _refreshed(self, name: str) -> asyncio.Task[bool]:
        task = self._refreshing.get(name)
        if task is None or task.done():
            task = asyncio.ensure_future(self._refresh(name))
            self._refreshing[name] = task
        return task

    async def _refresh(self, name: str) -> bool:
        upstream = self.upstreams[name]
        listing = await upstream.list_tools()
        if listing.error is not None and name in self._listed and self._listed[name].error is None:
            return False  # the last known list stays
        self._fresh.add(name)
        if not self._take(name, listing):
            return False
        if listing.error is None:
            self._write(upstream.config, listing)
        self._rebuild()
        if self.on_change is not None:
            await self.on_change("tools", name)
        return True

    def _take(self, name: str, listing: ServerListing) -> bool:
        """Keep a listing; False if it says what was known."""
        content = _content(listing)
        known = self._gathered.get(name)
        self._listed[name] = listing
        if known is not None and known[0] == content:
            return False
        gatherer = Gatherer()
        add_listing(listing, gatherer)
        self._gathered[name] = (content, gatherer.catalog())
        return True

    def _rebuild(self) -> None:
        parts = [self._gathered[name] for name in self.upstreams if name in self._gathered]
        static = self._static
        tools = list(static.tools) if static is not None else []
        quarantined = list(static.quarantined) if static is not None else []
        findings = list(static.findings) if static is not None else []
        sources = list(static.provenance.sources) if static is not None else []
        for _, made in parts:
            tools.extend(made.tools)
            quarantined.extend(made.quarantined)
            findings.extend(made.findings)
            sources.extend(made.provenance.sources)
        catalog = Catalog(
            tools,
            quarantined=quarantined,
            findings=findings,
            provenance=Provenance(sources=tuple(sources), created_at=time.time()),
            overlay=static.overlay if static is not None else None,
        )
        if self.overlay is not None and parts:
            catalog = catalog.with_overlay(self.overlay)
        self.catalog = catalog
        self.version = version_of(
            static.hash if static is not None else "", *(content for content, _ in parts)
        )

    # -- servers that are given the client's own token

    async def own(self, name: str, token: str) -> Upstream:
        """The session with a server for the bearer of this token; the longest unused one ends when there are many."""
        key = (name, hashlib.sha256(token.encode()).hexdigest())
        known = self._own.pop(key, None)
        if known is None:
            base = self.upstreams[name].config
            config = dataclasses.replace(base, headers={**base.headers, "Authorization": f"Bearer {token}"})
            known = Upstream(config, self._options, self._changed, self._capabilities)
        self._own[key] = known
        if len(self._own) > MOST_OWN:
            for old in list(self._own):
                if self._own[old].in_flight == 0:
                    await self._own.pop(old).close()
                    break
        return known

    # -- what servers announce

    def _changed(self, upstream: Upstream, what: str) -> None:
        task = asyncio.ensure_future(self._follow(upstream.name, what))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, name: str, what: str) -> None:
        if what == "tools":
            await asyncio.sleep(SETTLE)
            running = self._refreshing.get(name)
            if running is not None and not running.done():
                await asyncio.wait([running])
            await self._refreshed(name)
        elif self.on_change is not None:
            kind, _, address = what.partition(":")
            await self.on_change(kind, address or name)

    async def close(self) -> None:
        """End every server."""
        tasks = [*self._refreshing.values(), *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        every = (*self.upstreams.values(), *self._own.values())
        await asyncio.gather(*(upstream.close() for upstream in every))

    # -- lists on disk

    def _file(self, config: ServerConfig) -> Path | None:
        if self._cache is None:
            return None
        identity = (
            self._variant,
            config.name,
            config.transport,
            config.command,
            *config.args,
            config.url,
            config.cwd,
        )
        return self._cache / f"{version_of(*identity)}.json"

    def _read(self, config: ServerConfig) -> ServerListing | None:
        file = self._file(config)
        if file is None:
            return None
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            return ServerListing(
                config=config,
                tools=tuple(tool for tool in kept["tools"] if isinstance(tool, dict)),
                protocol_version=str(kept["protocol_version"]),
                info=dict(kept["info"]),
                capabilities=dict(kept["capabilities"]),
                instructions=str(kept["instructions"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, config: ServerConfig, listing: ServerListing) -> None:
        file = self._file(config)
        if file is None:
            return
        kept = {
            "server": config.name,
            "tools": listing.tools,
            "protocol_version": listing.protocol_version,
            "info": listing.info,
            "capabilities": listing.capabilities,
            "instructions": listing.instructions,
        }
        try:
            write_whole_file(
                file, [json.dumps(kept, ensure_ascii=False)], errors="surrogatepass", private=True
            )
        except InputError:
            return  # a list that cannot be kept is read again next time


def _content(listing: ServerListing) -> str:
    """A name for what a listing says."""
    if listing.error is not None:
        return version_of("failed", listing.name, listing.error.message)
    return version_of(listing.name, json.dumps(listing.tools, sort_keys=True, default=str))
