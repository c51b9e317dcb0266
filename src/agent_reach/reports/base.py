"""What a report form is, and the table of those that exist.

A form is a pure writer: a `Report` and a language go in, text comes out. Further forms come from plug-ins through the
entry-point group `agent_reach.reports`, whose entries name a `ReportFormat`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from agent_reach.errors import ReportError
from agent_reach.records.message import Language
from agent_reach.records.report import Report

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
