"""What a sweep costs and how much sharing saves: a scripted agent that loses the right tool in a long list.

A catalog of 240 tools, 30 tasks, five tool counts, with and without the reach layer, and a second axis whose points are
partly those of the first. The agent needs no time, so that the machinery is what is measured. The planted capacity is 40
tools; the sweep has to find it. Times depend on the machine and its load, counts do not.

    python benchmarks/sweep.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import RunConfig
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.sweep.points import SweepOptions
from agent_reach.evals.sweep.sweep import sweep
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.tool import Tool

PLANTED = 40
VERBS = ("open", "close", "archive", "print", "approve", "reject", "copy", "share", "rename", "export")
NOUNS = (
    "invoice", "order", "ticket", "shipment", "coupon", "supplier", "refund", "parcel", "badge", "ledger", "contract",
    "budget", "meeting", "folder", "report", "survey", "visitor", "device", "licence", "branch", "route", "shelf",
    "recipe", "photo",
)  # fmt: skip


class Crowded:
    """Finds the right tool in lists of up to forty."""

    info = AgentInfo(name="crowded", deterministic=True, placed_by="agent")

    async def run(self, session: Any) -> None:
        right = session.task.paths[0].calls[0].tool
        names = [tool.name for tool in session.tools]
        chosen = right if right in names and len(names) <= PLANTED else next(n for n in names if n != right)
        await session.call(chosen, {"code": "A-1"})

    async def aclose(self) -> None:
        """Nothing to give back."""


def catalog() -> Catalog:
    schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    return Catalog.from_tools(
        Tool(name=f"{verb}_{noun}", description=f"{verb.title()} one {noun}.", input_schema=schema)
        for noun in NOUNS
        for verb in VERBS
    )


def suite() -> Suite:
    tasks = []
    for number in range(30):
        verb, noun = VERBS[number % 10], NOUNS[(number * 7) % 24]
        call = GoldenCall(tool=f"{verb}_{noun}", args={"code": "A-1"}, result="ok", has_result=True)
        path = GoldenPath(stages=((call,),))
        tasks.append(
            Task(id=f"t{number}", kind="must", query=f"{verb} the {noun} A-1", language="en", paths=(path,))
        )
    return Suite.from_tasks(tasks, name="planted")


def main() -> None:
    """Run the sweep and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(catalog=catalog(), agent=Crowded(), archive=Path(folder) / "runs", concurrency=1)
        wall, cpu = time.perf_counter(), time.process_time()
        result = sweep(
            RunConfig(),
            SweepOptions(tools=(10, 20, 40, 80, 240), passages=(0, 5), exposure=("all", "reach"), target=0.9),
            suite=suite(),
            laboratory=LaboratoryOptions(run=options),
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    for point in result.points:
        reach = point.metrics["tool_reachability"].value
        print(
            f"{point.axis:9} {point.value:>5g} {point.exposure:5} reach {reach:.0%}  {point.tools:g} offered"
        )
    summary = {
        "capacity": {item.exposure: item.value for item in result.capacities},
        "planted": PLANTED,
        "asked": result.planned,
        "made": result.spent,
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "cpu_ms_per_attempt": round(cpu * 1000 / max(1, result.spent), 2),
    }
    print(json.dumps(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
