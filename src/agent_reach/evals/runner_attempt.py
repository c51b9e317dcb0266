"""One attempt of one task: hooks, agent, time limit, score. What is lost to infrastructure is kept apart from decisions."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from agent_reach.errors import ConfigError, MissingExtraError, ModelError, ServerError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.agents.session import AttemptSession, SessionSettings
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.runner_hooks import run_hook, task_hook
from agent_reach.evals.runner_setup import Prepared
from agent_reach.evals.scoring.attempt import score_attempt
from agent_reach.records.score import AttemptScore, AttemptState
from agent_reach.records.task import Task

HOOK_LIMIT_S = 300.0


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
    backend = prepared.backends.for_attempt(task, index)
    session = _session(prepared, task, index, run_id, backend)
    state: AttemptState = "scored"
    error = ""
    failure: Exception | None = None
    try:
        try:
            await _set_up(prepared, task, index)
            async with asyncio.timeout(prepared.config.attempt_timeout) as deadline:
                session.bind_deadline(deadline)
                await prepared.agent.run(session)
        except TimeoutError:
            state, error = "agent_timeout", f"no end within {prepared.config.attempt_timeout:g} s"
        except (ConfigError, MissingExtraError):
            raise
        except (ModelError, ServerError) as problem:
            state, error, failure = "infra_error", prepared.redactor.text(str(problem)), problem
        teardown_error = await _tear_down(prepared, task, index)
        if teardown_error and state == "scored":
            error = teardown_error
    finally:
        await backend.aclose()
    trace = session.trace()
    score = score_attempt(task, trace, prepared.catalog, index=index, state=state, error=error)
    duration = (time.perf_counter() - started) * 1000
    return Attempted(score=dataclasses.replace(score, duration_ms=duration, trace=trace), failure=failure)


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
            call_timeout=prepared.config.execution.call_timeout,
        ),
    )


async def _set_up(prepared: Prepared, task: Task, index: int) -> None:
    try:
        async with asyncio.timeout(HOOK_LIMIT_S):
            await _hooks(prepared, task, index, "setup")
    except TimeoutError:
        raise ServerError(f"setup did not end within {HOOK_LIMIT_S:g} s", where=f"task {task.id!r}") from None


async def _hooks(prepared: Prepared, task: Task, index: int, name: str) -> None:
    folder = prepared.config.folder
    own = prepared.config.execution.setup if name == "setup" else prepared.config.execution.teardown
    hooks: Sequence[Any] = [(own, "setup"), (task_hook(task, "setup"), "the task's setup")]
    if name == "teardown":
        hooks = [(task_hook(task, "teardown"), "the task's teardown"), (own, "teardown")]
    for hook, label in hooks:
        if hook:
            await run_hook(hook, task, index, folder, label)


async def _tear_down(prepared: Prepared, task: Task, index: int) -> str:
    """Tear down whatever happened; a failure is told, and never changes what the agent decided."""
    try:
        async with asyncio.timeout(HOOK_LIMIT_S):
            await _hooks(prepared, task, index, "teardown")
    except TimeoutError:
        return f"teardown did not end within {HOOK_LIMIT_S:g} s"
    except ServerError as failure:
        return str(failure)
    return ""
