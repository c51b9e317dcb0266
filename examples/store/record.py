"""Records real decisions of a real small model on the store's suite, for the demo to show offline.

    AGENT_REACH_MODEL=model.gguf python examples/store/record.py NAME [--exposure all|reach] [--report report.json]
    AGENT_REACH_MODEL=model.gguf python examples/store/record.py reach-tuned --exposure reach --tuned

Runs the suite of this folder with the `local` agent (or takes the report of such a run) and writes
`recordings/NAME.jsonl`: one trace a line, each with the model's name, the digest of its weights, the date and the settings in
its metadata. The tool list is kept by name only, once per trace; secrets pass the redactor like everything that is written.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from agent_reach.config.run import load_run_config
from agent_reach.config.settings import AgentConfig, ExposureConfig
from agent_reach.evals.runner import run
from agent_reach.records.codec import to_json
from agent_reach.records.trace import Trace
from agent_reach.redact.redactor import Redactor
from agent_reach.reports.json_report import read_report

HERE = Path(__file__).resolve().parent


def recorded_report(model: Path, wanted: argparse.Namespace):
    """Run the suite with the model, one attempt at a time."""
    base = load_run_config(HERE / "config.yaml", {})
    shown = base.exposure
    assert isinstance(shown, ExposureConfig)
    if wanted.exposure == "reach":
        shown = dataclasses.replace(shown, mode="reach")
    overlay = base.overlay
    if wanted.tuned:
        overlay = str(HERE / "overlay.tuned.yaml")
        shown = dataclasses.replace(shown, settings={**shown.settings, **tuned_settings()})
    agent = AgentConfig(type="local", model_file=str(model), max_steps=6)
    config = dataclasses.replace(
        base, agent=agent, exposure=shown, overlay=overlay, concurrency=1, attempt_timeout=900.0
    )
    select = {"ids": wanted.tasks.split(",")} if wanted.tasks else {}
    return run(config, suite="core-suite", resume=True, select=select)


def tuned_settings() -> dict:
    """What `tune` kept that belongs into the configuration: the number of candidates, hidden tools."""
    changes = json.loads((HERE / "recordings" / "tune.json").read_text(encoding="utf-8"))["settings_changes"]
    found: dict = {"deny": changes["hide"]} if "hide" in changes else {}
    return found | ({"k": changes["candidates"]} if "candidates" in changes else {})


def main() -> None:
    """Record and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--exposure", choices=["all", "reach"], default="all")
    parser.add_argument("--tuned", action="store_true", help="With what `benchmarks/tune_store.py` kept.")
    parser.add_argument("--tasks", help="Only these tasks (a,b); the others' lines stay as they are.")
    parser.add_argument("--report", type=Path, help="Take the traces of this report instead of running.")
    wanted = parser.parse_args()
    model = Path(os.environ["AGENT_REACH_MODEL"])
    report = read_report(wanted.report) if wanted.report else recorded_report(model, wanted)
    facts = {
        "model": report.run.model,
        "digest": "sha256:" + hashlib.sha256(model.read_bytes()).hexdigest(),
        "recorded": datetime.now(UTC).date().isoformat(),
        "settings": {key: value for key, value in report.run.model_settings.items() if key != "model_file"},
        "exposure": wanted.exposure,
        **({"tuned": tuned_settings()} if wanted.tuned else {}),
    }
    redactor = Redactor.standard()
    target = HERE / "recordings" / f"{wanted.name}.jsonl"
    target.parent.mkdir(exist_ok=True)
    lines: dict[str, str] = {}
    if wanted.tasks and target.exists():
        lines = {json.loads(line)["task_id"]: line for line in target.read_text("utf-8").splitlines()}
    for task in report.tasks:
        for attempt in task.attempts:
            if attempt.state != "scored" or attempt.trace is None:
                print(f"left out: {task.task_id} ({attempt.state})")
                continue
            trace = lean(attempt.trace, facts)
            lines[task.task_id] = json.dumps(redactor.value(to_json(trace)), ensure_ascii=False)
    target.write_text("".join(f"{line}\n" for line in lines.values()), encoding="utf-8")
    print(f"{target}: {target.stat().st_size:,} bytes")


def lean(trace: Trace, facts: dict) -> Trace:
    """The trace without what scoring can do without: the text of the tool list, and names that every step repeats."""
    steps = tuple(
        dataclasses.replace(step, offered=() if step.offered == trace.exposure.offered else step.offered)
        for step in trace.steps
    )
    blocks = tuple(
        dataclasses.replace(block, text="") if block.kind == "tools" else block for block in trace.blocks
    )
    metadata = {**trace.metadata, "recording": facts}
    return dataclasses.replace(trace, steps=steps, blocks=blocks, metadata=metadata, findings=())


if __name__ == "__main__":
    main()
