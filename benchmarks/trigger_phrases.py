"""Does "use for requests like ..." help a small model among 120 tools? The store's 63 tools and 57 of published servers.

    AGENT_REACH_MODEL=model.gguf AGENT_REACH_SERVERS=FOLDER python benchmarks/trigger_phrases.py --run [--exposure all,reach] [--kind must]
    python benchmarks/trigger_phrases.py [--json FILE]
    AGENT_REACH_SERVERS=FOLDER python benchmarks/trigger_phrases.py --recall

With `--run` the model answers the store's suite twice per exposure, with the descriptions as they are and with the three
phrases for each tool of `trigger_phrases.yaml`, which were written from the descriptions and not from any task. Traces are
kept in `recordings/triggers-EXPOSURE-ARM.jsonl`, with the model's digest and settings in each; what was made is not made
again. Without `--run` they are scored, and no model and no server is needed. `--recall` asks no model: how many of the needed
tools are among the eight that the reach layer finds, with and without the phrases.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from direct_and_reach import compared, reached

from agent_reach import Catalog, Reach, Suite, run, score
from agent_reach.config.run import load_run_config
from agent_reach.config.settings import AgentConfig, RunConfig
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.records.codec import to_json
from agent_reach.records.report import Report
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Trace
from agent_reach.redact.redactor import Redactor
from agent_reach.traces.importers.read import import_traces

HERE = Path(__file__).resolve().parent
STORE = HERE.parent / "examples" / "store"
RECORDINGS = HERE / "recordings"
PHRASES = HERE / "trigger_phrases.yaml"
SERVERS = ("filesystem", "everything", "git", "memory", "sqlite", "time", "fetch")
ARMS = ("plain", "triggers")
METRICS = ("tool_reachability", "decision_success", "over_call_rate", "task_pass")


def store_catalog() -> Catalog:
    return Catalog.load(STORE / "back_office", overlay=STORE / "overlay.yaml")


def whole_catalog(folder: Path) -> Catalog:
    """The store and the tools of the seven servers, asked live."""
    servers = json.loads((folder / "servers.json").read_text(encoding="utf-8"))["mcpServers"]
    own = store_catalog()
    others = Catalog.load({"mcpServers": {name: servers[name] for name in SERVERS}})
    return Catalog.from_tools([*own.tools, *others.tools])


def with_phrases(catalog: Catalog) -> Catalog:
    """The phrases laid over the catalog; other parts of its notes stay."""
    from agent_reach.config.documents import read_document

    document: dict[str, Any] = dict(read_document(PHRASES, what="overlay").value)
    return catalog.with_overlay(document)


def recorded_place(exposure: str, arm: str) -> Path:
    return RECORDINGS / f"triggers-{exposure}-{arm}.jsonl"


def record(exposure: str, arm: str, model: Path, catalog: Catalog, archive: Path, kinds: list[str]) -> None:
    """Run one arm and keep its traces."""
    base = load_run_config(STORE / "config.yaml", {})
    shown = dataclasses.replace(base.exposure, mode=exposure)
    agent = AgentConfig(type="local", model_file=str(model), max_steps=6, context_tokens=12_288)
    config: RunConfig = dataclasses.replace(
        base,
        agent=agent,
        exposure=shown,
        concurrency=1,
        attempt_timeout=900.0,
        archive=str(archive / exposure / arm),
    )
    select = {"kinds": kinds} if kinds else {}
    report = run(config, suite="core-suite", options=RunOptions(catalog=catalog, resume=True, select=select))
    write_traces(report, model, exposure, arm)


def write_traces(report: Report, model: Path, exposure: str, arm: str) -> None:
    settings = {key: value for key, value in report.run.model_settings.items() if key != "model_file"}
    facts = {
        "model": report.run.model,
        "digest": "sha256:" + hashlib.sha256(model.read_bytes()).hexdigest(),
        "settings": settings,
        "exposure": exposure,
        "arm": arm,
    }
    redactor = Redactor.standard()
    RECORDINGS.mkdir(exist_ok=True)
    with recorded_place(exposure, arm).open("w", encoding="utf-8") as file:
        for task in report.tasks:
            for attempt in task.attempts:
                if attempt.state != "scored" or attempt.trace is None:
                    print(f"left out: {task.task_id} ({attempt.state})", file=sys.stderr)
                    continue
                trace = lean(attempt.trace, facts)
                file.write(json.dumps(redactor.value(to_json(trace)), ensure_ascii=False) + "\n")


def lean(trace: Trace, facts: dict[str, Any]) -> Trace:
    """The trace without what scoring can do without: texts of tool lists, and names that every step repeats."""
    steps = tuple(
        dataclasses.replace(step, offered=() if step.offered == trace.exposure.offered else step.offered)
        for step in trace.steps
    )
    blocks = tuple(
        dataclasses.replace(block, text="") if block.kind == "tools" else block for block in trace.blocks
    )
    shown = dataclasses.replace(trace.exposure, hidden={}, cut_descriptions={})
    metadata = {**trace.metadata, "recording": facts}
    return dataclasses.replace(
        trace, steps=steps, blocks=blocks, exposure=shown, metadata=metadata, findings=(), state_slots=()
    )


def scored(exposure: str, arm: str) -> tuple[Report, Sequence[Trace]]:
    """The report of one arm; tools that only the servers have stand in the catalog by name."""
    traces = list(import_traces(recorded_place(exposure, arm)))
    own = store_catalog()
    known = {tool.key for tool in own.tools}
    others = sorted(
        {
            name
            for trace in traces
            for name in (*trace.exposure.offered, *called(trace))
            if name not in known and "/" in name
        }
    )
    stand_ins = [Tool(server=name.split("/", 1)[0], name=name.split("/", 1)[1]) for name in others]
    suite = Suite.load(STORE / "suite.yaml")
    ids = {trace.task_id for trace in traces}
    chosen = suite.select(ids=[task.id for task in suite.tasks if task.id in ids])
    return score(chosen, traces, Catalog.from_tools([*own.tools, *stand_ins])), traces


def called(trace: Trace) -> list[str]:
    return [call.tool for step in trace.steps for call in step.calls if call.tool]


def shown_metric(report: Report, name: str) -> str:
    metric = report.metrics[name]
    if metric.value is None:
        return "n/a"
    span = f" [{metric.interval.low:.2f}, {metric.interval.high:.2f}]" if metric.interval else ""
    return f"{metric.numerator:g}/{metric.denominator:g}{span}"


def compare() -> list[dict[str, Any]]:
    """Print the table; a row per exposure and arm."""
    rows = []
    print(
        "| exposure | descriptions | "
        + " | ".join(METRICS)
        + " | right tool shown | tokens of the first message |"
    )
    print("|---|---|" + "---:|" * (len(METRICS) + 2))
    for exposure in ("all", "reach"):
        shares = {}
        for arm in ARMS:
            if not recorded_place(exposure, arm).is_file():
                continue
            report, traces = scored(exposure, arm)
            shares[arm] = reached(report)
            tokens = sum(trace.steps[0].input_tokens or 0 for trace in traces if trace.steps) / len(traces)
            wanted = {task.id: task for task in Suite.load(STORE / "suite.yaml").tasks}
            needed = [
                (call.tool in trace.exposure.offered)
                for trace in traces
                if wanted[trace.task_id].kind == "must"
                for path in wanted[trace.task_id].paths[:1]
                for call in path.calls
            ]
            figures = {name: shown_metric(report, name) for name in METRICS}
            rows.append(
                {
                    "exposure": exposure,
                    "arm": arm,
                    **figures,
                    "shown": sum(needed),
                    "needed": len(needed),
                    "tokens": tokens,
                }
            )
            print(
                f"| {exposure} | {arm} | "
                + " | ".join(figures.values())
                + f" | {sum(needed)}/{len(needed)} | {tokens:,.0f} |"
            )
        if len(shares) == 2:
            said = compared(shares["plain"], shares["triggers"])
            print(f"\n{exposure}: right choices of a task {said}\n")
            rows.append({"exposure": exposure, "change": said})
    return rows


def recall(catalog: Catalog) -> None:
    """Print how many needed tools the reach layer shows among eight."""
    for arm in ARMS:
        reach = Reach(with_phrases(catalog) if arm == "triggers" else catalog)
        shown = needed = 0
        for task in Suite.load(STORE / "suite.yaml").tasks:
            if task.kind == "must":
                found = {one.tool.key for one in reach.find(task.query, k=8)}
                golds = [call.tool for path in task.paths[:1] for call in path.calls]
                needed += len(golds)
                shown += sum(gold in found for gold in golds)
        print(f"{arm}: {shown}/{needed} needed tools among eight of {len(catalog)}")


def main() -> None:
    """Record, or score what was recorded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--exposure", default="all,reach")
    parser.add_argument("--recall", action="store_true")
    parser.add_argument("--kind", default="", help="With --run: only tasks of these kinds.")
    parser.add_argument("--archive", type=Path, default=Path(".agent-reach/triggers"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.run:
        model = Path(os.environ["AGENT_REACH_MODEL"])
        catalog = whole_catalog(Path(os.environ["AGENT_REACH_SERVERS"]))
        print(f"{len(catalog)} tools", file=sys.stderr)
        for exposure in options.exposure.split(","):
            for arm in ARMS:
                chosen = with_phrases(catalog) if arm == "triggers" else catalog
                kinds = [kind for kind in options.kind.split(",") if kind]
                record(exposure, arm, model.resolve(), chosen, options.archive.resolve(), kinds)
    if options.recall:
        recall(whole_catalog(Path(os.environ["AGENT_REACH_SERVERS"])))
        return
    rows = compare()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
