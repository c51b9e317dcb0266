"""Traces in one SQLite file: write-ahead log, one writer thread, batches, a file lock around every commit.

A batch is committed when it holds `BATCH_ROWS` traces or `BATCH_SECONDS` after its first one, so a killed process loses at
most that; what `flush`, `wait` or a durable store has acknowledged is committed. Without `durable` a power loss can take
the last commits (synchronous=NORMAL); with it every commit waits for the disk (synchronous=FULL). Several processes may
write: a lock file beside the database keeps their commits, checkpoints and closing apart. Readers open the file read-only.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from agent_reach.errors import TraceError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import Trace
from agent_reach.redact.redactor import Redactor
from agent_reach.traces.store.base import ToolStatistics, TraceFilter, TraceStore, TraceSummary
from agent_reach.traces.store.schema import TraceRows, rows_of
from agent_reach.traces.store.sql import Sql

BATCH_ROWS = 500
BATCH_SECONDS = 0.2
SAFE_WITH_SEVERAL_WRITERS = (3, 51, 3)
_BUSY_MS = 30_000


class SqliteStore(TraceStore):
    """The embedded store. Made by `TraceStore.open`; safe to use from several threads."""

    def __init__(
        self,
        path: str | Path,
        *,
        durable: bool = False,
        read_only: bool = False,
        redactor: Redactor | None = None,
        batch_rows: int = BATCH_ROWS,
        batch_seconds: float = BATCH_SECONDS,
    ) -> None:
        self.path = Path(path)
        self._durable = durable
        self._read_only = read_only
        self._redactor = redactor or Redactor.standard()
        self._batch_rows = batch_rows
        self._batch_seconds = batch_seconds
        self._sql = Sql("?", str(self.path))
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._queue: queue.SimpleQueue[TraceRows | threading.Event | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._closed = False
        self._marker: IO[bytes] | None = None
        if read_only:
            if not self.path.exists():
                raise TraceError(
                    "there is no such store", where=str(self.path), next_step="record or import traces first"
                )
            return
        self._prepare()
        self._writer = threading.Thread(target=self._write_loop, name="trace-writer", daemon=True)
        self._writer.start()

    def add(self, trace: Trace, *, wait: bool = False) -> None:
        """Take a trace; see `TraceStore.add`."""
        self._check_writable()
        self._queue.put(rows_of(trace, self._redactor))
        if wait or self._durable:
            self.flush()

    def flush(self) -> None:
        """Return once everything added so far is committed; raises what kept it from being written."""
        if self._read_only or self._closed:
            return
        done = threading.Event()
        self._queue.put(done)
        while not done.wait(1.0):
            if not self._writer.is_alive():
                break
        self._raise_failure()

    def get(self, trace_id: str) -> Trace:
        """One trace; see `TraceStore.get`."""
        self.flush()
        return self._sql.get(self._reader(), trace_id, self._redactor.text(trace_id))

    def summaries(self, wanted: TraceFilter | None = None) -> list[TraceSummary]:
        """Summaries; see `TraceStore.summaries`."""
        self.flush()
        return self._sql.summaries(self._reader(), wanted or TraceFilter())

    def count(self) -> int:
        """Number of traces; see `TraceStore.count`."""
        self.flush()
        return self._sql.count(self._reader())

    def iterate(self, wanted: TraceFilter | None = None) -> Iterator[Trace]:
        """Traces; see `TraceStore.iterate`."""
        self.flush()
        for page in self._sql.pages(self._reader(), wanted or TraceFilter()):
            yield from page

    def statistics(self, *, since: float | None = None, until: float | None = None) -> list[ToolStatistics]:
        """Figures per tool; see `TraceStore.statistics`."""
        self.flush()
        return self._sql.statistics(self._reader(), since, until)

    def prune(self, *, before: float | None = None, max_bytes: int | None = None) -> int:
        """Delete old traces; see `TraceStore.prune`. The file shrinks."""
        self._check_writable()
        self.flush()
        deleted = 0
        connection = self._connect()
        try:
            if before is not None:
                deleted += self._delete(connection, self._sql.oldest(connection, before=before, limit=None))
            while max_bytes is not None and (used := self._used_bytes(connection)) > max_bytes:
                share = self._sql.share_over(connection, used=used, allowed=max_bytes)
                ids = self._sql.oldest(connection, before=None, limit=share)
                if not ids:
                    break
                deleted += self._delete(connection, ids)
            if deleted:
                with self._lock():
                    connection.execute("VACUUM")
        finally:
            connection.close()
        return deleted

    def close(self) -> None:
        """Write what is left, fold the log into the file, end."""
        if self._closed:
            return
        if not self._read_only:
            self._queue.put(None)
            self._writer.join()
        self._closed = True
        for reader in self._readers:
            reader.close()
        if self._marker is not None:
            self._marker.close()
        if not self._read_only:
            self._raise_failure()

    # -- writing -------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                connection = self._connect()
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("BEGIN IMMEDIATE")
                    self._sql.migrate(connection)
                    connection.execute("COMMIT")
                finally:
                    connection.close()
            self._mark_writer()
        except (OSError, sqlite3.Error) as error:
            raise TraceError(
                f"cannot open the store: {error}",
                where=str(self.path),
                next_step="is it a store, and may it be written?",
            ) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, timeout=_BUSY_MS / 1000, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    def _write_loop(self) -> None:
        connection = self._connect()
        try:
            while self._write_batch(connection):
                pass
        except BaseException as error:
            self._failure = error
            self._release_waiting()
        finally:
            with self._lock():
                connection.close()

    def _write_batch(self, connection: sqlite3.Connection) -> bool:
        """Collect and commit one batch; False when the store is closing."""
        item = self._queue.get()
        batch: list[TraceRows] = []
        waiting: list[threading.Event] = []
        deadline = time.monotonic() + self._batch_seconds
        closing = False
        while True:
            if item is None:
                closing = True
                break
            if isinstance(item, threading.Event):
                waiting.append(item)
                if self._queue.empty():
                    break
            else:
                batch.append(item)
            if len(batch) >= self._batch_rows:
                break
            try:
                item = self._queue.get(timeout=max(0.0, deadline - time.monotonic()) if batch else 0.0)
            except queue.Empty:
                break
        try:
            if batch:
                self._commit(connection, batch)
        finally:
            for event in waiting:
                event.set()
        return not closing

    def _commit(self, connection: sqlite3.Connection, batch: list[TraceRows]) -> None:
        with self._lock():
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._sql.write(connection, batch)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def _delete(self, connection: sqlite3.Connection, ids: list[str]) -> int:
        with self._lock():
            connection.execute("BEGIN IMMEDIATE")
            self._sql.delete(connection, ids)
            connection.execute("COMMIT")
        return len(ids)

    @staticmethod
    def _used_bytes(connection: sqlite3.Connection) -> int:
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _release_waiting(self) -> None:
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, threading.Event):
                item.set()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise TraceError(
                f"cannot write: {self._failure}",
                where=str(self.path),
                next_step="is the disk full, or the file in use?",
            ) from self._failure

    def _check_writable(self) -> None:
        if self._read_only or self._closed:
            state = "read-only" if self._read_only else "closed"
            raise TraceError(f"the store is {state}", where=str(self.path))
        self._raise_failure()

    # -- several processes ---------------------------------------------------------------------------------

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the lock file beside the database; where the system has no such locks, SQLite's own must do."""
        lock = _file_lock()
        if lock is None:
            yield
            return
        with open(f"{self.path}.lock", "ab") as file:
            lock(file, exclusive=True)
            try:
                yield
            finally:
                lock(file, release=True)

    def _mark_writer(self) -> None:
        """Hold a shared lock that says "a process writes here", and note a finding when another one does on a SQLite that
        is known to lose writes then."""
        lock = _file_lock()
        if lock is None:
            return
        self._marker = open(f"{self.path}.writers", "ab")  # noqa: SIM115
        alone = lock(self._marker, exclusive=True, wait=False)
        lock(self._marker, exclusive=False)
        if not alone and sqlite3.sqlite_version_info < SAFE_WITH_SEVERAL_WRITERS:
            needed = ".".join(map(str, SAFE_WITH_SEVERAL_WRITERS))
            self.findings = (
                Finding(
                    code="sqlite_too_old_for_several_writers",
                    severity="warning",
                    source=str(self.path),
                    message=Message(
                        f"another process writes here too, and SQLite {sqlite3.sqlite_version} is older than {needed}",
                        f"另有进程在写这个库，而 SQLite {sqlite3.sqlite_version} 早于 {needed}",
                    ),
                    fix=Message(
                        "use one writer, a newer SQLite, or PostgreSQL",
                        "只用一个写入者、升级 SQLite，或使用 PostgreSQL",
                    ),
                ),
            )

    # -- reading -------------------------------------------------------------------------------------------

    def _reader(self) -> sqlite3.Connection:
        known: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if known is not None:
            return known
        try:
            reader = sqlite3.connect(
                f"{self.path.resolve().as_uri()}?mode=ro",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            reader.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            missing = self._sql.missing(reader)
        except sqlite3.Error as error:
            raise TraceError(
                f"cannot read the store: {error}", where=str(self.path), next_step="is it a trace store?"
            ) from error
        if missing:
            reader.close()
            raise TraceError(
                f"the store has an older form (missing: {', '.join(missing)})",
                where=str(self.path),
                next_step="agent-reach traces migrate",
            )
        self._local.reader = reader
        self._readers.append(reader)
        return reader


def _file_lock() -> Any:
    """A function that locks an open file (`exclusive`, `wait`, `release`) and tells whether it holds; None where the system
    has none."""
    try:
        import fcntl
    except ImportError:
        return None

    def lock(file: IO[bytes], *, exclusive: bool = True, wait: bool = True, release: bool = False) -> bool:
        kind = fcntl.LOCK_UN if release else fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(file, kind | (0 if wait or release else fcntl.LOCK_NB))
        except OSError:
            return False
        return True

    return lock
