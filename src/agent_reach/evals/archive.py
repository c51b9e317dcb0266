"""Where runs are kept: one folder per run under `.agent-reach/runs`, found again by id.

A folder holds `run.json` (what was run, and whether it is finished), `attempts.jsonl` (the log that grows while it lasts),
`snapshot.json` (the tool list) and `report.json`.
"""

from __future__ import annotations

import itertools
import json
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_reach.config.whole_file import write_whole_file
from agent_reach.errors import InputError
from agent_reach.records.codec import from_json, to_json
from agent_reach.text.tokens import nearest_names

MANIFEST = "run.json"
ATTEMPTS = "attempts.jsonl"
SNAPSHOT = "snapshot.json"
REPORT = "report.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedRun:
    """What is known of a kept run: `key` is equal for runs of the same suite, catalog, agent and settings; `state` is
    `running` (or killed) until it is `finished`; `started_at` in seconds since the epoch."""

    id: str
    key: str
    started_at: float
    state: str = "running"
    agent: str = ""
    model: str = ""
    suite: str = ""
    repeats: int = 1
    attempts: int = 0
    catalog_hash: str = ""
    suite_hash: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Archive:
    """The folder of all runs."""

    folder: Path

    def path(self, run_id: str) -> Path:
        """The folder of a run."""
        return self.folder / run_id

    def create(self, run: ArchivedRun) -> Path:
        """Make the folder of a new run; raises `InputError` when it cannot be written."""
        path = self.path(run.id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.mkdir()
            self._keep_out_of_git()
        except OSError as error:
            raise InputError(
                f"the archive cannot be written: {error.strerror}",
                where=str(path),
                next_step="set `archive` in the configuration to a folder that can be written",
            ) from error
        self.write(run)
        return path

    def write(self, run: ArchivedRun) -> None:
        """Write what is known of a run, whole or not at all."""
        write_json(self.path(run.id) / MANIFEST, to_json(run))

    def drop(self, run_id: str) -> None:
        """Remove the folder of a run that came to nothing."""
        shutil.rmtree(self.path(run_id), ignore_errors=True)

    def _keep_out_of_git(self) -> None:
        """Runs are data of this machine: the folder ignores itself."""
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")

    def runs(self) -> list[ArchivedRun]:
        """All kept runs, newest first; folders that cannot be read are passed over."""
        return sorted(self._readable(), key=lambda run: (run.started_at, run.id), reverse=True)

    def _readable(self) -> Iterator[ArchivedRun]:
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            try:
                yield from_json(ArchivedRun, json.loads((path / MANIFEST).read_text("utf-8")))
            except (OSError, ValueError, InputError):
                continue

    def newest(self, key: str) -> ArchivedRun | None:
        """The newest run of that key."""
        return next((run for run in self.runs() if run.key == key), None)

    def find(self, run_id: str) -> ArchivedRun:
        """The run of that id, or the only one whose id begins so; raises `InputError` with the nearest ids."""
        runs = self.runs()
        found = [run for run in runs if run.id == run_id] or [
            run for run in runs if run.id.startswith(run_id)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"{len(found)} runs begin with {run_id!r}: {', '.join(run.id for run in found[:5])}",
                where=str(self.folder),
                next_step="give more of the id",
            )
        near = nearest_names(run_id, [run.id for run in runs], limit=3) or [run.id for run in runs[:3]]
        raise InputError(
            f"no run has the id {run_id!r}",
            where=str(self.folder),
            next_step=f"known runs: {', '.join(near)}" if near else "no run is kept here yet",
        )

    def report_path(self, run_id: str) -> Path:
        """The report of a run."""
        return self.path(self.find(run_id).id) / REPORT


def new_run_id(key: str, now: float) -> str:
    """`20261130-094512-3fa9c1`: the time (UTC), and six hex digits of chance."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{secrets.token_hex(3)}"


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1, allow_nan=False)
    write_whole_file(path, itertools.chain(encoder.iterencode(value), ["\n"]))
