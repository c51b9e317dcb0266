"""The lines that tell one attempt: what was given, what the model said and called, what came back, what was right.

A call and the golden step it stands for are told together; golden steps nobody called come after the conversation. Every
text from outside passes `one_line`, so that nothing in a report can steer the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_reach.records.context import ContextBlock, DroppedBlock
from agent_reach.records.message import Language, Message
from agent_reach.records.score import AttemptScore, BlockUse, Cause, Decision, ExtraCall, TaskScore
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.reports.figures import duration, fit, json_value, one_line, plural, wrap
from agent_reach.reports.proof_text import proof_lines, proof_word
from agent_reach.reports.values import ABSENT, argument_rows, expected_text, golden_name, shortened
from agent_reach.reports.wording import (
    ARGUMENT_VERDICTS,
    ATTEMPT_STATES,
    BLAMES,
    BLOCK_KINDS,
    BLOCK_STATES,
    DROP_REASONS,
    ERROR_KINDS,
    EXTRA_KINDS,
    HIDDEN_REASONS,
    KINDS,
    LAYERS,
    STATUSES,
    VERDICTS,
    cause_word,
    word,
)

_SHOWN_TOOLS = 12
_BLOCK_MARKS = {"used": "+", "unused": "-", "not_identifiable": "?"}
_VERDICT_MARKS = {"right": "=", "deviation": "~", "wrong": "x"}


class Explanation:
    """The lines for one attempt; `full` keeps long texts whole."""

    def __init__(
        self,
        task: TaskScore,
        attempt: AttemptScore | None,
        language: Language = "en",
        *,
        full: bool = False,
        width: int = 80,
    ) -> None:
        self.task = task
        self.attempt = attempt
        self.language: Language = language
        self.full = full
        self.limit = 10_000_000 if full else 300
        self.width = width

    def lines(self) -> list[str]:
        """All lines, none wider than `width` columns."""
        found = [*self._head()]
        if self.attempt is None:
            return found
        trace = self.attempt.trace
        if trace is not None:
            found += self._offered(trace)
            found += self._context(trace, self.attempt)
            found += self._conversation(trace, self.attempt)
        found += self._unmet(self.attempt)
        found += self._sources(self.attempt)
        return found

    def _say(self, english: str, chinese: str) -> str:
        return chinese if self.language == "zh" else english

    def _wrap(self, text: str, indent: int, first: str | None = None) -> list[str]:
        return wrap(
            shortened(one_line(text), self.limit),
            self.width,
            indent=" " * indent,
            first=None if first is None else one_line_lead(first),
        )

    def _head(self) -> Iterator[str]:
        task, attempt = self.task, self.attempt
        parts = [task.task_id, word(KINDS, task.kind, self.language)]
        if attempt is not None:
            number, total = attempt.index + 1, len(task.attempts)
            parts.append(self._say(f"attempt {number} of {total}", f"第 {number} 次尝试，共 {total} 次"))
            parts.append(self._result(attempt))
            if attempt.duration_ms is not None:
                parts.append(duration(attempt.duration_ms))
        yield from self._wrap(" | ".join(part for part in parts if part), 4, "")
        if task.state != "evaluated":
            yield from self._wrap(task.reason, 4, self._say("not evaluated: ", "未评估："))
        yield from self._wrap(task.query, 9, self._say("request: ", "请求："))
        if attempt is not None and attempt.off_recording:
            text = self._say("a call had no recorded answer", "有调用没有录制的应答")
            yield from self._wrap(text, 9, self._say("note:    ", "注意："))
        if attempt is not None and attempt.error:
            yield from self._wrap(attempt.error, 9, self._say("error:   ", "错误："))

    def _result(self, attempt: AttemptScore) -> str:
        if attempt.state != "scored":
            return word(ATTEMPT_STATES, attempt.state, self.language)
        right = sum(decision.verdict == "right" for decision in attempt.decisions)
        result = {
            True: Message("passed", "通过"),
            False: Message("failed", "未通过"),
            None: Message("not judged", "未判定"),
        }[attempt.passed].text(self.language)
        if not attempt.decisions:
            return result
        total = len(attempt.decisions)
        return self._say(
            f"{result}, {right} of {total} decisions right", f"{result}，{total} 个决策中 {right} 个正确"
        )

    def _offered(self, trace: Trace) -> Iterator[str]:
        exposure = trace.exposure
        if not exposure.offered and not exposure.hidden:
            return
        yield ""
        number = len(exposure.offered)
        text = self._say(f"{number:,} offered", f"提供 {number:,} 个")
        if exposure.tokens is not None:
            text += self._say(f", {plural(exposure.tokens, 'token')}", f"，{exposure.tokens:,} token")
        shown = exposure.offered if self.full else exposure.offered[:_SHOWN_TOOLS]
        names = ", ".join(shown) + (f" +{number - len(shown):,}" if number > len(shown) else "")
        yield from self._wrap(f"{text}: {names}", 4, self._say("Tools: ", "工具："))
        for tool, reason in exposure.hidden.items():
            hidden = word(HIDDEN_REASONS, reason, self.language)
            yield from self._wrap(f"{tool}: {self._say('hidden', '未显示')} ({hidden})", 6, "  x ")
        for tool, kept in exposure.cut_descriptions.items():
            cut = self._say(f"description cut to {kept:,} characters", f"描述截至 {kept:,} 字符")
            yield from self._wrap(f"{tool}: {cut}", 6, "  x ")

    def _context(self, trace: Trace, attempt: AttemptScore) -> Iterator[str]:
        uses = {use.block_id: use for use in attempt.blocks}
        if trace.blocks or trace.dropped:
            yield ""
            yield self._say(
                "Context given (+ used, - unused, ? not identifiable)",
                "给出的上下文（+ 已用，- 未用，? 无法识别）",
            )
        for block in trace.blocks:
            yield from self._block(block, uses.get(block.id))
        for drop in trace.dropped:
            yield from self._dropped(drop)
        for slot in trace.state_slots:
            value = json_value(slot.value) if slot.filled else self._say("not filled", "未填")
            yield from self._wrap(
                f"{slot.name} = {value} ({slot.source})", 6, self._say("  state ", "  状态 ")
            )

    def _block(self, block: ContextBlock, use: BlockUse | None) -> Iterator[str]:
        mark = _BLOCK_MARKS[use.state] if use is not None else " "
        kind = word(BLOCK_KINDS, block.kind, self.language) + (
            f"/{block.partition}" if block.partition else ""
        )
        label = f"{block.id} [{kind}]"
        if use is not None and use.fact:
            label += f" {word(BLOCK_STATES, use.state, self.language)}: {use.fact!r}"
            label += f" -> {use.place}" if use.place else ""
        yield from self._wrap(label, 6, f"  {mark} ")
        yield from self._wrap(block.text, 6, " " * 6)

    def _dropped(self, drop: DroppedBlock) -> Iterator[str]:
        kind = word(BLOCK_KINDS, drop.kind, self.language)
        parts = [word(DROP_REASONS, drop.reason, self.language)]
        if drop.reason == "cut":
            parts.append(
                self._say(f"{drop.kept_characters:,} characters kept", f"保留 {drop.kept_characters:,} 字符")
            )
        if drop.reason == "out_of_window" and drop.from_step >= 0:
            number = drop.from_step + 1
            parts.append(self._say(f"from message {number} on", f"自第 {number} 条消息起"))
        if drop.tokens:
            parts.append(self._say(plural(drop.tokens, "token"), f"{drop.tokens:,} token"))
        text = self._say(", ", "，").join(parts)
        yield from self._wrap(f"{drop.block_id} [{kind}] {text}", 6, "  x ")

    def _conversation(self, trace: Trace, attempt: AttemptScore) -> Iterator[str]:
        if not trace.steps:
            return
        yield ""
        yield self._say("Step by step", "逐步过程")
        decisions = {
            (decision.call_id, decision.trace_step): decision
            for decision in attempt.decisions
            if decision.call_id
        }
        extras = {(extra.call_id, extra.trace_step): extra for extra in attempt.extra_calls}
        for step in trace.steps:
            yield from self._step(step)
            for call in step.calls:
                key = (call.call_id, step.index)
                yield from self._call(call)
                decision = decisions.get(key) or decisions.get((call.call_id, None))
                if decision is not None:
                    yield from self._decision(decision)
                extra = extras.get(key) or extras.get((call.call_id, None))
                if extra is not None:
                    yield from self._extra(extra)

    def _step(self, step: Step) -> Iterator[str]:
        who = self._say("user", "用户") if step.kind == "user" else self._say("model", "模型")
        taken = f" ({duration(step.latency_ms)})" if step.latency_ms is not None else ""
        yield from self._wrap(f"{who}{taken}: {step.text}", 5, f"{step.index + 1:>3}. ")
        if step.raw and step.raw.strip() != step.text.strip():
            yield from self._wrap(step.raw, 10, self._say("     raw: ", "     原文："))
        for problem in step.problems:
            yield from self._wrap(f"{problem.code}: {problem.message}", 10, "     x ")
        if step.candidates:
            names = ", ".join(f"{candidate.tool} {candidate.score:.2f}" for candidate in step.candidates)
            yield from self._wrap(names, 10, self._say("     candidates: ", "     候选："))

    def _call(self, call: Call) -> Iterator[str]:
        name = call.name if call.tool is None else call.tool
        missing = self._say(" (no such tool)", "（无此工具）") if call.tool is None else ""
        arguments = call.raw_arguments if call.arguments is None else json_value(call.arguments)
        yield from self._wrap(f"{name}{missing} {arguments}", 10, self._say("     call ", "     调用 "))
        if call.sent_arguments is not None and call.sent_arguments != call.arguments:
            yield from self._wrap(json_value(call.sent_arguments), 10, self._say("     sent ", "     发送 "))
        for change in call.changes:
            source = f" <- {change.source}" if change.source else ""
            text = f"{change.pointer}: {json_value(change.before)} -> {json_value(change.after)} ({change.rule}){source}"
            yield from self._wrap(text, 12, self._say("       changed ", "       改写 "))
        for problem in call.problems:
            yield from self._wrap(f"{problem.pointer} {problem.code}: {problem.message}", 12, "       x ")
        if call.outcome is not None:
            yield from self._outcome(call.outcome)

    def _outcome(self, outcome: CallOutcome) -> Iterator[str]:
        kind = word(ERROR_KINDS, outcome.error_kind, self.language) if outcome.error_kind else ""
        parts = [word(STATUSES, outcome.status, self.language), kind]
        parts.append(duration(outcome.latency_ms))
        if outcome.attempts > 1:
            parts.append(self._say(f"{outcome.attempts} tries", f"{outcome.attempts} 次"))
        if outcome.truncated:
            parts.append(self._say("truncated", "被截断"))
        detail = outcome.message or outcome.text
        text = ", ".join(part for part in parts if part) + (f": {detail}" if detail else "")
        yield from self._wrap(text, 10, self._say("     came back ", "     返回 "))

    def _decision(self, decision: Decision) -> Iterator[str]:
        mark = _VERDICT_MARKS[decision.verdict]
        verdict = word(VERDICTS, decision.verdict, self.language)
        yield from self._wrap(f"{self._golden(decision)}: {verdict}", 9, f"     {mark} ")
        if decision.verdict != "right" or decision.cause is not None:
            yield from self._lost(decision)

    def _golden(self, decision: Decision) -> str:
        number = decision.step + 1
        golden = golden_name(decision)
        name = f" ({golden})" if golden else ""
        wanted = ", ".join(
            f"{key}={expected_text(value, self.language)}"
            for key, value in decision.expected_arguments.items()
        )
        text = self._say(f"golden step {number}{name}", f"标准步骤 {number}{name}")
        return f"{text} {decision.expected_tool} {wanted}".rstrip()

    def _lost(self, decision: Decision) -> Iterator[str]:
        if decision.arguments is not None:
            yield from self._arguments(decision)
        if not decision.order_right:
            yield " " * 9 + self._say("out of order", "顺序不对")
        if decision.detour:
            yield " " * 9 + self._say("after a detour", "绕路之后")
        if decision.cause is not None:
            yield from self._cause(decision.cause)
        elif decision.error:
            yield from self._wrap(decision.error, 11, self._say("         cause: ", "         原因："))
        yield from self._also(decision.also)

    def _also(self, causes: Sequence[Cause]) -> Iterator[str]:
        for cause in causes:
            name = cause_word(cause.name, self.language)
            if cause.proof:
                name += f" [{proof_word(cause.proof, cause.trials, self.language)}]"
            yield from self._wrap(
                f"{name}: {cause.evidence.text(self.language)}",
                11,
                self._say("         also: ", "         同时："),
            )
            for line in proof_lines(cause, self.language):
                yield from self._wrap(line, 13, self._say("         tried: ", "         验证："))

    def _arguments(self, decision: Decision) -> Iterator[str]:
        rows = [("", self._say("did", "实际"), self._say("should have", "应当"), "")]
        for score, name, given, wanted in argument_rows(decision):
            left = "-" if given is ABSENT else json_value(given)
            right = "-" if wanted is ABSENT else expected_text(wanted, self.language)
            remark = word(ARGUMENT_VERDICTS, score.verdict, self.language) if score is not None else ""
            if score is not None and score.verdict in ("right", "ignored"):
                remark = ""
            rows.append((name, left, right, remark))
        room = self.width - 9
        widths = (room * 17 // 100, room * 7 // 25, room * 7 // 25)
        for name, left, right, remark in rows:
            if self.full and max(len(left), len(right)) > widths[1]:
                yield from self._wrap(f"{left}  |  {right}  {remark}", 13, f"{' ' * 9}{name}: ")
                continue
            cells = [
                fit(one_line(text), size) for text, size in zip((name, left, right), widths, strict=True)
            ]
            rest = self.width - 9 - sum(widths) - 3
            yield (" " * 9 + " ".join(cells) + " " + fit(one_line(remark), rest)).rstrip()

    def _cause(self, cause: Cause) -> Iterator[str]:
        name = cause_word(cause.name, self.language)
        remarks = [word(LAYERS, cause.layer, self.language)]
        if cause.blame != "undetermined":
            remarks.append(self._say("lies with ", "责任在") + word(BLAMES, cause.blame, self.language))
        if cause.step:
            remarks.append(self._say(f"from step {cause.step}", f"源自步骤 {cause.step}"))
        if cause.proof:
            remarks.append(proof_word(cause.proof, cause.trials, self.language))
        text = f"{name} [{', '.join(remarks)}]"
        yield from self._wrap(text, 11, self._say("         cause: ", "         原因："))
        yield from self._wrap(cause.evidence.text(self.language), 11, " " * 11)
        yield from self._wrap(
            cause.fix.text(self.language), 11, self._say("         fix: ", "         修复：")
        )
        for line in proof_lines(cause, self.language):
            yield from self._wrap(line, 13, self._say("         tried: ", "         验证："))

    def _extra(self, extra: ExtraCall) -> Iterator[str]:
        kind = word(EXTRA_KINDS, extra.kind, self.language)
        text = self._say(f"outside the golden path: {kind}", f"标准路径之外：{kind}")
        yield from self._wrap(text, 9, "     ! " if extra.kind != "exploratory" else "       ")
        if extra.cause is not None:
            yield from self._cause(extra.cause)
        yield from self._also(extra.also)

    def _unmet(self, attempt: AttemptScore) -> Iterator[str]:
        """Golden steps that no shown call stands beside."""
        trace = attempt.trace
        shown = (
            {(call.call_id, step.index) for step in trace.steps for call in step.calls} if trace else set()
        )
        ids = {call_id for call_id, _ in shown}
        unmet = [
            decision
            for decision in attempt.decisions
            if not decision.call_id
            or not (
                (decision.call_id, decision.trace_step) in shown
                or (decision.trace_step is None and decision.call_id in ids)
            )
        ]
        if not unmet:
            return
        yield ""
        yield self._say("Golden steps without a call here", "没有对应调用的标准步骤")
        for decision in unmet:
            yield from self._decision(decision)

    def _sources(self, attempt: AttemptScore) -> Iterator[str]:
        if not attempt.provenance:
            return
        yield ""
        yield self._say("Where arguments came from", "参数来源")
        for entry in attempt.provenance:
            blocks = ", ".join(entry.blocks) or self._say("unsourced", "无来源")
            mark = "  " if entry.blocks else "? "
            yield from self._wrap(
                f"{entry.call_id}{entry.pointer} = {json_value(entry.value)} <- {blocks}", 6, f"  {mark}"
            )


def one_line_lead(text: str) -> str:
    """The beginning of a line with its blanks kept, harmless on a terminal."""
    blanks = len(text) - len(text.lstrip(" "))
    tail = " " if text.endswith(" ") and text.strip() else ""
    return " " * blanks + one_line(text) + tail
