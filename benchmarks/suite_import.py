"""How fast suites load and lint, and whether golds imported from BFCL are what BFCL's own checker accepts.

    python benchmarks/suite_import.py [--bfcl bfcl_eval-*.whl] [--json FILE]

Speed: best of three over 10,000 generated tasks; on a busy machine expect a third more. Agreement: from each imported
golden path one call list is built (the last alternative of every required argument, the first of every optional one)
and given to `ast_checker` of the same wheel; its table of model names is replaced by a stand-in, nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.matchers import samples
from agent_reach.evals.suite.importers.base import ImportOptions
from agent_reach.evals.suite.importers.registry import import_tasks
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.writing import suite_yaml
from agent_reach.records.task import Task

CATEGORIES = (
    *("simple_python", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
TOOL = {
    "name": "query_stock",
    "inputSchema": {
        "type": "object",
        "properties": {"product_id": {"type": "string"}},
        "required": ["product_id"],
    },
}


def best_of(function: Callable[[], Any], times: int = 3) -> float:
    """Seconds of the fastest run."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        function()
        spent.append(time.perf_counter() - started)
    return min(spent)


def speed(folder: Path, count: int = 10_000) -> dict[str, float]:
    """Seconds for loading and linting `count` tasks."""
    rows = [
        {
            "id": f"t{index}",
            "kind": "must",
            "query": f"how many of PDT-{index} are left?",
            "path": [
                {"tool": "query_stock", "args": {"product_id": f"PDT-{index}"}, "result": {"quantity": 3}}
            ],
        }
        for index in range(count)
    ]
    lines, yaml = folder / "suite.jsonl", folder / "suite.yaml"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    suite = Suite.load(lines)
    yaml.write_text(suite_yaml(suite.tasks), encoding="utf-8")
    catalog = Catalog.load([TOOL])
    return {
        "tasks": count,
        "load JSON Lines, s": best_of(lambda: Suite.load(lines)),
        "load YAML, s": best_of(lambda: Suite.load(yaml)),
        "lint, s": best_of(lambda: lint_suite(suite, catalog)),
    }


def emitted(task: Task) -> list[dict[str, Any]]:
    """One call list that the golden path allows."""
    calls = []
    for call in task.paths[0].calls:
        arguments = {name: (samples(value) or [None])[-1] for name, value in call.args.items()}
        for name, value in call.optional.items():
            found = samples(value)
            if found:
                arguments[name] = found[0]
        name = call.tool.partition("/")[2] if call.tool.startswith("v") and "/" in call.tool else call.tool
        calls.append({name: arguments})
    return calls


def agreement(wheel: Path) -> dict[str, Any]:
    """Golds of each category that BFCL's checker accepts, of how many; ids of the others."""

    class AnyModel(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return types.SimpleNamespace(underscore_to_dot=False)

    stand_in = types.ModuleType("bfcl_eval.constants.model_config")
    stand_in.MODEL_CONFIG_MAPPING = AnyModel()  # type: ignore[attr-defined]
    sys.modules[stand_in.__name__] = stand_in
    sys.path.insert(0, str(wheel))
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    figures: dict[str, Any] = {}
    refused = []
    for category in CATEGORIES:
        questions, answers = (
            {row["id"]: row for row in rows(wheel, f"{place}BFCL_v4_{category}.json")}
            for place in ("", "possible_answer/")
        )
        tasks = import_tasks(wheel, options=ImportOptions(categories=(category,))).tasks
        accepted = 0
        for task in tasks:
            functions, gold = questions[task.id]["function"], answers[task.id]["ground_truth"]
            result = ast_checker(functions, emitted(task), gold, Language.PYTHON, category, "any")
            accepted += result["valid"]
            refused += [] if result["valid"] else [task.id]
        figures[category] = [accepted, len(tasks)]
    figures["all"] = [sum(part) for part in zip(*figures.values(), strict=True)]
    figures["refused"] = refused
    return figures


def rows(wheel: Path, name: str) -> list[Any]:
    """The rows of a data file inside the wheel."""
    import zipfile

    text = (zipfile.Path(wheel) / "bfcl_eval" / "data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def lint_of_bfcl(wheel: Path) -> dict[str, Any]:
    """What the linter says of all imported tasks: seconds, and findings per code."""
    imported = import_tasks(wheel)
    suite, catalog = Suite.from_tasks(imported.tasks), Catalog.load(list(imported.tools))
    started = time.perf_counter()
    findings = lint_suite(suite, catalog)
    counts: dict[str, int] = {}
    for finding in findings:
        key = f"{finding.severity} {finding.code}"
        counts[key] = counts.get(key, 0) + 1
    return {
        "tasks": len(suite),
        "tools": len(catalog),
        "lint, s": time.perf_counter() - started,
        "findings": dict(sorted(counts.items(), key=lambda item: -item[1])),
    }


def main() -> None:
    """Print the figures, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl", type=Path, help="the wheel: pip download --no-deps bfcl-eval")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures: dict[str, Any] = {"speed": speed(Path(folder))}
    if options.bfcl:
        figures["agreement with BFCL's checker"] = agreement(options.bfcl)
        figures["lint of BFCL"] = lint_of_bfcl(options.bfcl)
    for title, values in figures.items():
        print(title)
        for name, value in values.items():
            print(f"  {name:<28} {f'{value:.2f}' if isinstance(value, float) else value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
