"""Reach of a real small model against the number of tools, with all of them shown and through the reach layer.

    AGENT_REACH_MODEL=model.gguf AGENT_REACH_SERVERS=FOLDER python benchmarks/sweep_store.py --run
    python benchmarks/sweep_store.py [--pictures FOLDER]

The store's tasks that must call, among 10, 20, 50 and 100 tools: the store's 63, behind them tools of published servers. Each
task has lists of its own, nested and drawn by seed. With `--run` the model is asked (about an hour and a half on two cores; a
run that was cut goes on where it stood) and the curves are kept in `recordings/store-sweep.json`; without it they are printed,
and drawn into FOLDER in both languages.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

from agent_reach import Catalog, Suite
from agent_reach.cli.progress import progress_listener
from agent_reach.config.run import load_run_config
from agent_reach.config.settings import AgentConfig
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.sweep.drawing import draw
from agent_reach.evals.sweep.points import SweepOptions
from agent_reach.evals.sweep.sweep import SweepResult, sweep
from agent_reach.evals.sweep.writing import sweep_document, sweep_lines
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.codec import from_json

HERE = Path(__file__).resolve().parent
STORE = HERE.parent / "examples" / "store"
RECORDING = HERE / "recordings" / "store-sweep.json"
COUNTS = (10, 20, 50, 100)


def measured(model: Path, servers: Path, archive: Path) -> SweepResult:
    """Ask the model at every point."""
    base = load_run_config(STORE / "config.yaml", {})
    config = dataclasses.replace(
        base,
        agent=AgentConfig(type="local", model_file=str(model.resolve()), max_steps=6),
        concurrency=1,
        attempt_timeout=900.0,
        archive=str((archive / "runs").resolve()),
    )
    suite = Suite.load(STORE / "suite.yaml").select(kinds=["must"])
    options = SweepOptions(
        tools=COUNTS, exposure=("all", "reach"), other=Catalog.load(servers / "servers.json")
    )
    with progress_listener("en", quiet=False) as listener:
        laboratory = LaboratoryOptions(resume=True, run=RunOptions(listeners=(listener,)))
        return sweep(config, options, suite=suite, laboratory=laboratory)


def main() -> None:
    """Run, or print and draw what was kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--archive", type=Path, default=Path(".agent-reach"))
    parser.add_argument("--pictures", type=Path)
    wanted = parser.parse_args()
    if wanted.run:
        model, servers = Path(os.environ["AGENT_REACH_MODEL"]), Path(os.environ["AGENT_REACH_SERVERS"])
        document = sweep_document(measured(model, servers, wanted.archive)) | {"kept": ""}
        RECORDING.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    document = json.loads(RECORDING.read_text(encoding="utf-8"))
    result: SweepResult = from_json(SweepResult, document)
    for line in sweep_lines(result, "en"):
        print(line)
    if wanted.pictures is not None:
        (wanted.pictures / "sweep.svg").write_text(draw(result, "en"), encoding="utf-8")
        (wanted.pictures / "sweep.zh.svg").write_text(draw(result, "zh"), encoding="utf-8")


if __name__ == "__main__":
    main()
