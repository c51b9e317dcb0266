"""One call from its arrival to its answer: name, permission, arguments, execution, trace.

Nothing is sent that is not legal here; what a server answered goes back as it said it. A client is answered for the tool it
named: no other tool stands in for it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent_reach.gateway.answers import (
    MALFORMED,
    GatewayError,
    capped_result,
    outcome_result,
    readable_result,
)
from agent_reach.gateway.bridge import CallOrigin
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.delivery import Delivery
from agent_reach.gateway.offer import NotAllowedError, UnknownNameError
from agent_reach.gateway.recording import gateway_trace
from agent_reach.gateway.settings import Mode
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem, Call, CallOutcome, Step, Trace
from agent_reach.router.execute_cap import cut_text, size_of
from agent_reach.wire.protocol import INVALID_PARAMS

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway
    from agent_reach.gateway.offer import View
    from agent_reach.router.normalize import NormalizedCall

TRACED_BYTES = 64 * 1024
"""Bytes of a result that its trace keeps; the client gets all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call as a client made it. `via` is the meta-tool it came through (empty: by its own name); `extra` are parameters
    beside name and arguments that the server should see (answers to its questions, `_meta`)."""

    name: str
    arguments: Any
    mode: Mode
    endpoint: str = ""
    via: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Work:
    """A call under way."""

    request: Request
    caller: Caller
    view: View
    started: float = field(default_factory=time.perf_counter)
    started_at: float = field(default_factory=time.time)
    call_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    tool: Tool | None = None
    normal: NormalizedCall | None = None
    sent: Mapping[str, Any] | None = None
    unknown: tuple[ArgumentProblem, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


async def perform(gateway: Gateway, request: Request, caller: Caller, origin: CallOrigin) -> dict[str, Any]:
    """The raw result for the client; raises `GatewayError` for what ends as an error of the protocol."""
    work = _Work(request, caller, gateway.view(caller.rule))
    gateway.metrics.running += 1
    try:
        outcome, answer = await _outcome(gateway, work, origin)
    except BaseException as error:
        if not isinstance(error, Exception):  # cancelled: the client has gone, the server was told
            await _record(gateway, work, _cancelled(work))
        raise
    finally:
        gateway.metrics.running -= 1
        gateway.deliveries.close(work.call_id)
    if not outcome.metadata.get("input_required"):
        await _record(gateway, work, outcome)
    if isinstance(answer, GatewayError):
        raise answer
    return answer


async def _outcome(
    gateway: Gateway, work: _Work, origin: CallOrigin
) -> tuple[CallOutcome, dict[str, Any] | GatewayError]:
    """How the call ended, and what the client is told."""
    try:
        tool = work.tool = work.view.tool(work.request.name)
    except UnknownNameError as error:
        gateway.metrics.refused["unknown_tool"] += 1
        return _refusal("not_found", str(error)), GatewayError(INVALID_PARAMS, str(error))
    except NotAllowedError as error:
        work.tool = error.tool
        gateway.metrics.refused["permission"] += 1
        return _told(_refusal("permission", str(error)))
    if work.request.via == "call_read" and not tool.is_read_only:
        return _told(_refusal("write_blocked", f"{tool.name} may change something: call it with call_write"))
    slow_down = gateway.limits.refused(work.caller)
    if slow_down is not None:
        gateway.metrics.refused["rate"] += 1
        told = f"too many calls of this client; try again in {slow_down:.0f} s"
        return _told(replace(_refusal("rate_limited", told), retry_after=slow_down))
    normal = work.normal = _normalized(gateway, tool, work)
    guard = gateway.memory.guard(work.caller)
    if guard is not None and normal.arguments is not None and guard.blocks(tool.key, normal.arguments):
        gateway.metrics.refused["failing_rounds"] += 1
        rounds = guard.rounds(tool.key, normal.arguments)
        told = (
            f"{tool.name} has failed {rounds} times with these arguments and the same answer; "
            "change the arguments or use another tool"
        )
        return _told(_refusal("tool_error", told))
    return await _executed(gateway, work, tool, normal, origin)


async def _executed(
    gateway: Gateway, work: _Work, tool: Tool, normal: NormalizedCall, origin: CallOrigin
) -> tuple[CallOutcome, dict[str, Any] | GatewayError]:
    delivery = Delivery(origin=origin, extra=work.request.extra)
    gateway.deliveries.open(work.call_id, delivery)
    executor = gateway.executor
    record = await executor.execute(normal, request=executor.request(), call_id=work.call_id)
    outcome = record.outcome
    work.sent = record.arguments if outcome.reached_backend else None
    await origin.told()
    guard = gateway.memory.guard(work.caller)
    if guard is not None and normal.arguments is not None:
        if outcome.status == "failed" and outcome.reached_backend:
            guard.record(tool.key, normal.arguments, outcome)
        elif outcome.ok:
            guard.record(tool.key, normal.arguments, replace(outcome, text=work.call_id, value=None))
    if delivery.refusal is not None and not outcome.ok:
        error = delivery.refusal
        return outcome, GatewayError(error.code, error.message, error.data)
    if delivery.raw is not None:
        raw = delivery.raw
        if outcome.truncated:
            return outcome, capped_result(raw, outcome)
        if any(finding.code in MALFORMED for finding in outcome.findings):
            return outcome, readable_result(raw, outcome)
        return outcome, dict(raw) if isinstance(raw, Mapping) else outcome_result(outcome)
    return outcome, outcome_result(outcome)


def _normalized(gateway: Gateway, tool: Tool, work: _Work) -> NormalizedCall:
    """The call as it would be sent; arguments that the schema neither knows nor forbids go along as they are."""
    from agent_reach.catalog.schema import argument_problems
    from agent_reach.router.normalize import NormalizedCall, normalize_call

    given = work.request.arguments if work.request.arguments is not None else {}
    if not gateway.settings.normalize and isinstance(given, Mapping):
        arguments = dict(given)
        normal = NormalizedCall(
            tool=tool, arguments=arguments, problems=argument_problems(tool, arguments), emitted=given
        )
    else:
        normal = normalize_call(
            tool,
            given,
            now=datetime.now().astimezone(),
            options=gateway.normalize_options,
        )
    if normal.arguments is None or not normal.problems or not isinstance(given, Mapping):
        return normal
    if all(is_only_unknown(problem, tool.input_schema) for problem in normal.problems):
        unchecked = replace(tool, input_schema={"type": "object", "additionalProperties": True})
        work.unknown = normal.problems
        return replace(normal, tool=unchecked, problems=())
    return normal


def is_only_unknown(problem: ArgumentProblem, schema: Any) -> bool:
    """Whether the problem is an argument that the schema does not name, at a place where it does not forbid others.

    Such a call is legal by JSON Schema, and a direct connection would pass it on.
    """
    if problem.code != "unknown_argument":
        return False
    steps = problem.pointer.split("/")[1:-1]
    for step in steps:
        if not isinstance(schema, Mapping):
            return False
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and step in properties:
            schema = properties[step]
        elif step.isdigit() and "items" in schema:
            schema = schema["items"]
        else:
            return False
    if not isinstance(schema, Mapping) or any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf")):
        return False
    return (
        schema.get("additionalProperties") is not False and schema.get("unevaluatedProperties") is not False
    )


def _told(outcome: CallOutcome) -> tuple[CallOutcome, dict[str, Any]]:
    return outcome, outcome_result(outcome)


def _refusal(kind: Any, message: str) -> CallOutcome:
    return CallOutcome(status="failed", error_kind=kind, message=message, text=message, reached_backend=False)


def _cancelled(work: _Work) -> CallOutcome:
    harmless = work.tool is not None and work.tool.is_read_only
    text = "the client gave up"
    return CallOutcome(
        status="failed" if harmless else "unknown", error_kind="cancelled", message=text, text=text
    )


async def _record(gateway: Gateway, work: _Work, outcome: CallOutcome) -> None:
    seconds = time.perf_counter() - work.started
    server = work.tool.server if work.tool is not None else ""
    gateway.metrics.call(server, outcome.status, outcome.error_kind, seconds)
    if gateway.recording.store is None:
        return
    memory = gateway.memory.of(work.caller)
    query, candidates, ended_at = memory.query, memory.candidates, time.time()
    search = {"search": memory.search} if memory.search else {}
    offered, hidden = gateway.offered(work.caller, work.request.mode, work.request.endpoint)
    meant = work.tool.key if work.tool is not None else ""
    lacks = {key: work.view.lacks[key] for key in (*hidden, meant) if key in work.view.lacks}

    def made() -> Trace:
        call = _recorded(work, replace(outcome, latency_ms=1000 * seconds))
        return gateway_trace(
            work.caller,
            Step(index=0, calls=(call,), candidates=candidates, started_at=work.started_at),
            mode=work.request.mode,
            started_at=work.started_at,
            ended_at=ended_at,
            query=query,
            offered=offered,
            hidden=hidden,
            lacks=lacks,
            metadata={
                "endpoint": work.request.endpoint,
                "catalog": work.view.version,
                **search,
                **work.metadata,
            },
        )

    await gateway.recording.take(made)


def _recorded(work: _Work, outcome: CallOutcome) -> Call:
    tool, normal, given = work.tool, work.normal, work.request.arguments
    return Call(
        call_id=work.call_id,
        name=work.request.name,
        tool=tool.key if tool is not None else None,
        arguments=dict(given) if isinstance(given, Mapping) else {} if given is None else None,
        raw_arguments=given if isinstance(given, str) else "",
        sent_arguments=dict(work.sent) if work.sent is not None else None,
        changes=normal.changes if normal is not None else (),
        problems=(*normal.problems, *work.unknown) if normal is not None else (),
        outcome=_traced(outcome),
        started_at=work.started_at,
        metadata={"via": work.request.via} if work.request.via else {},
    )


def _traced(outcome: CallOutcome) -> CallOutcome:
    """The outcome as its trace keeps it: a large result is cut, its size told."""
    size = size_of(outcome.text)
    if size <= TRACED_BYTES:
        return outcome
    return replace(
        outcome,
        text=cut_text(outcome.text, TRACED_BYTES),
        value=None,
        message=cut_text(outcome.message, 2000),
        truncated=True,
        metadata={**outcome.metadata, "original_bytes": size},
    )
