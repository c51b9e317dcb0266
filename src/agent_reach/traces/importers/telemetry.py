"""OpenTelemetry GenAI and OpenInference spans into traces: one trace per trace id.

A model span becomes a step; the calls it asked for are joined with tool spans by call id alone. A tool span that no model
span asked for by id becomes a step of its own and is marked `unattributed`: who asked for it is not guessed. A call that
was asked for and never executed stays visible without an outcome, unless a later message holds its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.identifiers import unique_id
from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace
from agent_reach.traces.importers import span_facts as facts
from agent_reach.traces.importers.base import Entry, ImportLog, as_text, error_kind, outcome_of
from agent_reach.traces.importers.spans import Span, SpanTree, read_spans, span_tree


def read_telemetry(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per trace id that holds a model or a tool span, in order of start. The input is read whole: spans arrive in
    any order."""
    grouped: dict[str, list[Span]] = {}
    for span in read_spans(entries, log):
        grouped.setdefault(span.trace_id, []).append(span)
    trees = sorted(
        ((span_tree(spans), trace_id) for trace_id, spans in grouped.items()),
        key=lambda pair: (pair[0].spans[0].start or 0.0, pair[1]),
    )
    for tree, trace_id in trees:
        if any(facts.kind_of(span) in ("tool", "requested", "model") for span in tree.spans):
            yield _Reading(tree, trace_id, log).trace()


def _identity_of(name: str, arguments: Mapping[str, Any] | None) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)}"


def _identity(span: Span) -> str:
    return _identity_of(facts.tool_name(span), facts.tool_arguments(span)[0])


class _Reading:
    """The reading of one trace id; holds what its spans share."""

    def __init__(self, tree: SpanTree, trace_id: str, log: ImportLog) -> None:
        self.tree = tree
        self.trace_id = trace_id
        self.log = log
        self.by_id = {span.span_id: span for span in tree.spans}
        self.kinds = {span.span_id: facts.kind_of(span) for span in tree.spans}
        self.used: set[str] = set()
        self.responses: dict[str, Any] = {}
        self.executions: dict[str, list[Span]] = {}
        self.unnamed: dict[str, list[Span]] = {}
        self.joined: set[str] = set()

    def trace(self) -> Trace:
        """Build it."""
        self._report_tree()
        executed = self._executed()
        for span in executed:
            identifier = facts.tool_call_id(span)
            if identifier:
                self.executions.setdefault(identifier, []).append(span)
            else:
                self.unnamed.setdefault(_identity(span), []).append(span)
        models = [span for span in self.tree.spans if self.kinds[span.span_id] == "model"]
        models = [span for span in models if not self._repeats_its_parent(span)]
        for span in models:
            for message in facts.messages(span, "input"):
                for response in message["responses"]:
                    if response["id"]:
                        self.responses.setdefault(str(response["id"]), response["result"])
        timed: list[tuple[tuple[float, float, str], Step]] = [
            (span.order, self._model_step(span)) for span in models
        ]
        requested = {call.metadata.get("emitted_id") for _, step in timed for call in step.calls}
        for span in executed:
            if span.span_id not in self.joined:
                timed.append((span.order, self._tool_step(span, attributed=False)))
        for span in self.tree.spans:
            identifier = facts.tool_call_id(span)
            if (
                self.kinds[span.span_id] == "requested"
                and identifier not in self.executions
                and identifier not in requested
            ):
                timed.append((span.order, self._tool_step(span, attributed=False, executed=False)))
        timed.sort(key=lambda pair: pair[0])
        steps = tuple(replace(step, index=index) for index, (_, step) in enumerate(timed))
        return self._assemble(steps, models)

    def _assemble(self, steps: tuple[Step, ...], models: list[Span]) -> Trace:
        offered = list(dict.fromkeys(name for span in self.tree.spans for name in facts.offered_tools(span)))
        query = self._query(models)
        blocks = [ContextBlock(id="request", kind="instruction", text=query)] if query else []
        for step in steps:
            blocks.extend(
                ContextBlock(
                    id=f"result_{call.call_id}",
                    kind="tool_result",
                    text=call.outcome.text,
                    call_id=call.call_id,
                    from_step=step.index,
                    value=call.outcome.value,
                )
                for call in step.calls
                if call.outcome is not None
            )
        spans = self.tree.spans
        ends = [span.end for span in spans if span.end is not None]
        final = next((step.text for step in reversed(steps) if step.text and not step.calls), "")
        return Trace(
            trace_id=self.trace_id,
            query=query,
            agent=next(
                (
                    name
                    for span in spans
                    if self.kinds[span.span_id] == "agent" and (name := facts.agent_name(span))
                ),
                "",
            ),
            model=next((name for span in models if (name := facts.model_name(span))), ""),
            source=self.log.source,
            started_at=spans[0].start,
            ended_at=max(ends, default=None),
            exposure=Exposure(mode="all" if offered else "", offered=tuple(offered)),
            steps=steps,
            blocks=tuple(blocks),
            final_text=final,
        )

    def _query(self, models: list[Span]) -> str:
        for span in models:
            for message in facts.messages(span, "input"):
                if message["role"] == "user" and message["text"]:
                    return str(message["text"])
        for span in self.tree.spans:
            if self.kinds[span.span_id] == "agent":
                for message in facts.messages(span, "input"):
                    if message["role"] == "user" and message["text"]:
                        return str(message["text"])
                value = span.attributes.get("input.value")
                if isinstance(value, str) and value:
                    return value
        return ""

    def _report_tree(self) -> None:
        if self.tree.cyclic:
            names = ", ".join(self.tree.cyclic[:6])
            self.log.add(
                "span_cycle",
                Message(f"parent links run in a circle: {names}", f"父级链接成环：{names}"),
                subject=self.trace_id,
            )
        if self.tree.orphans:
            self.log.add(
                "orphan_span",
                Message(
                    f"{len(self.tree.orphans)} spans name a parent that is not here",
                    f"{len(self.tree.orphans)} 个跨度的父级不在其中",
                ),
                subject=self.trace_id,
                severity="info",
            )
        for span in self.tree.spans:
            parent = self.by_id.get(self.tree.parents.get(span.span_id, ""))
            if span.end is not None and span.start is not None and span.end < span.start:
                self.log.add(
                    "clock_skew",
                    Message(
                        f"span {span.span_id} ends before it starts", f"跨度 {span.span_id} 的结束早于开始"
                    ),
                    subject=self.trace_id,
                )
            elif parent is not None and parent.start and span.start and span.start < parent.start - 0.001:
                self.log.add(
                    "clock_skew",
                    Message(
                        f"span {span.span_id} starts before its parent", f"跨度 {span.span_id} 早于父级开始"
                    ),
                    subject=self.trace_id,
                    severity="info",
                )

    def _executed(self) -> list[Span]:
        """Tool spans, each execution once: a span inside another of the same tool and arguments is the same execution, and
        so is a later copy of a call id whose arguments agree."""
        kept: list[Span] = []
        seen: dict[str, tuple[str, Any]] = {}
        for span in self.tree.spans:
            if self.kinds[span.span_id] != "tool":
                continue
            identity = (facts.tool_name(span), facts.tool_arguments(span)[0])
            if any(
                self.kinds[above] == "tool"
                and (facts.tool_name(self.by_id[above]), facts.tool_arguments(self.by_id[above])[0])
                == identity
                for above in self.tree.ancestors(span.span_id)
            ):
                continue
            identifier = facts.tool_call_id(span)
            if identifier and identifier in seen and seen[identifier] == identity:
                continue
            if identifier:
                seen[identifier] = identity
            kept.append(span)
        return kept

    def _repeats_its_parent(self, span: Span) -> bool:
        """A model span inside or around another that tells the same message: the one that carries calls or text is kept."""
        for above in self.tree.ancestors(span.span_id):
            if self.kinds[above] == "model":
                mine, theirs = facts.messages(span, "output"), facts.messages(self.by_id[above], "output")
                return bool(theirs) or not mine
        children = [
            other
            for other in self.tree.spans
            if self.kinds[other.span_id] == "model"
            and span.span_id in set(self.tree.ancestors(other.span_id))
        ]
        return not facts.messages(span, "output") and any(
            facts.messages(child, "output") for child in children
        )

    def _model_step(self, span: Span) -> Step:
        output = [
            message
            for message in facts.messages(span, "output")
            if message["role"] in ("assistant", "model", "")
        ]
        calls = []
        for message in output:
            for asked in message["calls"]:
                calls.append(self._asked_call(asked, span))
        given, made = facts.token_counts(span)
        reasons = span.attributes.get("gen_ai.response.finish_reasons")
        return Step(
            index=0,
            text="\n".join(message["text"] for message in output if message["text"]),
            raw=json.dumps(output, ensure_ascii=False, default=str) if output else "",
            calls=tuple(calls),
            offered=tuple(facts.offered_tools(span)),
            started_at=span.start,
            latency_ms=span.latency_ms,
            input_tokens=given,
            output_tokens=made,
            finish_reason=str(reasons[0]) if isinstance(reasons, (list, tuple)) and reasons else "",
            agent=self._owner(span),
        )

    def _asked_call(self, asked: Mapping[str, Any], span: Span) -> Call:
        identifier = str(asked.get("id") or "")
        waiting = self._executions_of(asked, identifier, span)
        if waiting:
            self.joined.add(waiting[0].span_id)
            call = self._call(waiting[0], executed=True, identifier=identifier)
            if call.arguments is None:
                read = read_arguments(asked.get("arguments"))
                call = replace(
                    call,
                    arguments=read.values,
                    problems=read.problems,
                    metadata={**call.metadata, "arguments_absent": False},
                )
            return call
        read = read_arguments(asked.get("arguments"))
        outcome = None
        if identifier in self.responses:
            outcome = outcome_of(self.responses[identifier] if self.responses[identifier] is not None else "")
        return Call(
            call_id=unique_id(identifier, self.used),
            name=str(asked.get("name") or ""),
            arguments=read.values,
            problems=read.problems,
            outcome=outcome,
            started_at=span.end,
            agent=self._owner(span),
            metadata={"emitted_id": identifier, "executed": False},
        )

    def _executions_of(self, asked: Mapping[str, Any], identifier: str, model: Span) -> list[Span]:
        """Executions of an asked call that are not taken yet: by call id; else, among spans without any id that start after
        the message, those of the same tool with equal arguments."""
        named = self.executions.get(identifier, []) if identifier else []
        if not named:
            read = read_arguments(asked.get("arguments"))
            if read.values is not None:
                same = self.unnamed.get(_identity_of(str(asked.get("name") or ""), read.values), [])
                named = [span for span in same if (span.start or 0.0) >= (model.start or 0.0)]
        return [span for span in named if span.span_id not in self.joined]

    def _tool_step(self, span: Span, *, attributed: bool, executed: bool = True) -> Step:
        call = self._call(span, executed=executed)
        call = replace(call, metadata={**call.metadata, "unattributed": not attributed})
        return Step(index=0, calls=(call,), started_at=span.start, agent=call.agent)

    def _call(self, span: Span, *, executed: bool, identifier: str = "") -> Call:
        arguments, raw = facts.tool_arguments(span)
        identifier = facts.tool_call_id(span) or identifier
        outcome = self._outcome(span) if executed else None
        if executed and span.end is None:
            self.log.add(
                "open_span",
                Message(f"tool span {span.span_id} never ended", f"工具跨度 {span.span_id} 没有结束"),
                subject=self.trace_id,
            )
        metadata: dict[str, Any] = {"emitted_id": identifier, "span_id": span.span_id, "executed": executed}
        if arguments is None:
            metadata["arguments_absent"] = True
        if not identifier:
            metadata["synthetic_id"] = True
        return Call(
            call_id=unique_id(identifier or f"span_{span.span_id}", self.used),
            name=facts.tool_name(span),
            arguments=arguments,
            raw_arguments=raw,
            outcome=outcome,
            started_at=span.start,
            agent=self._owner(span),
            metadata=metadata,
        )

    def _outcome(self, span: Span) -> CallOutcome | None:
        error = facts.error_of(span)
        result = facts.tool_result(span)
        if error is not None:
            return CallOutcome(
                status="failed",
                error_kind=error_kind(error),
                text=as_text(result) or error,
                message=error,
                latency_ms=span.latency_ms,
            )
        if span.end is None:
            return None
        if result is None:
            return CallOutcome(status="ok", latency_ms=span.latency_ms, metadata={"result_absent": True})
        return outcome_of(result, is_error=None if span.status != "OK" else False, latency_ms=span.latency_ms)

    def _owner(self, span: Span) -> str:
        named = facts.agent_name(span) if self.kinds[span.span_id] != "agent" else ""
        nearest = next(
            (
                facts.agent_name(self.by_id[above])
                for above in self.tree.ancestors(span.span_id)
                if self.kinds[above] == "agent"
            ),
            "",
        )
        if named and nearest and named != nearest:
            self.log.add(
                "misplaced_span",
                Message(
                    f"{span.span_id} names agent {named!r} but lies under {nearest!r}",
                    f"{span.span_id} 声明属于 {named!r}，却位于 {nearest!r} 之下",
                ),
                subject=self.trace_id,
                severity="info",
            )
        return named or nearest
