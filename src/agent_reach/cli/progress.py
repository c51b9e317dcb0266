"""Progress of a run on stderr: a bar with rate and remaining time on a terminal, plain lines otherwise."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Any, TextIO

from agent_reach.records.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    FindingRaised,
    RunFinished,
    RunStarted,
    WaitingForModel,
)
from agent_reach.records.message import Language, Message
from agent_reach.redact.redactor import Redactor
from agent_reach.reports.figures import plain_text

PLAIN_EVERY_S = 10.0


class Progress:
    """Listens to a run; also a context manager, which gives the terminal back whatever happens, and inside which what an
    agent prints goes to stderr: stdout is for the data of the command."""

    def __init__(self, language: Language, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._language = language
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._total = 0
        self._done = 0
        self._resumed = 0
        self._right = 0
        self._judged = 0
        self._lost = 0
        self._started = time.monotonic()
        self._last_line = 0.0
        self._shown_findings = 0
        self._bar: Any = None
        self._away: contextlib.redirect_stdout[TextIO] | None = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        self._away = contextlib.redirect_stdout(sys.stderr)
        self._away.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._away is not None:
            self._away.__exit__(kind, error, trace)
            self._away = None

    def __call__(self, event: Event) -> None:
        if self._quiet:
            return
        if isinstance(event, RunStarted):
            self._begin(event)
        elif isinstance(event, AttemptFinished):
            self._count(event)
        elif isinstance(event, WaitingForModel):
            self._say(
                Message(
                    f"waiting {event.seconds:.0f} s for the model ({event.reason})",
                    f"等待模型 {event.seconds:.0f} 秒（{event.reason}）",
                )
            )
        elif isinstance(event, FindingRaised):
            self._shown_findings += 1
            if self._shown_findings <= 5:
                self._say(event.finding.message)
        elif isinstance(event, RunFinished):
            self._close()
        elif isinstance(event, AttemptStarted):
            return

    def _begin(self, event: RunStarted) -> None:
        self._total, self._done, self._resumed = event.attempts, event.resumed, event.resumed
        self._started = time.monotonic()
        resumed = event.resumed
        self._say(
            Message(
                f"run {event.run_id}: {event.tasks} tasks, {event.attempts} attempts"
                + (f", {resumed} already made" if resumed else ""),
                f"运行 {event.run_id}：{event.tasks} 个任务，{event.attempts} 次尝试"
                + (f"，其中 {resumed} 次已完成" if resumed else ""),
            )
        )
        if self._stream.isatty():
            self._open_bar()

    def _count(self, event: AttemptFinished) -> None:
        self._done += 1
        score = event.score
        self._lost += score.state == "infra_error"
        if score.passed is not None:
            self._judged += 1
            self._right += score.passed
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=self._done,
                passed=self._passed_text(),
                rate=f"{_number(self._rate())}/s",
            )
            return
        now = time.monotonic()
        if now - self._last_line >= PLAIN_EVERY_S or self._done == self._total:
            self._last_line = now
            self._say(self._line())

    def _passed_text(self) -> str:
        return f"{self._right}/{self._judged}"

    def _rate(self) -> float:
        """Attempts per second of this process; resumed ones took no time."""
        elapsed = time.monotonic() - self._started
        return (self._done - self._resumed) / elapsed if elapsed > 0 else 0.0

    def _line(self) -> Message:
        rate = self._rate()
        left = (self._total - self._done) / rate if rate else 0.0
        lost_en = f", {self._lost} lost" if self._lost else ""
        lost_zh = f"，{self._lost} 次丢失" if self._lost else ""
        return Message(
            f"{self._done}/{self._total} attempts, {self._passed_text()} passed{lost_en}, {_number(rate)}/s, {left:.0f} s left",
            f"{self._done}/{self._total} 次尝试，通过 {self._passed_text()}{lost_zh}，每秒 {_number(rate)} 次，约剩 {left:.0f} 秒",
        )

    def _open_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        words = Message("passed", "通过").text(self._language)
        self._bar = Bars(
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn(words + " {task.fields[passed]}"),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._total, completed=self._done, passed="0/0", rate="")
        self._bar.start()

    def _say(self, message: Message) -> None:
        text = plain_text(Redactor.standard().text(message.text(self._language)))
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            self._stream.write(f"{text}\n")
            self._stream.flush()

    def _close(self) -> None:
        if self._bar is not None:
            bar, self._bar = self._bar, None
            bar.stop()


def _number(rate: float) -> str:
    """A rate as people write it: `0.21`, `4.2`, `210`."""
    return f"{rate:.2g}" if rate < 10 else f"{rate:,.0f}"


def progress_listener(language: Language, *, quiet: bool = False) -> Progress:
    """A listener that shows progress on stderr."""
    return Progress(language, quiet=quiet)
