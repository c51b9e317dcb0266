"""Watches a running agent without routing it: what was offered, what the model said, what its calls did.

A `Recorder` opens one `RequestRecording` per request; wrapped tools record themselves and change nothing: arguments,
results and exceptions pass through as they are. What cannot be recorded never stops the agent: it becomes a finding of the
trace.
"""

from __future__ import annotations

import functools
import inspect
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from agent_reach.records.context import ContextBlock
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import Call, CallOutcome, CandidateScore, Exposure, Step, Trace
from agent_reach.traces.importers.base import error_kind
from agent_reach.traces.store.base import TraceStore

Function = TypeVar("Function", bound=Callable[..., Any])


class Recorder:
    """Records requests into a store; `agent` and `model` name who decides. `failures` are errors of the store: a request whose
    trace cannot be kept goes on all the same."""

    def __init__(
        self, store: TraceStore, *, agent: str = "", model: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        self.store = store
        self.agent = agent
        self.model = model
        self.clock = clock
        self.failures: list[Exception] = []

    def request(
        self, query: str, *, trace_id: str = "", task_id: str = "", metadata: Mapping[str, Any] | None = None
    ) -> RequestRecording:
        """The recording of one request, used as `with` or `async with`; the trace is added to the store when it ends."""
        return RequestRecording(
            self, query, trace_id=trace_id or uuid.uuid4().hex, task_id=task_id, metadata=metadata
        )


class RequestRecording:
    """One request being recorded: `offered`, `raw`, `block`, `call` and `wrap` note what happens, in order."""

    def __init__(
        self,
        recorder: Recorder,
        query: str,
        *,
        trace_id: str,
        task_id: str,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        self._recorder = recorder
        self.trace_id = trace_id
        self._query = query
        self._task_id = task_id
        self._metadata = dict(metadata or {})
        self._started = recorder.clock()
        self._offered: tuple[str, ...] = ()
        self._steps: list[Step] = []
        self._blocks: list[ContextBlock] = [ContextBlock(id="request", kind="instruction", text=query)]
        self._findings: list[Finding] = []
        self._final = ""
        self._count = 0

    # -- what is noted -------------------------------------------------------------------------------------

    def offered(self, tools: Iterable[Any], candidates: Iterable[tuple[str, float]] = ()) -> None:
        """The tools that the model is given now: names, tool dicts in any known form, functions or objects with a name;
        `candidates` are (tool, score) pairs of a retriever."""
        names = []
        for tool in tools:
            name = tool_name(tool)
            if name:
                names.append(name)
            else:
                self._note(
                    "offered_without_name",
                    f"an offered tool has no name: {type(tool).__name__}",
                    f"提供的工具没有名称：{type(tool).__name__}",
                )
        if not self._offered:
            self._offered = tuple(names)
        scores = tuple(CandidateScore(tool=tool, score=float(score)) for tool, score in candidates)
        self._steps.append(self._new_step(offered=tuple(names), candidates=scores))

    def raw(
        self,
        text: str,
        *,
        finish_reason: str = "",
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """What the model just said, as received. Calls that follow belong to this message."""
        details: dict[str, Any] = {
            "raw": text,
            "text": text,
            "finish_reason": finish_reason,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
        }
        last = self._steps[-1] if self._steps else None
        if last is not None and not last.raw and not last.calls:
            self._steps[-1] = replace(last, **details)
        else:
            self._steps.append(self._new_step(**details))

    def block(self, block: ContextBlock) -> None:
        """A context block that the model is given."""
        self._blocks.append(block)

    def final(self, text: str) -> None:
        """The answer to the user."""
        self._final = text

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        outcome: CallOutcome | None,
        *,
        call_id: str = "",
        started_at: float | None = None,
    ) -> Call:
        """A call that was made elsewhere, with how it ended (None: no result)."""
        self._count += 1
        call = Call(
            call_id=call_id or f"call_{self._count}",
            name=name,
            arguments=dict(arguments) if arguments is not None else None,
            outcome=outcome,
            started_at=started_at if started_at is not None else self._recorder.clock(),
        )
        if not self._steps:
            self._steps.append(self._new_step())
        step = self._steps[-1]
        self._steps[-1] = replace(step, calls=(*step.calls, call))
        if outcome is not None:
            self._blocks.append(
                ContextBlock(
                    id=f"result_{call.call_id}",
                    kind="tool_result",
                    text=outcome.text,
                    call_id=call.call_id,
                    from_step=step.index,
                    value=outcome.value,
                )
            )
        return call

    def wrap(self, tool: Function, *, name: str = "") -> Function:
        """The same function, recording each call; works for plain and async functions."""
        called = name or tool_name(tool) or "tool"
        if inspect.iscoroutinefunction(tool):

            @functools.wraps(tool)
            async def recorded_async(*args: Any, **kwargs: Any) -> Any:
                started = self._recorder.clock()
                try:
                    result = await tool(*args, **kwargs)
                except BaseException as error:
                    self._finished(called, tool, args, kwargs, started, error=error)
                    raise
                self._finished(called, tool, args, kwargs, started, result=result)
                return result

            return recorded_async  # type: ignore[return-value]

        @functools.wraps(tool)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            started = self._recorder.clock()
            try:
                result = tool(*args, **kwargs)
            except BaseException as error:
                self._finished(called, tool, args, kwargs, started, error=error)
                raise
            self._finished(called, tool, args, kwargs, started, result=result)
            return result

        return recorded  # type: ignore[return-value]

    # -- beginning and end ---------------------------------------------------------------------------------

    def trace(self) -> Trace:
        """The trace as it stands."""
        return Trace(
            trace_id=self.trace_id,
            query=self._query,
            task_id=self._task_id,
            agent=self._recorder.agent,
            model=self._recorder.model,
            source="recorder",
            started_at=self._started,
            ended_at=self._recorder.clock(),
            exposure=Exposure(mode="all" if self._offered else "", offered=self._offered),
            steps=tuple(self._steps),
            blocks=tuple(self._blocks),
            final_text=self._final,
            findings=tuple(self._findings),
            metadata=self._metadata,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._note(
                "request_failed", f"{type(error).__name__}: {error}", f"{type(error).__name__}：{error}"
            )
        try:
            self._recorder.store.add(self.trace())
        except Exception as failure:  # recording must never stop the agent it watches
            self._recorder.failures.append(failure)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _new_step(self, **details: Any) -> Step:
        return Step(index=len(self._steps), started_at=self._recorder.clock(), **details)

    def _finished(
        self,
        name: str,
        tool: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        started: float,
        *,
        result: Any = None,
        error: BaseException | None = None,
    ) -> None:
        latency = max(0.0, (self._recorder.clock() - started) * 1000)
        if error is not None:
            cancelled = not isinstance(error, Exception)
            text = f"{type(error).__name__}: {text_of(error)}"
            outcome = CallOutcome(
                status="unknown" if cancelled else "failed",
                error_kind="cancelled"
                if cancelled
                else "timeout"
                if isinstance(error, TimeoutError)
                else error_kind(text),
                text=text,
                message=text,
                latency_ms=latency,
            )
        else:
            value = plain(result)
            outcome = CallOutcome(
                status="ok",
                value=value,
                text=value if isinstance(value, str) else _written(value),
                latency_ms=latency,
            )
        self.call(name, _bound(tool, args, kwargs), outcome, started_at=started)

    def _note(self, code: str, en: str, zh: str) -> None:
        self._findings.append(
            Finding(code=code, severity="warning", subject=self.trace_id, message=Message(en, zh))
        )


def tool_name(tool: Any) -> str:
    """The name of a tool in any known form; empty where it has none."""
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Mapping):
        inner = tool.get("function") if isinstance(tool.get("function"), Mapping) else tool
        return str(inner.get("name") or "") if isinstance(inner, Mapping) else ""
    return str(getattr(tool, "key", "") or getattr(tool, "name", "") or getattr(tool, "__name__", ""))


def _bound(tool: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name; positional ones of a function without a readable signature as arg_0, arg_1, ..."""
    try:
        bound = inspect.signature(tool).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {**{f"arg_{index}": value for index, value in enumerate(args)}, **kwargs}
    return {name: plain(value) for name, value in bound.items() if name not in ("self", "cls")}


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it; what cannot be shown is its text."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if depth > 50:
        return text_of(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in value]
    for method in ("model_dump", "to_dict", "dict"):
        dump = getattr(value, method, None)
        if callable(dump):
            try:
                return plain(dump(), depth + 1)
            except Exception:
                break
    return text_of(value)


def text_of(value: Any) -> str:
    """The text of any object, also of one whose own text cannot be had."""
    try:
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__} while showing it>"


def _written(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
