"""SARIF: the shape that code hosts accept, a place for every finding, fingerprints that survive an edit."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.reports.sarif import render_sarif, sarif_document

LONG = Finding(
    code="AR101",
    severity="warning",
    message=Message("The description has 4,210 characters.", "描述有 4,210 个字符。"),
    subject="stock/query_stock",
    pointer="/description",
    source="tools/stock server.json",
    line=12,
    fix=Message("Shorten it.", "请缩短。"),
)
NOWHERE = Finding(code="AR900", severity="info", message=Message("Something", "某事"))


def test_findings_become_results_with_rules_and_places() -> None:
    document = json.loads(
        render_sarif([LONG, NOWHERE, LONG], rules={"AR101": Message("Long description", "描述过长")})
    )
    assert document["version"] == "2.1.0"
    run = document["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["AR101", "AR900"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "Long description"}
    first, second, third = run["results"]
    assert (first["level"], second["level"], first["ruleIndex"], second["ruleIndex"]) == (
        "warning",
        "note",
        0,
        1,
    )
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "tools/stock%20server.json"}, "region": {"startLine": 12}}
    assert first["locations"][0]["logicalLocations"] == [
        {"fullyQualifiedName": "stock/query_stock/description"}
    ]
    assert first["message"]["text"] == "The description has 4,210 characters.\nShorten it."
    nowhere = second["locations"][0]["physicalLocation"]
    assert nowhere == {"artifactLocation": {"uri": "reach.yaml"}, "region": {"startLine": 1}}
    assert first["partialFingerprints"] == third["partialFingerprints"]


def test_fingerprints_survive_a_moved_line_and_another_language() -> None:
    moved = dataclasses.replace(LONG, line=99)
    other = dataclasses.replace(LONG, pointer="/name")
    english = sarif_document([LONG, moved, other])["runs"][0]["results"]
    chinese = sarif_document([LONG], "zh")["runs"][0]["results"]
    prints = [result["partialFingerprints"]["agentReach/v1"] for result in (*english, *chinese)]
    assert prints[0] == prints[1] == prints[3] != prints[2]
    assert chinese[0]["message"]["text"] == "描述有 4,210 个字符。\n请缩短。"


def test_addresses_stay_and_paths_become_legal() -> None:
    sources = ["https://host/a b?x=1", "/abs/工具.json", "dir\\file.json"]
    results = sarif_document([dataclasses.replace(LONG, source=source) for source in sources])["runs"][0][
        "results"
    ]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert uris == ["https://host/a%20b?x=1", "file:///abs/%E5%B7%A5%E5%85%B7.json", "dir/file.json"]


def test_no_findings_is_a_valid_empty_run() -> None:
    run = sarif_document([])["runs"][0]
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []


@given(st.text(), st.text(), st.text())
def test_any_text_is_written_as_plain_ascii_json(code: str, source: str, text: str) -> None:
    finding = Finding(code=code, severity="error", message=Message(text, text), source=source, subject=text)
    rendered = render_sarif([finding])
    rendered.encode("ascii")
    assert json.loads(rendered)["runs"][0]["results"][0]["message"]["text"] == text
