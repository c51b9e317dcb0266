"""How often a proof says the truth: planted troubles, agents that err by chance, every intervention tried.

Each scripted agent has one trouble and flips its outcome with a small probability. The planted cause should be proved and
every other one refuted. Prints one row per trouble; `--json FILE` writes the figures. Verdicts do not depend on the
machine (seeded); the time does.

    python benchmarks/prove.py [--attempts 60] [--noise 0.01] [--seeds 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.evals_prove.scripted import World, worlds

from agent_reach.evals.interventions.prove import ProveOptions, prove
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions


def one(world: World, folder: Path, attempts: int, noise: float, seed: int) -> dict[str, Any]:
    """Verdicts of one planted trouble."""
    options = RunOptions(catalog=world.catalog, agent=world.agent(), archive=folder / "runs", concurrency=1)
    report = run(world.config, suite=world.suite, options=options)
    noisy = RunOptions(
        catalog=world.catalog,
        agent=world.agent(noise=noise, seed=seed),
        archive=folder / "runs",
        concurrency=1,
    )
    started = time.perf_counter()
    result = prove(
        world.config,
        report,
        suite=world.suite,
        options=ProveOptions(attempts=attempts, all_causes=True, pairs=0),
        laboratory=LaboratoryOptions(run=noisy),
    )
    found = next(item for item in result.decisions if world.cause in item.verdicts)
    others = Counter(verdict for cause, verdict in found.verdicts.items() if cause != world.cause and verdict)
    return {
        "planted": world.cause,
        "verdict": found.verdicts[world.cause],
        "others": dict(others),
        "attempts": result.spent,
        "seconds": round(time.perf_counter() - started, 2),
    }


def main() -> None:
    """Run every world and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=60)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for seed in range(arguments.seeds):
        for world in worlds():
            with tempfile.TemporaryDirectory() as folder:
                rows.append(one(world, Path(folder), arguments.attempts, arguments.noise, seed))
            row = rows[-1]
            print(
                f"{row['planted']:24} {row['verdict']:10} others {row['others']}  {row['attempts']} attempts"
            )
    planted = sum(row["verdict"] == "proved" for row in rows)
    others: Counter[str] = Counter()
    for row in rows:
        others.update(row["others"])
    total = sum(others.values())
    summary = {
        "planted": len(rows),
        "planted_proved": planted,
        "others": total,
        "others_refuted": others["refuted"],
        "others_undecided": others["undecided"],
        "others_proved": others["proved"],
        "attempts": sum(row["attempts"] for row in rows),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
    }
    print(json.dumps(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "summary": summary}, indent=1))


if __name__ == "__main__":
    main()
