"""Names: keys, wire names, aliases, and names as models emit them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.naming import resolve_emitted_name, wire_names
from agent_reach.errors import AmbiguousToolError, UnknownToolError
from agent_reach.records.tool import Tool

from .builders import named

LEGAL = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
NAMES = st.one_of(
    st.sampled_from(
        ["a", "b", "a__b", "b__c", "x" * 64, "x" * 65, "查询", "查询库存", "a.b", "a/b", "", "-"]
    ),
    st.text(min_size=0, max_size=80),
)


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12, unique=True), st.randoms())
def test_wire_names_are_legal_unique_and_independent_of_order(
    pairs: list[tuple[str, str]], random: object
) -> None:
    tools = [Tool(server=server, name=name) for server, name in pairs]
    table = wire_names(tools)
    assert set(table) == set(pairs)
    assert all(LEGAL.match(name) for name in table.values())
    assert len(set(table.values())) == len(pairs)
    random.shuffle(tools)  # type: ignore[attr-defined]
    assert wire_names(tools) == table
    catalog = Catalog.from_tools(tools)
    for tool in tools:
        assert catalog.from_wire(catalog.wire_name(tool)) is tool
        assert catalog.resolve(catalog.wire_name(tool)) is not None


def test_wire_names() -> None:
    tools = [
        Tool(server="a", name="x"),
        Tool(server="b", name="x"),
        Tool(server="a", name="only"),
        Tool(server="a", name="查询"),
        Tool(server="a", name="long" * 30),
        Tool(server="b", name="long" * 30),
        Tool(server="a__b", name="c"),
        Tool(server="a", name="b__c"),
        Tool(server="d", name="c"),
        Tool(server="d", name="b__c"),
    ]
    table = wire_names(tools)
    assert table[("a", "x")] == "a__x"
    assert table[("b", "x")] == "b__x"
    assert table[("a", "only")] == "only"
    assert table[("a", "查询")].startswith("tool_")
    assert table[("a__b", "c")] != table[("a", "b__c")]


def test_finding_tools() -> None:
    tools = [
        Tool(server="a", name="x"),
        Tool(server="b", name="x"),
        Tool(server="a", name="y", aliases=("old_y", "shared")),
        Tool(server="b", name="z", aliases=("shared",)),
    ]
    catalog = Catalog.from_tools(tools)
    assert catalog.get("a/x") is tools[0]
    assert catalog.get("y") is tools[2]
    assert catalog.get("old_y") is tools[2]
    assert catalog.is_alias("old_y")
    assert not catalog.is_alias("y")
    assert catalog.resolve("b__x") is tools[1]
    assert catalog.resolve("nothing") is None
    assert catalog.resolve("X") is None
    for name, candidates in {"x": ("a/x", "b/x"), "shared": ("a/y", "b/z")}.items():
        with pytest.raises(AmbiguousToolError) as caught:
            catalog.resolve(name)
        assert caught.value.candidates == candidates
    with pytest.raises(UnknownToolError) as unknown:
        catalog.get("old_z")
    assert "old_y" in unknown.value.nearest_names
    assert "y" in catalog
    assert "nothing" not in catalog
    assert tools[0] in catalog
    assert [tool.key for tool in catalog] == ["a/x", "b/x", "a/y", "b/z"]


def test_near_names_in_a_large_catalog() -> None:
    catalog = Catalog.from_tools(
        [
            Tool(server=f"s{index % 7}", name=f"{verb}_{noun}_{index}")
            for index in range(300)
            for verb in ("get", "put")
            for noun in ("order", "user")
        ]
    )
    assert len(catalog.names) > 2000
    with pytest.raises(UnknownToolError) as unknown:
        catalog.get("get_ordr_117")
    assert "get_order_117" in unknown.value.nearest_names
    assert catalog.nearest("zzz") == []


def test_a_subset_keeps_the_wire_names_of_the_whole() -> None:
    whole = Catalog.from_tools([Tool(server="a", name="x"), Tool(server="b", name="x"), Tool(name="y")])
    part = whole.subset(["y", "a/x"])
    assert [tool.key for tool in part] == ["y", "a/x"]
    assert part.wire_name("a/x") == "a__x"
    assert part.from_wire("b__x") is None
    assert part.hash != whole.hash


def test_slashes_in_names_do_not_mix_identities() -> None:
    catalog = Catalog.from_tools([Tool(server="a", name="b/c"), Tool(server="a/b", name="c")])
    assert len(catalog) == 2
    with pytest.raises(AmbiguousToolError):
        catalog.resolve("a/b/c")
    assert catalog.identified("a", "b/c") is catalog.tools[0]


@pytest.mark.parametrize(
    ("emitted", "expected", "repair"),
    [
        ("get_order", "get_order", ""),
        ("functions.get_order", "get_order", "prefix_removed"),
        ("default_api.get_order", "get_order", "prefix_removed"),
        (" `get_order` ", "get_order", "stripped"),
        ("get_order(id=5)", "get_order", "stripped"),
        ("get_order<|end|>", "get_order", "control_token_cut"),
        ("get_order\x00{}", "get_order", "control_token_cut"),
        ("GET_ORDER", "get_order", "case_or_hyphen"),
        ("get-order", "get_order", "case_or_hyphen"),
        ("getOrder", "get_order", "word_style"),
        ("GetOrderTool", "get_order", "suffix_removed"),
        ("get_order_function", "get_order", "suffix_removed"),
        ("store.list_items", "store/list_items", "server_and_name"),
        ("mcp__store__list_items", "store/list_items", "prefix_removed"),
        ("Store_Tool", None, "unknown"),
        ("tool", None, "unknown"),
        ("get_orders_now", None, "unknown"),
        ("get_order get_order", None, "unknown"),
    ],
)
def test_emitted_names(emitted: str, expected: str | None, repair: str) -> None:
    catalog = Catalog.from_tools(
        [
            Tool(name="get_order"),
            Tool(server="store", name="list_items"),
            Tool(server="shop", name="list_items"),
        ]
    )
    resolution = resolve_emitted_name(emitted, catalog)
    assert (resolution.tool.key if resolution.tool else None) == expected
    assert resolution.repair == repair


def test_a_repair_that_could_mean_two_tools_is_refused() -> None:
    catalog = named("save_file", "saveFile", "load")
    resolution = resolve_emitted_name("SaveFileTool", catalog)
    assert resolution.is_ambiguous
    assert set(resolution.candidates) == {"save_file", "saveFile"}
    assert resolve_emitted_name("saveFile", catalog).tool is catalog.get("saveFile")


@given(st.text(max_size=60))
def test_any_emitted_text_has_an_answer(text: str) -> None:
    catalog = named("a", "b_c", "查询库存", "Edit", "edit")
    resolution = resolve_emitted_name(text, catalog)
    assert resolution.tool is None or resolution.tool in catalog.tools
    assert len(resolution.candidates) <= 5
