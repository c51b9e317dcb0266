"""The same real model with all tools shown, through the reach layer, and through it with the tuned overlay.

    python benchmarks/direct_and_reach.py [--json FILE]

Scores the recordings of `examples/store/recordings` (made by `examples/store/record.py`) on the tasks that all of them
have; no model is run here. Intervals are 95%, by task. A difference is that of a task's figure between two columns, so that
what is hard in both cancels out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from agent_reach import Catalog, Suite, score
from agent_reach.evals.statistics import ratio_interval
from agent_reach.records.report import Report
from agent_reach.records.score import Interval
from agent_reach.records.trace import Trace
from agent_reach.traces.importers.read import import_traces

STORE = Path(__file__).resolve().parents[1] / "examples" / "store"
COLUMNS = (
    ("all tools shown", "all-tools"),
    ("reach layer", "reach-layer"),
    ("reach layer, tuned", "reach-tuned"),
)
METRICS = (
    "tool_reachability",
    "param_pass_rate",
    "param_legality_sent",
    "decision_success",
    "call_success",
    "over_call_rate",
    "task_pass",
)
MEANS: tuple[tuple[str, Callable[[Trace], float]], ...] = (
    ("tools shown", lambda trace: len(trace.exposure.offered)),
    ("tokens of the tool list (estimate)", lambda trace: trace.exposure.tokens or 0),
    ("tokens of the first message", lambda trace: trace.steps[0].input_tokens or 0),
    (
        "tokens in and out, all messages",
        lambda trace: sum((s.input_tokens or 0) + (s.output_tokens or 0) for s in trace.steps),
    ),
)


def reached(report: Report) -> dict[str, float]:
    """Task -> share of its required decisions in which the right tool was chosen."""
    found = {}
    for task in report.tasks:
        decisions = [decision for attempt in task.attempts for decision in attempt.decisions]
        if decisions:
            right = sum(decision.selected_tool == decision.expected_tool for decision in decisions)
            found[task.task_id] = right / len(decisions)
    return found


def span(interval: Interval | None, form: str) -> str:
    return f" [{interval.low:{form}}, {interval.high:{form}}]" if interval else ""


def compared(left: Mapping[str, float], right: Mapping[str, float]) -> str:
    """The mean change of a task's reach, with the tasks that got better and worse."""
    changes = [right[key] - left[key] for key in left]
    interval = ratio_interval(changes, [1.0] * len(changes), is_share=False)
    better, worse = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
    mean = sum(changes) / len(changes)
    return f"{mean:+.2f}{span(interval, '+.2f')}, {better} better, {worse} worse"


def main() -> None:
    """Score and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    catalog = Catalog.load(STORE / "back_office", overlay=STORE / "overlay.yaml")
    suite = Suite.load(STORE / "suite.yaml")
    runs = {
        title: {trace.task_id: trace for trace in import_traces(place)}
        for title, name in COLUMNS
        if (place := STORE / "recordings" / f"{name}.jsonl").is_file()
    }
    common = [task.id for task in suite.tasks if all(task.id in traces for traces in runs.values())]
    chosen = suite.select(ids=common)
    reports = {name: score(chosen, [traces[key] for key in common], catalog) for name, traces in runs.items()}
    rows: dict[str, list[str]] = {}
    for name in METRICS:
        rows[name] = [
            "n/a"
            if (metric := report.metrics[name]).value is None
            else f"{metric.value:.1%} ({metric.numerator:g}/{metric.denominator:g}){span(metric.interval, '.2f')}"
            for report in reports.values()
        ]
    for label, value in MEANS:
        cells = []
        for traces in runs.values():
            values = [float(value(traces[key])) for key in common]
            interval = ratio_interval(values, [1.0] * len(values), is_share=False)
            cells.append(f"{sum(values) / len(values):,.1f}{span(interval, ',.0f')}")
        rows[label] = cells
    shares = [reached(report) for report in reports.values()]
    rows["reach of a task, change"] = [
        "",
        *(compared(*pair) for pair in pairwise(shares)),
    ]
    print(f"{len(common)} tasks that all have\n")
    print("| figure | " + " | ".join(reports) + " |")
    print("|---|" + "---|" * len(reports))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
    if wanted.json:
        wanted.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
