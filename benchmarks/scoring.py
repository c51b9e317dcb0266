"""What scoring a recorded trajectory costs, beside BFCL's checkers and the trajectory metrics of three libraries.

Twice one thousand trajectories are made from the tasks that ship inside the bfcl-eval package: for each of 200 tasks the
gold itself, one scalar changed, one call dropped, one tool name swapped, and the calls in reverse order.

- parallel_multiple: one message with two to four calls, accepted values per argument, any order. BFCL compares syntax.
- multi_turn_base: conversations of several turns, about six calls in order. BFCL executes them on its own classes and
  compares states; nobody else executes anything.

Every program scores the same file in its own environment, one after another, in CPU time; no language model is asked.
They do not do the same work, so the times are no race between equals:

- agent-reach: pairs calls with golds, gives a verdict on every call and every argument, checks schemas, and names a cause
  with evidence in two languages for each lost call (four in five trajectories have one); all of it is made, nothing is
  put off. It remembers the judgement of arguments it has seen (models repeat themselves over attempts): the line
  `nothing remembered` forgets them before every pass, as when each task is attempted for the first time. The last line
  adds context blocks and where each argument came from.
- bfcl-eval, ast_checker: valid or not, with the first thing that is wrong; it stops there, and where the number of calls
  differs it compares nothing. multi_turn_checker runs the calls on simulated back ends and compares their states.
- agentevals: one boolean; compares names and arguments, and wraps each result in the form of its evaluation service.
- deepeval: one number from names and arguments: greedily, or where order counts by a weighted common subsequence.
- ragas: one number from names and the text of each argument, position by position (sorted where order does not count).

    python benchmarks/scoring.py --peers ../peers [--json FILE]

`--peers` holds virtual environments `bfcl`, `judges` (agentevals, deepeval) and `ragas`; those that are missing are
said to be. Without `bfcl` there are no tasks, and nothing is measured.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

CATEGORY = "parallel_multiple"
CONVERSATIONS = "multi_turn_base"
SETS = (CATEGORY, CONVERSATIONS)
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


def conversations(data: Path) -> list[dict[str, Any]]:
    """The same five variants of multi-turn tasks; `turns` counts the calls of each turn."""
    tasks = read_lines(data / f"BFCL_v4_{CONVERSATIONS}.json")
    answers = {
        row["id"]: row["ground_truth"]
        for row in read_lines(data / "possible_answer" / f"BFCL_v4_{CONVERSATIONS}.json")
    }
    documents = {path.stem: read_lines(path) for path in (data / "multi_turn_func_doc").glob("*.json")}
    found = []
    for task in tasks:
        functions = [
            function for name in task["involved_classes"] for function in documents[FUNCTION_DOCUMENTS[name]]
        ]
        names = {function["name"]: list(function["parameters"]["properties"]) for function in functions}
        truth = answers[task["id"]]
        right = [parsed_call(text, names) for turn in truth for text in turn]
        for variant, calls in variants(right).items():
            found.append(
                {
                    "task": task["id"],
                    "variant": variant,
                    "functions": functions,
                    "question": task["question"][0][0]["content"],
                    "gold": [{name: {key: [value] for key, value in args.items()}} for name, args in right],
                    "right": right,
                    "calls": calls,
                    "turns": [len(turn) for turn in truth],
                    "truth": truth,
                    "entry": {key: task[key] for key in ("id", "initial_config", "involved_classes")},
                }
            )
    return found


FUNCTION_DOCUMENTS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}


def parsed_call(text: str, names: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    """Name and named arguments of a call written in Python; positions become names."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    name = ast.unparse(node.func)
    positional = dict(zip(names.get(name, []), (ast.literal_eval(item) for item in node.args), strict=False))
    return name, positional | {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}


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


def timed(score_all: Any, count: int, before: Any = None) -> dict[str, float]:
    """Microseconds of CPU time per trajectory: the first pass, and the median of further ones.

    What was there before is put out of the garbage collector's sight, so that it looks only at what scoring makes.
    `before` is called before each pass, outside the time.
    """
    passes = []
    gc.collect()
    gc.freeze()
    for _ in range(ROUNDS + 1):
        if before is not None:
            before()
        start = time.process_time()
        score_all()
        passes.append((time.process_time() - start) / count * 1e6)
    return {"first": passes[0], "median": statistics.median(passes[1:]), "least": min(passes[1:])}


# -- ours --------------------------------------------------------------------------------------------------


def run_agent_reach(rows: list[dict[str, Any]]) -> dict[str, Any]:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.evals.scoring.attempt import compiled_task
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
            if "turns" in row:
                golds = tuple((GoldenCall(tool=tool, args=args),) for tool, args in row["right"])
            tasks[name] = Task(
                id=name,
                kind="must",
                query=row["question"],
                order="in_order" if "turns" in row else "any_order",
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
                    steps=tuple(Step(index=n, calls=(call,)) for n, call in enumerate(calls))
                    if "turns" in row
                    else (Step(index=0, calls=calls),),
                ),
                catalogs[name],
            )
        )
    found: dict[str, Any] = {}

    def forget() -> None:
        for task, _, catalog in work:
            compiled_task(task, catalog).forget()

    verdicts = ScoreOptions(blocks=False, provenance=False)
    for label, options, before in (
        ("alignment, arguments, causes", verdicts, None),
        ("the same, nothing remembered", verdicts, forget),
        ("without causes", replace(verdicts, causes=False), None),
        ("with block use and provenance", ScoreOptions(), None),
    ):
        found[label] = timed(
            lambda options=options: [score_attempt(*item, options=options) for item in work],
            len(work),
            before,
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


def run_bfcl_multi_turn(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """BFCL's multi-turn checker; every pass has a model name of its own, because its instances live on by that name."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

    work = [(decoded(row), row["truth"], row["entry"]) for row in rows]
    number = iter(range(1 << 30))

    def score_all() -> list[dict[str, Any]]:
        return [multi_turn_checker(*item, CONVERSATIONS, f"pass{next(number)}") for item in work]

    timings = {"multi_turn_checker (executes)": timed(score_all, len(work))}
    return {"timings": timings, "passed": [result["valid"] for result in score_all()]}


def decoded(row: dict[str, Any]) -> list[list[list[str]]]:
    """The calls as BFCL wants them: turns of steps of calls in Python; what is missing is missing at the end."""
    left = [
        f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"
        for name, args in row["calls"]
    ]
    turns = []
    for size in row["turns"]:
        turns.append([[text] for text in left[:size]])
        left = left[size:]
    return turns


def run_bfcl(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if "turns" in rows[0]:
        return run_bfcl_multi_turn(rows)
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

    in_turns = "turns" in rows[0]
    mode = "strict" if in_turns else "unordered"
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode)

    def messages(question: str, calls: list[Any]) -> list[dict[str, Any]]:
        made = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for n, (name, args) in enumerate(calls)
        ]
        groups = [[call] for call in made] if in_turns else [made]
        answers = [{"role": "assistant", "content": "", "tool_calls": group} for group in groups]
        return [{"role": "user", "content": question}, *answers]

    work = [
        (messages(row["question"], row["calls"]), messages(row["question"], row["right"])) for row in rows
    ]

    def score_all() -> list[Any]:
        return [evaluate(outputs=outputs, reference_outputs=reference) for outputs, reference in work]

    return {
        "timings": {f"trajectory match, {mode}": timed(score_all, len(work))},
        "passed": [bool(result["score"]) for result in score_all()],
    }


def run_deepeval(rows: list[dict[str, Any]]) -> dict[str, Any]:
    import os

    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    metric = ToolCorrectnessMetric(
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        async_mode=False,
        include_reason=False,
        should_consider_ordering="turns" in rows[0],
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
        metric.strict_order = "turns" in rows[0]
    work = [
        MultiTurnSample(
            user_input=[
                HumanMessage(content=row["question"]),
                *(
                    AIMessage(content="", tool_calls=[ToolCall(name=name, args=args) for name, args in group])
                    for group in ([[call] for call in row["calls"]] if "turns" in row else [row["calls"]])
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
    written = {}
    for label, rows in ((CATEGORY, trajectories(packages[0])), (CONVERSATIONS, conversations(packages[0]))):
        results = measure_all(rows, chosen.peers)
        show(label, rows, results)
        written[label] = {
            name: {"timings": result.get("timings"), "error": result.get("error")}
            for name, result in results.items()
        }
    if chosen.json:
        chosen.json.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def measure_all(rows: list[dict[str, Any]], peers: Path) -> dict[str, Any]:
    """Every program on the same rows, one after another."""
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows_file = folder / "rows.json"
        rows_file.write_text(json.dumps(rows), encoding="utf-8")
        for runner, (_, environment) in RUNNERS.items():
            python = sys.executable if not environment else str(peers / environment / "bin" / "python")
            if not Path(python).exists():
                results[runner] = {"error": "not installed"}
                continue
            results[runner] = measure(runner, python, rows_file, folder)
    return results


def show(label: str, rows: list[dict[str, Any]], results: dict[str, Any]) -> None:
    calls = sum(len(row["calls"]) for row in rows) / len(rows)
    print(f"\n{label}: {len(rows)} trajectories, {calls:.1f} calls each; CPU microseconds per trajectory")
    print(f"first pass (compiles schemas and golds where a program does), median and least of {ROUNDS} more;")
    print("the machine is shared: expect some 20% of noise.\n")
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
