"""One attempt of one task: hooks, agent, time limit, score. What is lost to infrastructure is kept apart from decisions."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from typing import Any

from agent_reach.backends.base import is_cancelled
from agent_reach.errors import AgentReachError, ConfigError, MissingExtraError, ModelError, ServerError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.agents.session import AttemptSession, SessionSettings
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.runner_backend import Nowhere
from agent_reach.evals.runner_setup import Prepared
from agent_reach.evals.scoring.attempt import score_attempt
from agent_reach.records.context import StateSlot
from agent_reach.records.score import AttemptScore, AttemptState
from agent_reach.records.task import Task


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """An attempt and its score; `failure` is what lost it, where it was lost."""

    score: AttemptScore
    failure: Exception | None = None


async def run_attempt(prepared: Prepared, task: Task, index: int, run_id: str) -> Attempted:
    """Make one attempt and score it.

    A time-out of the agent is `agent_timeout`; a model, server or hook that failed is `infra_error` with the reason. An error
    of the configuration passes through.
    """
    started = time.perf_counter()
    running = _Running()
    task = _with_overlay_slots(task, prepared)
    try:
        async with prepared.backends.attempt(task, index) as backend:
            session = running.session = _session(prepared, task, index, run_id, backend)
            await _drive(prepared, session, running)
    except (ConfigError, MissingExtraError):
        raise
    except ServerError as problem:
        _after(prepared, running, problem)
    session = running.session or _session(prepared, task, index, run_id, Nowhere())
    state, error, failure = running.state, running.error, running.failure
    trace = session.trace()
    score = score_attempt(task, trace, prepared.catalog, index=index, state=state, error=error)
    duration = (time.perf_counter() - started) * 1000
    return Attempted(score=dataclasses.replace(score, duration_ms=duration, trace=trace), failure=failure)


def _with_overlay_slots(task: Task, prepared: Prepared) -> Task:
    """The task with the state slots that the overlay declares for all tasks; one of the same name in the task wins."""
    overlay = prepared.catalog.overlay
    names = {slot.name for slot in task.state_slots}
    declared = overlay.state_slots if overlay is not None else ()
    slots = (StateSlot(name=str(item.get("name", "")), source=str(item.get("from", ""))) for item in declared)
    more = tuple(slot for slot in slots if slot.name and slot.source and slot.name not in names)
    return dataclasses.replace(task, state_slots=(*task.state_slots, *more)) if more else task


def _session(prepared: Prepared, task: Task, index: int, run_id: str, backend: Any) -> AttemptSession:
    info: AgentInfo = prepared.agent.info
    exposed = prepared.exposer.expose(task)
    tools_text = info.own_tools_text(exposed.definitions) if info.own_tools_text else ""
    conversation = Conversation(
        task,
        prepared.layout,
        tools_text=tools_text,
        definition_tokens=(exposed.exposure.tokens or 0) if info.placed_by == "provider" else 0,
        slots=task.state_slots,
    )
    return AttemptSession(
        task=task,
        attempt=index,
        trace_id=f"{run_id}/{task.id}/{index}",
        catalog=prepared.catalog,
        exposed=exposed,
        conversation=conversation,
        backend=backend,
        settings=SessionSettings(
            agent=info.name,
            model=info.model,
            source=f"run:{run_id}",
            call_timeout=None if prepared.backends.has_own_limit else prepared.config.execution.call_timeout,
        ),
        re_expose=(lambda words: prepared.exposer.expose(task, words))
        if prepared.exposer.is_dynamic
        else None,
    )


@dataclasses.dataclass(slots=True)
class _Running:
    """How far an attempt got."""

    session: AttemptSession | None = None
    state: AttemptState = "scored"
    error: str = ""
    failure: Exception | None = None
    ended: bool = False


async def _drive(prepared: Prepared, session: AttemptSession, running: _Running) -> None:
    """Let the agent run inside its time limit, and note how it ended."""
    limit = prepared.config.attempt_timeout
    try:
        async with asyncio.timeout(limit) as deadline:
            session.bind_deadline(deadline)
            await prepared.agent.run(session)
    except TimeoutError as problem:
        if deadline.expired():
            running.state, running.error = "agent_timeout", f"no end within {limit:g} s"
        else:
            running.state, running.error, running.failure = "infra_error", f"time-out: {problem}", problem
    except (ModelError, ServerError) as problem:
        running.state = "infra_error"
        running.error, running.failure = prepared.redactor.text(str(problem)), problem
    except (AgentReachError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as problem:
        if isinstance(problem, asyncio.CancelledError) and is_cancelled():
            raise
        words = f"the agent raised {type(problem).__name__}: {problem}"
        running.state, running.error = "infra_error", prepared.redactor.text(words)
        running.failure = ModelError(words)
    running.ended = True


def _after(prepared: Prepared, running: _Running, problem: ServerError) -> None:
    """A hook or server failed: before the agent ended the attempt is lost; after it the decisions stand."""
    words = prepared.redactor.text(str(problem))
    if running.ended:
        running.error = running.error or words
        return
    running.state, running.error, running.failure = "infra_error", words, problem
