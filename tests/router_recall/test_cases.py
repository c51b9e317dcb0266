"""The reported troubles of finding tools, each with its right answer, and other inputs of the same kinds."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_reach import Catalog, Reach
from agent_reach.backends.python import PythonBackend
from agent_reach.catalog.sources.python import python_tools
from agent_reach.records.tool import Tool

CASES: dict[str, Any] = {
    row["id"]: row
    for row in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}


def reach_over(definitions: list[Mapping[str, Any]], **options: Any) -> Reach:
    tools = [
        Tool(name=one["name"], server=one.get("server", ""), description=one.get("description", ""))
        for one in definitions
    ]
    return Reach(Catalog.from_tools(tools), **options)


def found_names(reach: Reach, query: str, k: int) -> list[str]:
    return [candidate.tool.name for candidate in reach.find(query, k)]


def test_c01_every_exact_name_survives_the_cut() -> None:
    given = CASES["C01"]["input"]
    found = found_names(reach_over(given["catalog"]), given["query"], given["k"])
    assert set(CASES["C01"]["check"]["must_include"]) <= set(found)
    assert found[:6] == CASES["C01"]["check"]["must_include"]


def test_c01_names_in_running_text_survive_too() -> None:
    given = CASES["C01"]["input"]
    reach = reach_over(given["catalog"])
    found = found_names(
        reach, "Please use trace_parcel, then `get_label` (and find_notes.) for all orders", 3
    )
    assert {"trace_parcel", "get_label", "find_notes"} <= set(found)


def test_more_names_than_k_all_survive() -> None:
    given = CASES["C01"]["input"]
    found = found_names(reach_over(given["catalog"]), given["query"], 2)
    assert set(CASES["C01"]["check"]["must_include"]) == set(found)


@pytest.mark.parametrize("query", CASES["C02"]["input"]["queries"])
def test_c02_one_tokenizer_for_index_and_query(query: str) -> None:
    given = CASES["C02"]["input"]
    assert found_names(reach_over(given["catalog"]), query, given["k"])[0] == CASES["C02"]["check"]["top1"]


@pytest.mark.parametrize(
    ("query", "expected"),
    list(zip(CASES["C03"]["input"]["queries"], CASES["C03"]["check"]["top1"], strict=True)),
)
def test_c03_split_and_joined_words_both_match(query: str, expected: str) -> None:
    assert found_names(reach_over(CASES["C03"]["input"]["catalog"]), query, 3)[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("open street map", "OpenStreetMapSearch"),
        ("openstreet", "OpenStreetMapSearch"),
        ("PDF reader", "PDFReader"),
    ],
)
def test_c03_other_joined_words(query: str, expected: str) -> None:
    catalog = [
        {"name": "OpenStreetMapSearch", "description": "Search"},
        {"name": "PDFReader", "description": "Read"},
        {"name": "StreetLampList", "description": "List"},
    ]
    assert found_names(reach_over(catalog), query, 3)[0] == expected


def test_c04_least_unexplained_name_first_in_any_order() -> None:
    given = CASES["C04"]["input"]
    for order in itertools.permutations(given["catalog"]):
        assert found_names(reach_over(list(order)), given["query"], 3)[0] == "create_invoice"


def test_c04_also_inside_a_sentence() -> None:
    given = CASES["C04"]["input"]
    for order in itertools.permutations(given["catalog"]):
        found = found_names(reach_over(list(order)), "please create an invoice for this customer", 3)
        assert found[0] == "create_invoice"


@pytest.mark.parametrize(
    "query",
    [CASES["C05"]["input"]["query"], "for the other form, close my ticket", "the ticket is done, close it"],
)
def test_c05_function_words_match_nothing(query: str) -> None:
    assert found_names(reach_over(CASES["C05"]["input"]["catalog"]), query, 3)[0] == "close_ticket"


def test_c06_long_descriptions_do_not_collect_accidental_hits() -> None:
    given = CASES["C06"]["input"]
    assert found_names(reach_over(given["catalog"]), given["query"], 2)[0] == "room_wall__paint"


def test_c11_no_order_of_discovery_shows() -> None:
    given = CASES["C11"]["input"]
    seen = set()
    for order in given["servers_finish_order"]:
        for _ in range(given["repeat"]):
            tools = [
                Tool(server=server, name=one["name"], description=one["description"])
                for server in order
                for one in given["catalog"][server]
            ]
            found = Reach(Catalog.from_tools(tools)).find(given["query"], 4)
            seen.add(tuple(candidate.tool.key for candidate in found))
    assert len(seen) == CASES["C11"]["check"]["distinct_orders"]
    assert next(iter(seen)) == ("fs/zeta", "git/alpha")


def note_add(t: str) -> str:
    """Add a note."""
    return f"noted {t}"


def test_c18_what_a_search_returns_can_be_called_by_that_name() -> None:
    tools, handlers = python_tools([note_add])
    reach = Reach(Catalog.from_tools(tools), backend=PythonBackend(handlers))

    async def run() -> None:
        found = await reach.call("tool_search", {"q": "note add"})
        assert found.value == {"tools": ["note_add"]}
        direct = await reach.call(found.value["tools"][0], {"t": "x"})
        assert direct.ok
        assert direct.value == "noted x"
        through = await reach.call("tool_call", {"name": "note_add", "arguments": {"t": "y"}})
        assert through.value == "noted y"
        unknown = await reach.call("note_remove", {})
        assert not unknown.ok
        assert unknown.error_kind == "not_found"

    asyncio.run(run())


def test_c18_a_barred_tool_is_refused_as_barred_not_as_unknown() -> None:
    tools, handlers = python_tools([note_add])
    reach = Reach(Catalog.from_tools(tools), backend=PythonBackend(handlers), deny=["note_*"])
    refused = asyncio.run(reach.call("note_add", {"t": "x"}))
    assert refused.error_kind == "permission"
    assert "no tool named" not in refused.message


def test_c20_both_shapes_are_understood() -> None:
    given = CASES["C20"]["input"]
    selection = Reach([]).select(given["query"], given["tools"], k=1)
    assert list(selection) == [given["tools"][0]]
    assert selection.left_out == ("srv-get_order",)


def test_c20_unreadable_shapes_pass_through_with_a_finding() -> None:
    strange = [{"kind": "mystery"}, 7]
    selection = Reach([]).select("pet", strange)
    assert list(selection) == strange
    assert [finding.code for finding in selection.findings if finding.severity == "warning"] == [
        "tool_shape_unknown"
    ]


def test_c22_the_edited_description_is_what_is_searched() -> None:
    given = CASES["C22"]["input"]
    others = [{"name": f"other_{number}", "description": "Many words about nothing"} for number in range(5)]
    reach = reach_over([*given["catalog_v1"], *others])
    before = reach.find(given["query"], 1)
    assert not before or "gardenlist" not in before[0].why
    reach.update(Tool(name="task_do", description=given["override"]["task_do"]))
    assert found_names(reach, given["query"], 1) == ["task_do"]
    assert "gardenlist" in reach.find(given["query"], 1)[0].why


def test_c22_select_sees_a_changed_text_at_once() -> None:
    reach = Reach([])
    old = [{"name": "task_do", "description": "Many words"}, {"name": "x", "description": "Something else"}]
    new = [{"name": "task_do", "description": "Gardenlist tasks"}, old[1]]
    assert not reach.select("gardenlist tasks", old, k=1) or reach.select("gardenlist", old, k=1) == []
    assert list(reach.select("gardenlist tasks", new, k=1)) == [new[0]]


def test_c25_a_host_limit_keeps_pins_and_tells_what_was_left_out() -> None:
    given = CASES["C25"]["input"]
    tools = [
        {"name": f"s{server}_tool_{number}", "description": f"Report number {number} of service {server}"}
        for server, count in enumerate(given["tools_per_server"])
        for number in range(count)
    ]
    tools.append({"name": "ask_user", "description": "Ask the user a question"})
    reach = Reach(tools, pins=given["must_keep"])
    first = reach.select("report of service 2", tools, k=1000, limit=given["limit"])
    assert "ask_user" in {tool["name"] for tool in first}
    assert len(first) == given["limit"]
    assert len(first.left_out) == len(tools) - given["limit"]
    (warning,) = [finding for finding in first.findings if finding.severity == "warning"]
    assert warning.data["limit"] == given["limit"]
    assert warning.data["total"] == len(tools)
    again = reach.select("report of service 2", list(reversed(tools)), k=1000, limit=given["limit"])
    assert [tool["name"] for tool in first] == [tool["name"] for tool in again]


def test_c25_without_words_of_a_user_too() -> None:
    tools = [{"name": f"tool_{number}", "description": "x"} for number in range(60)]
    tools.append({"name": "ask_user", "description": "Ask"})
    selection = Reach(tools, pins=["ask_user"]).select([], tools, limit=40)
    assert len(selection) == 40
    assert {"name": "ask_user", "description": "Ask"} in selection
    assert any(finding.code == "tool_limit" for finding in selection.findings)


@pytest.mark.parametrize("query", ["search", "Search", "`search`"])
def test_c26_same_names_of_two_servers_are_both_found(query: str) -> None:
    given = CASES["C26"]["input"]
    found = reach_over(given["catalog"]).find(query, given["k"])
    assert {candidate.tool.key for candidate in found} == {"docs/search", "mail/search"}
