"""Two maps side by side: each rule of the release gate, and windows of a store."""

from __future__ import annotations

import json

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.compare import compare
from agent_reach.graph.document import map_document, read_map
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.watch import compare_windows
from agent_reach.traces.store.base import TraceStore

from .building import calls, tool  # type: ignore[import-not-found]


def made(count=4, edges=(), offered=None, blocked=(), traces=None, **options):
    overlay = {
        "edges": [{"from": f"t{left}", "to": f"t{right}"} for left, right in edges],
        "tools": {f"t{number}": {"needs": {"scopes": ["s"]}} for number in blocked},
    }
    return ToolGraph.build(
        Catalog.load([tool(f"t{number}") for number in range(count)]),
        traces,
        overlay=overlay,
        grants=EnvironmentGrants(name="ci"),
        options=GraphOptions(
            infer=False,
            offered=None if offered is None else tuple(f"t{number}" for number in offered),
            **options,
        ),
    )


def rules(result):
    return {item.rule for item in result.broken}


def test_the_same_map_passes_and_survives_a_round_trip(tmp_path):
    graph = made(edges=[(0, 1)])
    place = tmp_path / "map.json"
    place.write_text(json.dumps(map_document(graph, analyse(graph))), encoding="utf-8")
    result = compare(read_map(place), graph)
    assert (result.verdict, result.exit_code, result.broken) == ("pass", 0, ())


def test_a_lost_edge_is_a_regression():
    result = compare(made(edges=[(0, 1)], offered=[0, 2, 3]), made(offered=[0, 2, 3]))
    assert result.exit_code == 1
    assert rules(result) == {"reach_rate", "new_dead", "too_far"}
    assert result.removed_edges == (("t0", "t1"),)


def test_a_target_beyond_three_hops_fails():
    near, far = made(5, [(0, 1), (1, 4)], [0]), made(5, [(0, 1), (1, 2), (2, 3), (3, 4)], [0])
    assert "too_far" in rules(compare(near, far, targets=["t4"]))
    assert "too_far" not in rules(compare(near, far, targets=["t1"]))


def test_a_new_cycle_fails_unless_accepted():
    old, new = made(edges=[(0, 1)]), made(edges=[(0, 1), (1, 0)])
    assert rules(compare(old, new)) == {"new_cycle"}
    assert compare(old, new, accepted_cycles=[["t0", "t1"]]).verdict == "pass"
    assert compare(new, new).verdict == "pass"


def test_narrower_permissions_fail_and_wider_pass():
    old, new = made(), made(blocked=[1])
    assert {"permissions", "reach_rate"} <= rules(compare(old, new))
    assert compare(new, old).verdict == "pass"
    assert compare(new, old).unblocked == ("t1",)


def test_a_tool_nobody_calls_any_more_is_newly_dead():
    shown = ("t0", "t1", "t2", "t3")
    before = made(traces=[calls(("t0",), ("t1",), ("t2",), ("t3",), offered=shown)])
    after = made(traces=[calls(("t0",), ("t1",), ("t2",), offered=shown)])
    assert compare(before, after).new_dead == ("t3",)
    assert compare(after, before).revived == ("t3",)


def test_mostly_other_tools_are_incomparable():
    assert compare(made(10), made(4)).exit_code == 3
    assert compare(made(4), made(10)).verdict == "pass"


def test_windows_of_a_store(tmp_path):
    catalog = Catalog.load([tool("a"), tool("b")])
    with TraceStore.open(tmp_path / "traces.db") as store:
        store.add_all(
            [
                calls(("a",), ("b",), offered=("a", "b"), trace_id="old", started_at=150.0),
                calls(("a",), offered=("a", "b"), trace_id="new", started_at=250.0),
            ]
        )
        result = compare_windows(store, catalog, 100.0, 300.0)
        assert (result.before, result.after, result.exit_code) == (1, 1, 1)
        assert result.comparison is not None
        assert result.comparison.new_dead == ("b",)
        assert compare_windows(store, catalog, 100.0, 900.0).exit_code == 3
