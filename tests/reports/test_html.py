"""The HTML page: complete, self-contained, and safe whatever a tool, a model or a person wrote."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.sample import BIG_ID, sample_report

from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Language, Message
from agent_reach.records.report import CauseSummary, Report, ToolSummary
from agent_reach.records.score import TaskScore
from agent_reach.reports import html_lost
from agent_reach.reports.html import render_html, safe_json

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7*7 }}{% raw %}",
    "\u2028\u2029\u202e\x00\x1b[31m",
    "lone \udc80 surrogate",
    "`'\"&amp;<>\\",
)


class Page(html.parser.HTMLParser):
    """What a page holds: elements with attributes, data blocks, scripts, visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, Any] = {}
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in ("script", "style") else None

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is None:
            self.text.append(data)
        elif self._open[0] == "script":
            name = self._open[1].get("id")
            if self._open[1].get("type") == "application/json" and name is not None:
                self.data[name.removeprefix("data-")] = json.loads(data)
            else:
                self.scripts.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def _lost(page: Page) -> list[dict[str, Any]]:
    chunks = [value for name, value in page.data.items() if name.startswith("lost-")]
    return [item for chunk in chunks for item in chunk["items"]]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_everything_the_run_says_is_on_the_page(language: Language) -> None:
    report = sample_report()
    page = Page(render_html(report, language))
    expected = {
        "en": (
            "57.1%",
            "28.6%-85.7%",
            "4/7",
            "1,840",
            "Look-alike chosen",
            "First fix",
            "never",
            "40.0%",
            "k = 2",
        ),
        "zh": ("57.1%", "28.6%-85.7%", "4/7", "1,840", "选了相似工具", "首要修复", "从未", "40.0%", "k = 2"),
    }
    for text in (
        *expected[language],
        "cancelOrderById",
        "connection refused",
        "sha256:5e1f0c2d",
        "0123456789abcdef",
    ):
        assert text in page.words
    assert report.headline.text(language) in page.words
    assert ("html", {"lang": "zh-CN" if language == "zh" else "en"}) in page.elements
    assert len(_lost(page)) == 6
    assert [row[0] for row in page.data["tasks-0"]] == [task.task_id for task in report.tasks]


def test_lost_decisions_stand_side_by_side_with_their_differences() -> None:
    items = _lost(Page(render_html(sample_report(), "en")))
    rival = items[0]
    assert (rival["did"], rival["should"]) == ("stock/adjust_inventory", "stock/update_stock")
    assert rival["cause"]["evidence"].startswith("Both tools were offered")
    rows = {row["name"]: row for row in rival["rows"]}
    assert rows["delta"] == rows["delta"] | {"did": [["50", True]], "should": []}
    assert rows["quantity"] == rows["quantity"] | {"did": [], "should": [["50", True]]}
    assert rows["product_id"]["did"] == [['"PDT-1001"', False]]
    date = items[1]
    start = next(row for row in date["rows"] if row["name"] == "start")
    assert start["verdict"] == "wrong"
    assert "".join(part for part, _ in start["should"]) == "the date 2024-03-01"
    assert date["sent"]["changes"] == ['/limit: "10" -> 10 (number_from_text)']
    refund = items[-1]
    assert refund["should"] is None
    assert refund["did"] == "orders/refund_order"


def test_blocks_show_their_state_and_the_fact_that_identifies_them() -> None:
    page = Page(render_html(sample_report(), "en"))
    blocks = {block["id"]: block for block in page.data["lost-0"]["contexts"][0]["blocks"]}
    assert blocks["rag_doc_2"]["mark"] == "WH-SH-01"
    assert blocks["rag_doc_2"]["before"] == "仓库编码：上海仓为 "
    assert [blocks[name]["state"] for name in ("request", "rag_doc_5", "res_c1")] == [
        "used",
        "unused",
        "not_identifiable",
    ]
    dropped = page.data["lost-0"]["contexts"][0]["dropped"]
    assert dropped == ["rag_doc_9 · retrieval · over the passage limit, never sent · 210 tokens"]


def test_numbers_too_long_for_a_browser_are_text() -> None:
    text = render_html(sample_report(), "en")
    page = Page(text)
    window = next(item for item in _lost(page) if item["task"] == "cancel-001")
    assert window["rows"][0]["should"] == [[str(BIG_ID), False]]
    for value in page.data.values():
        _no_long_numbers(value)


def _no_long_numbers(value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _no_long_numbers(item)
    elif isinstance(value, (int, float)):
        assert abs(value) < 2**53


def test_the_page_needs_nothing_from_outside() -> None:
    text = render_html(
        sample_report(), "en", map_svg="<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
    )
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "action", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/svg+xml;base64,"))
    assert "url(" not in text
    assert "@import" not in text
    assert len(page.scripts) == 1
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttp",
    ):
        assert word not in page.scripts[0]


def test_the_policy_allows_exactly_the_script_of_the_page() -> None:
    import base64
    import hashlib

    page = Page(render_html(sample_report(), "en"))
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert policy is not None
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def _hostile_report(text: str) -> Report:
    report = sample_report()
    task = report.tasks[0]
    attempt = task.attempts[0]
    assert attempt.trace is not None
    decision = dataclasses.replace(
        attempt.decisions[1],
        expected_tool=text,
        selected_tool=text,
        model_raw=text,
        arguments={text: text},
        expected_arguments={text: {"$one_of": [text]}},
        error=text,
    )
    trace = dataclasses.replace(
        attempt.trace,
        blocks=(ContextBlock(id=text, kind="retrieval", text=text, partition=text),),
        final_text=text,
    )
    hostile = dataclasses.replace(
        task,
        task_id=text,
        query=text,
        tags=(text,),
        attempts=(dataclasses.replace(attempt, decisions=(decision,), trace=trace, error=text),),
    )
    return dataclasses.replace(
        report,
        run=dataclasses.replace(report.run, id=text, agent=text, model=text, model_settings={text: text}),
        headline=Message(text, text),
        causes=(
            CauseSummary(
                name=text, layer=text, lost=1, share=1, tools=(text,), tasks=(text,), fix=Message(text, text)
            ),
        ),
        tools=(ToolSummary(tool=text, causes={text: 1}),),
        hallucinated={text: 2},
        argument_errors={text: {text: 1}},
        infra_errors=(text,),
        tasks=(hostile,),
    )


def _shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    return [(tag, tuple(sorted(attributes))) for tag, attributes in page.elements]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_changes_no_element_of_the_page(text: str) -> None:
    harmless = Page(render_html(_hostile_report("harmless"), "en"))
    rendered = render_html(_hostile_report(text), "en")
    rendered.encode("utf-8")
    page = Page(rendered)
    # A backtick makes a code element of the template's own; everything else must stay text.
    wanted, found = _shape(harmless), _shape(page)
    assert [entry for entry in found if entry[0] != "code"] == [
        entry for entry in wanted if entry[0] != "code"
    ]
    assert page.scripts == harmless.scripts
    shown = re.sub("[\ud800-\udfff]", "\\\\ud", text)
    assert _lost(page)[0]["query"] == text or "surrogate" in shown


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80))
def test_any_text_leaves_the_page_whole(text: str) -> None:
    page = Page(render_html(_hostile_report(text), "zh"))
    assert len(page.scripts) == 1
    assert {"words", "index", "lost-0", "tasks-0"} <= set(page.data)


@given(
    st.recursive(
        st.text() | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_safe_json_is_json_and_ends_no_element(value: Any) -> None:
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)
    text.encode("utf-8")


def test_a_large_report_keeps_every_decision_and_bounds_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_lost, "CONTEXT_BUDGET", 20_000)
    report = sample_report()
    tasks = tuple(
        dataclasses.replace(task, task_id=f"{task.task_id}-{number}")
        for number in range(120)
        for task in report.tasks[:3]
    )
    page = Page(render_html(dataclasses.replace(report, tasks=tasks), "en"))
    items = _lost(page)
    assert len(items) == 120 * 4 == len(page.data["index"]["rows"])
    kept = [item["label"] for item in items if item["ctx"] is not None]
    assert 4 <= len(kept) < 200
    assert set(kept) == {
        "Look-alike chosen",
        "Wrong format",
        "Fell out of the context",
        "Lost with an earlier step",
    }


def test_an_empty_run_is_still_a_page() -> None:
    report = dataclasses.replace(
        sample_report(()),
        metrics={},
        causes=(),
        tools=(),
        confusions=(),
        groups=(),
        blocks={},
        pass_hat={},
        hallucinated={},
        argument_errors={},
        infra_errors=(),
        findings=(),
    )
    page = Page(render_html(report, "en"))
    assert "No decision was lost." in page.words
    assert page.data["index"]["rows"] == []


def test_what_was_not_evaluated_is_said_and_not_zero() -> None:
    from agent_reach.records.score import Metric

    report = dataclasses.replace(
        sample_report(()), metrics={"tool_reachability": Metric(value=None, reason="no required decision")}
    )
    page = Page(render_html(report, "en"))
    assert "n/a" in page.words
    assert "no required decision" in page.words


def test_the_heat_map_marks_predicted_pairs_and_invented_names() -> None:
    text = render_html(sample_report(), "en")
    table = text[
        text.index('<table class="heat">') : text.index("</table>", text.index('<table class="heat">'))
    ]
    assert "cancelOrderById (invented)" in table
    assert len(re.findall(r'<td class="[^"]*predicted', table)) == 1
    assert "no call" in table
    row = next(line for line in table.splitlines() if "stock/update_stock" in line)
    assert 'predicted">1<span class="pair-mark">≈</span>' in row


def test_a_task_without_score_does_no_harm() -> None:
    report = dataclasses.replace(sample_report(), tasks=(TaskScore(task_id="x", kind="must", query=""),))
    assert Page(render_html(report, "zh")).data["tasks-0"] == [["x", "", "必须调用", "", "-", "-", ""]]


def test_a_loss_without_a_cause_is_listed_as_undetermined() -> None:
    report = sample_report()
    task = report.tasks[0]
    decision = dataclasses.replace(task.attempts[0].decisions[1], cause=None, also=(), error="not called")
    attempt = dataclasses.replace(task.attempts[0], decisions=(decision,))
    tasks = (dataclasses.replace(task, attempts=(attempt,)),)
    page = Page(render_html(dataclasses.replace(report, tasks=tasks), "en"))
    assert [row[1] for row in page.data["index"]["rows"]] == ["undetermined"]
    assert (_lost(page)[0]["label"], _lost(page)[0]["error"]) == ("Undetermined", "not called")
