"""What traces say: which hops were walked, which worked, why others failed, and which values flowed along them.

A hop leads from the call before to the call after; calls of one message are siblings and lead from the same place; a
retry (the same call again after a failure) is no hop but is counted. Names that no tool has are quarantined and break no
chain. What is not seen: calls that the trace does not hold.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.names import NameReader
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.values import identifying, leaves, result_value
from agent_reach.records.graph import AGENT_NODE
from agent_reach.records.task import GoldenPath
from agent_reach.records.trace import Call, Trace

Pair = tuple[str, str]
HANDOFF_PREFIXES = ("transfer_to_", "handoff_to_", "hand_off_to_", "delegate_to_")


@dataclass(slots=True)
class HopCounts:
    """One pair of nodes: how often walked, retried, worked, failed and why; planned and taken; value flow."""

    taken: int = 0
    worked: int = 0
    judged: int = 0
    retries: int = 0
    wanted: int = 0
    wanted_taken: int = 0
    truncated: int = 0
    latency_sum: float = 0.0
    latency_count: int = 0
    flows: int = 0
    flow_checked: int = 0
    failures: Counter[str] | None = None
    fields: Counter[Pair] | None = None

    def fail(self, reason: str) -> None:
        """Note a failed hop and why."""
        if self.failures is None:
            self.failures = Counter()
        self.failures[reason] += 1


@dataclass(slots=True)
class ToolCounts:
    """One tool over all traces: called, worked, failed by kind, offered in how many traces, latency in ms."""

    called: int = 0
    ok: int = 0
    failed: int = 0
    offered: int = 0
    latency_sum: float = 0.0
    latency_count: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def latency_ms(self) -> float | None:
        """Mean latency, None where no call told it."""
        return self.latency_sum / self.latency_count if self.latency_count else None


class Evidence:
    """Counts over many traces; `fold` adds one."""

    def __init__(
        self,
        catalog: Catalog,
        options: GraphOptions,
        paths: Mapping[str, tuple[GoldenPath, ...]] | None = None,
    ) -> None:
        self.catalog = catalog
        self.options = options
        self.names = NameReader(catalog, options)
        self.paths = {task: self._wanted(golden) for task, golden in (paths or {}).items()}
        self.hops: dict[Pair, HopCounts] = defaultdict(HopCounts)
        self.tools: dict[str, ToolCounts] = defaultdict(ToolCounts)
        self.partitions: Counter[tuple[str, str]] = Counter()
        self.entries: Counter[str] = Counter()
        self.offered_by: dict[str, set[str]] = defaultdict(set)
        self.handoffs: Counter[Pair] = Counter()
        self.traces = 0
        self.calls = 0
        self.retries = 0
        self.with_exposure = 0
        self.observed: dict[str, list[Any]] = defaultdict(list)
        self.first: float | None = None
        self.last: float | None = None

    def _wanted(self, golden: tuple[GoldenPath, ...]) -> tuple[frozenset[Pair], ...]:
        """For each golden path the hops that it wants; calls of one stage follow any call of the stage before."""
        found = []
        for path in golden:
            pairs: set[Pair] = set()
            before: list[str] = []
            for stage in path.stages:
                keys = [key for call in stage if (key := self.names.key_of(call.tool)) is not None]
                if before:
                    pairs.update((left, right) for left in before for right in keys)
                before = keys or before
            found.append(frozenset(pairs))
        return tuple(found)

    # -- folding -------------------------------------------------------------------------------------------

    def fold_all(self, traces: Iterable[Trace]) -> None:
        """Add traces."""
        for trace in traces:
            self.fold(trace)

    def fold(self, trace: Trace) -> None:
        """Add one trace."""
        self.traces += 1
        if trace.started_at is not None:
            self.first = trace.started_at if self.first is None else min(self.first, trace.started_at)
            self.last = trace.started_at if self.last is None else max(self.last, trace.started_at)
        several = (
            len(
                {step.agent for step in trace.steps if step.agent}
                | {call.agent for call in trace.calls if call.agent}
            )
            > 1
        )
        entry_agent = trace.agent if several else ""
        self._offers(trace, several)
        flow = _Flow(trace) if self.options.value_flow else None
        lost = _lost_results(trace)
        previous: list[Call] = []
        last_of_agent: dict[str, list[Call]] = {}
        seen: dict[tuple[str, str], bool] = {}
        walked: set[Pair] = set()
        planned: set[Pair] = set()
        number = 0
        keys: dict[int, str] = {}
        for step in trace.steps:
            if step.kind == "user":
                if flow is not None:
                    flow.say(step.text)
                continue
            planned |= self._plan(step.plan)
            current: list[Call] = []
            for call in step.calls:
                number += 1
                agent = (call.agent or step.agent or entry_agent) if several else ""
                key, arguments = self.names.read(call)
                if self._handoff(call, agent, key):
                    continue
                if key is None:
                    self.names.quarantine(self.names.meant(call), trace.trace_id, number - 1)
                    continue
                self._count_call(key, call)
                keys[id(call)] = key
                signature = (key, repr(arguments))
                before = last_of_agent.get(agent, []) if several else previous
                is_retry = bool(call.retry_of) or seen.get(signature) is False
                flows = flow.used(arguments) if flow is not None and arguments else {}
                giver = self._giver(before, flows, keys)
                source = keys[id(giver)] if giver is not None else entry_node(agent)
                counts = self.hops[(source, key)]
                if is_retry:
                    counts.retries += 1
                    self.retries += 1
                else:
                    counts.taken += 1
                    walked.add((source, key))
                self._judge(counts, call, giver, lost, step.index, is_retry)
                self._flows(flows, keys, key, giver)
                seen[signature] = call.outcome is None or call.outcome.status != "failed"
                current.append(call)
            for call in current:
                if flow is not None:
                    flow.give(call)
                if several:
                    agent = call.agent or step.agent or entry_agent
                    last_of_agent[agent] = current
                self._observe(keys[id(call)], call)
            if current:
                previous = current
        self._planning(trace, walked, planned)

    def _offers(self, trace: Trace, several: bool) -> None:
        offered = set(trace.exposure.offered)
        for step in trace.steps:
            if several and step.offered:
                self.offered_by[entry_node(step.agent or trace.agent)].update(
                    key for name in step.offered if (key := self.names.key_of(name)) is not None
                )
            offered.update(step.offered)
        if offered:
            self.with_exposure += 1
            keys = {key for name in offered if (key := self.names.key_of(name)) is not None}
            for key in keys:
                self.tools[key].offered += 1
            self.offered_by[entry_node(trace.agent if several else "")].update(keys)
        for block in trace.blocks:
            if block.kind == "retrieval" and block.partition:
                self.partitions[(block.call_id, block.partition)] += 1

    def _plan(self, plan: tuple[str, ...]) -> set[Pair]:
        keys = [key for name in plan if (key := self.names.key_of(name)) is not None]
        return set(itertools.pairwise(keys))

    def _handoff(self, call: Call, agent: str, key: str | None) -> bool:
        """A call that hands the conversation to another agent leads from entry to entry and is no tool of its own."""
        name = call.name.rsplit("/", 1)[-1]
        prefix = next((prefix for prefix in HANDOFF_PREFIXES if name.startswith(prefix)), None)
        if prefix is None or key is not None:
            return False
        self.handoffs[(entry_node(agent), entry_node(name.removeprefix(prefix)))] += 1
        return True

    def _count_call(self, key: str, call: Call) -> None:
        self.calls += 1
        counts = self.tools[key]
        counts.called += 1
        outcome = call.outcome
        if outcome is None:
            return
        if outcome.status == "ok":
            counts.ok += 1
        elif outcome.status == "failed":
            counts.failed += 1
            counts.errors[outcome.error_kind or "tool_error"] += 1
        if outcome.latency_ms is not None:
            counts.latency_sum += outcome.latency_ms
            counts.latency_count += 1

    def _giver(self, before: list[Call], flows: dict[int, list[Pair]], keys: dict[int, str]) -> Call | None:
        """The call that a hop comes from: of siblings the one whose value was used, else the last."""
        if not before:
            return None
        if len(before) > 1:
            for call in reversed(before):
                if id(call) in flows:
                    return call
        return before[-1]

    def _judge(
        self,
        counts: HopCounts,
        call: Call,
        giver: Call | None,
        lost: Mapping[str, int],
        step: int,
        is_retry: bool,
    ) -> None:
        outcome = call.outcome
        if is_retry:
            return
        if outcome is not None and outcome.latency_ms is not None:
            counts.latency_sum += outcome.latency_ms
            counts.latency_count += 1
        if giver is not None:
            if giver.outcome is not None and giver.outcome.truncated:
                counts.truncated += 1
            if giver.call_id in lost and lost[giver.call_id] <= step:
                counts.judged += 1
                counts.fail("context_lost")
                return
        if outcome is None or outcome.status == "unknown":
            return
        counts.judged += 1
        if outcome.status == "ok":
            counts.worked += 1
        else:
            counts.fail(outcome.error_kind or "tool_error")

    def _flows(
        self, flows: dict[int, list[Pair]], keys: dict[int, str], key: str, giver: Call | None
    ) -> None:
        if giver is not None and id(giver) in keys:
            self.hops[(keys[id(giver)], key)].flow_checked += 1
        for place, found in flows.items():
            source = keys.get(place)
            if source is None:
                continue
            counts = self.hops[(source, key)]
            counts.flows += 1
            if giver is None or id(giver) != place:
                counts.flow_checked += 1
            if counts.fields is None:
                counts.fields = Counter()
            counts.fields.update(found)

    def _observe(self, key: str, call: Call) -> None:
        """Keep a few results of tools that declare no output."""
        kept = self.observed[key]
        if len(kept) < 5 and call.outcome is not None and call.outcome.status == "ok":
            value = result_value(call.outcome.value, call.outcome.text)
            if value is not None:
                kept.append(value)

    def _planning(self, trace: Trace, walked: set[Pair], planned: set[Pair]) -> None:
        wanted: frozenset[Pair] | set[Pair] = planned
        golden = self.paths.get(trace.task_id)
        if golden:
            wanted = max(golden, key=lambda pairs: (len(pairs & walked), -len(pairs))) | planned
        for pair in wanted:
            counts = self.hops[pair]
            counts.wanted += 1
            counts.wanted_taken += pair in walked


def entry_node(agent: str) -> str:
    """The entry node of an agent: `__agent__`, or `__agent__:name` where there are several."""
    return f"{AGENT_NODE}:{agent}" if agent else AGENT_NODE


def _lost_results(trace: Trace) -> dict[str, int]:
    """Call id of a result that the model did not see (any more) -> first step from which on."""
    if not trace.dropped:
        return {}
    calls = {block.id: block.call_id for block in trace.blocks if block.call_id}
    lost = {}
    for dropped in trace.dropped:
        call_id = calls.get(dropped.block_id)
        if call_id and dropped.kind == "tool_result" and dropped.reason != "cut":
            lost[call_id] = dropped.from_step if dropped.reason == "out_of_window" else -1
    return lost


class _Flow:
    """The values seen so far in one trace: said by the user, or given by a call (the latest giver counts)."""

    __slots__ = ("given", "said", "spoken")

    def __init__(self, trace: Trace) -> None:
        self.said: list[str] = [trace.query]
        self.given: dict[str, tuple[int, str]] = {}
        self.spoken: dict[str, bool] = {}

    def say(self, text: str) -> None:
        self.said.append(text)
        self.spoken.clear()

    def give(self, call: Call) -> None:
        outcome = call.outcome
        if outcome is None or outcome.status != "ok":
            return
        value = result_value(outcome.value, outcome.text)
        place = id(call)
        given = self.given
        for path, leaf in leaves(value):
            text = identifying(leaf)
            if text is not None:
                given[text] = (place, path)

    def used(self, arguments: Mapping[str, Any]) -> dict[int, list[Pair]]:
        """Identity of the giving call -> (path in its result, path in the arguments) of the values used."""
        found: dict[int, list[Pair]] = {}
        if not self.given:
            return found
        for path, leaf in leaves(arguments):
            text = identifying(leaf)
            if text is None:
                continue
            known = self.given.get(text)
            if known is not None and not self._said(text):
                found.setdefault(known[0], []).append((known[1], path))
        return found

    def _said(self, text: str) -> bool:
        known = self.spoken.get(text)
        if known is None:
            known = self.spoken[text] = any(text in said for said in self.said)
        return known
