"""What storing and querying traces costs: decisions per CPU-second, dashboard queries over many rows, importing.

    python benchmarks/traces.py [--rows 1000000] [--postgres URL] [--json FILE]

CPU seconds of this process, and wall time for queries (the median of five, with the spread as the noise of the machine).
The traces are made up: ten decisions each over 200 tools, texts of the length of real ones.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from agent_reach.records.codec import to_json
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.traces.importers.read import import_traces
from agent_reach.traces.store.base import TraceFilter, TraceStore

DAY = 86400.0


def traces(count: int, seed: int = 7):
    """Made-up traces, spread over 60 days."""
    chance = random.Random(seed)
    for number in range(count):
        steps = []
        for index in range(10):
            chosen = chance.randrange(200)
            tool = f"server{chosen % 12}/tool_{chosen}"
            failed = chance.random() < 0.06
            outcome = CallOutcome(
                status="failed" if failed else "ok",
                error_kind="timeout" if failed else None,
                latency_ms=chance.lognormvariate(4, 1),
                value={"order_id": f"ORD-{number}", "status": "paid", "quantity": index},
                text='{"order_id": "ORD-7001", "status": "paid", "quantity": 2}',
            )
            call = Call(
                call_id=f"c{index}",
                name=tool,
                tool=tool,
                arguments={"order_id": f"ORD-{number}"},
                outcome=outcome,
            )
            steps.append(Step(index=index, text="Let me look that up for you.", calls=(call,)))
        yield Trace(
            trace_id=f"trace-{number:07d}",
            query="Where is my order, and can it still be changed?",
            started_at=20000 * DAY + chance.random() * 60 * DAY,
            steps=tuple(steps),
        )


def measured(function, repeats: int = 5) -> dict[str, float]:
    """Median wall time in ms and its spread over the repeats."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append((time.perf_counter() - begun) * 1000)
    return {"median_ms": statistics.median(times), "min_ms": min(times), "max_ms": max(times)}


def bench_store(name: str, url: str, decisions: int) -> dict[str, object]:
    """Writing, then the queries of a dashboard."""
    made = list(traces(min(decisions, 50_000) // 10))
    with TraceStore.open(url) as store:
        begun, wall = time.process_time(), time.perf_counter()
        store.add_all(made)
        cpu, took = time.process_time() - begun, time.perf_counter() - wall
        rest = decisions - len(made) * 10
        if rest > 0:
            store.add_all(
                Trace(
                    trace_id=f"more-{trace.trace_id}-{round_}",
                    query=trace.query,
                    started_at=trace.started_at,
                    steps=trace.steps,
                )
                for round_ in range(rest // 50_000 + 1)
                for trace in made[: max(1, min(len(made), (rest - round_ * 50_000) // 10))]
            )
        newest = store.summaries(TraceFilter(limit=1))[0].trace_id
        return {
            "store": name,
            "decisions": decisions,
            "decisions_per_cpu_second": round(len(made) * 10 / cpu),
            "decisions_per_second": round(len(made) * 10 / took),
            "per_tool_figures": measured(store.statistics),
            "per_tool_figures_of_a_week": measured(
                lambda: store.statistics(since=20050 * DAY, until=20057 * DAY)
            ),
            "newest_twenty": measured(lambda: store.summaries(TraceFilter(limit=20))),
            "one_trace": measured(lambda: store.get(newest)),
        }


def bench_import() -> dict[str, object]:
    """Reading our own JSONL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "own.jsonl"
        path.write_text("\n".join(json.dumps(to_json(trace)) for trace in traces(2000)), encoding="utf-8")
        begun = time.process_time()
        calls = sum(len(trace.calls) for trace in import_traces(path))
        return {"imported_calls_per_cpu_second": round(calls / (time.process_time() - begun))}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgres")
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    results = [bench_import()]
    with tempfile.TemporaryDirectory() as folder:
        results.append(bench_store("sqlite", str(Path(folder) / "t.db"), wanted.rows))
    if wanted.postgres:
        results.append(bench_store("postgresql", wanted.postgres, wanted.rows))
    print(
        "| store | decisions | per CPU-second | per second | figures | figures, week | newest 20 | one trace |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in results[1:]:
        queries = [
            row[key]
            for key in ("per_tool_figures", "per_tool_figures_of_a_week", "newest_twenty", "one_trace")
        ]
        shown = " | ".join(
            f"{query['median_ms']:.1f} ms ({query['min_ms']:.1f}-{query['max_ms']:.1f})" for query in queries
        )
        print(
            f"| {row['store']} | {row['decisions']:,} | {row['decisions_per_cpu_second']:,} | {row['decisions_per_second']:,} | {shown} |"
        )
    print(f"\nimport of own JSONL: {results[0]['imported_calls_per_cpu_second']:,} calls per CPU-second")
    if wanted.json:
        wanted.json.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
