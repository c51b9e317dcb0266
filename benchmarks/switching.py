"""Call success under injected faults: one try, with retries, with retries and switching; and that no write happens twice.

A simulated world with a clock of its own: 24 kinds of tools, two thirds of them read-only; two thirds of the read-only ones
have an equivalent on another server under another name and with other parameter names. Faults are drawn for each try from
the mix below; besides, a tool may be broken for a whole request. The simulated agent calls once and, when the call failed
without any doubt, asks once more; it never repeats a call whose outcome is unknown. One try is what a loop without
retries would have seen of the same draws.

    python benchmarks/switching.py [--calls 100000] [--seed 7] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach.backends.base import failure, success
from agent_reach.catalog.catalog import Catalog
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.router.execute import Executor
from agent_reach.router.execute_records import ExecutionPolicy, ExecutionRecord
from agent_reach.router.normalize import normalize_call
from agent_reach.router.switch import lexical_finder

# Shares of tries. What is left over works.
FAULTS = {
    "rate_limited": 0.16,
    "timeout after sending": 0.07,
    "connection refused": 0.04,
    "connection dropped after the work": 0.04,
    "tool error": 0.08,
    "empty": 0.04,
}
BROKEN_FOR_REQUEST = 0.10
SUBJECTS = (
    "weather city", "flight route", "hotel town", "stock ticker", "parcel number", "currency pair", "recipe dish", "movie title",
    "traffic road", "museum place", "concert band", "pharmacy district", "train station", "invoice number", "ticket code", "warehouse site",
    "order item", "reminder text", "booking seat", "payment account", "message person", "meeting topic", "refund order", "label parcel",
)  # fmt: skip


class World:
    """The simulated servers: faults, what was really done, and a clock that moves only with waits."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.done: Counter[str] = Counter()
        self.drawn: Counter[str] = Counter()
        self.broken: set[str] = set()

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def break_some(self, tools: list[Tool]) -> None:
        self.broken = {tool.key for tool in tools if self.random.random() < BROKEN_FOR_REQUEST}

    def draw(self) -> str:
        point = self.random.random()
        for kind, share in FAULTS.items():
            point -= share
            if point < 0:
                return kind
        return "works"

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        self.now += 0.2
        kind = "tool error" if tool.key in self.broken else self.draw()
        self.drawn[kind] += 1
        if kind == "rate_limited":
            later = 2.0 if self.random.random() < 0.5 else None
            return failure("rate_limited", "too many requests", tool=tool, retry_after=later)
        if kind == "connection refused":
            return failure("transport", "connection refused", tool=tool, sent=False)
        if kind == "tool error":
            return failure("tool_error", "internal error", tool=tool)
        if kind == "empty":
            return failure("empty", "nothing was returned", tool=tool)
        if kind != "timeout after sending" or self.random.random() < 0.5:
            self.done[call_id] += 1
        if kind == "timeout after sending":
            self.now += timeout or 0
            return failure("timeout", "no answer in time", tool=tool)
        if kind == "connection dropped after the work":
            return failure("transport", "connection dropped", tool=tool)
        return success({"answer": tool.name})

    async def aclose(self) -> None:
        return None


def tools() -> tuple[list[Tool], dict[str, str]]:
    """The simulated tools, and the equivalent of those that have one (by key)."""
    made: list[Tool] = []
    paired: dict[str, str] = {}
    for index, words in enumerate(SUBJECTS):
        thing, key = words.split()
        if index < 16:
            made.append(
                _tool(f"get_{thing}", f"s{index % 4}", key, f"Get the current {thing} for one {key}", "read")
            )
            if index % 3 != 2:
                twin = f"{thing}Lookup"
                made.append(
                    _tool(
                        twin,
                        f"t{index % 4}",
                        f"{key}Name",
                        f"Current {thing} of a {key} from a second source",
                        "read",
                    )
                )
                paired.update({made[-1].key: made[-2].key, made[-2].key: made[-1].key})
        else:
            made.append(
                _tool(f"create_{thing}", f"s{index % 4}", key, f"Create a {thing} for one {key}", "write")
            )
    return made, paired


def _tool(name: str, server: str, parameter: str, description: str, effect: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string", "description": f"the {parameter.removesuffix('Name')}"}},
        "required": [parameter],
    }
    return Tool(
        name=name, server=server, description=description, input_schema=schema, effects=frozenset({effect})
    )


async def simulate(calls: int, seed: int, *, layer: bool = True) -> dict[str, Any]:
    world, (catalog_tools, paired) = World(seed), tools()
    policy = ExecutionPolicy(timeout=10, max_result_bytes=None, max_attempts=3 if layer else 1)
    runner = Executor(
        world,
        Catalog.from_tools(catalog_tools),
        finder=lexical_finder(catalog_tools) if layer else None,
        policy=policy,
        clock=world.clock,
        sleep=world.sleep,
        wall_clock=world.clock,
        random=world.random.random,
    )
    asked = [tool for tool in catalog_tools if not tool.server.startswith("t")]
    count: Counter[str] = Counter()
    for index in range(calls):
        tool = world.random.choice(asked)
        world.break_some(catalog_tools)
        call = normalize_call(tool, {tool.required[0]: f"value {index}"})
        request = runner.request(tool.description)
        first = record = await runner.execute(call, request=request, call_id=str(index))
        if record.outcome.status == "failed":
            record = await runner.execute(call, request=request, call_id=str(index))
        tally(count, tool, first, record, paired)
    twice = sum(1 for key, times in world.done.items() if times > 1 and count[f"write:{key}"])
    return {
        "calls": calls,
        "counts": dict(count),
        "drawn": dict(world.drawn),
        "writes_twice": twice,
        "writes": count["write calls"],
    }


def tally(
    count: Counter[str], tool: Tool, first: ExecutionRecord, last: ExecutionRecord, paired: dict[str, str]
) -> None:
    kind = "read" if tool.is_read_only else "write"
    count[f"{kind} calls"] += 1
    if kind == "write":
        call_id = (first.arguments[tool.required[0]]).removeprefix("value ")
        count[f"write:{call_id}"] += 1
    count[f"{kind} first try"] += first.first_outcome.ok
    count[f"{kind} retries"] += first.before_switch.ok
    answers = (tool.key, paired.get(tool.key))
    count[f"{kind} retries+switch"] += first.ok and first.tool.key in answers
    count[f"{kind} asked again"] += last.before_switch.ok
    # Another tool than the equivalent gives no answer to the question, whatever it returns.
    right = last.ok and last.tool.key in answers
    count[f"{kind} all of it"] += right
    moved = last.switches or first.switches
    if moved and tool.key in paired:
        count["second choices"] += 1
        count["second choices right"] += right
    if moved and tool.key not in paired:
        count["switched without an equivalent"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json")
    options = parser.parse_args()
    started = time.process_time()
    result = asyncio.run(simulate(options.calls, options.seed))
    bare = Counter(asyncio.run(simulate(options.calls, options.seed, layer=False))["counts"])
    seconds = time.process_time() - started
    count = Counter(result["counts"])
    columns = ("first try", "bare asked twice", "retries", "retries+switch", "asked again", "all of it")
    for kind in ("read", "write"):
        count[f"{kind} bare asked twice"] = round(
            bare[f"{kind} asked again"] * count[f"{kind} calls"] / bare[f"{kind} calls"]
        )
    print(
        "one try: no retries; bare twice: no retries, the agent asks once more after a clear failure; retries, and with\n"
        "switch: one call through the executor; asked again: retries and one more call; all of it: with switching too\n"
    )
    shown = ("one try", "bare twice", "retries", "and switch", "asked again", "all of it")
    print(f"{'call success':12} {'calls':>8} " + " ".join(f"{name:>12}" for name in shown))
    for kind in ("read", "write", "all"):
        kinds = ("read", "write") if kind == "all" else (kind,)
        calls = sum(count[f"{name} calls"] for name in kinds)
        shares = [100 * sum(count[f"{name} {column}"] for name in kinds) / calls for column in columns]
        result[f"success_{kind}"] = dict(zip(shown, shares, strict=True))
        print(f"{kind:12} {calls:8} " + " ".join(f"{share:11.1f}%" for share in shares))
    gained = result["success_all"]["all of it"] - result["success_all"]["one try"]
    second = count["second choices"]
    result.update(
        gained_points=gained, second_choice_success=100 * count["second choices right"] / max(1, second)
    )
    over_bare = result["success_all"]["all of it"] - result["success_all"]["bare twice"]
    print(
        f"\ngained over one try: {gained:.1f} points; over asking twice without the executor: {over_bare:.1f} points"
    )
    print(
        f"second choices where an equivalent exists: {second}, of them right {result['second_choice_success']:.1f}%"
    )
    print(f"switched although no equivalent exists: {count['switched without an equivalent']}")
    print(f"writes {result['writes']}, executed twice: {result['writes_twice']}")
    print(f"tries drawn: {result['drawn']}")
    print(
        f"{1e6 * seconds / options.calls / 2:.0f} µs CPU per call with simulating (shared machine: an order of size)"
    )
    if options.json:
        result["counts"] = {key: value for key, value in count.items() if not key.startswith("write:")}
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
