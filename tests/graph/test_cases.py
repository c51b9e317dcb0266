"""Reported troubles of graphs and permissions, and other inputs of the same kinds."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.dead import dead_tools
from agent_reach.graph.permissions import check_patterns, permission_mask
from agent_reach.records.task import GoldenCall, GoldenPath, Task

from .building import calls, graph_of, pairs, record, tool  # type: ignore[import-not-found]

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parent / "cases.jsonl").read_text().splitlines())
}


def handoff_graph(handoffs, tools=()):
    rows = [{"from": left, "to": right, "kind": "handoff"} for left, right in handoffs]
    return ToolGraph.build(Catalog.load(list(tools) or [tool("t")]), overlay={"edges": rows})


def test_f06_handoffs_in_a_circle_end_and_are_reported():
    graph = handoff_graph(CASES["F06"]["input"]["handoffs"])
    (cycle,) = [cycle for cycle in analyse(graph).structure.cycles if cycle.handoff]
    assert cycle.members == ("__agent__:x", "__agent__:y")


def test_f06_a_chain_of_4000_agents_is_fine():
    names = [f"a{number}" for number in range(4000)]
    graph = handoff_graph([*itertools.pairwise(names), (names[-1], names[0])])
    (cycle,) = [cycle for cycle in analyse(graph).structure.cycles if cycle.handoff]
    assert len(cycle.members) == 4000


def test_f14_an_alias_is_the_same_node_and_no_dead_tool():
    case = CASES["F14"]["input"]
    (old, new), *_ = case["aliases"].items()
    overlay = {"tools": {new: {"aliases": [old]}}}
    catalog = Catalog.load([tool(name) for name in case["catalog"]]).with_overlay(overlay)
    traces = [calls(*((name,) for name in case["trace_calls"]))]
    golds = [
        Task(
            id="1",
            kind="must",
            query="",
            paths=(GoldenPath(stages=tuple((GoldenCall(tool=name),) for name in case["suite_gold"])),),
        )
    ]
    graph = ToolGraph.build(catalog, traces, paths=golds)
    analysis = analyse(graph)
    assert analysis.skew.called == {new: 2}
    assert analysis.skew.total_variation == 0
    assert (analysis.dead, analysis.hallucinated) == ((), ())
    assert graph.evidence.names.aliased[old] == 1


def test_f14_without_the_alias_the_old_name_is_told_with_the_closest():
    case = CASES["F14"]["input"]
    catalog = Catalog.load([tool(name) for name in case["catalog"]])
    graph = ToolGraph.build(catalog, [calls(("survey_get_all",))])
    (found,) = graph.hallucinated
    assert found.name == "survey_get_all"


def test_f17_a_tool_that_takes_and_returns_a_value_is_an_entry_point():
    case = CASES["F17"]
    graph = ToolGraph.build(Catalog.load(case["input"]["tools"]))
    analysis = analyse(graph)
    assert sorted(analysis.reach.union.reachable) == sorted(case["check"]["reachable"])
    assert all(cost.hops == 1 for cost in analysis.reach.costs.values())
    assert ("new_member", "get_member") in pairs(graph, trusted=False)


def test_f17_a_ring_of_tools_that_feed_each_other_stays_reachable():
    ring = [
        tool("get_a", {"c_code": "string"}, record(a_code="string")), tool("get_b", {"a_code": "string"}, record(b_code="string")),
        tool("get_c", {"b_code": "string"}, record(c_code="string")),
    ]  # fmt: skip
    analysis = analyse(graph_of(*ring))
    assert analysis.reach.union.rate == 1
    assert [set(cycle.members) for cycle in analysis.structure.cycles] == [{"get_a", "get_b", "get_c"}]


def test_f18_patterns_tell_what_they_match():
    case = CASES["F18"]
    report = check_patterns(case["input"]["tools"], case["input"]["allow"])
    assert [len(item.matches) for item in report.allow] == [2, 1, 0, 0]
    assert [item.meaning for item in report.allow] == ["glob", "server", "none", "none"]
    assert len(report.warnings) == case["check"]["warnings"]
    assert report.allow[3].hint == "mcp__ctx__read"
    assert report.dead == ()


@pytest.mark.parametrize(
    ("tools", "allow", "deny", "permitted"),
    [
        (["git/log", "git/push", "files/read"], ["git"], [], ["git/log", "git/push"]),
        (["git/log", "git/push", "files/read"], ["git/*"], ["git/push"], ["git/log"]),
        (["git/log", "git/push"], ["mcp__git__log"], [], []),
        (["git/log", "git/push"], ["mcp__git__l*"], [], ["git/log"]),
        (["git/log", "git/push"], ["mcp__git"], [], ["git/log", "git/push"]),
        (["read", "write"], [], ["wri*"], ["read"]),
        (["read", "write"], ["READ"], [], []),
    ],
)
def test_f18_other_patterns(tools, allow, deny, permitted):
    report = check_patterns(tools, allow, deny)
    assert list(report.permitted) == permitted
    assert set(report.dead) == set(tools) - set(permitted)
    assert bool(report.warnings) == any(not item.matches for item in (*report.allow, *report.deny))


def test_grants_block_and_say_what_is_missing():
    overlay = {
        "tools": {
            "pay": {"needs": {"scopes": ["money:write"], "env": ["BANK_KEY"]}},
            "look": {"needs": {"scopes": ["money:read"]}},
        }
    }
    catalog = Catalog.load([tool("pay"), tool("look"), tool("free")]).with_overlay(overlay)
    grants = EnvironmentGrants(name="ci", scopes=("money:re*", "unused"))
    mask = permission_mask(catalog, grants)
    assert mask.blocked == {"pay": ("scopes:money:write", "env:BANK_KEY")}
    assert [finding.subject for finding in mask.findings] == ["unused"]
    analysis = analyse(ToolGraph.build(catalog, grants=grants))
    assert (analysis.reach.union.rate, analysis.reach.masked.rate) == (1.0, pytest.approx(2 / 3))
    assert [(item.tool, item.kind) for item in analysis.dead if item.kind != "unknown"] == [
        ("pay", "unreachable")
    ]
    (change,) = analysis.changes
    assert (change.kind, change.about) == ("grant", ("scopes:money:write", "env:BANK_KEY"))
    state = next(state for state in analysis.states if state.tool == "pay")
    assert (state.physical, state.first_broken) == ("broken", "physical")


def test_dead_tools_of_traces_and_a_catalog_alone():
    catalog = Catalog.load(
        [tool("used"), tool("shown"), tool("hidden", description="A long description. " * 20)]
    )
    found = dead_tools([calls(("used",), offered=("used", "shown"))], catalog)
    assert {(item.tool, item.kind) for item in found} == {
        ("shown", "offered_never_called"),
        ("hidden", "never_offered"),
    }
    assert found[0].tool == "hidden"
    assert found[0].tokens > found[1].tokens
    assert {item.kind for item in dead_tools([calls(("used",))], catalog)} == {"unknown"}
    assert {item.kind for item in dead_tools(None, catalog)} == {"unknown"}
