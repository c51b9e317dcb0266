"""Each rule on its own fixture: every bad example is hit, no good one is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_reach.errors import ConfigError
from agent_reach.lint.base import TemplateFacts
from agent_reach.lint.engine import LintOptions, Suppression, lint
from agent_reach.lint.proposals import overlay_proposal
from agent_reach.lint.table import RULES
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.tool import AgentNote, Tool

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = Path(__file__).resolve().parents[2]


def tool_of(row: dict[str, Any]) -> Tool:
    note = row.get("note")
    return Tool(
        name=row["name"],
        server=row.get("server", ""),
        description=row.get("description", ""),
        input_schema=row["inputSchema"],
        output_schema=row.get("outputSchema"),
        annotations=row.get("annotations", {}),
        effects=frozenset(row.get("effects", ())),
        original=row,
        note=None
        if note is None
        else AgentNote(
            summary=note.get("summary", ""),
            triggers=tuple(note.get("triggers", ())),
            conflicts=note.get("conflicts", {}),
        ),
    )


def run(code: str, side: str) -> tuple[list[Tool], tuple[Finding, ...]]:
    fixture = yaml.safe_load((FIXTURES / f"{code}.yaml").read_text(encoding="utf-8"))
    tools = [tool_of(row) for row in fixture.get(side) or []]
    template = None
    if fixture.get("template"):
        facts = fixture["template"][side]
        template = TemplateFacts(order=tuple(facts["order"]), max_passages=facts["max_passages"])
    pairs = tuple(
        SimilarPair(left=left, right=right, score=score, left_only=tuple(mine), right_only=tuple(theirs))
        for left, right, score, mine, theirs in fixture.get("pairs", ())
    )
    result = lint(tools, options=LintOptions(select=(code,)), similar_pairs=lambda: pairs, template=template)
    return tools, result.findings


@pytest.mark.parametrize("code", list(RULES))
def test_bad_examples_are_hit_where_the_fixture_says(code):
    fixture = yaml.safe_load((FIXTURES / f"{code}.yaml").read_text(encoding="utf-8"))
    tools, findings = run(code, "bad")
    assert findings
    assert {finding.code for finding in findings} == {code}
    assert set(fixture.get("at", [])) <= {finding.pointer for finding in findings}
    if RULES[code].about in {"description", "parameter"}:
        assert {finding.subject for finding in findings} == {tool.key for tool in tools}
    for finding in findings:
        assert finding.message.en
        assert finding.message.zh
        assert finding.message.en != finding.message.zh


@pytest.mark.parametrize("code", list(RULES))
def test_good_examples_are_left_alone(code):
    assert run(code, "good")[1] == ()


def test_every_rule_has_one_file_one_fixture_one_page():
    names = {rule.name.replace("-", "_") for rule in RULES.values()}
    files = {path.stem for path in (ROOT / "src/agent_reach/lint/rules").glob("*.py")} - {"__init__"}
    assert names == files
    assert {path.stem for path in FIXTURES.glob("*.yaml")} == set(RULES)
    assert {path.stem for path in (ROOT / "docs/lint").glob("AR*.md")} == set(RULES)
    assert all(code == rule.code for code, rule in RULES.items())


def test_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/lint/build.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_selection_severity_and_suppression():
    tools, _ = run("AR105", "bad")
    options = LintOptions(select=("AR1",), ignore=("no-usage-condition",), severity={"AR105": "info"})
    result = lint(tools, options=options)
    assert [(finding.code, finding.severity) for finding in result.findings] == [("AR105", "info")]
    assert not result.fails_at("warning")
    assert result.fails_at("info")
    quiet = LintOptions(
        select=("AR105",),
        suppress=(
            Suppression(tool="flu*", code="AR105", reason="old"),
            Suppression(tool="gone", code="*", reason="left"),
        ),
    )
    result = lint(tools, options=quiet)
    assert [finding.code for finding in result.findings] == ["idle_suppression"]
    assert [finding.code for finding in result.suppressed] == ["AR105"]


def test_an_unknown_rule_is_an_error_with_the_nearest_name():
    with pytest.raises(ConfigError, match="descripton-missing") as caught:
        lint([], options=LintOptions(ignore=("descripton-missing",)))
    assert "description-missing" in caught.value.next_step


def test_catalog_findings_are_reported_beside_the_rules():
    broken = Finding(code="tool_quarantined", severity="error", subject="s/bad", message=Message("a", "b"))
    result = lint([], catalog_findings=[broken])
    assert result.findings[0] is broken


def test_proposals_become_one_overlay_and_never_overwrite():
    tools, findings = run("AR205", "bad")
    document = overlay_proposal([*findings, *findings])
    assert document == {
        "tools": {
            tools[0].key: {"note": {"param_hints": {"level": {"values": {"P1": [], "P2": [], "P3": []}}}}}
        }
    }
