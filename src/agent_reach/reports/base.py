"""What a report form is, the table of those that exist, and what is read of a gate's result.

A form is a pure writer: a `Report` and a language go in, text comes out. Further forms come from plug-ins through the
entry-point group `agent_reach.reports`, whose entries name a `ReportFormat`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from agent_reach.errors import ReportError
from agent_reach.records.message import Language, Message
from agent_reach.records.report import Report
from agent_reach.records.score import Metric

ENTRY_POINT_GROUP = "agent_reach.reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFormat:
    """One form: `render` makes the text, `suffix` is the usual end of the file's name."""

    name: str
    suffix: str
    render: Callable[[Report, Language], str]


FORMATS: Mapping[str, tuple[str, str]] = {
    "html": (".html", "agent_reach.reports.html:render_html"),
    "markdown": (".md", "agent_reach.reports.markdown:render_markdown"),
    "junit": (".xml", "agent_reach.reports.junit:render_junit"),
    "decision-log": (".jsonl", "agent_reach.reports.decision_log:render_decision_log"),
    "json": (".json", "agent_reach.reports.json_report:render_json"),
}


def load_format(name: str) -> ReportFormat:
    """The form of that name, its own or of a plug-in; raises `ReportError` with the names there are."""
    entry = FORMATS.get(name)
    if entry is not None:
        suffix, place = entry
        module, _, function = place.partition(":")
        return ReportFormat(name=name, suffix=suffix, render=getattr(import_module(module), function))
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            found = point.load()
            if not isinstance(found, ReportFormat):
                raise ReportError(f"the plug-in {point.value!r} is no ReportFormat", where=ENTRY_POINT_GROUP)
            return found
    raise ReportError(f"no report form is named {name!r}", next_step=f"one of: {', '.join(FORMATS)}")


class GateMetric(Protocol):
    """One gated metric: what it was, what it is, by how much it moved, and what that means."""

    @property
    def name(self) -> str: ...
    @property
    def baseline(self) -> Metric | None: ...
    @property
    def current(self) -> Metric | None: ...
    @property
    def change(self) -> float | None: ...
    @property
    def verdict(self) -> str: ...


class GateFlip(Protocol):
    """One task that moved: its shares of right decisions before and after."""

    @property
    def task_id(self) -> str: ...
    @property
    def before(self) -> float | None: ...
    @property
    def after(self) -> float | None: ...


class GateChange(Protocol):
    """One thing besides the scores that differs between the runs (`what` is `catalog`, `model`, ...)."""

    @property
    def what(self) -> str: ...
    @property
    def message(self) -> Message: ...


class GateView(Protocol):
    """What a form reads of a gate's result; the gate itself lives in a higher part."""

    @property
    def verdict(self) -> str: ...
    @property
    def headline(self) -> Message: ...
    @property
    def metrics(self) -> Sequence[GateMetric]: ...
    @property
    def flips(self) -> Sequence[GateFlip]: ...
    @property
    def changes(self) -> Sequence[GateChange]: ...
