"""Score the 200 recorded gpt-4o conversations of tau-bench (airline) as they stand: no model, no execution.

    python benchmarks/taubench_airline.py [--data DIR] [--json FILE] [--show N]

Tasks are made from the gold actions (50 tasks, four tries each). The benchmark's own golds name writes only, in the order of
the reference solution; any order counts here, because most writes are independent. Seven golds are empty: those tasks
are `may` with every write forbidden. `--show` prints that many lost decisions for checking by eye.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.scoring.score import score
from agent_reach.records.context import ContextBlock
from agent_reach.records.report import Report
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace

FOLDER = "graph/taubench_gpt4o_airline"
ARGUMENTS_NOT_JUDGED = ("summary", "thought", "expression")
"""Free text that the benchmark does not compare either."""


@dataclass(frozen=True)
class AirlineSuite:
    """The 50 tasks."""

    tasks: tuple[Task, ...]
    name: str = "taubench-airline"
    hash: str = ""


def data_folder(given: Path | None = None) -> Path:
    """The folder of the recordings: given, from AGENT_REACH_DATA, or beside the project."""
    root = given or Path(os.environ.get("AGENT_REACH_DATA", "../shared/data"))
    return root / FOLDER


def read_airline(folder: Path) -> tuple[AirlineSuite, list[Trace], Catalog]:
    """Suite, traces and catalog of the recordings."""
    definitions = [
        json.loads(line) for line in (folder / "tools.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    catalog = Catalog.load([{"type": "function", "function": item["function"]} for item in definitions])
    catalog = catalog.with_overlay(
        {"tools": {tool.key: {"effect": effect_of(tool.name)} for tool in catalog.tools}}
    )
    rows = [json.loads(line) for line in (folder / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    writes = tuple(tool.key for tool in catalog.tools if not tool.is_read_only)
    tasks: dict[str, Task] = {}
    for row in rows:
        name = f"airline-{row['task_id']}"
        if name not in tasks:
            tasks[name] = airline_task(name, row, writes)
    offered = tuple(tool.key for tool in catalog.tools)
    traces = [airline_trace(row, offered) for row in rows]
    return AirlineSuite(tuple(tasks.values())), traces, catalog


def effect_of(name: str) -> str:
    """The domain's own division: these names change the booking database or hand the user over."""
    starts = ("book_", "cancel_", "update_", "send_", "transfer_")
    return "write" if name.startswith(starts) else "read"


def airline_task(name: str, row: dict[str, Any], writes: tuple[str, ...]) -> Task:
    query = next(message["content"] for message in row["messages"] if message["role"] == "user")
    golds = tuple(
        (GoldenCall(tool=action["name"], id=f"{number}-{action['name']}", args=judged(action["kwargs"])),)
        for number, action in enumerate(row["gold_actions"])
    )
    if not golds:
        # A hand-over to a person is the policy's answer to what is not allowed.
        forbidden = tuple(tool for tool in writes if not tool.startswith("transfer_"))
        return Task(id=name, kind="may", query=query, forbid=forbidden)
    return Task(id=name, kind="must", query=query, order="any_order", paths=(GoldenPath(stages=golds),))


def judged(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {"$any": True} if name in ARGUMENTS_NOT_JUDGED else value for name, value in arguments.items()
    }


def airline_trace(row: dict[str, Any], offered: tuple[str, ...]) -> Trace:
    """One conversation: user turns and model messages are steps, tool messages the outcomes of their calls."""
    results = {message["tool_call_id"]: message for message in row["messages"] if message["role"] == "tool"}
    steps: list[Step] = []
    blocks = [ContextBlock(id="policy", kind="constraint", text=row["messages"][0]["content"])]
    for message in row["messages"][1:]:
        index = len(steps)
        if message["role"] == "user":
            steps.append(Step(index=index, kind="user", text=message["content"] or ""))
        elif message["role"] == "assistant":
            calls = tuple(read_call(call, results) for call in message.get("tool_calls") or ())
            steps.append(
                Step(
                    index=index,
                    text=message["content"] or "",
                    raw=json.dumps(message, ensure_ascii=False),
                    calls=calls,
                )
            )
            blocks += [
                ContextBlock(
                    id=f"result:{call.call_id}",
                    kind="tool_result",
                    text=call.outcome.text,
                    call_id=call.call_id,
                    from_step=index,
                )
                for call in calls
                if call.outcome is not None
            ]
    query = next((step.text for step in steps if step.kind == "user"), "")
    return Trace(
        trace_id=row["id"],
        task_id=f"airline-{row['task_id']}",
        attempt=row["trial"],
        model=row["model"],
        query=query,
        steps=tuple(steps),
        blocks=tuple(blocks),
        exposure=Exposure(offered=offered),
        metadata={"reward": row["reward"]},
    )


def read_call(call: dict[str, Any], results: dict[str, Any]) -> Call:
    text = call["function"]["arguments"]
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    return Call(
        call_id=call["id"],
        name=call["function"]["name"],
        arguments=arguments if isinstance(arguments, dict) else None,
        raw_arguments=text,
        outcome=read_outcome(results.get(call["id"])),
    )


def read_outcome(message: dict[str, Any] | None) -> CallOutcome | None:
    if message is None:
        return None
    content = message["content"]
    if message.get("is_error"):
        return CallOutcome(status="failed", error_kind="tool_error", text=content, message=content)
    try:
        value = json.loads(content)
    except ValueError:
        value = content
    return CallOutcome(status="ok", value=value, text=content)


def agreement(report: Report, traces: list[Trace]) -> tuple[int, int, int, int]:
    """(both pass, only we, only the benchmark's reward, neither)."""
    rewards = {(trace.task_id, trace.attempt): trace.metadata["reward"] >= 1.0 for trace in traces}
    counts = Counter(
        (bool(attempt.passed), rewards[(task.task_id, attempt.index)])
        for task in report.tasks
        for attempt in task.attempts
    )
    return counts[True, True], counts[True, False], counts[False, True], counts[False, False]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", type=int, default=0)
    chosen = parser.parse_args()
    suite, traces, catalog = read_airline(data_folder(chosen.data))
    start = time.process_time()
    report = score(suite, traces, catalog)
    spent = time.process_time() - start
    kinds = Counter(task.kind for task in suite.tasks)
    print(f"{len(traces)} conversations, {len(suite.tasks)} tasks ({dict(kinds)}), {spent:.2f} s of CPU")
    print(report.headline.en)
    for name, metric in report.metrics.items():
        if metric.value is None:
            print(f"  {name:<22} n/a ({metric.reason})")
            continue
        low, high = (metric.interval.low, metric.interval.high) if metric.interval else (0.0, 0.0)
        print(
            f"  {name:<22} {metric.value:7.3f}  {metric.numerator:g}/{metric.denominator:g}  [{low:.3f}, {high:.3f}]"
        )
    print("  pass^k", {k: round(value, 3) for k, value in report.pass_hat.items()})
    both, ours, theirs, neither = agreement(report, traces)
    print(
        f"task pass beside the benchmark's reward: both {both}, only here {ours}, only there {theirs}, neither {neither}"
    )
    for cause in report.causes:
        print(
            f"  {cause.name:<20} {cause.layer:<15} {cause.lost:4d}  {cause.share:.1%}  {', '.join(cause.tools[:3])}"
        )
    show(report, chosen.show)
    if chosen.json:
        chosen.json.write_text(
            json.dumps(
                {
                    "metrics": {name: metric.value for name, metric in report.metrics.items()},
                    "causes": {cause.name: cause.lost for cause in report.causes},
                    "agreement": [both, ours, theirs, neither],
                    "cpu_seconds": spent,
                },
                indent=1,
            )
            + "\n",
            encoding="utf-8",
        )


def show(report: Report, count: int) -> None:
    """Lost decisions, one of each cause in turn, for checking by eye."""
    lost: dict[str, list[Any]] = {}
    for task in report.tasks:
        for attempt in task.attempts:
            for decision in attempt.decisions:
                if decision.cause is not None:
                    lost.setdefault(decision.cause.name, []).append(decision)
    turn = 0
    while count > 0 and any(len(own) > turn for own in lost.values()):
        for name, own in lost.items():
            if len(own) > turn and count > 0:
                decision = own[turn]
                count -= 1
                print(
                    f"\n{name}: {decision.task_id} attempt {decision.attempt} {decision.expected_tool} ({decision.verdict})"
                )
                print(f"  {decision.cause.evidence.en}; also {[cause.name for cause in decision.also]}")
                print(f"  expected {json.dumps(decision.expected_arguments, ensure_ascii=False)[:300]}")
                print(
                    f"  got      {decision.selected_tool} {json.dumps(decision.arguments, ensure_ascii=False)[:300]}"
                )
        turn += 1


if __name__ == "__main__":
    main()
