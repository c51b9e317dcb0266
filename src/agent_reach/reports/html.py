"""The HTML report: one self-contained file that works from a disk, without a network, on a phone and on paper.

Figures, causes and tables are in the page; lost decisions and tasks are data blocks that the page's script reads when they
are shown, so that ten thousand attempts stay usable. Everything that came from outside is escaped: text by the template,
data so that no `</script>` can end it, and the script makes text nodes only. A content policy in the page forbids every
outside resource.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from agent_reach.errors import InputError
from agent_reach.records.message import Language
from agent_reach.records.report import Report
from agent_reach.reports import html_sections as sections
from agent_reach.reports.figures import count, duration, offered_count, plural
from agent_reach.reports.html_confusion import heat, similar_pairs
from agent_reach.reports.html_lost import CHUNK, lost_chunks
from agent_reach.reports.html_words import page_words
from agent_reach.reports.json_form import json_text
from agent_reach.reports.lost import LostDecision, lost_decisions

TASK_CHUNK = 500
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SVG_START = re.compile(
    r"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*+-->|<!DOCTYPE[^>\[]*>|\s++)*+<svg[\s>]", re.DOTALL
)
MAX_MAP_BYTES = 5_000_000


def render_html(report: Report, language: Language = "en", *, map_svg: str = "") -> str:
    """The report as one HTML page in that language; `map_svg` is a picture of the reachability map, shown as an image."""
    lost = lost_decisions(report)
    cards, others = sections.figures(report, language)
    style, script = _asset("report.css"), _asset("report.js")
    page: str = _template().render(
        words=page_words(language),
        language="zh-CN" if language == "zh" else "en",
        style=style,
        script=script,
        policy=_policy(script),
        headline=report.headline.text(language),
        run=report.run,
        facts=sections.run_facts(report, language),
        duration=duration(None if report.run.duration_s is None else report.run.duration_s * 1000),
        numbers=_numbers(report, language),
        totals=_totals(report, lost),
        catalog=report.catalog,
        sufficient=report.sufficient,
        infra_errors=report.infra_errors,
        cards=cards,
        others=others,
        verdicts=sections.verdicts(report, language),
        causes=sections.causes(report, language),
        cause_options=sections.cause_options(lost, language),
        heat=heat(report, language),
        pairs=similar_pairs(report),
        tools=sections.tool_rows(report, language),
        groups=sections.groups(report, language),
        blocks=sections.block_figures(report, language),
        dropped=sections.dropped_blocks(report, language),
        hallucinated=sorted(report.hallucinated.items(), key=lambda item: (-item[1], item[0])),
        argument_errors=sections.argument_errors(report),
        pass_hat=[(k, f"{value * 100:.1f}%") for k, value in sorted(report.pass_hat.items(), key=_as_number)],
        proofs=sections.proofs(lost, language),
        findings=[
            (finding.severity, finding.code, finding.subject, finding.message.text(language), finding.fix)
            for finding in report.findings
        ],
        fix_language=language,
        map_image=_image(map_svg),
        data=_data(report, lost, language),
    )
    return _SURROGATES.sub("\ufffd", page)


def read_map_picture(path: Path) -> str:
    """The SVG text of a map's picture; raises `InputError` for another kind of file and above `MAX_MAP_BYTES` bytes."""
    again = "write one with `agent-reach map --format svg --output map.svg`"
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_MAP_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"cannot read: {error.strerror or error}", where=str(path), next_step=again
        ) from error
    if len(raw) > MAX_MAP_BYTES:
        raise InputError(
            f"is larger than {MAX_MAP_BYTES:,} bytes", where=str(path),
            next_step="draw fewer tools (`map: {drawn: 100}` in reach.yaml), or keep the map beside the report",
        )  # fmt: skip
    text = raw.decode("utf-8-sig", "replace")
    if _SVG_START.match(text) is None:
        raise InputError("is no SVG picture", where=str(path), next_step=again)
    return text


def _as_number(item: tuple[str, float]) -> tuple[int, str]:
    return (int(item[0]) if item[0].isdecimal() else 0, item[0])


def _numbers(report: Report, language: Language) -> list[tuple[str, str]]:
    """How large the run and its catalog are, as number and noun."""
    catalog = report.catalog
    rows = [
        (len(report.tasks), "task", "个任务"),
        (sum(len(task.attempts) for task in report.tasks), "attempt", "次尝试"),
        (catalog.tool_count, "tool", "个工具"),
        (catalog.tokens, "tool-list token", "工具列表 token"),
        (len(catalog.similar_pairs), "look-alike pair", "对相似工具"),
    ]
    named = []
    for number, english, chinese in rows:
        shown, _, noun = plural(number, english).partition(" ")
        named.append((shown, chinese if language == "zh" else noun))
    offered = catalog.offered
    if offered is not None and catalog.shows_part:
        place = 3
        named.insert(place, (offered_count(offered), "个已提供" if language == "zh" else "of them offered"))
        if offered.tokens is not None:
            sent = (
                f"{offered.tokens:,.0f}",
                "已提供工具 token" if language == "zh" else "tokens of offered tools",
            )
            named.insert(place + 1, sent)
    return named


def _totals(report: Report, lost: Sequence[LostDecision]) -> dict[str, str]:
    return {
        "tasks": count(len(report.tasks)),
        "lost": count(len(lost)),
        "tokens": count(report.catalog.tokens),
    }


def _data(report: Report, lost: Sequence[LostDecision], language: Language) -> list[tuple[str, str]]:
    """Id and safe JSON text of each data block: words, search index, lost decisions, tasks."""
    blocks = [("words", safe_json(page_words(language)))]
    index = [
        [
            entry.task.task_id,
            entry.cause_name,
            entry.decision.expected_tool if entry.decision is not None else "",
            _chosen(entry),
            entry.task.query[:200].casefold(),
        ]
        for entry in lost
    ]
    blocks.append(("index", safe_json({"chunk": CHUNK, "taskChunk": TASK_CHUNK, "rows": index})))
    for number, chunk in enumerate(lost_chunks(lost, language)):
        blocks.append((f"lost-{number}", safe_json(chunk)))
    rows = list(sections.task_rows(report, language))
    for number, start in enumerate(range(0, len(rows), TASK_CHUNK)):
        blocks.append((f"tasks-{number}", safe_json(rows[start : start + TASK_CHUNK])))
    return blocks


def _chosen(entry: LostDecision) -> str:
    if entry.decision is not None:
        return entry.decision.selected_tool or ""
    return (entry.extra.tool or entry.extra.name) if entry.extra is not None else ""


def safe_json(value: Any) -> str:
    """JSON text that may stand inside a script element: no character in it can end the element or the line."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", json_text(value))


def _image(svg: str) -> str:
    """A data address: as an image a picture can neither run scripts nor reach the page."""
    if not svg:
        return ""
    encoded = base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")
    return f"data:image/svg+xml;base64,{encoded}"


def _policy(script: str) -> str:
    """A content policy under which only this page's own style and script count, and nothing is ever loaded."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return resources.files("agent_reach.reports").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")
