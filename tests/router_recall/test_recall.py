"""The index, needs, names, kinds, history and vectors: each stage alone, and together."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach import Catalog, Reach, Suite
from agent_reach.embed.base import unit_rows
from agent_reach.records.tool import AgentNote, ParameterHint, Tool
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.router.fingerprint import kinds_in_text, kinds_of_tool
from agent_reach.router.history import DAY, History, PastRequest
from agent_reach.router.needs import split_needs
from agent_reach.router.rank import RankWeights, group_of, rank
from agent_reach.router.rank_names import NameTable
from agent_reach.router.reach_find import Finder
from agent_reach.router.recall import LexicalIndex
from agent_reach.router.recall_vectors import VectorIndex
from agent_reach.router.request import analyse_request, user_words

WORDS = "order invoice weather city refund parcel user stock ticket hotel train music note task mail price".split()  # noqa: SIM905


def tool(name: str, description: str = "", **more: Any) -> Tool:
    return Tool(name=name, description=description, **more)


def some_tools(count: int, seed: int = 1) -> list[Tool]:
    generator = random.Random(seed)
    return [
        tool(
            f"{generator.choice(WORDS)}_{generator.choice(WORDS)}_{number}",
            " ".join(generator.choices(WORDS, k=6)),
        )
        for number in range(count)
    ]


def found(finder: Any, query: str, k: int = 5) -> list[str]:
    return [candidate.tool.name for candidate in finder(query, k)]


# -- the index ---------------------------------------------------------------------------------------------


def test_each_stage_can_be_used_alone() -> None:
    index = LexicalIndex([tool("get_weather", "Weather of a city"), tool("send_mail", "Send a mail")])
    request = analyse_request("weather in Rome")
    evidence = index.score(request)
    (best, *_) = rank(evidence, [-1, -1], RankWeights(), 2)
    assert index.tools[best.slot].name == "get_weather"
    assert 0 < best.coverage <= 1


@given(st.permutations(some_tools(12)), st.sampled_from(WORDS), st.sampled_from(WORDS))
def test_the_order_of_tools_never_shows(order: Sequence[Tool], one: str, other: str) -> None:
    query = f"find the {one} and then the {other}"
    assert found(Finder(order), query) == found(Finder(some_tools(12)), query)


def test_an_update_finds_what_a_new_index_finds() -> None:
    tools = some_tools(60)
    finder = Finder(tools)
    changed = [dataclasses.replace(one, description="Zebra crossings of a town") for one in tools[:3]]
    for one in changed:
        finder.update(one)
    fresh = Finder([*changed, *tools[3:]])
    assert set(found(finder, "zebra crossing", 3)) == set(found(fresh, "zebra crossing", 3))
    assert {one.name for one in changed} == set(found(finder, "zebra crossing", 3))
    assert len(finder.index) == 60


def test_an_update_leaves_nothing_of_the_old_text() -> None:
    finder = Finder([tool("a", "platypus feeding"), tool("b", "mail sending")])
    finder.update(tool("a", "train tickets"))
    assert found(finder, "platypus") == []
    assert found(finder, "train tickets") == ["a"]


def test_many_updates_rebuild_the_index_and_lose_no_tool() -> None:
    finder = Finder(some_tools(20))
    for number in range(150):
        finder.update(tool(f"new_{number}", f"quokka number{number}"))
    assert len(finder.index) == 170
    assert found(finder, "quokka number149", 1) == ["new_149"]
    assert found(finder, "quokka number0", 1) == ["new_0"]


def test_an_empty_catalog_finds_nothing() -> None:
    assert Reach([]).find("weather") == []
    assert Reach(Catalog.from_tools([tool("a")])).find("") == []


def test_notes_parameters_values_and_origin_are_searched() -> None:
    note = AgentNote(
        summary="Marks urgent matters",
        triggers=("escalate this at once",),
        param_hints={"priority": ParameterHint(values={"high": ("紧急",)}, names=("urgency",))},
    )
    schema = {
        "type": "object",
        "properties": {
            "warehouse": {"type": "string", "description": "Where the pallets are"},
            "mode": {"enum": ["courier", "pickup"]},
            "nested": {"type": "object", "properties": {"tariff": {"type": "number"}}},
        },
    }
    subject = tool(
        "t1", "Does it", note=note, input_schema=schema, server="logistics", original={"category": "Freight"}
    )
    finder = Finder([subject, tool("t2", "Something else entirely")])
    for query in (
        "escalate",
        "urgent",
        "紧急",
        "urgency",
        "warehouse",
        "pallets",
        "courier",
        "tariff",
        "logistics",
        "freight",
    ):
        assert found(finder, query, 1) == ["t1"], query


def test_related_words_and_the_other_language_find_too() -> None:
    finder = Finder([tool("get_forecast", "Forecast for a place"), tool("list_invoices", "Lists invoices")])
    assert found(finder, "will it be rainy", 1) == ["get_forecast"]
    assert found(finder, "查一下发票", 1) == ["list_invoices"]
    assert found(finder, "查一下發票", 1) == ["list_invoices"]


def test_the_word_itself_beats_related_words() -> None:
    finder = Finder([tool("a", "storm reports"), tool("b", "umbrella reports"), tool("c", "weather reports")])
    assert found(finder, "umbrella", 1) == ["b"]


def test_a_transcript_is_read_for_the_users_lines() -> None:
    text = "user: find a hotel\nsystem: which train do you take?\nuser: in Rome"
    assert user_words(text) == "find a hotel\nin Rome"
    assert user_words("Note: this is no transcript") == "Note: this is no transcript"


# -- needs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Convert 200 dollars to euros. Then book a table for two.", 2),
        ("I am planning a party. It is on Friday. Find a cake.", 1),
        ("Find flights to Rome. My budget is 300 euros.", 1),
        ("查一下订单状态，然后帮我申请退款", 2),
        ("check the weather, and then send a mail to Bob; also add a note", 3),
        ("", 0),
    ],
)
def test_needs(text: str, count: int) -> None:
    assert len(split_needs(text)[0]) == count


def test_each_need_finds_its_tool_among_look_alikes() -> None:
    rivals = [
        tool(f"get_weather_{number}", f"Weather forecast of a city, source {number}") for number in range(8)
    ]
    finder = Finder([*rivals, tool("book_table", "Reserve a table in a restaurant")])
    query = "What is the weather forecast for the city of Rome? Then book a table in a restaurant."
    assert "book_table" in found(finder, query, 3)


@given(st.text(max_size=300))
def test_no_word_of_a_request_is_lost(text: str) -> None:
    needs, before = split_needs(text)
    kept = "".join("".join(needs + before).split())
    assert len(kept) <= len("".join(text.split()))


# -- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docs/search", ["docs/search"]),
        ("use docs__search now", ["docs/search"]),
        ('the tool "get order"', []),
        ("call `get_order`.", ["get_order"]),
        ("用get_order查一下", ["get_order"]),
        ("GET_ORDER", ["get_order"]),
        ("search for flights", []),
        ("get order", ["get_order"]),
        ("pet.lookup", ["Shop.pet.lookup"]),
        ("lookup", []),
    ],
)
def test_names_in_requests(query: str, expected: list[str]) -> None:
    table = NameTable([tool("search", server="docs"), tool("get_order"), tool("Shop.pet.lookup")])
    got = table.named_in(query)
    if query == "pet.lookup":
        assert got in ([], expected)
    elif query == "lookup":
        assert got in ([], ["Shop.pet.lookup"])
    else:
        assert got == expected


def test_a_named_tool_is_found_though_no_word_fits() -> None:
    finder = Finder([tool("qx_77"), *some_tools(30)])
    assert found(finder, "order refund invoice with qx_77 please", 3)[0] == "qx_77"


@pytest.mark.parametrize(
    ("name", "server", "group"),
    [("Shop.pet.find", "", "Shop"), ("fs__read", "", "fs"), ("get_order", "", ""), ("read", "fs", "fs")],
)
def test_groups(name: str, server: str, group: str) -> None:
    assert group_of(tool(name, server=server)) == group


# -- kinds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("mail bob@example.com", {"email", "url"}),
        ("order PDT-1001 by 2024-03-01", {"date", "id"}),
        ("查上个月的营收", {"date"}),
        ("pay $30 at 10:30", {"money", "number", "time"}),
        ("ping 10.0.0.1", {"ip"}),
        ("nothing here", set()),
    ],
)
def test_kinds_in_text(text: str, kinds: set[str]) -> None:
    assert set(kinds_in_text(text)) == kinds


def test_kinds_of_parameters_and_formats() -> None:
    schema = {
        "properties": {"order_id": {}, "start_date": {}, "when": {"format": "date-time"}, "客户邮箱": {}}
    }
    assert kinds_of_tool(tool("t", input_schema=schema)) == {"id", "date", "email"}


# -- nothing fits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["hello", "thank you so much", "你好", "谢谢", "asdf qwer", "how are you today?"]
)
def test_talk_finds_nothing(query: str) -> None:
    assert Reach(Catalog.from_tools(some_tools(50))).find(query) == []


def test_people_s_own_words_are_not_taken_for_talk() -> None:
    """A request that shares few words with any tool still gets tools: an empty answer loses the decision for good."""
    store = Path(__file__).resolve().parents[2] / "examples" / "store"
    reach = Reach(Catalog.load(store / "back_office", overlay=store / "overlay.yaml"))
    tasks = [task for name in ("suite", "practice") for task in Suite.load(store / f"{name}.yaml").tasks]
    for language in ("zh", "en"):
        own = [task.query for task in tasks if task.kind == "must" and task.language == language]
        empty = [query for query in own if not reach.find(query)]
        assert len(own) > 90
        assert len(empty) <= 0.05 * len(own), empty
    for talk in ("谢谢你", "给我讲个笑话吧", "世界杯谁赢了", "怎么做红烧肉", "tell me a joke please"):
        assert reach.find(talk) == [], talk


def test_an_empty_answer_gives_the_nearest_names() -> None:
    answer = Reach(Catalog.from_tools([tool("get_wether"), tool("send_mail")])).find("getwethr")
    assert answer == []
    assert answer.nearest_names == ("get_wether",)


# -- scripts -----------------------------------------------------------------------------------------------


def test_other_script_without_embedder_is_told() -> None:
    reach = Reach(Catalog.from_tools(some_tools(5)))
    assert [finding.code for finding in reach.find("帮我看看这个月的销售额").findings] == ["script_mismatch"]
    assert reach.find("find the invoice of last month").findings == ()
    chinese = Reach(Catalog.from_tools([tool("a", "查询订单"), tool("b", "查询库存")]))
    assert [finding.code for finding in chinese.find("where is my order").findings] == ["script_mismatch"]
    assert chinese.find("查询订单").findings == ()


# -- history -----------------------------------------------------------------------------------------------


def test_the_past_finds_what_words_cannot() -> None:
    tools = [tool("t_alpha", "does one thing"), tool("t_beta", "does another thing"), *some_tools(20)]
    history = History()
    for number in range(12):
        history.add(f"my bicycle chain is rusty {number}", "t_beta", when=1000.0)
    finder = Finder(tools, history=history)
    assert [one.tool.name for one in finder("rusty bicycle chain", 1, now=1000.0)] == ["t_beta"]
    assert found(Finder(tools), "rusty bicycle chain", 1) == []


def test_old_requests_fade() -> None:
    tools = [tool("old_way", "thing"), tool("new_way", "thing")]
    history = History(half_life_days=30)
    now = 1000 * DAY
    for number in range(20):
        history.add(f"polish the brass {number}", "old_way", when=now - 300 * DAY)
    for number in range(8):
        history.add(f"polish the brass {number}", "new_way", when=now)
    answer = Finder(tools, history=history)("polish the brass", 2, now=now)
    assert answer[0].tool.name == "new_way"


def test_one_past_request_does_not_overturn_clear_words() -> None:
    tools = [tool("get_weather", "Weather forecast of a city"), tool("get_time", "Time in a city")]
    history = History([PastRequest(query="weather in the city of Rome", tools=("get_time",), when=0.0)])
    assert [
        one.tool.name for one in Finder(tools, history=history)("weather forecast of the city", 1, now=0.0)
    ] == ["get_weather"]


def test_only_calls_that_worked_are_remembered() -> None:
    def call(name: str, status: Any) -> Call:
        return Call(call_id=name, name=name, tool=name, outcome=CallOutcome(status=status))

    trace = Trace(
        trace_id="1",
        query="q",
        started_at=1.0,
        steps=(Step(index=0, calls=(call("a", "ok"), call("b", "failed"))),),
    )
    history = History()
    assert history.add_traces([trace, Trace(trace_id="2", query="nothing called")]) == 1
    assert history._past[0].tools == ("a",)


def test_history_is_bounded() -> None:
    history = History(limit=5)
    for number in range(9):
        history.add(f"request {number}", "a", when=float(number))
    assert [one.query for one in history._past] == [f"request {number}" for number in range(4, 9)]


# -- vectors -----------------------------------------------------------------------------------------------


MEANINGS = {"money": 0, "钱": 0, "cash": 0, "rain": 1, "下雨": 1, "tree": 2, "树": 2}


class Meanings:
    """Vectors by hand: a table of words, the sum of their rows."""

    name = "meanings"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 4))
        for row, text in zip(rows, texts, strict=True):
            for word, place in MEANINGS.items():
                if word in text.lower():
                    row[place] += 1
            row[3] += 0.1
        return unit_rows(rows)


def test_vectors_bridge_languages() -> None:
    tools = [tool("a", "about money matters"), tool("b", "about rain"), tool("c", "about tree care")]
    reach = Reach(Catalog.from_tools(tools), embedder=Meanings())
    assert reach.vectors is not None
    assert reach.vectors.wait(10)
    answer = reach.find("树怎么办", 1)
    assert [one.tool.name for one in answer] == ["c"]
    assert answer.findings == ()


def test_vectors_do_not_overturn_words_that_cover_the_request() -> None:
    tools = [
        tool("rain_report", "rain report of yesterday"),
        tool("tree_list", "rain and shine: list"),
        *some_tools(5),
    ]
    index = LexicalIndex(tools)
    vectors = VectorIndex(tools, Meanings(), background=False)
    request = analyse_request("rain report of yesterday")
    before = index.score(request)
    after = vectors.weigh(before, request, index)
    assert int(before.total.argmax()) == int(after.total.argmax())


def test_a_failing_embedder_leaves_words_alone_and_is_told() -> None:
    def broken(texts: Sequence[str]) -> Any:
        raise OSError("no model here")

    reach = Reach(Catalog.from_tools([tool("get_weather", "Weather")]), embedder=broken)
    assert reach.vectors is not None
    assert not reach.vectors.wait(10)
    answer = reach.find("weather")
    assert [one.tool.name for one in answer] == ["get_weather"]
    assert [finding.code for finding in answer.findings] == ["embedder_failed"]


def test_an_updated_tool_gets_a_new_vector() -> None:
    reach = Reach(Catalog.from_tools([tool("a", "money"), tool("b", "tree")]), embedder=Meanings())
    assert reach.vectors is not None
    reach.vectors.wait(10)
    reach.update(tool("a", "rain"))
    assert [one.tool.name for one in reach.find("下雨", 1)] == ["a"]


# -- pins, bans ----------------------------------------------------------------------------------------------


def test_pins_bans_and_permissions() -> None:
    tools = some_tools(30)
    lacking = {tools[0].key: "scope: admin"}
    reach = Reach(
        Catalog.from_tools(tools),
        pins=[tools[5].key],
        deny=["mail_*", "nothing_like_this_*"],
        permissions=lacking,
    )
    offered = {one.tool.key for query in WORDS for one in reach.find(query, 10)}
    assert tools[0].key not in offered
    assert not any(key.startswith("mail_") for key in offered)
    assert all(tools[5].key in {one.tool.key for one in reach.find(query, 3)} for query in WORDS)
    assert [finding.subject for finding in reach.findings] == ["nothing_like_this_*"]
    assert reach.hidden[tools[0].key] == "permission"


def test_a_barred_tool_is_not_found_by_its_name_either() -> None:
    reach = Reach(Catalog.from_tools([tool("drop_table"), tool("read_table")]), deny=["drop_*"])
    assert [one.tool.name for one in reach.find("drop_table", 5)] == ["read_table"] or reach.find(
        "drop_table"
    ) == []


def test_scores_fall_and_why_names_the_words() -> None:
    answer = Reach(Catalog.from_tools(some_tools(40))).find("find the hotel invoice", 6)
    scores = [one.score for one in answer]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert "hotel" in answer[0].why or "invoice" in answer[0].why
