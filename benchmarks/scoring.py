"""What scoring a recorded trajectory costs, beside BFCL's checker and the trajectory metrics of three libraries.

One thousand trajectories are made from the tasks that ship inside the bfcl-eval package (parallel_multiple: several
calls, several tools, accepted values per argument): for each of 200 tasks the gold itself, one scalar changed, one call
dropped, one tool name swapped, and the calls in reverse order. Every program scores the same file in its own
environment, one after another, in CPU time; language models are never asked.

    python benchmarks/scoring.py --peers ../peers [--json FILE]

`--peers` holds virtual environments `bfcl`, `judges` (agentevals, deepeval) and `ragas`; those that are missing are
said to be. Without `bfcl` there are no tasks, and nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CATEGORY = "parallel_multiple"
ROUNDS = 5


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def trajectories(data: Path) -> list[dict[str, Any]]:
    """Five trajectories for each task: {task, variant, functions, question, gold, calls}."""
    tasks = read_lines(data / f"BFCL_v4_{CATEGORY}.json")
    answers = {
        row["id"]: row["ground_truth"]
        for row in read_lines(data / "possible_answer" / f"BFCL_v4_{CATEGORY}.json")
    }
    found = []
    for task in tasks:
        gold = answers[task["id"]]
        right = [(name, first_accepted(args)) for call in gold for name, args in call.items()]
        for variant, calls in variants(right).items():
            found.append(
                {
                    "task": task["id"],
                    "variant": variant,
                    "functions": task["function"],
                    "question": task["question"][0][0]["content"],
                    "gold": gold,
                    "right": right,
                    "calls": calls,
                }
            )
    return found


def first_accepted(args: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: opened(values[0]) for name, values in args.items() if values[0] != ""}


def opened(value: Any) -> Any:
    """BFCL writes accepted lists inside nested objects too; take the first of each."""
    if isinstance(value, dict):
        return {
            key: opened(items[0])
            for key, items in value.items()
            if isinstance(items, list) and items[0] != ""
        }
    if isinstance(value, list):
        return [opened(item) for item in value]
    return value


def variants(right: list[tuple[str, dict[str, Any]]]) -> dict[str, list[Any]]:
    name, args = right[0]
    changed = dict(args)
    for key, value in args.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            changed[key] = value + 7
            break
        if isinstance(value, str):
            changed[key] = value + " otherwise"
            break
    return {
        "gold": right,
        "scalar": [(name, changed), *right[1:]],
        "dropped": right[1:],
        "swapped": [(right[-1][0], args), *right[1:]],
        "reversed": right[::-1],
    }


def timed(score_all: Any, count: int) -> dict[str, float]:
    """Microseconds of CPU time per trajectory: the first pass, and the median of further ones."""
    passes = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        score_all()
        passes.append((time.process_time() - start) / count * 1e6)
    return {"first": passes[0], "median": statistics.median(passes[1:]), "least": min(passes[1:])}


# -- ours --------------------------------------------------------------------------------------------------


def run_agent_reach(rows: list[dict[str, Any]]) -> dict[str, Any]:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.evals.scoring.options import ScoreOptions
    from agent_reach.evals.scoring.score import score_attempt
    from agent_reach.records.task import GoldenCall, GoldenPath, Task
    from agent_reach.records.trace import Call, Exposure, Step, Trace

    catalogs: dict[str, Any] = {}
    tasks: dict[str, Any] = {}
    work = []
    for row in rows:
        name = row["task"]
        if name not in catalogs:
            catalogs[name] = Catalog.load(row["functions"])
            golds = tuple(
                (GoldenCall(tool=tool, args=required(args), optional=optional(args)),)
                for call in row["gold"]
                for tool, args in call.items()
            )
            tasks[name] = Task(
                id=name,
                kind="must",
                query=row["question"],
                order="any_order",
                paths=(GoldenPath(stages=golds),),
            )
        calls = tuple(
            Call(call_id=f"c{number}", name=tool, arguments=args)
            for number, (tool, args) in enumerate(row["calls"])
        )
        offered = tuple(tool.key for tool in catalogs[name].tools)
        work.append(
            (
                tasks[name],
                Trace(
                    trace_id=f"{name}-{row['variant']}",
                    query=row["question"],
                    exposure=Exposure(offered=offered),
                    steps=(Step(index=0, calls=calls),),
                ),
                catalogs[name],
            )
        )
    found: dict[str, Any] = {}
    for label, options in (
        ("alignment, arguments, causes", ScoreOptions(blocks=False, provenance=False)),
        ("with block use and provenance", ScoreOptions()),
    ):
        found[label] = timed(
            lambda options=options: [score_attempt(*item, options=options) for item in work], len(work)
        )
    passes = [bool(score_attempt(*item).passed) for item in work]
    return {"timings": found, "passed": passes}


def required(args: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: accepted(values) for name, values in args.items() if "" not in values}


def optional(args: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        name: accepted([v for v in values if v != ""])
        for name, values in args.items()
        if "" in values and len(values) > 1
    }


def accepted(values: list[Any]) -> Any:
    return (
        values[0]
        if len(values) == 1 and not isinstance(values[0], dict)
        else {"$one_of": [opened(v) for v in values]}
    )


# -- peers, each in its own environment ----------------------------------------------------------------------


def run_bfcl(rows: list[dict[str, Any]]) -> dict[str, Any]:
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.constants.model_config import MODEL_CONFIG_MAPPING
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    model = next(name for name in MODEL_CONFIG_MAPPING if not MODEL_CONFIG_MAPPING[name].underscore_to_dot)
    work = [
        (
            row["functions"],
            [{name: args} for name, args in row["calls"]],
            row["gold"],
            Language.PYTHON,
            CATEGORY,
            model,
        )
        for row in rows
    ]
    timings = {"ast_checker": timed(lambda: [ast_checker(*item) for item in work], len(work))}
    return {"timings": timings, "passed": [ast_checker(*item)["valid"] for item in work]}


def run_agentevals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    evaluate = create_trajectory_match_evaluator(trajectory_match_mode="unordered")

    def messages(question: str, calls: list[Any]) -> list[dict[str, Any]]:
        made = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for n, (name, args) in enumerate(calls)
        ]
        return [
            {"role": "user", "content": question},
            {"role": "assistant", "content": "", "tool_calls": made},
        ]

    work = [
        (messages(row["question"], row["calls"]), messages(row["question"], row["right"])) for row in rows
    ]

    def score_all() -> list[Any]:
        return [evaluate(outputs=outputs, reference_outputs=reference) for outputs, reference in work]

    return {
        "timings": {"trajectory match, unordered": timed(score_all, len(work))},
        "passed": [bool(result["score"]) for result in score_all()],
    }


def run_deepeval(rows: list[dict[str, Any]]) -> dict[str, Any]:
    import os

    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    metric = ToolCorrectnessMetric(
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS], async_mode=False, include_reason=False
    )
    work = [
        LLMTestCase(
            input=row["question"],
            actual_output="",
            tools_called=[ToolCall(name=name, input_parameters=args) for name, args in row["calls"]],
            expected_tools=[ToolCall(name=name, input_parameters=args) for name, args in row["right"]],
        )
        for row in rows
    ]

    def score_all() -> list[float]:
        return [metric.measure(case, _show_indicator=False) for case in work]

    return {
        "timings": {"ToolCorrectnessMetric": timed(score_all, len(work))},
        "passed": [value >= 1.0 for value in score_all()],
    }


def run_ragas(rows: list[dict[str, Any]]) -> dict[str, Any]:
    import asyncio
    import warnings

    warnings.simplefilter("ignore")
    from ragas.dataset_schema import MultiTurnSample
    from ragas.messages import AIMessage, HumanMessage, ToolCall
    from ragas.metrics import ToolCallAccuracy

    metric = ToolCallAccuracy()
    if hasattr(metric, "strict_order"):
        metric.strict_order = False
    work = [
        MultiTurnSample(
            user_input=[
                HumanMessage(content=row["question"]),
                AIMessage(
                    content="", tool_calls=[ToolCall(name=name, args=args) for name, args in row["calls"]]
                ),
            ],
            reference_tool_calls=[ToolCall(name=name, args=args) for name, args in row["right"]],
        )
        for row in rows
    ]

    async def score_async() -> list[float]:
        return [await metric.multi_turn_ascore(sample) for sample in work]

    def score_all() -> list[float]:
        return asyncio.run(score_async())

    return {
        "timings": {"ToolCallAccuracy": timed(score_all, len(work))},
        "passed": [value >= 1.0 for value in score_all()],
    }


RUNNERS = {
    "agent-reach": (run_agent_reach, ""),
    "bfcl-eval": (run_bfcl, "bfcl"),
    "agentevals": (run_agentevals, "judges"),
    "deepeval": (run_deepeval, "judges"),
    "ragas": (run_ragas, "ragas"),
}


def measure(name: str, python: str, rows_file: Path, folder: Path) -> dict[str, Any]:
    output = folder / f"{name}.json"
    command = [python, __file__, "--as", name, "--rows", str(rows_file), "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not output.exists():
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        return {"error": lines[-1] if lines else f"exit {done.returncode}"}
    found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peers", type=Path, default=Path("../peers"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--as", dest="runner", choices=sorted(RUNNERS))
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    if chosen.runner:
        rows = json.loads(chosen.rows.read_text(encoding="utf-8"))
        chosen.output.write_text(json.dumps(RUNNERS[chosen.runner][0](rows)), encoding="utf-8")
        return
    packages = sorted(chosen.peers.glob("bfcl/lib/python*/site-packages/bfcl_eval/data"))
    if not packages:
        sys.exit(
            f"no bfcl-eval under {chosen.peers}: python -m venv {chosen.peers}/bfcl and pip install bfcl-eval in it"
        )
    rows = trajectories(packages[0])
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows_file = folder / "rows.json"
        rows_file.write_text(json.dumps(rows), encoding="utf-8")
        for runner, (_, environment) in RUNNERS.items():
            python = sys.executable if not environment else str(chosen.peers / environment / "bin" / "python")
            if not Path(python).exists():
                results[runner] = {"error": "not installed"}
                continue
            results[runner] = measure(runner, python, rows_file, folder)
    show(rows, results)
    if chosen.json:
        kept = {name: {"timings": r.get("timings"), "error": r.get("error")} for name, r in results.items()}
        chosen.json.write_text(
            json.dumps({"trajectories": len(rows), "results": kept}, indent=1) + "\n", encoding="utf-8"
        )


def show(rows: list[dict[str, Any]], results: dict[str, Any]) -> None:
    print(
        f"{len(rows)} trajectories of {CATEGORY}; CPU microseconds per trajectory; median and least of {ROUNDS} passes"
    )
    print(
        "first pass: compiles schemas and golds where a program does. The machine is shared: expect some 20% of noise.\n"
    )
    print(f"{'program':<12} {'what':<32} {'first':>9} {'median':>9} {'least':>9} {'as bfcl':>8}")
    reference = results.get("bfcl-eval", {}).get("passed")
    for name, result in results.items():
        if "error" in result:
            print(f"{name:<12} {result['error']}")
            continue
        same = ""
        if reference:
            agreeing = sum(a == b for a, b in zip(result["passed"], reference, strict=True))
            same = f"{agreeing / len(rows):.1%}"
        for label, timing in result["timings"].items():
            print(
                f"{name:<12} {label:<32} {timing['first']:9.1f} {timing['median']:9.1f} {timing['least']:9.1f} {same:>8}"
            )


if __name__ == "__main__":
    main()
