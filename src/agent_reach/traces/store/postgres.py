"""Traces in PostgreSQL, for several gateways or machines that share one history. Needs the extra `postgres`.

Each `add` is written with the batch it falls into by the same rules as SQLite's; the database keeps writers apart. Roll-up
rows are updated in a fixed order, so that two writers cannot lock each other out. `add` never waits for the database as long
as few traces wait: a batch that cannot be written (the database restarts, a connection is lost) is kept and tried again, and
as every row has its key, one that was written after all is not counted twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent_reach.errors import MissingExtraError, TraceError
from agent_reach.records.trace import Trace
from agent_reach.redact.redactor import Redactor
from agent_reach.traces.store.base import ToolStatistics, TraceFilter, TraceStore, TraceSummary
from agent_reach.traces.store.schema import TraceRows, rows_of
from agent_reach.traces.store.sql import Sql

BATCH_ROWS = 500
BATCH_SECONDS = 0.2
RETRY_SECONDS = 1.0
SLOW_DOWN = 4 * BATCH_ROWS
"""So many waiting traces make `add` wait for the database, if it can be written to."""
MOST_WAITING = 40 * BATCH_ROWS
"""So many are kept while it cannot; then `add` refuses."""
_MIGRATION_LOCK = 7_210_451


class PostgresStore(TraceStore):
    """The shared store. Made by `TraceStore.open`; `add` batches in memory and a thread commits."""

    def __init__(self, url: str, *, read_only: bool = False, redactor: Redactor | None = None) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError("psycopg", "postgres") from error
        self._psycopg = psycopg
        self._where = _without_password(url)
        self._url = url
        self._read_only = read_only
        self._redactor = redactor or Redactor.standard()
        self._sql = Sql("%s", self._where)
        self._pending: list[TraceRows] = []
        self._lock = threading.RLock()
        """Held by whoever uses the connection."""
        self._added = threading.Condition()
        """Held, shortly, by whoever looks at what waits."""
        self._failure: BaseException | None = None
        self._closed = False
        self._connection = self._open()
        if not read_only:
            with self._transaction() as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
                self._sql.migrate(connection)
            self._writer = threading.Thread(target=self._write_loop, name="trace-writer", daemon=True)
            self._writer.start()

    def add(self, trace: Trace, *, wait: bool = False) -> None:
        """Take a trace; see `TraceStore.add`."""
        if self._read_only or self._closed:
            state = "read-only" if self._read_only else "closed"
            raise TraceError(f"the store is {state}", where=self._where)
        rows = rows_of(trace, self._redactor)
        with self._added:
            waiting = len(self._pending)
            if waiting >= MOST_WAITING:
                raise TraceError(
                    f"{waiting} traces wait for the database, and no more are kept: {self._failure}",
                    where=self._where,
                )
            self._pending.append(rows)
            self._added.notify()
        if wait or (waiting >= SLOW_DOWN and self._failure is None):
            self.flush()

    def flush(self) -> None:
        """Return once everything added so far is committed; what could not be written is kept and tried again."""
        with self._lock:
            with self._added:
                batch, self._pending = self._pending, []
            if not batch:
                return
            try:
                self._write(batch)
            except BaseException as error:
                with self._added:
                    self._pending = batch + self._pending
                self._failure = error
                if isinstance(error, self._psycopg.Error):
                    raise TraceError(f"cannot write: {error}".strip(), where=self._where) from error
                raise
            self._failure = None

    def _write(self, batch: list[TraceRows]) -> None:
        """Commit a batch and empty it; of one that holds what no column takes, the rest."""
        try:
            with self._transaction() as connection:
                self._sql.write(connection, batch)
            batch.clear()
        except self._psycopg.DataError:
            refused = []
            while batch:
                try:
                    with self._transaction() as connection:
                        self._sql.write(connection, batch[:1])
                except self._psycopg.DataError as error:
                    refused.append(f"{batch[0].header[0]}: {error}".strip())
                del batch[0]
            raise TraceError(
                f"{len(refused)} traces cannot be stored: {refused[0]}", where=self._where
            ) from None

    def get(self, trace_id: str) -> Trace:
        """One trace; see `TraceStore.get`."""
        with self._reading() as connection:
            return self._sql.get(connection, trace_id, self._redactor.text(trace_id))

    def summaries(self, wanted: TraceFilter | None = None) -> list[TraceSummary]:
        """Summaries; see `TraceStore.summaries`."""
        with self._reading() as connection:
            return self._sql.summaries(connection, wanted or TraceFilter())

    def count(self) -> int:
        """Number of traces; see `TraceStore.count`."""
        with self._reading() as connection:
            return self._sql.count(connection)

    def iterate(self, wanted: TraceFilter | None = None) -> Iterator[Trace]:
        """Traces; see `TraceStore.iterate`."""
        self.flush()
        connection = self._open()
        try:
            for page in self._sql.pages(connection, wanted or TraceFilter()):
                yield from page
        finally:
            connection.close()

    def statistics(self, *, since: float | None = None, until: float | None = None) -> list[ToolStatistics]:
        """Figures per tool; see `TraceStore.statistics`."""
        with self._reading() as connection:
            return self._sql.statistics(connection, since, until)

    def prune(self, *, before: float | None = None, max_bytes: int | None = None) -> int:
        """Delete old traces; see `TraceStore.prune`. Sizes are those of the live rows of the trace tables."""
        self.flush()
        deleted = 0
        if before is not None:
            deleted += self._delete(before=before, limit=None)
        while max_bytes is not None and (used := self._live_bytes()) > max_bytes:
            with self._transaction() as connection:
                share = self._sql.share_over(connection, used=used, allowed=max_bytes)
            gone = self._delete(before=None, limit=share)
            if not gone:
                break
            deleted += gone
        return deleted

    def close(self) -> None:
        """Write what is left and end."""
        if self._closed:
            return
        with self._added:
            self._closed = True
            self._added.notify()
        try:
            if not self._read_only:
                self._writer.join()
                self.flush()
        finally:
            self._connection.close()

    def _write_loop(self) -> None:
        while True:
            with self._added:
                self._added.wait_for(lambda: self._pending or self._closed)
                if self._closed:
                    return
                self._added.wait_for(lambda: len(self._pending) >= BATCH_ROWS or self._closed, BATCH_SECONDS)
            try:
                self.flush()
            except Exception:  # kept, and told by the next `flush` if it still holds
                with self._added:
                    self._added.wait_for(lambda: self._closed, RETRY_SECONDS)

    def _open(self) -> Any:
        try:
            return self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=10, tcp_user_timeout=30_000
            )
        except self._psycopg.Error as error:
            text = str(error).replace(self._url, self._where).strip()
            raise TraceError(
                f"cannot connect: {text}",
                where=self._where,
                next_step="is the server up and the address right?",
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._lock:
            if self._connection.closed or self._connection.broken:
                self._connection = self._open()
            with self._connection.transaction():
                yield self._connection

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        self.flush()
        with self._transaction() as connection:
            try:
                yield connection
            except self._psycopg.errors.UndefinedTable as error:
                raise TraceError(
                    "this database holds no trace store",
                    where=self._where,
                    next_step="agent-reach traces migrate",
                ) from error

    def _delete(self, *, before: float | None, limit: int | None) -> int:
        with self._transaction() as connection:
            ids = self._sql.oldest(connection, before=before, limit=limit)
            self._sql.delete(connection, ids)
            return len(ids)

    def _live_bytes(self) -> int:
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT COALESCE((SELECT SUM(octet_length(body)) FROM traces), 0) + COALESCE((SELECT SUM(octet_length(body)) FROM steps), 0)"
            ).fetchone()
            return int(row[0])


def _without_password(url: str) -> str:
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}:***@{host}"))
