"""The terminal summary: 80 columns in both languages, headline first, nothing that steers a terminal."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.sample import sample_report

from agent_reach.records.message import Language, Message
from agent_reach.records.report import CauseSummary, Confusion, OfferedTools, Report
from agent_reach.records.score import Interval, Metric
from agent_reach.reports.figures import display_width, fit, metric_value, one_line, percent, wrap
from agent_reach.reports.html import render_html
from agent_reach.reports.markdown import render_markdown
from agent_reach.reports.terminal import summary_lines

LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_line_is_wider_than_a_terminal(language: Language) -> None:
    lines = summary_lines(sample_report(), language)
    assert max(map(display_width, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


def test_the_headline_comes_first() -> None:
    assert summary_lines(sample_report())[0].startswith("The agent chose the right tool in 4 of 7")
    assert summary_lines(sample_report(), "zh")[0].startswith("7 个决策中有 4 个选对了工具")


def test_figures_stand_with_their_parts_and_interval() -> None:
    text = "\n".join(summary_lines(sample_report()))
    line = next(line for line in text.splitlines() if "Tool reachability" in line)
    assert line.split() == ["Tool", "reachability", "57.1%", "4/7", "28.6%-85.7%"]
    assert "1,840 tool-list tokens" in text
    assert "2 look-alike pairs" in text
    assert "order: any_order (1 task), in_order (7 tasks)" in " ".join(text.split())
    assert "1 attempt lost to infrastructure" in text
    assert "stock/update_stock: stock/adjust_inventory (look-alikes)" in text
    assert "cancelOrderById (1)" in text


def test_causes_come_with_their_fix_in_the_language() -> None:
    english, chinese = ("\n".join(summary_lines(sample_report(), language)) for language in LANGUAGES)
    assert "Look-alike chosen [understanding]: stock/update_stock" in english
    assert "fix: Say in the description of `update_stock`" in english
    assert "选了相似工具 [理解]: stock/update_stock" in chinese
    assert "修复：在 `update_stock` 的描述里写明" in chinese


def test_what_was_not_evaluated_is_never_a_number() -> None:
    report = dataclasses.replace(sample_report(), metrics={"tool_reachability": Metric(value=None)})
    line = next(line for line in summary_lines(report) if "Tool reachability" in line)
    assert line.split() == ["Tool", "reachability", "n/a"]
    assert "%" not in line


def test_many_causes_are_cut_and_counted() -> None:
    causes = tuple(
        CauseSummary(name=f"cause_{number}", layer="execution", lost=1, share=0.1) for number in range(9)
    )
    text = "\n".join(summary_lines(dataclasses.replace(sample_report(), causes=causes)))
    assert "and 4 more" in text


@given(st.text(max_size=300), st.text(max_size=120))
def test_hostile_names_and_long_texts_stay_in_their_columns(text: str, name: str) -> None:
    report = dataclasses.replace(
        sample_report(()),
        headline=Message(text, text),
        causes=(
            CauseSummary(
                name=name, layer=name, lost=12, share=1, tools=(name, text), fix=Message(text, text)
            ),
        ),
        confusions=(Confusion(expected=name, chosen=text, count=3),),
        hallucinated={text: 3},
        metrics={
            name: Metric(value=0.5, numerator=10**9, denominator=2 * 10**9, interval=Interval(low=0, high=1))
        },
    )
    for language in LANGUAGES:
        for line in summary_lines(report, language):
            assert display_width(line) <= 80
            assert not any(ord(character) < 32 or ord(character) == 127 for character in line)


@given(st.text(), st.integers(min_value=4, max_value=120))
def test_wrapping_keeps_every_visible_character(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(display_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(one_line(text).split())


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_fitting_gives_exactly_the_width(text: str, width: int) -> None:
    assert display_width(fit(one_line(text), width)) == width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.5, "50.0%"),
        (0.99999, ">99.9%"),
        (0.00001, "<0.1%"),
        (2 / 3, "66.7%"),
        (None, "-"),
    ],
)
def test_percentages_never_round_to_perfect(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_widths_of_chinese_and_combining_characters() -> None:
    assert display_width("库存") == 4
    assert display_width("（a）") == 5
    assert display_width("e\u0301") == 1
    assert metric_value("extra_calls", Metric(value=0.25, numerator=1, denominator=4), "en") == "0.25"


def offering(least: int, most: int, tokens: float | None) -> Report:
    report = sample_report()
    offered = OfferedTools(least=least, most=most, mean=(least + most) / 2, tokens=tokens)
    return dataclasses.replace(report, catalog=dataclasses.replace(report.catalog, offered=offered))


@pytest.mark.parametrize(
    ("report", "english", "chinese"),
    [
        (offering(6, 6, 410.4), "6 of 12 tools offered, 410 of 1,840 tool-list tokens", "提供 6 / 12 个工具"),
        (offering(0, 8, None), "0-8 of 12 tools offered, 1,840 tool-list tokens", "提供 0-8 / 12 个工具"),
        (offering(12, 12, 1900), "12 tools, 1,840 tool-list tokens", "12 个工具，工具列表 1,840 token"),
    ],
)
def test_how_many_tools_were_offered_is_said_everywhere(report: Report, english: str, chinese: str) -> None:
    assert english in " ".join(" ".join(summary_lines(report)).split())
    assert chinese in "".join(summary_lines(report, "zh")).replace("\n", "")
    page = render_html(report)
    for part in english.split(", "):
        assert part.replace(",", "") in render_markdown(report).replace(",", "")
    assert ("of them offered" in page) is report.catalog.shows_part


def test_arguments_that_were_lost_are_counted() -> None:
    errors = {"stock/update_stock": {"quantity": 3, "warehouse_id": 1}, "orders/cancel": {"id": 2}}
    lines = summary_lines(dataclasses.replace(sample_report(), argument_errors=errors))
    start = lines.index("Arguments lost most")
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["3", "stock/update_stock.quantity"],
        ["2", "orders/cancel.id"],
        ["1", "stock/update_stock.warehouse_id"],
    ]
