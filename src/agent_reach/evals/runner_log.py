"""The log of a run: one line per finished attempt, on disk before the attempt is told.

A kill at any moment loses at most attempts that were under way. A half-written last line is cut off when the log is opened
again; an attempt that stands in it twice counts once.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from agent_reach.errors import InputError
from agent_reach.records.codec import from_json, to_json
from agent_reach.records.score import AttemptScore

Key = tuple[str, int]
Clean = Callable[[Any], Any]


class AttemptLog:
    """Appends attempts, and reads those that are there.

    `clean` takes secrets out of a JSON value before it is written. `finished` holds the attempts that need not be made
    again; lost ones (`infra_error`) are kept apart in `lost` until a later try stands in their place.
    """

    def __init__(self, path: Path, clean: Clean) -> None:
        self._path = path
        self._clean = clean
        self._file: IO[bytes] | None = None
        self._disk: ThreadPoolExecutor | None = None
        self._written = 0
        self._synced = 0
        self._syncing: asyncio.Future[None] | None = None
        self.finished: dict[Key, AttemptScore] = {}
        self.lost: dict[Key, AttemptScore] = {}

    def __enter__(self) -> AttemptLog:
        self._file = self._path.open("ab+")
        try:
            _lock(self._file, self._path)
            for key, score in self._read(self._file):
                self._take(key, score)
        except BaseException:
            self._file.close()
            raise
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="agent-reach-log")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._disk is not None:
            self._disk.shutdown(wait=True)
            self._disk = None
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def append(self, task_id: str, score: AttemptScore) -> AttemptScore:
        """Write an attempt, which then survives the end of this process; it is returned as written, without secrets.

        An attempt that has no form in JSON is written, and returned, as lost.
        """
        assert self._file is not None, "the log is not open"
        try:
            line, written = self._line(task_id, score)
        except (TypeError, ValueError, RecursionError, InputError) as problem:
            # An agent or backend put something into its record that no file can hold: that attempt alone is lost.
            score = AttemptScore(
                index=score.index,
                state="infra_error",
                error=f"the attempt cannot be written: {problem}",
                duration_ms=score.duration_ms,
            )
            line, written = self._line(task_id, score)
        self._file.write(line)
        self._file.flush()
        self._written += 1
        self._take((task_id, score.index), written)
        return written

    def _line(self, task_id: str, score: AttemptScore) -> tuple[bytes, AttemptScore]:
        """The line of an attempt, and the attempt as that line will be read."""
        cleaned = self._clean(to_json(score))
        line = json.dumps({"task_id": task_id, "attempt": cleaned}, ensure_ascii=False, allow_nan=False)
        return line.encode("utf-8", "backslashreplace") + b"\n", from_json(AttemptScore, cleaned)

    async def sync(self) -> None:
        """Wait until everything written so far is on disk; those who wait at the same time share one flush of the disk."""
        wanted = self._written
        while self._synced < wanted:
            if self._syncing is None:
                self._syncing = asyncio.ensure_future(self._flush_disk())
            await asyncio.shield(self._syncing)

    async def _flush_disk(self) -> None:
        assert self._file is not None
        covered = self._written
        try:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._disk, os.fsync, self._file.fileno())
            self._synced = max(self._synced, covered)
        finally:
            self._syncing = None

    def attempts_of(self, task_id: str, repeats: int) -> tuple[AttemptScore, ...]:
        """The attempts of a task in order; lost ones stand where nothing better came."""
        found = []
        for index in range(repeats):
            score = self.finished.get((task_id, index)) or self.lost.get((task_id, index))
            if score is not None:
                found.append(score)
        return tuple(found)

    def _take(self, key: Key, score: AttemptScore) -> None:
        if score.state == "infra_error":
            self.lost[key] = score
        elif key not in self.finished:
            self.finished[key] = score
            self.lost.pop(key, None)

    def _read(self, file: IO[bytes]) -> Iterator[tuple[Key, AttemptScore]]:
        file.seek(0)
        end = 0
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                row = json.loads(line)
                score = from_json(AttemptScore, row["attempt"], where=f"{self._path}:{number}")
                yield (str(row["task_id"]), score.index), score
            except (ValueError, KeyError, TypeError, InputError) as error:
                raise InputError(
                    f"a line of the log cannot be read: {error}",
                    where=f"{self._path}:{number}",
                    next_step="start the run anew without --resume",
                ) from error
        file.seek(end)
        file.truncate(end)


def _lock(file: IO[bytes], path: Path) -> None:
    """One process writes a log; a second one is told so (where the system has file locks)."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(
            "another process is writing this run",
            where=str(path),
            next_step="wait until it ends, or start a run of its own without --resume",
        ) from error
