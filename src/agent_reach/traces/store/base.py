"""What a trace store does, how its contents are filtered, and how one is opened by address."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agent_reach.errors import TraceError
from agent_reach.records.finding import Finding
from agent_reach.records.trace import Trace
from agent_reach.redact.redactor import Redactor

if TYPE_CHECKING:
    from agent_reach.config.settings import ProjectConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFilter:
    """Which traces are meant; empty fields ask for nothing.

    `tool` is a key or an emitted name, `server` a server; `status` and `error_kind` are those of any call; `cause` is the
    cause that scoring noted; `since` and `until` are seconds since the epoch (start of the trace); `text` is looked for in
    the request; newest first, `limit` None for all.
    """

    tool: str = ""
    server: str = ""
    status: str = ""
    error_kind: str = ""
    cause: str = ""
    task_id: str = ""
    source: str = ""
    since: float | None = None
    until: float | None = None
    text: str = ""
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """One line about a trace."""

    trace_id: str
    query: str
    started_at: float | None
    task_id: str
    agent: str
    model: str
    source: str
    steps: int
    calls: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """What a store knows of one tool in a time window, out of the roll-ups: counts by outcome, error kinds, latency in ms
    (mean, and 50th and 95th percentile as the upper bound of a bucket, each half as wide again as the one before)."""

    tool: str
    calls: int
    ok: int
    failed: int
    unknown: int
    unanswered: int
    error_kinds: dict[str, int]
    latency_mean: float | None
    latency_p50: float | None
    latency_p95: float | None


class TraceStore(ABC):
    """A store of traces.

    `add` takes a trace whole; adding the same trace or step again changes nothing, so that a retry is harmless; a trace that
    comes back with more steps grows. Every text passes the redactor before it is written.
    """

    findings: tuple[Finding, ...] = ()

    @staticmethod
    def open(
        url: str | Path = ".agent-reach/traces.db",
        *,
        durable: bool = False,
        read_only: bool = False,
        redactor: Redactor | None = None,
    ) -> TraceStore:
        """The store at a path or address: a file (`traces.db`, `sqlite:///path`) or `postgresql://...`.

        `durable` commits before acknowledging, with the disk's own acknowledgement; `read_only` never writes and needs the
        store to exist. Everything that is written passes `redactor` (default: the standard one; a project's own rules come
        with `of_project`). Raises `TraceError` when it cannot be opened.
        """
        if not isinstance(url, (str, Path)) or not str(url).strip():
            raise TraceError(
                f"{url!r} names no store",
                where="TraceStore.open",
                next_step="give a file path or postgresql://...",
            )
        address = str(url)
        if address.startswith(("postgresql://", "postgres://")):
            from agent_reach.traces.store.postgres import PostgresStore

            return PostgresStore(address, read_only=read_only, redactor=redactor)
        if "://" in address and not address.startswith("sqlite://"):
            kind = address.split("://", 1)[0]
            raise TraceError(
                f"{kind!r} is no kind of store",
                where=Redactor.standard().text(address),
                next_step="give a file path or postgresql://...",
            )
        from agent_reach.traces.store.sqlite import SqliteStore

        path = address.removeprefix("sqlite:///").removeprefix("sqlite://")
        return SqliteStore(path, durable=durable, read_only=read_only, redactor=redactor)

    @staticmethod
    def of_project(
        project: ProjectConfig | str | Path = "reach.yaml",
        environment: Mapping[str, str] | None = None,
        *,
        url: str | Path | None = None,
        durable: bool = False,
        read_only: bool = False,
        known: Iterable[str] = (),
    ) -> TraceStore:
        """The store that a project names (or the one at `url`), writing by the project's redaction rules.

        `project` is a `reach.yaml`, the folder that holds one, or what was read of it; `environment` fills its `${VAR}`;
        `known` are literal secrets beside the rules. Raises `ConfigError` and `TraceError`.
        """
        from agent_reach.config.project import load_project
        from agent_reach.config.redaction import redactor_of

        if isinstance(project, (str, Path)):
            project = load_project(project, environment or {})
        return TraceStore.open(
            url if url is not None else project.store,
            durable=durable,
            read_only=read_only,
            redactor=redactor_of(project.redaction, known=known),
        )

    @abstractmethod
    def add(self, trace: Trace, *, wait: bool = False) -> None:
        """Take a trace. Returns at once and writes in batches; with `wait` (or a durable store) it returns once committed."""

    @abstractmethod
    def flush(self) -> None:
        """Return once everything added so far is committed."""

    @abstractmethod
    def get(self, trace_id: str) -> Trace:
        """The trace with that id, or with the only id that begins so; raises `TraceError` otherwise."""

    @abstractmethod
    def summaries(self, wanted: TraceFilter | None = None) -> list[TraceSummary]:
        """Summaries of the traces that are meant, newest first."""

    @abstractmethod
    def count(self) -> int:
        """How many traces there are."""

    @abstractmethod
    def iterate(self, wanted: TraceFilter | None = None) -> Iterator[Trace]:
        """The traces that are meant, newest first, read in pages."""

    @abstractmethod
    def statistics(self, *, since: float | None = None, until: float | None = None) -> list[ToolStatistics]:
        """Figures per tool out of the roll-ups, most called first; whole days (UTC) that the window touches."""

    @abstractmethod
    def prune(self, *, before: float | None = None, max_bytes: int | None = None) -> int:
        """Delete traces that started before a time, then the oldest until the store is small enough; the number deleted.
        Roll-ups stay."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left and end."""

    def add_all(self, traces: Iterable[Trace]) -> int:
        """Add many and wait for them; their number."""
        count = 0
        for trace in traces:
            self.add(trace)
            count += 1
        self.flush()
        return count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
