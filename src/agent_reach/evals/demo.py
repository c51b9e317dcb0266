"""The whole loop on the bundled store, offline: a real model's recorded decisions, and a floor measured live beside them.

The store (`examples/store`) brings its tools, its suite and recordings of a real small model. The recordings are scored as
they are; `lexical`, which has no model, is run live. It proves nothing about a user's own agent: it shows what a report
says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_reach.config.run import load_run_config
from agent_reach.config.settings import AgentConfig, RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.runner import run_async
from agent_reach.records.events import Listener
from agent_reach.records.report import Report

SUITE = "core-suite"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun:
    """One column of the demo: a name, and its report."""

    name: str
    report: Report


def store_folder() -> Path:
    """The folder of the bundled store: inside the installed package, or in the checkout."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "examples" / "store", package.parents[1] / "examples" / "store"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise InputError(
        "the bundled store is not installed",
        where=str(package),
        next_step="install agent-reach-toolkit again",
    )


def recordings(folder: Path) -> dict[str, Path]:
    """Recorded runs of the store, by name: direct exposure and, where recorded, through the reach layer."""
    found = sorted((folder / "recordings").glob("*.jsonl"))
    return {path.stem: path for path in found}


async def run_demo(
    output: Path,
    *,
    live: AgentConfig | None = None,
    environment: Mapping[str, str] | None = None,
    listeners: Callable[[str], tuple[Listener, ...]] = lambda name: (),
) -> list[DemoRun]:
    """Run the demo and return its reports, the one to read first in front.

    Columns: each recording of the real model, `lexical` live, and `live` (an agent of the user's) if given. Archives go below
    `output`; nothing else is written.
    """
    folder = store_folder()
    base = load_run_config(folder / "config.yaml", environment or {})
    base = dataclasses.replace(base, archive=str(output / "runs"))
    columns: list[tuple[str, RunConfig]] = []
    if live is not None:
        columns.append(("live", dataclasses.replace(base, agent=live, concurrency=1)))
    for name, path in recordings(folder).items():
        recorded = AgentConfig(type="recorded", traces=str(path))
        columns.append((name, dataclasses.replace(base, agent=recorded)))
    columns.append(("lexical", dataclasses.replace(base, agent=AgentConfig(type="lexical"))))
    runs = []
    for name, config in columns:
        report = await run_async(config, suite=SUITE, listeners=listeners(name))
        runs.append(DemoRun(name=name, report=report))
    return runs


def side_by_side(runs: list[DemoRun], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The metrics of all columns as rows: `metric`, then one value per column."""
    rows = []
    for name in names:
        row: dict[str, Any] = {"metric": name}
        for one in runs:
            metric = one.report.metrics.get(name)
            row[one.name] = metric.value if metric is not None else None
        rows.append(row)
    return rows
