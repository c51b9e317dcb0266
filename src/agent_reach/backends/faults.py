"""Planted faults: calls that fit a rule meet a rate limit, a time-out, an empty or a cut answer.

The same seed plants the same faults whatever the order of parallel calls: a draw depends on the rule, the tool, the
arguments and how often that call came, never on what ran before. Injected outcomes say so in their metadata.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from agent_reach.backends.base import Backend, failure
from agent_reach.config.settings import FaultRule
from agent_reach.records.codec import canonical_json
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ERROR_KINDS, CallOutcome

_MESSAGES: Mapping[str, str] = {
    "rate_limited": "429 Too Many Requests",
    "timeout": "no answer within the time limit",
    "tool_error": "the tool reported an error",
    "transport": "the connection was lost",
    "permission": "403 Forbidden",
    "malformed_result": "the result has no usable form",
}


class FaultsBackend:
    """Wraps `inner` and plants the faults of `rules`; of several rules that fit a call the first one that fires wins.

    `rate_limited`, `timeout`, `transport`, `permission`, `tool_error` and `malformed_result` do not reach `inner`; `empty`
    and `truncated` spoil its answer. Call numbers count, from 1, the calls that fit the rule's pattern.
    """

    def __init__(self, inner: Backend, rules: Iterable[FaultRule], *, seed: int = 0) -> None:
        self._inner = inner
        self._rules = tuple(rules)
        self._seed = seed
        self._calls: Counter[int] = Counter()
        self._fired: Counter[int] = Counter()
        self._repeats: Counter[str] = Counter()

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute, or fail as a rule says."""
        rule = self._rule_for(tool, arguments)
        if rule is None:
            return await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)
        started = time.perf_counter()
        late = timeout is not None and rule.delay >= timeout
        if rule.delay:
            await asyncio.sleep(min(rule.delay, timeout) if timeout is not None else rule.delay)
        kind = "timeout" if late else rule.kind
        if kind in ("empty", "truncated"):
            left = timeout - rule.delay if timeout is not None else None
            outcome = await self._inner.call(tool, arguments, call_id=call_id, timeout=left)
            outcome = _spoiled(outcome, rule) if outcome.ok else outcome
        else:
            outcome = _injected(tool, rule, kind)
        return replace(
            outcome,
            latency_ms=(time.perf_counter() - started) * 1000,
            metadata={**outcome.metadata, "injected": kind},
        )

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()

    def _rule_for(self, tool: Tool, arguments: Mapping[str, Any]) -> FaultRule | None:
        """The rule that fires for this call; every fitting rule counts the call."""
        fitting = [
            index
            for index, rule in enumerate(self._rules)
            if fnmatchcase(tool.key, rule.tool) or fnmatchcase(tool.name, rule.tool)
        ]
        if not fitting:
            return None
        identity = f"{tool.key} {canonical_json(arguments)}"
        self._repeats[identity] += 1
        chosen: int | None = None
        for index in fitting:
            self._calls[index] += 1
            if chosen is None and self._fires(index, identity):
                chosen = index
        if chosen is None:
            return None
        self._fired[chosen] += 1
        return self._rules[chosen]

    def _fires(self, index: int, identity: str) -> bool:
        rule = self._rules[index]
        if rule.calls and self._calls[index] not in rule.calls:
            return False
        if rule.times is not None and self._fired[index] >= rule.times:
            return False
        if rule.probability >= 1.0:
            return True
        draw = f"{self._seed} {index} {identity} {self._repeats[identity]}"
        digest = hashlib.sha256(draw.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) / 2**64 < rule.probability


def _injected(tool: Tool, rule: FaultRule, kind: str) -> CallOutcome:
    known: Any = kind if kind in ERROR_KINDS else "tool_error"
    outcome = failure(
        known,
        rule.message or _MESSAGES.get(kind, kind),
        tool=tool,
        retry_after=rule.retry_after if kind == "rate_limited" else None,
    )
    if kind == "rate_limited":
        return replace(outcome, metadata={"http_status": 429})
    return outcome


def _spoiled(outcome: CallOutcome, rule: FaultRule) -> CallOutcome:
    if rule.kind == "empty":
        return replace(outcome, error_kind="empty", value=None, text="", message=rule.message)
    if len(outcome.text) <= rule.keep:
        return outcome
    cut = outcome.text[: rule.keep]
    return replace(outcome, value=cut, text=cut, truncated=True, message=rule.message)
