"""`Reach`: the reach layer as one object over stages that can be used and replaced one by one.

It finds tools, proposes and normalises arguments, executes, and fits any agent loop with two hooks: `select` before the
model, `wrap_tool` around a tool. The model stays the decision maker; whatever Reach changes is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.embed.base import Embedder, as_embedder
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.router.history import History
from agent_reach.router.reach_find import Finder, RouteWeights, hidden_tools
from agent_reach.router.recall_vectors import VectorIndex
from agent_reach.router.stages import Candidate, Found, Selection


class Reach:
    """Routes requests to the tools of a catalog.

    `catalog` is a `Catalog` or anything `Catalog.load` takes. `pins` are tools that every answer holds; `allow` and `deny`
    shell patterns over keys and names; `permissions` tells what a tool lacks here (a mapping of keys, or a function of a
    tool; empty: nothing). `embedder` is optional (an `Embedder`, a function of texts, or `"encoder"`). `backend` executes
    calls, `store` keeps traces. `findings` holds what was noticed while building.
    """

    def __init__(
        self,
        catalog: Any,
        *,
        history: History | None = None,
        embedder: Embedder | Callable[[Sequence[str]], Any] | str | None = None,
        pins: Sequence[str] = (),
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        permissions: Mapping[str, str] | Callable[[Tool], str] | None = None,
        backend: Any = None,
        store: Any = None,
        weights: RouteWeights | None = None,
        normalize_options: Any = None,
        converters: Any = None,
        execution: Mapping[str, Any] | None = None,
        tool_limit: int = 8,
    ) -> None:
        self.catalog: Catalog = catalog if isinstance(catalog, Catalog) else Catalog.load(catalog)
        self.history = history
        self.backend = backend
        self.store = store
        self.tool_limit = tool_limit
        self.normalize_options = normalize_options
        self.converters = converters
        hidden, findings = hidden_tools(self.catalog.tools, allow, deny, permissions)
        self.hidden = hidden
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.pins = tuple(self.catalog.get(pin).key for pin in pins)
        self.vectors: VectorIndex | None = None
        if embedder is not None:
            visible = [tool for tool in self.catalog.tools if tool.key not in hidden]
            self.vectors = VectorIndex(visible, as_embedder(embedder))
        self.finder = Finder(
            self.catalog.tools,
            history=history,
            vectors=self.vectors,
            pins=self.pins,
            hidden=hidden,
            weights=weights,
        )

    def find(self, query: str, k: int = 6, *, now: float | None = None) -> Found:
        """The `k` tools that fit the request best, with scores and why; empty when nothing fits.

        The answer is a list of `Candidate` with `findings` and, when empty, `nearest_names`. Tools that the request names
        and pinned tools are always in it, even beyond `k`.
        """
        return self.finder(query, k, now=now)

    def update(self, tool: Tool) -> None:
        """Take a changed or new tool into the catalog and the index."""
        others = [one for one in self.catalog.tools if one.key != tool.key]
        del others
        self.finder.update(tool)


__all__ = ["Candidate", "Found", "Reach", "Selection"]
