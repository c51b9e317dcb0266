"""Tunes the store's overlay for a real small model behind the reach layer, on the practice suite.

    AGENT_REACH_MODEL=model.gguf python benchmarks/tune_store.py [--per-tool 2] [--budget 400] [--archive FOLDER]

Takes the first tasks of every tool that has as many, and all that must not or may call; half of them tune, half are held
back. Writes `examples/store/overlay.tuned.yaml` and what was tried, with seeds and settings, as `recordings/tune.json`.
The suite that judges the outcome (`suite.yaml`, see `direct_and_reach.py`) has no part in it. A run that was cut goes on
where it stood.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections import Counter
from pathlib import Path

from agent_reach import Suite
from agent_reach.cli.progress import progress_listener
from agent_reach.config.run import load_run_config
from agent_reach.config.settings import AgentConfig
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.evals.tune.tune import TuneOptions, tune
from agent_reach.evals.tune.writing import overlay_text, tune_document, tune_lines

STORE = Path(__file__).resolve().parents[1] / "examples" / "store"


def chosen_tasks(per_tool: int) -> Suite:
    """The first `per_tool` tasks of every tool that has as many, and every task that may or must not call."""
    suite = Suite.load(STORE / "practice.yaml")
    first = {task.id: task.paths[0].calls[0].tool for task in suite.tasks if task.kind == "must"}
    known, taken = Counter(first.values()), Counter[str]()
    ids = []
    for task in suite.tasks:
        tool = first.get(task.id)
        if tool is None:
            ids.append(task.id)
        elif known[tool] >= per_tool > taken[tool]:
            taken[tool] += 1
            ids.append(task.id)
    return suite.select(ids=ids)


def main() -> None:
    """Tune and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--per-tool", type=int, default=2)
    parser.add_argument("--budget", type=int)
    parser.add_argument("--archive", type=Path, default=Path(".agent-reach"))
    wanted = parser.parse_args()
    base = load_run_config(STORE / "config.yaml", {})
    config = dataclasses.replace(
        base,
        agent=AgentConfig(
            type="local", model_file=str(Path(os.environ["AGENT_REACH_MODEL"]).resolve()), max_steps=6
        ),
        exposure=dataclasses.replace(base.exposure, mode="reach"),
        concurrency=1,
        attempt_timeout=900.0,
        archive=str((wanted.archive / "runs").resolve()),
    )
    with progress_listener("en", quiet=False) as listener:
        result = tune(
            config,
            suite=chosen_tasks(wanted.per_tool),
            options=TuneOptions(lint=False),
            laboratory=LaboratoryOptions(
                budget=wanted.budget, resume=True, run=RunOptions(listeners=(listener,))
            ),
        )
    (STORE / "overlay.tuned.yaml").write_text(overlay_text(result, config.overlay), encoding="utf-8")
    document = tune_document(result) | {"log": "", "per_tool": wanted.per_tool, "budget": wanted.budget}
    place = STORE / "recordings" / "tune.json"
    place.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for line in tune_lines(result, "en"):
        print(line)


if __name__ == "__main__":
    main()
