"""What the library is given by mistake is refused with its own errors, never with a stranger's."""

from __future__ import annotations

from typing import Any

import pytest

from agent_reach import Catalog, Reach, TraceStore, diff, run
from agent_reach.errors import AgentReachError, CatalogError, ConfigError, InputError, ReportError, TraceError

TOOL = {
    "name": "get_order",
    "description": "Look up one order by its id.",
    "inputSchema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
}


@pytest.fixture
def reach() -> Reach:
    return Reach(Catalog.load([TOOL]))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"tools": {}}, "an empty mapping"),
        ({"tools": None}, "NoneType"),
        ({"tools": 5}, "int"),
        ({"tools": {"a": 5}}, "must be a list"),
        ({}, "the mapping is empty"),
        ("x" * 5000, "can be no path"),
    ],
)
def test_sources_that_hold_no_tools(source: Any, said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        Catalog.load(source)


def test_a_table_of_definitions_by_name_is_read() -> None:
    body = {key: value for key, value in TOOL.items() if key != "name"}
    assert [tool.name for tool in Catalog.load({"tools": {"get_order": body}})] == ["get_order"]


@pytest.mark.parametrize("query", [None, 5, b"order", ["order"], {"role": "user"}])
def test_find_takes_text(reach: Reach, query: Any) -> None:
    with pytest.raises(InputError, match="a request is text"):
        reach.find(query)


@pytest.mark.parametrize("k", [None, "6", 1.5, True])
def test_find_takes_a_whole_number(reach: Reach, k: Any) -> None:
    with pytest.raises(InputError, match="k is"):
        reach.find("order", k=k)


@pytest.mark.parametrize("arguments", [{1: 2}, {"order_id": {None: 1}}, {"order_id": [{(1, 2): 3}]}])
def test_keys_that_are_no_text_are_a_problem_of_the_call(reach: Reach, arguments: Any) -> None:
    call = reach.normalize("get_order", arguments)
    assert [problem.code for problem in call.problems] == ["wrong_shape"]
    assert "not text" in call.problems[0].message


@pytest.mark.parametrize("now", [5, 1.5, ["2025-12-10"]])
def test_now_is_a_moment(reach: Reach, now: Any) -> None:
    with pytest.raises(InputError, match="neither a datetime nor ISO text"):
        reach.normalize("get_order", {"order_id": "A1"}, now=now)


@pytest.mark.parametrize("given", [None, 5, ["report.json"]])
def test_diff_takes_reports(given: Any) -> None:
    with pytest.raises(ReportError, match="a report is a path or a document"):
        diff(given, given)


@pytest.mark.parametrize("url", [None, "", "  ", 5])
def test_a_store_has_a_name(url: Any) -> None:
    with pytest.raises(TraceError, match="names no store"):
        TraceStore.open(url)


@pytest.mark.parametrize("agent", [5, lambda request: "x", dict])
def test_an_agent_is_an_agent(agent: Any) -> None:
    with pytest.raises(ConfigError, match="is no agent"):
        run({"catalog": [TOOL]}, suite=[], agent=agent)


def test_all_of_them_are_ours() -> None:
    assert all(
        issubclass(kind, AgentReachError) for kind in (CatalogError, InputError, ReportError, TraceError)
    )
