"""What traces add: hops, retries, parallel calls, meta-tools, value flow, plans, failures, lost context, names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.trust import score_of, shrunk
from agent_reach.records.context import ContextBlock, DroppedBlock
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.trace import Call, CallOutcome, Step, Trace

from .building import STRUCTURE_ONLY, calls, graph_of, tool  # type: ignore[import-not-found]

A, B, C = tool("a"), tool("b", {"ticket": "string"}), tool("c")


def hops(graph):
    return {pair: counts.taken for pair, counts in graph.evidence.hops.items() if counts.taken}


def edge(graph, source, target):
    return next(item for item in graph.edges if (item.source, item.target) == (source, target))


def test_hops_are_consecutive_calls_and_begin_at_the_agent():
    graph = graph_of(A, B, C, traces=[calls(("a",), ("b", {"ticket": "x"}), ("c",))])
    assert hops(graph) == {("__agent__", "a"): 1, ("a", "b"): 1, ("b", "c"): 1}


def test_parallel_calls_are_siblings():
    graph = graph_of(A, B, C, traces=[calls(("a",), [("b", {"ticket": "x"}), ("c",)])])
    assert hops(graph) == {("__agent__", "a"): 1, ("a", "b"): 1, ("a", "c"): 1}


def test_after_siblings_the_hop_comes_from_the_one_whose_value_is_used():
    graph = graph_of(
        A,
        B,
        C,
        traces=[calls([("a", {}, {"ticket": "TK-77"}), ("c", {}, "nothing")], ("b", {"ticket": "TK-77"}))],
    )
    assert ("a", "b") in hops(graph)
    assert ("c", "b") not in hops(graph)


def test_a_retry_is_no_hop_but_is_counted():
    graph = graph_of(
        A, B, traces=[calls(("a",), ("b", {"ticket": "x"}, None, "failed"), ("b", {"ticket": "x"}))]
    )
    assert ("b", "b") not in hops(graph)
    assert graph.evidence.retries == 1


def test_the_same_call_after_a_success_is_a_hop():
    assert hops(graph_of(A, traces=[calls(("a",), ("a",))]))[("a", "a")] == 1


def test_meta_tools_are_un_nested():
    trace = calls(
        ("execute_tool", {"tool_name": "a", "arguments": {}}),
        ("call_tool", {"name": "b", "arguments": {"ticket": "x"}}),
    )
    assert hops(graph_of(A, B, traces=[trace])) == {("__agent__", "a"): 1, ("a", "b"): 1}


def test_own_meta_tools_can_be_set():
    options = GraphOptions.from_mapping({"meta_tools": {"do": {"name": "what", "arguments": "with"}}})
    trace = calls(("do", {"what": "b", "with": {"ticket": "x"}}))
    assert hops(graph_of(A, B, traces=[trace], options=options)) == {("__agent__", "b"): 1}


def test_value_flow_needs_a_value_that_the_user_did_not_say():
    flowing = calls(("a", {}, {"ticket": "TK-77"}), ("b", {"ticket": "TK-77"}))
    said = calls(("a", {}, {"ticket": "TK-77"}), ("b", {"ticket": "TK-77"}), query="look at TK-77")
    trivial = calls(("a", {}, {"ticket": "ok"}), ("b", {"ticket": "ok"}))
    for trace, expected in ((flowing, 1), (said, 0), (trivial, 0)):
        assert graph_of(A, B, traces=[trace]).evidence.hops[("a", "b")].flows == expected
    found = edge(graph_of(A, B, traces=[flowing], options=STRUCTURE_ONLY), "a", "b").evidence.bindings
    assert ("value_flow", "ticket", "ticket") in {
        (item.rule, item.source_field, item.target_field) for item in found
    }


def test_planning_is_taken_over_wanted_and_bare_traces_add_no_misses():
    golden = GoldenPath(stages=((GoldenCall(tool="a"),), (GoldenCall(tool="b"),)))
    took, missed = (
        calls(("a",), ("b",), trace_id="1", task_id="t1"),
        calls(("a",), ("c",), trace_id="2", task_id="t1"),
    )
    bare = calls(("a",), ("b",), trace_id="3")
    graph = graph_of(A, B, C, traces=[took, missed], paths={"t1": (golden,)}, options=STRUCTURE_ONLY)
    assert edge(graph, "a", "b").evidence.planning == shrunk(1, 2)
    assert edge(graph, "a", "c").evidence.planning is None
    graph = graph_of(A, B, C, traces=[took, missed, bare], paths={"t1": (golden,)}, options=STRUCTURE_ONLY)
    assert edge(graph, "a", "b").evidence.planning == shrunk(2, 3)
    assert edge(graph_of(A, B, traces=[bare], options=STRUCTURE_ONLY), "a", "b").evidence.planning is None


def test_a_stated_plan_wants_its_hops():
    base = calls(("a",), ("c",))
    planned = Trace(
        trace_id="p", steps=(Step(index=0, plan=("a", "b"), calls=base.steps[0].calls), base.steps[1])
    )
    assert edge(
        graph_of(A, B, C, traces=[planned], options=STRUCTURE_ONLY), "a", "b"
    ).evidence.planning_counts == (0, 1)


def test_failures_lower_an_edge_and_stay_listed():
    good = [calls(("a",), ("b", {"ticket": "1"}), trace_id=str(number)) for number in range(3)]
    bad = [
        calls(("a",), ("b", {"ticket": "1"}, None, "failed"), trace_id=f"x{number}") for number in range(6)
    ]
    before, after = (
        edge(graph_of(A, B, traces=good, options=STRUCTURE_ONLY), "a", "b"),
        edge(graph_of(A, B, traces=[*good, *bad], options=STRUCTURE_ONLY), "a", "b"),
    )
    assert after.score < before.score
    assert after.evidence.failures == {"tool_error": 6}
    assert after.evidence.execution == shrunk(3, 9)


def test_every_success_raises_an_edge():
    scores = [
        edge(
            graph_of(
                A,
                B,
                traces=[calls(("a",), ("b",), trace_id=str(i)) for i in range(count)],
                options=STRUCTURE_ONLY,
            ),
            "a",
            "b",
        ).score
        for count in (1, 2, 5, 20)
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_a_hop_seen_five_times_must_clear_its_line():
    def edge_after(count, **options):
        traces = [
            calls(("a",), ("b", {"ticket": "1"}, None, "failed"), trace_id=str(i)) for i in range(count)
        ]
        golden = {
            f"t{i}": (GoldenPath(stages=((GoldenCall(tool="a"),), (GoldenCall(tool="b"),))),)
            for i in range(count)
        }
        traces = [Trace(trace_id=t.trace_id, task_id=f"t{i}", steps=t.steps) for i, t in enumerate(traces)]
        return edge(
            graph_of(A, B, traces=traces, paths=golden, options=GraphOptions(infer=False, **options)),
            "a",
            "b",
        )

    assert not edge_after(6).trusted
    assert edge_after(6).score > 0.4
    assert edge_after(6, trust="score").trusted


def test_a_value_that_fell_out_of_the_context_is_a_failed_hop():
    first = Call(call_id="1", name="a", outcome=CallOutcome(status="ok", value={"ticket": "TK-77"}))
    second = Call(
        call_id="2", name="b", arguments={"ticket": "TK"}, outcome=CallOutcome(status="ok", value=1)
    )
    trace = Trace(
        trace_id="t", steps=(Step(index=0, calls=(first,)), Step(index=1, calls=(second,))),
        blocks=(ContextBlock(id="r1", kind="tool_result", text="...", call_id="1"),),
        dropped=(DroppedBlock(block_id="r1", kind="tool_result", reason="token_budget"),),
    )  # fmt: skip
    found = edge(graph_of(A, B, traces=[trace], options=STRUCTURE_ONLY), "a", "b").evidence
    assert found.failures == {"context_lost": 1}
    assert found.execution_counts == (0, 1)


def test_unmeasured_is_not_zero():
    options = GraphOptions()
    assert score_of((0.8, None, None), options) == pytest.approx(0.8)
    assert score_of((0.8, None, 0.4), options) == pytest.approx((0.8 * 0.3 + 0.4 * 0.3) / 0.6)
    assert score_of((None, None, None), options) == 0.0


def test_hallucinated_names_are_quarantined_with_place_and_nearest():
    graph = graph_of(
        tool("search_flights"),
        traces=[calls(("search_flights",), ("search_flight_list",), ("search_flights",))],
    )
    (found,) = graph.hallucinated
    assert (found.name, found.count, found.places, found.nearest) == (
        "search_flight_list",
        1,
        (("t", 1),),
        ("search_flights",),
    )
    assert "search_flight_list" not in graph.nodes
    assert hops(graph)[("search_flights", "search_flights")] == 1


def test_several_agents_have_entries_and_handoffs():
    trace = Trace(
        trace_id="t", agent="front",
        steps=(
            Step(index=0, agent="front", calls=(Call(call_id="0", name="a", outcome=CallOutcome(status="ok")), Call(call_id="1", name="transfer_to_back"))),
            Step(index=1, agent="back", calls=(Call(call_id="2", name="c", outcome=CallOutcome(status="ok")),)),
        ),
    )  # fmt: skip
    graph = graph_of(A, C, traces=[trace], options=GraphOptions(infer=False, offered=()))
    assert graph.entries == ("__agent__:back", "__agent__:front")
    assert hops(graph) == {("__agent__:front", "a"): 1, ("__agent__:back", "c"): 1}
    costs = analyse(graph).reach.costs
    by_entry = {item.entry: item.reachable for item in analyse(graph).reach.by_entry}
    assert by_entry["__agent__:front"] == {"a", "c"}
    assert by_entry["__agent__:back"] == {"c"}
    assert costs["c"].hops == 1


def _data():
    data = Path(os.environ.get("AGENT_REACH_DATA", Path(__file__).parents[3] / "shared/data")) / "graph"
    if not data.exists():
        pytest.skip(f"no data at {data}: set AGENT_REACH_DATA")
    return data


@pytest.mark.parametrize(
    ("traces", "counted", "tools"),
    [
        (
            "taubench_gpt4o_airline/traces.jsonl",
            "taubench_gpt4o_airline/hops.jsonl",
            "taubench_gpt4o_airline/tools.jsonl",
        ),
        ("tau2/gold_replay_airline.jsonl", "tau2/gold_replay_airline_hops.jsonl", "tau2/tools.jsonl"),
        ("tau2/gold_replay_retail.jsonl", "tau2/gold_replay_retail_hops.jsonl", "tau2/tools.jsonl"),
    ],
)
def test_real_traces_match_a_count_by_hand(traces, counted, tools):
    from agent_reach.traces.importers.read import import_traces

    data = _data()
    domain = "retail" if "retail" in traces else "airline"
    rows = [json.loads(line) for line in (data / tools).read_text().splitlines()]
    rows = [row for row in rows if row.get("domain") == domain]
    rows = [
        row
        if "function" in row
        else {"name": row["name"], "description": row["description"], "inputSchema": row["parameters"]}
        for row in rows
    ]
    catalog = Catalog.load(rows)
    graph = ToolGraph.build(catalog, import_traces(data / traces))
    hand = {
        (row["source"], row["target"]): row["count"]
        for row in map(json.loads, (data / counted).read_text().splitlines())
    }
    assert {
        pair: c.taken + c.retries for pair, c in graph.evidence.hops.items() if c.taken + c.retries
    } == hand
    called: dict[str, int] = {}
    for (_, target), count in hand.items():
        called[target] = called.get(target, 0) + count
    analysis = analyse(graph)
    assert {item.tool for item in analysis.dead} == {tool.key for tool in catalog} - set(called)
    assert {key: count for key, count in analysis.skew.called.items() if count} == called
    shares = sorted(analysis.skew.called.values())
    total, size = sum(shares), len(shares)
    by_hand = sum(abs(left - right) for left in shares for right in shares) / (2 * size * total)
    assert analysis.skew.gini == pytest.approx(by_hand)
    assert all(cost.hops == 1 for cost in analysis.reach.costs.values())


def test_skew_against_golds_is_total_variation():
    tasks = [
        Task(
            id="1",
            kind="must",
            query="",
            paths=(GoldenPath(stages=((GoldenCall(tool="a"),), (GoldenCall(tool="b"),))),),
        )
    ]
    graph = graph_of(A, B, C, traces=[calls(("a",), ("c",), ("c",), ("c",))], paths=tasks)
    skew = analyse(graph).skew
    assert skew.total_variation == pytest.approx((abs(0.25 - 0.5) + 0.5 + 0.75) / 2)
    assert skew.difference["c"] == pytest.approx(0.75)
