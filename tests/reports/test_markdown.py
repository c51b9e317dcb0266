"""The pull-request comment: readable, bounded, and deaf to what requests and names contain."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.sample import sample_report
from tests.reports.test_html import HOSTILE, _hostile_report

from agent_reach.records.gate import Flip, GateResult, MetricMovement, RunChange, ToolMovement
from agent_reach.records.message import Language, Message
from agent_reach.reports.gate_markdown import GATE_MARK
from agent_reach.reports.markdown import REPORT_MARK, render_gate, render_markdown
from agent_reach.reports.markdown_text import code, prose


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


def test_a_gate_shows_verdict_movement_flips_tools_and_changes() -> None:
    gate = GateResult(
        verdict="regression",
        exit_code=1,
        threshold=0.02,
        headline=Message("Regression: tool reachability fell", "退化：工具触达率下降"),
        metrics=(
            MetricMovement(
                name="tool_reachability",
                verdict="regression",
                baseline=0.9,
                current=0.6,
                baseline_counts=(18, 20),
                current_counts=(12, 20),
                change=-0.3,
                drop=0.3,
                significant=True,
                test="sign_test",
                p_value=0.016,
                worse=6,
            ),
            MetricMovement(name="param_hit_rate", verdict="pass", baseline=None, current=None),
            MetricMovement(
                name="extra_calls", verdict="pass", gated=False, baseline=0.1, current=0.25, change=0.15
            ),
        ),
        regressions=(
            Flip(
                task_id="t-0",
                decision="set",
                baseline=(1, 1),
                current=(0, 1),
                cause="rival_chosen",
                fails_alone=True,
            ),
            Flip(
                task_id="t-1", kind="forbidden_call", detail="refund|order", baseline=(1, 1), current=(0, 1)
            ),
            *(Flip(task_id=f"t-{number}") for number in range(2, 32)),
        ),
        tools=(
            ToolMovement(
                tool="update_stock",
                baseline=(12, 20),
                current=(18, 20),
                changes=(RunChange(where="description", before="old", after="new <b>"),),
            ),
        ),
        changes=(
            RunChange(where="model", before="a", after="b"),
            RunChange(where="seed", before=None, after=7),
        ),
        tasks_compared=20,
        only_in_baseline=tuple(f"gone-{number}" for number in range(12)),
    )
    text = render_gate(gate)
    assert text.startswith(f"{GATE_MARK}\n### ✗ Regression: tool reachability fell\n")
    assert "20 tasks compared, threshold 2 points" in text
    assert "| **Tool reachability** | 90.0% (18/20) | 60.0% (12/20) | -30.0 pp | ✗ Regression |" in text
    assert "| **Param hit rate** | n/a | n/a | - | ✓ Pass |" in text
    assert "- Tool reachability: -6 +0, p = 0.016" in text
    assert "| Extra calls per decision | 0.10 | 0.25 | +0.15 |  |" in text
    assert "- `t-0.set` 1/1 → 0/1 Look-alike chosen **fails alone**" in text
    assert "- `t-1` new forbidden call `refund\\|order` 1/1 → 0/1" in text
    assert "- … +12" in text
    assert "- `update_stock` 12/20 → 18/20\n  - **description** `old` → `new <b>`" in text
    assert "- **model** `a` → `b`" in text
    assert "- **seed** - → `7`" in text
    assert "only in the baseline (12)" in text
    assert "### ✗ 退化：工具触达率下降" in render_gate(gate, "zh")
