"""What a report of ten thousand attempts costs to write and to read: CPU seconds, peak memory, size of the file.

Each form is written in a process of its own over the same made-up run (2,000 tasks, five attempts each, two decisions,
three model messages and six context blocks per attempt, every text different), so that the peak memory is that of one
form; the memory of the run itself, which the writer is handed, is stated beside it. CPU time is the figure to compare:
wall time is noisy on a shared machine.

    python benchmarks/report_size.py [--attempts 10000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message
from agent_reach.records.report import CatalogInfo, CauseSummary, Confusion, Report, RunInfo, ToolSummary
from agent_reach.records.score import (
    ArgumentScore,
    AttemptScore,
    BlockUse,
    Cause,
    Decision,
    Interval,
    Metric,
    Provenance,
    TaskScore,
)
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace

TOOLS = tuple(f"store/tool_{number}" for number in range(60))
ATTEMPTS_PER_TASK = 5
FORMS = ("report.json", "read report.json", "html", "markdown", "junit", "decision-log", "terminal")
LIMITS = {"report.json": (5.0, 500.0)}


def made_up_report(attempts: int) -> Report:
    """A run of that many attempts in which every third decision was lost."""
    tasks = tuple(_task(number) for number in range(max(1, attempts // ATTEMPTS_PER_TASK)))
    rate = Metric(
        value=2 / 3,
        numerator=attempts * 4 // 3,
        denominator=attempts * 2,
        interval=Interval(low=0.64, high=0.69, method="bootstrap"),
    )
    names = ("tool_reachability", "param_hit_rate", "decision_success", "call_success", "over_call_rate")
    return Report(
        run=RunInfo(id="bench", time="2026-01-01T00:00:00+00:00", agent="chat", model="made-up"),
        catalog=CatalogInfo(hash="sha256:0", tool_count=len(TOOLS), tokens=4200),
        metrics=dict.fromkeys(names, rate),
        headline=Message("Two of three decisions were right.", "三个决策中有两个正确。"),
        causes=(CauseSummary(name="rival_chosen", layer="understanding", lost=attempts * 2 // 3, share=1.0),),
        tools=tuple(
            ToolSummary(tool=tool, required=attempts // 30, reached=attempts // 45) for tool in TOOLS
        ),
        confusions=tuple(
            Confusion(expected=TOOLS[index], chosen=TOOLS[(index * 7 + 1) % 60], count=index + 1)
            for index in range(60)
        ),
        tasks=tasks,
    )


def _task(number: int) -> TaskScore:
    task_id = f"task-{number:05}"
    query = (
        f"请求 {number}: move {number % 90 + 1} pieces of PDT-{number:05} to warehouse WH-{number % 17:02}"
    )
    attempts = tuple(_attempt(task_id, query, number, index) for index in range(ATTEMPTS_PER_TASK))
    return TaskScore(task_id=task_id, kind="must", query=query, language="zh", attempts=attempts)


def _attempt(task_id: str, query: str, number: int, index: int) -> AttemptScore:
    arguments = [
        {
            "product_id": f"PDT-{number:05}",
            "quantity": number % 90 + turn,
            "warehouse_id": f"WH-{number % 17:02}",
        }
        for turn in range(2)
    ]
    blocks = tuple(
        ContextBlock(
            id=f"block_{block}",
            kind="retrieval" if block else "instruction",
            text=f"{query}. "
            + " ".join(f"{word}-{number}-{index}-{block} 库存说明" for word in range(18 if block else 1)),
        )
        for block in range(6)
    )
    steps = tuple(
        Step(
            index=turn,
            text=f"turn {turn} of {task_id}/{index}",
            raw=json.dumps({"tool": TOOLS[number % 60], "arguments": arguments[turn]})
            if turn < 2
            else "done",
            calls=(
                Call(
                    call_id=f"call_{turn}",
                    name=f"tool_{number % 60}",
                    tool=TOOLS[number % 60],
                    arguments=arguments[turn],
                    outcome=CallOutcome(
                        status="ok", value={"left": number}, text=f'{{"left": {number}}}', latency_ms=12.5
                    ),
                ),
            )
            if turn < 2
            else (),
            latency_ms=800.0,
            input_tokens=2000,
            output_tokens=40,
        )
        for turn in range(3)
    )
    return AttemptScore(
        index=index,
        share=0.5,
        passed=False,
        decisions=tuple(
            _decision(task_id, number, index, turn, arguments[turn], steps[turn].raw) for turn in range(2)
        ),
        called=True,
        blocks=tuple(
            BlockUse(
                block_id=block.id, kind=block.kind, state="used", fact=f"PDT-{number:05}", place="call_0"
            )
            for block in blocks
        ),
        provenance=tuple(
            Provenance(call_id=f"call_{turn}", pointer=f"/{name}", value=value, blocks=("block_0",))
            for turn in range(2)
            for name, value in arguments[turn].items()
        ),
        legality_emitted=(2, 2),
        executed=(2, 2),
        duration_ms=2400.0,
        trace=Trace(
            trace_id=f"{task_id}-{index}",
            task_id=task_id,
            attempt=index,
            query=query,
            exposure=Exposure(offered=TOOLS, tokens=4200),
            steps=steps,
            blocks=blocks,
            final_text="done",
        ),
    )


def _decision(
    task_id: str, number: int, index: int, turn: int, arguments: dict[str, Any], raw: str
) -> Decision:
    lost = (number + index + turn) % 3 == 0
    return Decision(
        task_id=task_id,
        attempt=index,
        step=turn,
        golden_id=f"step_{turn}",
        expected_tool=TOOLS[number % 60],
        expected_arguments={**arguments, "quantity": number % 90 + 1},
        verdict="wrong" if lost else "right",
        selected_tool=TOOLS[(number + 7) % 60] if lost else TOOLS[number % 60],
        call_id=f"call_{turn}",
        trace_step=turn,
        model_raw=raw,
        arguments=arguments,
        tool_right=not lost,
        argument_scores=tuple(
            ArgumentScore(name=name, verdict="right", required=True, expected=value, actual=value)
            for name, value in arguments.items()
        ),
        required_right=3,
        required_total=3,
        legal_emitted=True,
        decision_success=not lost,
        call_success=not lost,
        error="rival_chosen" if lost else "",
        context_blocks=tuple(f"block_{block}" for block in range(6)),
        used_blocks=("block_0",),
        cause=Cause(
            name="rival_chosen",
            layer="understanding",
            evidence=Message(f"{number} looks alike", f"{number} 相似"),
            fix=Message("Say the difference.", "写明区别。"),
        )
        if lost
        else None,
    )


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(form: str, attempts: int) -> dict[str, Any]:
    """Write one form in this process."""
    from agent_reach.reports.base import load_format
    from agent_reach.reports.json_report import read_report, write_report
    from agent_reach.reports.terminal import summary_lines

    report = made_up_report(attempts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        if form == "read report.json":
            write_report(report, path)
            del report
        before, start = _memory(), time.process_time()
        if form == "report.json":
            write_report(report, path)
        elif form == "read report.json":
            read_report(path)
        elif form == "terminal":
            path.write_text("\n".join(summary_lines(report)), encoding="utf-8")
        else:
            path.write_text(load_format(form).render(report, "en"), encoding="utf-8")
        return {
            "form": form,
            "attempts": attempts,
            "cpu_s": round(time.process_time() - start, 2),
            "run_mb": round(before),
            "peak_mb": round(_memory()),
            "file_mb": round(path.stat().st_size / 1e6, 1),
        }


def main() -> int:
    """Measure every form, print the table, and fail when report.json is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--form", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.form:
        print(json.dumps(measure(options.form, options.attempts)))
        return 0
    rows = []
    print(
        f"{'form':<18}{'CPU s':>8}{'peak MB':>9}{'run MB':>8}{'file MB':>9}   ({options.attempts:,} attempts)"
    )
    for form in FORMS:
        command = [sys.executable, __file__, "--form", form, "--attempts", str(options.attempts)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows.append(row)
        print(f"{form:<18}{row['cpu_s']:>8}{row['peak_mb']:>9}{row['run_mb']:>8}{row['file_mb']:>9}")
    if options.json:
        options.json.write_text(json.dumps({"limits": LIMITS, "rows": rows}, indent=2) + "\n")
    slow = [
        row
        for row in rows
        if row["form"] in LIMITS
        and (row["cpu_s"] > LIMITS[row["form"]][0] or row["peak_mb"] > LIMITS[row["form"]][1])
    ]
    for row in slow:
        print(f"over the limit: {row['form']}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
