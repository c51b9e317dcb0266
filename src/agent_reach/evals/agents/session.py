"""One attempt while it lasts: what the agent sees, the execution of its calls, and the record of everything it did.

The session never judges a decision. It refuses calls that cannot be executed (no such tool, not offered, not permitted,
unreadable or illegal arguments) with a text that the model can act on, and runs the others one after the other in the
order the model wrote them, so that recordings answer the same on every run.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from agent_reach.backends.base import Backend
from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.duplicates import DuplicatePolicy, mark_duplicates
from agent_reach.calls.identifiers import unique_id
from agent_reach.calls.records import ParsedCall
from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.evals.agents.base import ModelReply
from agent_reach.evals.agents.deadline import Deadline
from agent_reach.evals.agents.record import AttemptRecord, emitted_call, result_block_id
from agent_reach.evals.agents.refusals import (
    ambiguous_name,
    duplicate_of,
    illegal_arguments,
    no_such_tool,
    not_permitted,
)
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.exposure import ExposedTools
from agent_reach.records.context import ContextBlock
from agent_reach.records.finding import Finding
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import (
    ArgumentProblem,
    Call,
    CallOutcome,
    CandidateScore,
    Step,
    Trace,
)

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What is the same for all attempts of a run. `call_timeout` in seconds; `clock` gives seconds since the epoch."""

    agent: str = ""
    model: str = ""
    source: str = "run"
    duplicates: DuplicatePolicy = "unsafe"
    call_timeout: float | None = 60.0
    clock: Callable[[], float] = time.time


class AttemptSession:
    """The door between an agent and one attempt.

    `query`, `messages()`, `tools`, `definitions` and `context` are what the agent may know; `take_reply` records a model
    message and executes its calls; `call` and `say` serve agents that are code; `next_turn` moves to the user's next words.
    """

    def __init__(
        self,
        *,
        task: Task,
        attempt: int,
        trace_id: str,
        catalog: Catalog,
        exposed: ExposedTools,
        conversation: Conversation,
        backend: Backend,
        settings: SessionSettings,
        re_expose: Callable[[str], ExposedTools] | None = None,
    ) -> None:
        self.task = task
        self.attempt = attempt
        self.catalog = catalog
        self.exposed = exposed
        self.conversation = conversation
        self.settings = settings
        self.query = task.query
        self.stopped = False
        self.used_ids: set[str] = set()
        self._trace_id = trace_id
        self._first_exposure = exposed
        self._re_expose = re_expose
        self._fresh_candidates = exposed.candidates
        self._backend = backend
        self._missing = exposed.permissions_missing
        self._offered = {tool.key for tool in exposed.tools}
        self._record = AttemptRecord(task.state_slots)
        self._turn = 0
        self._open: _OpenStep | None = None
        self._started_at = settings.clock()
        self._deadline = Deadline()
        self._adopted: Trace | None = None

    # --- what the agent sees

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The offered tools in order."""
        return self.exposed.tools

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """The offered tools as function definitions of the chat API, named by wire name."""
        return self.exposed.definitions

    @property
    def context(self) -> tuple[ContextBlock, ...]:
        """The context blocks given so far, results of calls included."""
        return (*self.conversation.blocks, *self._record.results)

    @property
    def step_index(self) -> int:
        """The number of the next step."""
        return self._record.step_index

    def messages(self) -> list[dict[str, Any]]:
        """The messages of the next request, in the form of the chat API."""
        self.conversation.set_slots(self._record.slots)
        return self.conversation.messages(self.step_index)

    def is_known(self, name: str) -> bool:
        """True if a name that a model wrote means a tool of the catalog."""
        return resolve_emitted_name(name, self.catalog).tool is not None

    def wire_name(self, name: str) -> str:
        """The name on the wire of the tool that an emitted name means; the emitted name where it means none."""
        tool = resolve_emitted_name(name, self.catalog).tool
        return self.catalog.wire_name(tool) if tool is not None else name

    # --- time

    def bind_deadline(self, limit: asyncio.Timeout) -> None:
        """The time limit of the attempt, which `excuse` moves."""
        self._deadline.bind(limit)

    def excuse(self, seconds: float) -> None:
        """Time that the agent did not spend deciding (a rate limit, a queue): the limit moves by as much."""
        self._deadline.extend(seconds)

    def suspended(self) -> AbstractContextManager[None]:
        """The clock of the attempt stands still: the agent waits for its turn."""
        return self._deadline.suspended()

    # --- what the agent does

    async def take_reply(self, reply: ModelReply, *, results_as: str = "tool") -> tuple[Call, ...]:
        """Record one model message, execute its calls, and add both to the conversation.

        `results_as` is the role in which results are shown: `tool`, or `user` for models without such a role.
        """
        index = self.step_index
        parsed = reply.parsed
        marked = mark_duplicates(
            parsed.calls, policy=self.settings.duplicates, is_safe_to_repeat=self._is_safe_to_repeat
        )
        self._record.add_step(
            Step(
                index=index,
                text=parsed.text,
                raw=reply.raw,
                reasoning=parsed.reasoning,
                problems=parsed.problems,
                started_at=reply.started_at,
                latency_ms=reply.latency_ms,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                finish_reason=reply.finish_reason,
                candidates=self._take_candidates(),
                offered=self._offered_now(),
            )
        )
        self._record.note(parsed.findings)
        self.conversation.add_reply(reply.message)
        self._record.final_text = parsed.text
        done: list[Call] = []
        for parsed_call in marked:
            original = next((call for call in done if call.call_id == parsed_call.duplicate_of), None)
            pending = Call(
                call_id=parsed_call.call_id, name=parsed_call.name, arguments=parsed_call.arguments
            )
            self._record.set_calls(index, (*done, pending))
            call = await self._execute(parsed_call, index, original)
            done.append(call)
            self._record.set_calls(index, done)
            self._show_result(parsed_call, call, results_as)
        for problem in parsed.problems:
            self.conversation.add_user(f"The tool call could not be read ({problem.code}): {problem.message}")
        return tuple(done)

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None) -> CallOutcome:
        """One call of an agent that is code. Calls that begin while others of theirs are under way belong to one step.

        Arguments that JSON cannot carry are problems of the call; raises `TypeError` for a name that is no text.
        """
        name = checked_text(name, "the name of a tool")
        read = read_arguments(arguments)
        parsed = ParsedCall(
            call_id=unique_id("", self.used_ids),
            name=name,
            arguments=read.values,
            raw_arguments=arguments if isinstance(arguments, str) else "",
            problems=read.problems,
            repairs=read.repairs,
            origin="python",
        )
        step = self._join_step()
        position = step.add(Call(call_id=parsed.call_id, name=parsed.name, arguments=parsed.arguments))
        self._record.set_calls(step.index, step.calls)
        try:
            call = await self._execute(parsed, step.index, None)
        finally:
            step.running -= 1
            if step.running == 0 and self._open is step:
                self._open = None
        step.calls[position] = call
        self._record.set_calls(step.index, step.calls)
        assert call.outcome is not None
        return call.outcome

    def say(self, text: str, *, raw: str = "") -> None:
        """Words of an agent that is code: a step of their own, and the last ones are the final text.

        Raises `TypeError` for what is no text.
        """
        text, raw = checked_text(text, "what is said"), checked_text(raw, "raw")
        self._open = None
        self._record.add_step(Step(index=self.step_index, text=text, raw=raw or text))
        self._record.final_text = text

    def next_turn(self) -> str | None:
        """The user's next scripted words, added to the conversation and the record; None when there are none."""
        if self._turn + 1 >= len(self.task.turns) or self.stopped:
            return None
        self._turn += 1
        words = self.task.turns[self._turn].user
        self._open = None
        self._record.add_step(Step(index=self.step_index, kind="user", text=words))
        self.conversation.add_user(words)
        self.query = words
        if self._re_expose is not None:
            self.exposed = self._re_expose(words)
            self._offered = {tool.key for tool in self.exposed.tools}
            self._fresh_candidates = self.exposed.candidates
        return words

    def note(self, finding: Finding) -> None:
        """Keep a finding with the trace."""
        self._record.note([finding])

    def adopt(self, trace: Trace) -> None:
        """Take a trace that exists already in place of everything recorded here."""
        self._adopted = trace

    # --- execution

    def _is_safe_to_repeat(self, name: str) -> bool:
        tool = resolve_emitted_name(name, self.catalog).tool
        return tool is not None and tool.is_read_only

    async def _execute(self, parsed: ParsedCall, step: int, original: Call | None) -> Call:
        resolution = resolve_emitted_name(parsed.name, self.catalog)
        tool = resolution.tool
        call = emitted_call(parsed, resolution, self.settings.clock())
        if original is not None and original.outcome is not None:
            return dataclasses.replace(
                call,
                outcome=duplicate_of(original),
                metadata={**call.metadata, "duplicate_of": original.call_id},
            )
        if tool is None:
            outcome = (
                ambiguous_name(parsed.name, resolution.candidates)
                if resolution.is_ambiguous
                else no_such_tool(parsed.name, self.tools)
            )
            return dataclasses.replace(call, outcome=outcome)
        call, arguments = self._ready(call, tool, parsed)
        refusal = self._refusal(tool, parsed, call.problems)
        outcome = refusal or await self._backend.call(
            tool, arguments, call_id=parsed.call_id, timeout=self.settings.call_timeout
        )
        self._learn(tool, parsed.call_id, outcome, step)
        return dataclasses.replace(call, outcome=outcome)

    def _ready(self, call: Call, tool: Tool, parsed: ParsedCall) -> tuple[Call, Mapping[str, Any]]:
        """The call with its problems, and the arguments to send: normalised where the reach layer is in between."""
        from agent_reach.catalog.schema import argument_problems

        if parsed.arguments is None:
            return call, {}
        if self.exposed.normalize is None:
            problems = (*parsed.problems, *argument_problems(tool, parsed.arguments))
            return dataclasses.replace(call, problems=problems), parsed.arguments
        normal = self.exposed.normalize(
            tool, parsed.arguments, conversation=self.messages(), now=self.task.now or None
        )
        sent = normal.arguments if normal.arguments is not None else {}
        changed = dataclasses.replace(
            call,
            problems=(*parsed.problems, *normal.problems),
            changes=tuple(normal.changes),
            sent_arguments=sent,
        )
        return changed, sent

    def _refusal(
        self, tool: Tool, parsed: ParsedCall, problems: Sequence[ArgumentProblem]
    ) -> CallOutcome | None:
        if tool.key in self._missing:
            return not_permitted(tool, self._missing[tool.key])
        if tool.key not in self._offered:
            return no_such_tool(parsed.name, self.tools)
        if problems:
            return illegal_arguments(tool, problems)
        return None

    def _learn(self, tool: Tool, call_id: str, outcome: CallOutcome, step: int) -> None:
        """Results become context blocks, and fill the state slots that name them."""
        self._record.note(outcome.findings)
        if outcome.metadata.get("stop"):
            self.stopped = True
        if outcome.reached_backend and (outcome.ok or not outcome.off_recording):
            self._record.learn(tool, call_id, outcome, step)

    def _show_result(self, parsed: ParsedCall, call: Call, results_as: str) -> None:
        assert call.outcome is not None
        text = call.outcome.text or call.outcome.message or "(no output)"
        block_id = result_block_id(call.call_id)
        self.conversation.add_result(call.call_id, parsed.name, text, block_id=block_id, role=results_as)

    # --- steps of agents that are code

    def _join_step(self) -> _OpenStep:
        if self._open is None:
            self._open = _OpenStep(index=self.step_index)
            self._record.add_step(
                Step(index=self._open.index, candidates=self._take_candidates(), offered=self._offered_now())
            )
        self._open.running += 1
        return self._open

    # --- the record

    def _take_candidates(self) -> tuple[CandidateScore, ...]:
        """The candidates of the reach layer stand with the first step they were offered for."""
        candidates, self._fresh_candidates = self._fresh_candidates, ()
        return candidates

    def _offered_now(self) -> tuple[str, ...]:
        """The tools offered for this step, where they are others than at the beginning."""
        offered = self.exposed.exposure.offered
        return () if offered == self._first_exposure.exposure.offered else offered

    def trace(self) -> Trace:
        """Everything so far; the calls that were cut off in the middle have no outcome."""
        if self._adopted is not None:
            return self._adopted
        trace = Trace(
            trace_id=self._trace_id,
            query=self.task.query,
            task_id=self.task.id,
            attempt=self.attempt,
            agent=self.settings.agent,
            model=self.settings.model,
            source=self.settings.source,
            started_at=self._started_at,
            ended_at=self.settings.clock(),
            exposure=self._first_exposure.exposure,
            blocks=tuple(self.conversation.blocks),
            dropped=self.conversation.dropped,
            permissions_missing=self._missing,
        )
        return self._record.completed(trace, shows_slots=self.conversation.shows_slots)


@dataclasses.dataclass(slots=True)
class _OpenStep:
    """A step of an agent that is code, while calls of it are under way."""

    index: int
    running: int = 0
    calls: list[Call] = dataclasses.field(default_factory=list)

    def add(self, call: Call) -> int:
        self.calls.append(call)
        return len(self.calls) - 1


def checked_text(value: Any, what: str) -> str:
    """The value as plain text that UTF-8 can carry (half a surrogate pair becomes `?`); raises `TypeError` for any other type."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be text, not {type(value).__name__} {value!r:.60}")
    return value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else str(value)
