"""Calls over the servers behind the gateway, as outcomes for the executor and as raw messages for the client.

The executor decides by outcomes (retry, switch, stop); the client is sent what the server said, unchanged. Both are kept
together here until the call is answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent_reach.backends.base import Backend, failure
from agent_reach.catalog.schema import output_problems
from agent_reach.errors import ServerError
from agent_reach.gateway.bridge import CallOrigin
from agent_reach.gateway.servers import Servers
from agent_reach.gateway.upstream import Upstream
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.failures import InputRequired, RequestFailure, RequestRefused
from agent_reach.wire.results import outcome_of_failure, outcome_of_result

_MAX_ROUNDS = 10
_STALL = 0.1


@dataclass(slots=True)
class Delivery:
    """One call on its way: who made it, what came back last.

    `raw` is the server's own result, `refusal` its own error; both None where nothing came from the server. `extra` goes
    with the call's parameters (answers to the server's questions, the client's `_meta`).
    """

    origin: CallOrigin
    extra: Mapping[str, Any] = field(default_factory=dict)
    raw: Any = None
    refusal: RequestRefused | None = None
    sent_at: float | None = None


class Deliveries:
    """The backend of the gateway; see `backends.base.Backend`.

    A call is opened with `open(call_id, delivery)` before it is executed and closed with `close(call_id)` after its answer.
    Tools of servers that are not among `servers` go to `other`; the servers in `forward_tokens` are called with the token of
    the client.
    """

    def __init__(
        self,
        servers: Servers,
        other: Backend | None = None,
        *,
        idle_seconds: float = 60.0,
        forward_tokens: tuple[str, ...] = (),
    ) -> None:
        self.servers = servers
        self.forward_tokens = forward_tokens
        self.other = other
        self.idle_seconds = idle_seconds
        self._open: dict[str, Delivery] = {}

    def open(self, call_id: str, delivery: Delivery) -> None:
        """Expect this call."""
        self._open[call_id] = delivery

    def close(self, call_id: str) -> None:
        """Forget it."""
        self._open.pop(call_id, None)

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Call the tool on its server."""
        delivery = self._open[call_id]
        delivery.raw = delivery.refusal = None
        upstream = self.servers.upstreams.get(tool.server)
        if upstream is None:
            if self.other is None:
                return failure("not_found", f"{tool.key}: its server is not behind this gateway", sent=False)
            return await self.other.call(tool, arguments, call_id=call_id, timeout=timeout)
        started = time.perf_counter()
        token = delivery.origin.caller.token
        if token and tool.server in self.forward_tokens:
            upstream = await self.servers.own(tool.server, token)
        try:
            raw = await self._rounds(upstream, tool, arguments, delivery, timeout)
        except RequestFailure as error:
            outcome = outcome_of_failure(error, tool, latency_ms=_since(started))
            if isinstance(error, RequestRefused) and error.code:
                delivery.refusal = error
            if isinstance(error, RequestRefused) and delivery.sent_at is None:
                outcome = replace(outcome, reached_backend=False, status="failed")
            return outcome
        except ServerError as error:
            return failure(
                "transport",
                f"{tool.key}: the server could not be started: {error.message}",
                sent=False,
                latency_ms=_since(started),
            )
        delivery.raw = raw
        latency = _since(started)
        if isinstance(raw, Mapping) and raw.get("resultType") == "input_required":
            return CallOutcome(
                status="ok", text="(asks for input)", latency_ms=latency, metadata={"input_required": True}
            )
        session = upstream.session
        return outcome_of_result(
            raw,
            tool,
            validator=output_problems,
            protocol_version=session.protocol_version if session is not None else "",
            latency_ms=latency,
        )

    async def _rounds(
        self,
        upstream: Upstream,
        tool: Tool,
        arguments: Mapping[str, Any],
        delivery: Delivery,
        timeout: float | None,
    ) -> Any:
        """One call; an older client is asked here what a server of the current era wants to know first."""
        origin = delivery.origin
        extra = dict(delivery.extra)

        def sent() -> None:
            delivery.sent_at = time.time()

        for _ in range(_MAX_ROUNDS):
            raw = await upstream.request(
                "tools/call",
                {"name": tool.name, "arguments": dict(arguments), **extra},
                origin,
                timeout=self.idle_seconds if timeout is None else min(self.idle_seconds, timeout),
                max_total=timeout,
                sent=sent,
            )
            if (
                not isinstance(raw, Mapping)
                or raw.get("resultType") != "input_required"
                or origin.caller.modern
            ):
                return raw
            extra.update(await answers(raw, origin, upstream.config.label))
        raise InputRequired(raw.get("inputRequests"), where=upstream.config.label)

    async def aclose(self) -> None:
        """Close what is not a server; the servers belong to the gateway."""
        if self.other is not None:
            await self.other.aclose()


async def answers(raw: Mapping[str, Any], origin: CallOrigin, where: str = "") -> dict[str, Any]:
    """What has to go with the repeated request: the client's answers to the questions in a result, and its state."""
    questions = raw.get("inputRequests")
    extra: dict[str, Any] = {}
    if isinstance(questions, Mapping) and questions:
        given = {}
        for key, question in questions.items():
            fields = question if isinstance(question, Mapping) else {}
            params = fields.get("params")
            given[key] = await origin.ask(
                str(fields.get("method")), params if isinstance(params, Mapping) else {}
            )
        extra["inputResponses"] = given
    elif raw.get("requestState") is None:
        raise InputRequired(questions, where=where)
    else:
        await asyncio.sleep(_STALL)
    if raw.get("requestState") is not None:
        extra["requestState"] = raw["requestState"]
    return extra


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
