"""The pull-request comment: readable, bounded, and deaf to what requests and names contain."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.sample import metric, sample_report
from tests.reports.test_html import HOSTILE, _hostile_report

from agent_reach.records.message import Language, Message
from agent_reach.records.score import Metric
from agent_reach.reports.markdown import GATE_MARK, REPORT_MARK, code, prose, render_gate, render_markdown


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_comment_says_headline_figures_causes_and_decisions(language: Language) -> None:
    report = sample_report()
    text = render_markdown(report, language)
    assert text.startswith(REPORT_MARK + "\n### ")
    assert "| **57.1%** | 4/7 | 28.6%-85.7% |" in text
    assert "`stock/update_stock`" in text
    assert {"en": "Look-alike chosen", "zh": "选了相似工具"}[language] in text
    assert {"en": "1,840 tool-list tokens", "zh": "工具列表 1,840 token"}[language] in text
    assert "`上海仓的 PDT-1001 补到 50 件`" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_tables_keep_their_columns_whatever_names_hold() -> None:
    for hostile in HOSTILE:
        text = render_markdown(_hostile_report(f"a | b\n| c | {hostile}"))
        for line in text.splitlines():
            if line.startswith("|"):
                cells = len(re.findall(r"(?<!\\)\|", line)) - 1
                assert cells in (4, 5)


@given(st.text(max_size=120))
def test_code_spans_hold_any_text_on_one_line(text: str) -> None:
    span = code(text)
    if not span:
        return
    fence = re.match("`+", span)
    assert fence is not None
    assert span.endswith(fence.group())
    inside = span[len(fence.group()) : -len(fence.group())]
    assert fence.group() not in re.findall("`+", inside)
    assert "\n" not in span


def test_sentences_keep_their_code_and_lose_their_teeth() -> None:
    assert (
        prose("Say what `a_b<c>` does, @admin <b>now</b>")
        == "Say what `a_b<c>` does, @\u200badmin &lt;b&gt;now&lt;/b&gt;"
    )
    assert prose("one ` tick <i>") == "one \\` tick &lt;i&gt;"
    assert prose("a*b*_c_[x](y)") == "a\\*b\\*\\_c\\_\\[x\\](y)"


def test_large_runs_stay_under_the_limit_of_hosts() -> None:
    report = sample_report()
    tasks = tuple(
        dataclasses.replace(report.tasks[0], task_id=f"task-{number}", query="很长 " * 5_000)
        for number in range(500)
    )
    text = render_markdown(dataclasses.replace(report, tasks=tasks, causes=report.causes * 40))
    assert len(text) < 65_536
    assert "10 of 500" in text


@dataclass(frozen=True)
class Row:
    name: str
    baseline: Metric | None
    current: Metric | None
    change: float | None
    verdict: str


@dataclass(frozen=True)
class Flip:
    task_id: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Change:
    what: str
    message: Message


@dataclass(frozen=True)
class Gate:
    verdict: str
    headline: Message
    metrics: tuple[Row, ...]
    flips: tuple[Flip, ...] = ()
    changes: tuple[Change, ...] = ()


def test_a_gate_shows_verdict_movement_flips_and_changes() -> None:
    gate = Gate(
        verdict="regression",
        headline=Message("Tool reachability fell.", "工具可达率下降。"),
        metrics=(
            Row("tool_reachability", metric(18, 20), metric(12, 20), -0.3, "regression"),
            Row("param_hit_rate", None, metric(0, 0), None, "pass"),
        ),
        flips=tuple(Flip(f"t-{number}", 1.0, 0.0) for number in range(30)),
        changes=(
            Change(
                "catalog", Message("`update_stock.description` changed", "`update_stock.description` 已修改")
            ),
        ),
    )
    text = render_gate(gate)
    assert text.startswith(f"{GATE_MARK}\n### ✗ Regression: Tool reachability fell.")
    assert "| Tool reachability | 90.0% (18/20) | 60.0% (12/20) | -30.0 pp | ✗ Regression |" in text
    assert "| Param hit rate | - | - | - | ✓ Pass |" in text
    assert "- `t-0` 100% → 0%" in text
    assert "… +10" in text
    assert "- **catalog** `update_stock.description` changed" in text
    assert "### ✗ 退化: 工具可达率下降。" in render_gate(gate, "zh")
