"""JUnit XML, the form that Jenkins, GitLab and the test reporters of GitHub read: one test case per attempt.

A lost attempt is a failure that says did and should-have; infrastructure is an error, never a failure; a task that was not
evaluated is skipped. Characters that XML does not allow are replaced. Written by hand in the subset that all three
readers share: `testsuites/testsuite/testcase` with `failure`, `error`, `skipped`, `system-out`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from agent_reach.records.message import Language, Message
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, TaskScore
from agent_reach.reports.figures import fraction, json_value, metric_value
from agent_reach.reports.lost import LostDecision, lost_of_attempt
from agent_reach.reports.values import expected_text, shortened
from agent_reach.reports.wording import cause_word

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def render_junit(report: Report, language: Language = "en") -> str:
    """The run as JUnit XML text with its declaration."""
    suite = ElementTree.Element("testsuite")
    numbers = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    seconds = 0.0
    properties = ElementTree.SubElement(suite, "properties")
    for name, metric in report.metrics.items():
        value = f"{metric_value(name, metric, language)} {fraction(metric)}".strip()
        ElementTree.SubElement(properties, "property", {"name": legal(name), "value": legal(value)})
    name = " ".join(part for part in (report.run.agent, report.run.model) if part) or report.run.id
    for task in report.tasks:
        for attempt in task.attempts or (None,):
            case = _case(suite, task, attempt, language)
            numbers["tests"] += 1
            seconds += float(case.get("time", "0"))
            for child in case:
                key = {"failure": "failures", "error": "errors", "skipped": "skipped"}.get(child.tag)
                if key is not None:
                    numbers[key] += 1
    figures = {**{key: str(number) for key, number in numbers.items()}, "time": f"{seconds:.3f}"}
    suite.attrib.update({"name": legal(f"agent-reach {name}"), **figures})
    moment = _TIME.match(report.run.time)
    if moment is not None:
        suite.set("timestamp", moment.group())
    root = ElementTree.Element("testsuites", {"name": "agent-reach", **figures})
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def legal(text: str) -> str:
    """The text with every character that XML does not allow replaced."""
    return _ILLEGAL.sub("\ufffd", text)


def _case(
    suite: ElementTree.Element, task: TaskScore, attempt: AttemptScore | None, language: Language
) -> ElementTree.Element:
    name = task.task_id
    if attempt is not None and len(task.attempts) > 1:
        name += f" #{attempt.index + 1}"
    taken = attempt.duration_ms if attempt is not None else None
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": legal(f"agent-reach.{task.kind}"),
            "name": legal(name),
            "time": f"{(taken or 0.0) / 1000:.3f}",
        },
    )
    if task.state != "evaluated" or attempt is None:
        skipped = Message("not evaluated", "未评估").text(language)
        ElementTree.SubElement(case, "skipped", {"message": legal(task.reason or skipped)})
        return case
    lost = lost_of_attempt(task, attempt)
    text = legal("\n".join(_lost_lines(task, attempt, lost, language)))
    if attempt.state == "infra_error":
        message = attempt.error or Message("infrastructure error", "基础设施错误").text(language)
        child = ElementTree.SubElement(case, "error", {"message": legal(message), "type": "infra_error"})
        child.text = text
    elif attempt.passed is None and not lost and attempt.state == "scored":
        ElementTree.SubElement(
            case, "skipped", {"message": Message("cannot be said", "无法判定").text(language)}
        )
    elif attempt.passed is True:
        if lost:
            ElementTree.SubElement(case, "system-out").text = text
    else:
        kind = attempt.state if attempt.state != "scored" else (lost[0].cause_name if lost else "failed")
        labels = ", ".join(dict.fromkeys(cause_word(entry.cause_name, language) for entry in lost))
        message = labels or attempt.error or Message("not passed", "未通过").text(language)
        child = ElementTree.SubElement(case, "failure", {"message": legal(message), "type": legal(kind)})
        child.text = text
    return case


def _lost_lines(
    task: TaskScore, attempt: AttemptScore, lost: Sequence[LostDecision], language: Language
) -> list[str]:
    did, should = Message("did", "实际").text(language), Message("should have", "应当").text(language)
    nothing = Message("no call", "没有调用").text(language)
    fix = Message("fix", "修复").text(language)
    lines = [shortened(task.query, 400)]
    if attempt.error:
        lines.append(attempt.error)
    for entry in lost:
        lines += ["", cause_word(entry.cause_name, language)]
        decision = entry.decision
        if decision is not None:
            given = "" if decision.arguments is None else f" {json_value(decision.arguments)}"
            wanted = ", ".join(
                f"{name}={expected_text(value, language)}"
                for name, value in decision.expected_arguments.items()
            )
            lines.append(f"  {did}: {decision.selected_tool or nothing}{shortened(given, 400)}")
            lines.append(f"  {should}: {decision.expected_tool} {shortened(wanted, 400)}".rstrip())
        elif entry.extra is not None:
            lines.append(f"  {did}: {entry.extra.tool or entry.extra.name}")
            lines.append(f"  {should}: {nothing}")
        if entry.cause is not None:
            lines.append(f"  {entry.cause.evidence.text(language)}")
            lines.append(f"  {fix}: {entry.cause.fix.text(language)}")
    return lines
