"""How long a catalog takes to load, freeze and hash, and to find look-alikes, as it grows; and how fast arguments are checked.

Tools are generated from a fixed seed: names of two to four words, descriptions of ten to forty, one to eight parameters of
mixed kinds, in 20 servers. CPU seconds of the process; memory of the process with the bare definitions and
at its peak (load, hash, freeze, thaw, look-alikes held at once); the best of `--repeat` runs. Other
work on the machine makes the figures worse, never better.

    python benchmarks/catalog_scale.py [--sizes 1000,10000] [--repeat 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import argument_problems, is_legal
from agent_reach.catalog.similar import similar_pairs
from agent_reach.catalog.snapshot import load_snapshot, snapshot_document

VERBS_TEXT = "get list create update delete search count export import send check move copy merge assign cancel approve"
VERBS = VERBS_TEXT.split()
NOUNS_TEXT = (
    "order invoice customer product shipment warehouse coupon payment ticket report user role event message file page image"
    " contract supplier return refund address account budget project task sprint branch commit release"
)
NOUNS = NOUNS_TEXT.split()
EXTRA_TEXT = "by for all latest open daily status detail history summary batch"
EXTRA = EXTRA_TEXT.split()
WORDS_TEXT = (
    "returns the given of matching current selected each recent every with optional filter sorted date range page size name id"
    " state when customer asks about before after changes record system user only first result value"
)
WORDS = WORDS_TEXT.split()


def make_tools(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """`count` tool definitions, the same for one seed."""
    chance = random.Random(seed)
    tools = []
    for index in range(count):
        words = [chance.choice(VERBS), chance.choice(NOUNS), *chance.sample(EXTRA, chance.randint(0, 2))]
        properties = {
            f"{chance.choice(NOUNS)}_{chance.choice(('id', 'name', 'date', 'count'))}": parameter(chance)
            for _ in range(chance.randint(1, 8))
        }
        text = f"{words[0].capitalize()} {' '.join(words[1:])}: " + " ".join(
            chance.choices(WORDS, k=chance.randint(10, 40))
        )
        tools.append(
            {
                "name": "_".join(words) + f"_{index}",
                "server": f"server{index % 20}",
                "description": text,
                "inputSchema": {"type": "object", "properties": properties, "required": list(properties)[:2]},
            }
        )
    return tools


def parameter(chance: random.Random) -> dict[str, Any]:
    text = " ".join(chance.choices(WORDS, k=6))
    kinds: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "string", "format": "date"},
        {"type": "integer", "minimum": 1, "maximum": 500},
        {"type": "string", "enum": ["low", "normal", "high"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
            "required": ["from"],
        },
    ]
    return {**chance.choice(kinds), "description": text}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    value = work()
    return time.process_time() - started, value


def measure(size: int) -> dict[str, Any]:
    """All figures for one size, in this process."""
    tools = make_tools(size)
    row_base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row: dict[str, Any] = {"tools": size, "definitions_mb": row_base}
    row["load_cpu_s"], catalog = timed(lambda: Catalog.load(tools))
    row["hash_cpu_s"], digest = timed(lambda: catalog.hash)
    row["freeze_cpu_s"], document = timed(lambda: snapshot_document(catalog))
    row["thaw_cpu_s"], again = timed(lambda: load_snapshot(document))
    row["pairs_cpu_s"], pairs = timed(lambda: similar_pairs(catalog))
    row["pairs"] = len(pairs)
    row["wire_names_cpu_s"], _ = timed(lambda: [catalog.wire_name(tool) for tool in catalog])
    arguments = [{name: sample(tool.parameters[name]) for name in tool.required} for tool in catalog]
    together = list(zip(catalog.tools, arguments, strict=True))
    row["load_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row["first_check_us"] = timed(lambda: [is_legal(tool, given) for tool, given in together])[0] / size * 1e6
    row["check_us"] = timed(lambda: [is_legal(tool, given) for tool, given in together])[0] / size * 1e6
    row["problems_us"] = timed(lambda: [argument_problems(tool, {}) for tool in catalog])[0] / size * 1e6
    text = json.dumps({"tools": tools})
    row["load_text_cpu_s"], _ = timed(lambda: Catalog.load(text))
    shuffled = list(tools)
    random.Random(1).shuffle(shuffled)
    row["same_hash"] = digest == again.hash == Catalog.load(shuffled).hash
    row["hash"] = digest
    assert len(catalog) == size
    assert all(is_legal(tool, given) for tool, given in together)
    return row


def sample(schema: Any) -> Any:
    """A legal value of a generated parameter."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None
    kinds = {"integer": 3, "array": ["a"], "object": {"from": "a"}}
    return kinds.get(schema["type"], "2024-03-01" if schema.get("format") == "date" else "text")


def in_own_process(size: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "row.json"
        subprocess.run([sys.executable, __file__, "--one", str(size), "--json", str(file)], check=True)
        row: dict[str, Any] = json.loads(file.read_text())
        return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="400,1000,10000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        options.json.write_text(json.dumps(measure(options.one)))
        return
    rows = []
    for size in map(int, options.sizes.split(",")):
        runs = [in_own_process(size) for _ in range(options.repeat)]
        assert len({run["hash"] for run in runs}) == 1, "the hash differs between processes"
        best = {
            key: min(run[key] for run in runs) if isinstance(value, float) else value
            for key, value in runs[0].items()
        }
        rows.append(best)
    columns = [
        ("tools", "tools", "{:,}"),
        ("load_cpu_s", "load s", "{:.2f}"),
        ("load_text_cpu_s", "from text s", "{:.2f}"),
        ("hash_cpu_s", "hash s", "{:.2f}"),
        ("freeze_cpu_s", "freeze s", "{:.2f}"),
        ("thaw_cpu_s", "thaw s", "{:.2f}"),
        ("pairs_cpu_s", "look-alikes s", "{:.2f}"),
        ("pairs", "pairs", "{:,}"),
        ("first_check_us", "first check us", "{:.1f}"),
        ("check_us", "check us", "{:.1f}"),
        ("problems_us", "problems us", "{:.1f}"),
        ("definitions_mb", "definitions MB", "{:.0f}"),
        ("load_peak_mb", "peak MB", "{:.0f}"),
        ("same_hash", "same hash", "{}"),
    ]
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; best of {options.repeat}"
    )
    print("| " + " | ".join(head for _, head, _ in columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(form.format(row[key]) for key, _, form in columns) + " |")
    if options.json:
        options.json.write_text(
            json.dumps({"machine": platform.platform(), "load": os.getloadavg(), "rows": rows}, indent=1)
        )


if __name__ == "__main__":
    main()
