"""Traces in PostgreSQL, for several gateways or machines that share one history. Needs the extra `postgres`.

Each `add` is written with the batch it falls into by the same rules as SQLite's; the database keeps writers apart. Roll-up
rows are updated in a fixed order, so that two writers cannot lock each other out.
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
_MIGRATION_LOCK = 7_210_451


class PostgresStore(TraceStore):
    """The shared store. Made by `TraceStore.open`; `add` batches in memory and a timer commits."""

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
        self._timer: threading.Timer | None = None
        self._failure: BaseException | None = None
        self._connection = self._open()
        if not read_only:
            with self._transaction() as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
                self._sql.migrate(connection)

    def add(self, trace: Trace, *, wait: bool = False) -> None:
        """Take a trace; see `TraceStore.add`."""
        if self._read_only:
            raise TraceError("the store is read-only", where=self._where)
        self._raise_failure()
        rows = rows_of(trace, self._redactor)
        with self._lock:
            self._pending.append(rows)
            if wait or len(self._pending) >= BATCH_ROWS:
                self.flush()
            elif self._timer is None:
                self._timer = threading.Timer(BATCH_SECONDS, self._flush_quietly)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Return once everything added so far is committed."""
        self._raise_failure()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            batch, self._pending = self._pending, []
            if not batch:
                return
            try:
                with self._transaction() as connection:
                    self._sql.write(connection, batch)
            except self._psycopg.Error as error:
                self._pending = batch + self._pending
                raise TraceError(f"cannot write: {error}".strip(), where=self._where) from error

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
        try:
            if not self._read_only and not self._connection.closed:
                self.flush()
        finally:
            self._connection.close()

    def _open(self) -> Any:
        try:
            return self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
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

    def _flush_quietly(self) -> None:
        try:
            self.flush()
        except BaseException as error:
            self._failure = error

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise TraceError(
                f"an earlier batch could not be written: {failure}", where=self._where
            ) from failure


def _without_password(url: str) -> str:
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}:***@{host}"))
