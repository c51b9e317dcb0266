"""JUnit XML: what each attempt becomes, counts that add up, and XML that parses whatever was said."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.sample import sample_report
from tests.reports.test_html import HOSTILE, _hostile_report

from agent_reach.reports.junit import render_junit


def _cases() -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render_junit(sample_report()))
    return {case.get("name", ""): case for case in root.iter("testcase")}


def test_each_attempt_is_a_case_with_its_own_end() -> None:
    ends = {name: [child.tag for child in case] for name, case in _cases().items()}
    assert ends == {
        "restock-001": ["failure"],
        "sales-001 #1": ["failure"],
        "sales-001 #2": [],
        "cancel-001": ["failure"],
        "order-001": ["system-out"],
        "ask-001": ["failure"],
        "infra-001": ["error"],
        "nogold-001": ["skipped"],
        "smalltalk-001": [],
    }


def test_failures_say_did_and_should_have() -> None:
    failure = _cases()["restock-001"].find("failure")
    assert failure is not None
    assert failure.get("type") == "rival_chosen"
    assert failure.get("message") == "Look-alike chosen"
    assert "did: stock/adjust_inventory" in (failure.text or "")
    assert "should have: stock/update_stock" in (failure.text or "")


def test_counts_add_up_on_both_levels() -> None:
    root = ElementTree.fromstring(render_junit(sample_report()))
    suite = root.find("testsuite")
    assert suite is not None
    for element in (root, suite):
        assert [element.get(name) for name in ("tests", "failures", "errors", "skipped")] == [
            "9",
            "4",
            "1",
            "1",
        ]
    assert suite.get("timestamp") == "2026-11-30T10:15:00"
    assert suite[0].tag == "properties"
    total = sum(float(case.get("time", "0")) for case in root.iter("testcase"))
    assert float(suite.get("time", "0")) == pytest.approx(total)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_still_xml(text: str) -> None:
    rendered = render_junit(_hostile_report(text))
    ElementTree.fromstring(rendered.encode("utf-8"))


@settings(max_examples=50)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_is_still_xml(text: str) -> None:
    root = ElementTree.fromstring(render_junit(_hostile_report(text), "zh").encode("utf-8"))
    assert len(list(root.iter("testcase"))) == 1
