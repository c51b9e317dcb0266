"""The same real model with all tools shown and through the reach layer, on the tasks that both recordings have.

    python benchmarks/direct_and_reach.py [--json FILE]

Scores the recordings of `examples/store/recordings` (made by `examples/store/record.py`); no model is run here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from agent_reach import Catalog, Suite, score
from agent_reach.traces.importers.read import import_traces

STORE = Path(__file__).resolve().parents[1] / "examples" / "store"
METRICS = (
    "tool_reachability",
    "param_pass_rate",
    "param_legality_sent",
    "decision_success",
    "call_success",
    "over_call_rate",
    "task_pass",
)


def main() -> None:
    """Score both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    catalog = Catalog.load(STORE / "back_office", overlay=STORE / "overlay.yaml")
    suite = Suite.load(STORE / "suite.yaml")
    runs = {
        title: {trace.task_id: trace for trace in import_traces(STORE / "recordings" / name)}
        for title, name in (("all tools shown", "all-tools.jsonl"), ("reach layer", "reach-layer.jsonl"))
    }
    common = [task.id for task in suite.tasks if all(task.id in traces for traces in runs.values())]
    chosen = suite.select(ids=common)
    reports = {name: score(chosen, [traces[key] for key in common], catalog) for name, traces in runs.items()}
    print(f"{len(common)} tasks that both have\n")
    print("| figure | " + " | ".join(reports) + " |")
    print("|---|" + "---|" * len(reports))
    rows = {}
    for name in METRICS:
        cells = []
        for report in reports.values():
            metric = report.metrics[name]
            span = f" [{metric.interval.low:.2f}, {metric.interval.high:.2f}]" if metric.interval else ""
            shown = (
                "n/a"
                if metric.value is None
                else f"{metric.value:.1%} ({metric.numerator:g}/{metric.denominator:g}){span}"
            )
            cells.append(shown)
        rows[name] = cells
        print(f"| {name} | " + " | ".join(cells) + " |")
    for label, value in (
        ("tools shown, mean", lambda trace: len(trace.exposure.offered)),
        ("tokens of the first message, mean", lambda trace: trace.steps[0].input_tokens or 0),
    ):
        cells = [
            f"{sum(value(traces[key]) for key in common) / len(common):,.1f}" for traces in runs.values()
        ]
        rows[label] = cells
        print(f"| {label} | " + " | ".join(cells) + " |")
    if wanted.json:
        wanted.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
