"""`Reach`: the reach layer as one object over stages that can be used and replaced one by one.

It finds tools, proposes and normalises arguments, executes, and fits any agent loop with two hooks: `select` before the
model, `wrap_tool` around a tool. The model stays the decision maker; whatever Reach changes is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.embed.base import Embedder, as_embedder
from agent_reach.errors import AmbiguousToolError, ConfigError, InputError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.router.confirm import ChoiceRepair, render_text, repair_choice
from agent_reach.router.history import History
from agent_reach.router.reach_find import Finder, RouteWeights, hidden_tools
from agent_reach.router.reach_words import word_borders
from agent_reach.router.recall_vectors import VectorIndex
from agent_reach.router.stages import Candidate, Found, Selection
from agent_reach.text.segmenting import Segmenter, SegmentFunction

if TYPE_CHECKING:
    from agent_reach.router.execute import Executor, RequestState
    from agent_reach.router.execute_records import ExecutionPolicy
    from agent_reach.router.normalize import NormalizedCall
    from agent_reach.router.prefill import Prefill
    from agent_reach.router.reach_request import RoutedRequest
    from agent_reach.router.switch import SwitchRequest

DEFAULT_K = 6


class Reach:
    """Routes requests to the tools of a catalog.

    `catalog` is a `Catalog` or anything `Catalog.load` takes. `pins` are tools that every answer holds; `allow` and `deny`
    shell patterns over keys and names; `permissions` tells what a tool lacks here (a mapping of keys, or a function of a
    tool; empty: nothing), so that what cannot work is not offered. `embedder` is optional (an `Embedder`, a function of
    texts, or `"encoder"`), and so is `segmenter`, which knows Chinese words (a `Segmenter`, a function from a text to its
    words, or `"rjieba"`). `backend` executes calls, `store` keeps traces. `findings` holds what was noticed.
    """

    def __init__(
        self,
        catalog: Any,
        *,
        history: History | None = None,
        embedder: Embedder | Callable[[Sequence[str]], Any] | str | None = None,
        segmenter: Segmenter | SegmentFunction | str | None = None,
        pins: Sequence[str] = (),
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        permissions: Mapping[str, str] | Callable[[Tool], str] | None = None,
        backend: Any = None,
        store: Any = None,
        weights: RouteWeights | None = None,
        normalize_options: Any = None,
        converters: Sequence[Any] = (),
        execution: ExecutionPolicy | None = None,
        limit: int | None = None,
    ) -> None:
        from agent_reach.router.reach_select import Selector

        self.catalog: Catalog = catalog if isinstance(catalog, Catalog) else Catalog.load(catalog)
        self.history = history
        self.backend = backend
        self.store = store
        self.weights = weights
        self.normalize_options = normalize_options
        self.converters = tuple(converters)
        self.execution = execution
        self.limit = limit
        self.hidden, findings = hidden_tools(self.catalog.tools, allow, deny, permissions)
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.pins = tuple(self.catalog.get(pin).key for pin in pins)
        self._embedder = as_embedder(embedder) if embedder is not None else None
        visible = [tool for tool in self.catalog.tools if tool.key not in self.hidden]
        self.vectors = VectorIndex(visible, self._embedder) if self._embedder is not None else None
        self._borders = word_borders(segmenter, visible)
        self.finder = Finder(
            visible,
            history=history,
            vectors=self.vectors,
            pins=self.pins,
            hidden=self.hidden,
            weights=weights,
            borders=self._borders,
        )
        self._select = Selector(self._finder_over, self._resolve, self.hidden)
        self._executor: Executor | None = None

    @classmethod
    def from_config(
        cls, path: str | Path = "reach.yaml", environment: Mapping[str, str] | None = None
    ) -> Reach:
        """The reach layer that a `reach.yaml` describes: its catalog, overlay, store, and what stands under `reach`.

        `environment` fills `${VAR}` and is passed to servers; nothing is read from the process by itself.
        """
        from agent_reach.router.reach_config import reach_of_project

        return reach_of_project(path, environment or {})

    # -- finding -------------------------------------------------------------------------------------------

    def find(self, query: str, k: int = DEFAULT_K, *, now: float | None = None) -> Found:
        """The `k` tools that fit the request best, with scores and why; empty when nothing fits.

        The answer is a list of `Candidate` with `findings` and, when it is empty, `nearest_names`. Tools that the request
        names outright and pinned tools are always in it, even beyond `k`. `now` (seconds since the epoch) is for history.
        """
        if not isinstance(query, str):
            raise InputError(
                f"a request is text, not {type(query).__name__}",
                where="find",
                next_step="give the user's words; `select` takes whole messages",
            )
        if isinstance(k, bool) or not isinstance(k, int):
            raise InputError(
                f"k is {k!r}", where="find", next_step="give how many tools are wanted, such as 6"
            )
        return self.finder(query, k, now=now)

    def select(
        self, messages: Any, tools: Iterable[Any], *, k: int = DEFAULT_K, limit: int | None = None
    ) -> Selection:
        """Of the tools that an agent loop holds, those that the conversation needs, each exactly as it was given.

        Any shape goes (OpenAI, Anthropic, MCP, `Tool`, functions, LangChain-like objects), mixed ones too. Pinned tools, tools
        the conversation has used and tools whose shape cannot be read are kept. `limit` bounds the whole (hosts cut at 40, 64
        or 128); what is left out is listed in the answer's `left_out` and `findings`.
        """
        return self._select(
            messages, tools, k=k, pins=self._pin_names(), limit=self.limit if limit is None else limit
        )

    def wait_for_vectors(self, timeout: float | None = None) -> bool:
        """Wait until the vectors of all tools are there; True when they are, or when there is no embedder.

        `find` never waits. Who measures does: answers before and after would differ. `timeout` in seconds.
        """
        return self.vectors is None or self.vectors.wait(timeout)

    def update(self, tool: Tool) -> None:
        """Take one changed or new tool into catalog and index; the rest of the index stays as it is."""
        tools = tuple(tool if one.key == tool.key else one for one in self.catalog.tools)
        if all(one is not tool for one in tools):
            tools = (*tools, tool)
        old = self.catalog
        self.catalog = Catalog(
            tools,
            quarantined=old.quarantined,
            findings=old.findings,
            provenance=old.provenance,
            overlay=old.overlay,
        )
        self.finder.update(tool)
        self._executor = None

    def _finder_over(self, tools: Sequence[Tool]) -> Finder:
        vectors = VectorIndex(tools, self.vectors.embedder) if self.vectors is not None else None
        return Finder(
            tools, history=self.history, vectors=vectors, weights=self.weights, borders=self._borders
        )

    def _pin_names(self) -> tuple[str, ...]:
        return (*self.pins, *(self.catalog.wire_name(pin) for pin in self.pins))

    def _resolve(self, name: str) -> Tool | None:
        return self.catalog.from_wire(name) or _resolve_once(self.catalog, name)

    def tool(self, tool: Tool | str) -> Tool:
        """The tool of that key, name or wire name, whether it was shown or not; raises `UnknownToolError`."""
        if isinstance(tool, Tool):
            return tool
        return self.catalog.from_wire(tool) or self.catalog.get(tool)

    # -- confirming ----------------------------------------------------------------------------------------

    def prefill(self, tool: Tool | str, conversation: Any, *, now: Any = None) -> Prefill:
        """What the conversation already says for the tool's parameters, with the words it was read from."""
        from agent_reach.router.prefill import prefill

        return prefill(self.tool(tool), conversation, now=now, options=self.normalize_options)

    def candidate_text(
        self,
        candidates: Sequence[Candidate],
        *,
        conversation: Any = None,
        now: Any = None,
        budget: int | None = None,
    ) -> str:
        """The candidates as lines for a model, within `budget` tokens; with what the conversation says, if it is given."""
        filled = {}
        if conversation is not None:
            for candidate in candidates:
                proposed = self.prefill(candidate.tool, conversation, now=now).arguments
                filled[candidate.tool.key] = proposed
        return render_text(candidates, self.catalog, filled=filled, budget=budget)

    def repair_choice(self, name: str, candidates: Sequence[Candidate]) -> ChoiceRepair:
        """The candidate that a chosen name certainly means, else none."""
        return repair_choice(name, candidates, self.catalog)

    # -- calling -------------------------------------------------------------------------------------------

    def normalize(
        self, tool: Tool | str, arguments: Any, *, conversation: Any = None, now: Any = None
    ) -> NormalizedCall:
        """The arguments made legal where that is certain, every change with rule, source and span.

        `tool` is a tool or any of its names; `now` a datetime or ISO text that relative dates are counted from.
        """
        from agent_reach.router.normalize import normalize_call

        return normalize_call(
            self.tool(tool),
            arguments,
            conversation=conversation,
            now=now,
            options=self.normalize_options,
            converters=self.converters,
        )

    async def execute(self, call: NormalizedCall, *, request: RequestState | None = None) -> CallOutcome:
        """Execute a normalised call: checked, limited, retried and switched only where that is safe.

        The outcome's metadata holds the route; give the `request` of `request_state` so that failures in a row, loops and
        switches are counted within one request of a user.
        """
        record = await self.executor.execute(call, request=request)
        return record.outcome

    async def call(
        self, name: str, arguments: Any = None, *, conversation: Any = None, now: Any = None
    ) -> CallOutcome:
        """Normalise and execute by name: any tool of the catalog, one of the three meta-tools, shown before or not."""
        from agent_reach.router.reach_meta import call_by_name

        return await call_by_name(self, name, arguments, conversation=conversation, now=now)

    def request(self, query: str, *, conversation: Any = None, now: Any = None) -> RoutedRequest:
        """One request of a user from its words to the last call, with its memory and its trace."""
        from agent_reach.router.reach_request import RoutedRequest

        return RoutedRequest(self, query, conversation=conversation, now=now)

    def wrap_tool(self, tool: Any, *, now: Any = None) -> Any:
        """The tool with normalised arguments: a function or an object with `invoke`, `ainvoke` or `run`, sync or async.

        Arguments that cannot be made legal raise `InputError` with every problem, before the tool is called. `now` (a datetime,
        ISO text, or a function that returns one) is what relative dates are counted from.
        """
        from agent_reach.router.reach_wrap import wrap_tool

        return wrap_tool(self, tool, now=now)

    @property
    def executor(self) -> Executor:
        """The executor over the backend; raises `ConfigError` without one."""
        from agent_reach.router.execute import Executor

        if self._executor is None:
            if self.backend is None:
                raise ConfigError(
                    "nothing is there to execute calls", next_step="Reach(catalog, backend=...), or wrap_tool"
                )
            self._executor = Executor(
                self.backend, self.catalog, finder=self.stand_ins, policy=self.execution
            )
        return self._executor

    def stand_ins(self, wish: SwitchRequest) -> list[Tool]:
        """The tools most like one that keeps failing, for the words of the request and of the tool itself."""
        tool = wish.tool
        about = " ".join((tool.name, tool.description[:400]))
        found = self.finder(f"{wish.query}\n{about}", wish.limit + len(wish.exclude) + 1)
        others = [one.tool for one in found if one.tool.key not in wish.exclude and one.tool.key != tool.key]
        return others[: wish.limit]

    async def aclose(self) -> None:
        """Give back what the backend holds."""
        if self.backend is not None:
            await self.backend.aclose()


def _resolve_once(catalog: Catalog, name: str) -> Tool | None:
    """The tool that a name means where it means only one."""
    try:
        return catalog.resolve(name)
    except AmbiguousToolError:
        return None


__all__ = ["Candidate", "Found", "Reach", "Selection"]
