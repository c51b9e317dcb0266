"""Reach, cost, cycles, bottlenecks: invariants against networkx, and shapes that must not hang."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.centrality import betweenness
from agent_reach.graph.network import Network, dominators, strong_groups
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.reach import reach
from agent_reach.graph.skew import gini

from .building import calls, graph_of, tool  # type: ignore[import-not-found]

SIZE = 9
edges_of = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.floats(0.05, 1.0)), max_size=30
)


def made(edges, offered=(0,), grants=None, needs=()):
    rows = [{"from": f"t{left}", "to": f"t{right}", "score": score} for left, right, score in edges]
    overlay = {"edges": rows, "tools": {f"t{number}": {"needs": {"scopes": ["s"]}} for number in needs}}
    return ToolGraph.build(
        Catalog.load([tool(f"t{number}") for number in range(SIZE)]), overlay=overlay, grants=grants,
        options=GraphOptions(infer=False, offered=tuple(f"t{number}" for number in offered)),
    )  # fmt: skip


@given(edges_of, st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.floats(0.05, 1.0)))
def test_adding_an_edge_never_lowers_the_reach_rate(edges, more):
    assert reach(made([*edges, more])).union.rate >= reach(made(edges)).union.rate


@given(edges_of, st.sets(st.integers(0, SIZE - 1)), st.integers(0, SIZE - 1))
def test_blocking_a_permission_never_raises_it(edges, needs, one_more):
    grants = EnvironmentGrants(name="ci")
    before, after = (
        made(edges, grants=grants, needs=needs),
        made(edges, grants=grants, needs=needs | {one_more}),
    )
    assert reach(after).masked.rate <= reach(before).masked.rate <= reach(before).union.rate


@given(edges_of)
def test_costs_and_hops_equal_those_of_networkx(edges):
    graph = made(edges)
    table = graph.table
    score = {
        (table.nodes[a], table.nodes[b]): c
        for a, b, c in zip(table.source, table.target, table.score, strict=True)
    }
    other = nx.DiGraph()
    for edge in graph.edges:
        price = 1 / score[edge.source, edge.target]
        if not other.has_edge(edge.source, edge.target) or price < other[edge.source][edge.target]["weight"]:
            other.add_edge(edge.source, edge.target, weight=price)
    found = reach(graph).costs
    prices = nx.single_source_dijkstra_path_length(other, "__agent__")
    hops = nx.single_source_shortest_path_length(other, "__agent__")
    assert {key: cost.cost for key, cost in found.items()} == pytest.approx(
        {key: value for key, value in prices.items() if key != "__agent__"}
    )
    assert {key: cost.hops for key, cost in found.items()} == {
        key: value for key, value in hops.items() if key != "__agent__"
    }


def ends(out):
    pairs = [(left, right) for left, targets in enumerate(out) for right in targets]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=12, max_size=12))
def test_groups_dominators_and_betweenness_equal_those_of_networkx(out):
    other = nx.DiGraph()
    other.add_nodes_from(range(12))
    other.add_edges_from((left, right) for left, targets in enumerate(out) for right in targets)
    assert sorted(strong_groups(out)) == sorted(
        sorted(group) for group in nx.strongly_connected_components(other) if len(group) > 1
    )
    above = nx.immediate_dominators(other, 0)
    into = [[left for left, targets in enumerate(out) if right in targets] for right in range(12)]
    assert dominators(out, into, [0]) == [-1 if node == 0 else above.get(node, -2) for node in range(12)]
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    assert betweenness(*ends(out), 12)[0] == pytest.approx(list(nx.betweenness_centrality(other).values()))


def test_sampled_betweenness_is_seeded_and_near():
    out = [[(node * 7 + step) % 60 for step in (1, 5, 11)] for node in range(60)]
    exact, _ = betweenness(*ends(out), 60)
    sampled, is_exact = betweenness(*ends(out), 60, exact=10, pivots=30)
    assert not is_exact
    assert sampled == betweenness(*ends(out), 60, exact=10, pivots=30)[0]
    assert sum(sampled) == pytest.approx(sum(exact), rel=0.3)


def test_latency_makes_a_path_dearer():
    rows = [{"from": "a", "to": "b"}]
    traces = [calls(("a",), ("b",))]
    graph = ToolGraph.build(
        Catalog.load([tool("a"), tool("b")]),
        traces,
        overlay={"edges": rows},
        options=GraphOptions(infer=False, offered=("a",), latency_unit=0.01),
    )
    assert reach(graph).costs["b"].cost == pytest.approx(10 + 10)


@pytest.mark.parametrize("shape", ["ring", "loops", "parallel", "chain", "complete"])
def test_no_shape_hangs(shape):
    count = {"ring": 3000, "loops": 500, "parallel": 2, "chain": 3000, "complete": 90}[shape]
    pairs = {
        "ring": [(n, (n + 1) % count) for n in range(count)], "loops": [(n, n) for n in range(count)],
        "parallel": [(0, 1)] * 10_000, "chain": [(n, n + 1) for n in range(count - 1)],
        "complete": [(n, m) for n in range(count) for m in range(count)],
    }[shape]  # fmt: skip
    rows = [{"from": f"t{left}", "to": f"t{right}"} for left, right in pairs]
    graph = ToolGraph.build(
        Catalog.load([tool(f"t{number}") for number in range(count)]),
        overlay={"edges": rows},
        options=GraphOptions(infer=False, offered=("t0",)),
    )
    analysis = analyse(graph)
    assert analysis.reach.union.total == count
    if shape == "chain":
        assert analysis.reach.costs[f"t{count - 1}"].hops == count
        assert f"t{count - 1}" in analysis.reach.high_risk
    if shape == "parallel":
        assert len([edge for edge in graph.edges if edge.source == "t0"]) == 1


def test_what_is_cut_off_and_what_lies_on_every_path():
    analysis = analyse(made([(0, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0), (0, 3, 1.0)]))
    cut = {item.tool: set(item.cuts_off) for item in analysis.structure.bottlenecks}
    assert cut == {"t0": {"t1", "t2", "t3"}, "t1": {"t2"}}
    assert analysis.structure.on_every_path["t2"] == ("t0", "t1")
    assert set(analysis.reach.unreachable) == {f"t{number}" for number in range(4, SIZE)}
    assert {change.kind for change in analysis.changes} == {"offer"}


def test_a_grant_is_proposed_only_where_it_alone_opens_the_way():
    graph = made([(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0)], grants=EnvironmentGrants(name="ci"), needs=(1, 3))
    changes = {change.tool: change.kind for change in analyse(graph).changes}
    assert changes["t1"] == "grant"  # t0 leads to it, only its own block is in the way
    assert changes["t3"] == "grant_and_offer"  # behind t1, which is blocked too
    assert "t2" not in changes


def test_what_the_settings_offer_is_what_counts_as_offered():
    states = {state.tool: state.offered for state in analyse(made([(0, 1, 1.0)], offered=(0, 4))).states}
    assert states == {f"t{number}": number in (0, 4) for number in range(SIZE)}


def test_hand_made_edges_add_forbid_and_except():
    rows = [{"from": "*", "to": "t1", "except": ["t3"]}, {"from": "t2", "to": "t1", "forbid": True}]
    graph = ToolGraph.build(
        Catalog.load([tool(f"t{n}") for n in range(4)]),
        overlay={"edges": rows},
        options=GraphOptions(infer=False),
    )
    found = {(edge.source, edge.target) for edge in graph.edges if edge.source != "__agent__"}
    assert found == {("t0", "t1"), ("t1", "t1")}


def test_an_edge_of_no_tool_is_a_finding():
    graph = ToolGraph.build(
        Catalog.load([tool("alpha")]), overlay={"edges": [{"from": "alpha", "to": "alhpa"}]}
    )
    assert [finding.code for finding in graph.findings] == ["edge_of_unknown_tool"]
    assert "alpha" in graph.findings[0].message.en


def test_partitions_are_child_nodes_with_their_share():
    from agent_reach.records.context import ContextBlock
    from agent_reach.records.trace import Trace

    catalog = Catalog.load([tool("search")]).with_overlay(
        {"partitions": {"search": ["manual", "faults", "old"]}}
    )
    blocks = tuple(
        ContextBlock(id=str(n), kind="retrieval", text="", partition=name)
        for n, name in enumerate(["manual", "manual", "faults", "manual"])
    )
    analysis = analyse(ToolGraph.build(catalog, [Trace(trace_id="t", blocks=blocks)]))
    assert {(item.name, item.share, item.dead) for item in analysis.partitions} == {
        ("manual", 0.75, False),
        ("faults", 0.25, False),
        ("old", 0.0, True),
    }
    assert [finding.code for finding in analysis.findings] == ["partition_never_recalled"]
    assert analysis.reach.partitions.rate == pytest.approx(2 / 3)
    assert all(not item.dead for item in analyse(ToolGraph.build(catalog)).partitions)


def test_tools_of_the_user_are_left_out():
    catalog = Catalog.load([tool("mine"), tool("theirs")]).with_overlay(
        {"tools": {"theirs": {"actor": "user"}}}
    )
    found = analyse(ToolGraph.build(catalog)).reach
    assert (found.union.total, found.user_side) == (1, ("theirs",))


def test_unresolved_inputs_are_those_nobody_knows():
    graph = graph_of(
        tool("refund", {"ledger_id": "string", "reason": "string", "email": "string", "mode": {"type": "string", "enum": ["a", "b"]}}),
        tool("pay", {"invoice_id": "string"}), tool("list_invoices", output={"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}),
    )  # fmt: skip
    assert [(item.tool, item.path) for item in analyse(graph).unresolved] == [("refund", "ledger_id")]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_gini_is_between_0_and_1_and_0_when_even(counts):
    value = gini(counts)
    assert value is None if not sum(counts) else 0 <= value < 1
    assert gini([7] * len(counts)) == pytest.approx(0)


def test_network_leaves_out_what_is_removed():
    graph = made([(0, 1, 1.0), (1, 2, 1.0)])
    assert (
        Network(graph.table, graph.options, {graph.table.index["t1"]}).hops_from([0])[graph.table.index["t2"]]
        == -1
    )
