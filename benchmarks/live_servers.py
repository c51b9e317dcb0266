"""The example over published MCP servers, driven live by one agent after the other: what each reaches and what it costs.

    python benchmarks/live_servers.py [--agents golden,lexical,lexical-reach,lexical-reach-vectors,local,local-reach]
                                      [--model FILE.gguf] [--archive FOLDER] [--json FILE]

AGENT_REACH_SERVERS is a folder made by `benchmarks/servers/install.py`. `golden` makes the golden calls: every share must
come out as 1. `local` needs the extra `[local]` and a model (default: the one of `agent-reach model fetch`); on two
busy cores it takes the better part of an hour. `-reach` is the same agent with `exposure: {tools: reach}`, `-notes` with
one Chinese line for each tool (`overlay-zh.yaml`), `-vectors` with the encoder of the extra `[vectors]`; `offered` is how many
of the required tools that were shown. A run that was
cut goes on where it stood. Tokens are those of the tools shown, by the offline estimator, on the mean of attempts;
seconds are wall-clock and mean little on a shared machine. Exit code 1 where `golden` is not perfect.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from agent_reach import run
from agent_reach.config.documents import read_document
from agent_reach.evals.agents.base import agent_types
from agent_reach.records.report import Report

EXAMPLE = Path(__file__).parents[1] / "examples" / "servers"
FIGURES = (
    "tool_reachability",
    "first_choice_rate",
    "param_pass_rate",
    "decision_success",
    "call_success",
    "execution_success",
    "over_call_rate",
    "task_pass",
)
AGENTS = (
    "golden",
    "lexical",
    "lexical-reach",
    "lexical-reach-notes",
    "lexical-reach-vectors",
    "local",
    "local-reach",
    "local-reach-notes",
)


def configured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The run configuration of one agent, as a mapping in file form."""
    path = EXAMPLE / ("golden.yaml" if name == "golden" else "config.yaml")
    value = dict(read_document(path, what="run configuration").value)
    if name.startswith("local"):
        agent: dict[str, Any] = {"type": "local", "max_steps": 4, "context_tokens": options.context_tokens}
        if options.model is not None:
            agent["model_file"] = str(options.model.resolve())
        if options.threads is not None:
            agent["threads"] = options.threads
        value |= {"agent": agent, "attempt_timeout": 900, "concurrency": 1}
    if "-reach" in name:
        value["exposure"] = {"tools": "reach"}
    if name.endswith("-vectors"):
        value["exposure"]["reach"] = {"embedder": "encoder"}
    if name.endswith("-notes"):
        value["overlay"] = "overlay-zh.yaml"
    value["archive"] = str((options.archive / name).resolve())
    return value


def measured(name: str, options: argparse.Namespace) -> Report:
    """Run the suite with that agent, on from where an earlier run stopped."""
    from agent_reach.config.documents import Document
    from agent_reach.config.run import resolve_run_config

    config = resolve_run_config(
        Document(value=configured(name, options)), EXAMPLE, os.environ, agent_types=agent_types()
    )
    return run(config, resume=True, environment=dict(os.environ))


def row(name: str, report: Report) -> dict[str, Any]:
    """The figures of one run."""
    traces = [
        attempt.trace for task in report.tasks for attempt in task.attempts if attempt.trace is not None
    ]
    shown = [trace.exposure.tokens or 0 for trace in traces if trace.exposure is not None]
    read = [sum(step.input_tokens or 0 for step in trace.steps) for trace in traces]
    written = [sum(step.output_tokens or 0 for step in trace.steps) for trace in traces]
    seconds = [(attempt.duration_ms or 0) / 1000 for task in report.tasks for attempt in task.attempts]
    return {
        "agent": name,
        "attempts": len(traces),
        "lost": len(report.infra_errors),
        "offered": offered(report),
        **{figure: counted(report, figure) for figure in FIGURES},
        "tool_tokens": round(statistics.fmean(shown)) if shown else None,
        "input_tokens": round(statistics.fmean(read)) if read else None,
        "output_tokens": round(statistics.fmean(written)) if written else None,
        "seconds": round(statistics.fmean(seconds), 1) if seconds else None,
    }


def offered(report: Report) -> str:
    """How many required decisions had their tool among those shown, of all."""
    shown = [
        decision.expected_tool in attempt.trace.exposure.offered
        for task in report.tasks
        for attempt in task.attempts
        if attempt.trace is not None and attempt.trace.exposure is not None
        for decision in attempt.decisions
        if decision.expected_tool
    ]
    return f"{sum(shown)}/{len(shown)}"


def counted(report: Report, figure: str) -> dict[str, Any]:
    """Value and counts of one metric."""
    metric = report.metrics[figure]
    return {"value": metric.value, "numerator": metric.numerator, "denominator": metric.denominator}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table, one figure a line."""
    lines = ["| | " + " | ".join(row["agent"] for row in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for figure in FIGURES:
        cells = [
            "n/a" if row[figure]["value"] is None
            else f"{row[figure]['value']:.1%} ({row[figure]['numerator']:g}/{row[figure]['denominator']:g})"
            for row in rows
        ]  # fmt: skip
        lines.append(f"| {figure} | " + " | ".join(cells) + " |")
    for key in ("offered", "tool_tokens", "input_tokens", "output_tokens", "seconds", "attempts", "lost"):
        lines.append(f"| {key} | " + " | ".join(str(row[key]) for row in rows) + " |")
    return "\n".join(lines)


def is_perfect(figures: dict[str, Any]) -> bool:
    """Every share 1, every rate of errors 0, nothing lost."""
    shares = [figures[figure]["value"] for figure in FIGURES if figure != "over_call_rate"]
    return (
        all(share == 1 for share in shares)
        and figures["over_call_rate"]["value"] == 0
        and not figures["lost"]
    )


def main() -> int:
    """Run the agents asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--agents", default="golden,lexical,lexical-reach")
    parser.add_argument("--model", type=Path, default=None, metavar="FILE")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--context-tokens", type=int, default=16384)
    parser.add_argument("--archive", type=Path, default=Path(".agent-reach/live_servers"))
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    names = [name for name in options.agents.split(",") if name]
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        parser.error(f"unknown agent {unknown[0]!r}; known: {', '.join(AGENTS)}")
    if not os.environ.get("AGENT_REACH_SERVERS"):
        parser.error("set AGENT_REACH_SERVERS to a folder made by benchmarks/servers/install.py")
    rows: list[dict[str, Any]] = []
    for name in names:
        rows.append(row(name, measured(name, options)))
        print(f"{name}: task pass {rows[-1]['task_pass']['value']}", file=sys.stderr, flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    print(table(rows))
    wrong = [figures["agent"] for figures in rows if figures["agent"] == "golden" and not is_perfect(figures)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
