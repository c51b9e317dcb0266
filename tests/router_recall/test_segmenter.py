"""A segmenter within the reach layer: what a request weighs, what stays as it was, settings in files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach import Catalog, Reach
from agent_reach.config.settings import ExposureConfig
from agent_reach.errors import ConfigError, MissingExtraError
from agent_reach.evals.exposure import Exposer
from agent_reach.records.task import Task
from agent_reach.records.tool import AgentNote, ParameterHint, Tool
from agent_reach.router.reach_config import layer_options
from agent_reach.router.reach_words import domain_words
from agent_reach.router.request import analyse_request
from agent_reach.text.segmenting import FunctionSegmenter, WordBorders

# Of the request 甲乙丙丁 (words 甲乙 and 丙丁) the first tool holds a pair across the border, the second one within a word.
TOOLS = [Tool(name="a", description="戊乙丙己"), Tool(name="b", description="戊丙丁己")]
REQUEST = "甲乙丙丁"


def in_twos(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


class Remembering:
    """Words of two characters, and what it was taught."""

    name = "remembering"

    def __init__(self, taught: tuple[str, ...] = ()) -> None:
        self.taught = taught

    def words(self, text: str) -> list[str]:
        return [text] if text in self.taught else in_twos(text)

    def knowing(self, words: Iterable[str]) -> Remembering:
        return Remembering((*self.taught, *words))


def order(reach: Reach, request: str = REQUEST) -> list[str]:
    return [one.tool.name for one in reach.find(request)]


def test_a_pair_within_a_word_counts_more_than_one_across_a_border() -> None:
    assert order(Reach(TOOLS)) == ["a", "b"]
    assert order(Reach(TOOLS, segmenter=in_twos)) == ["b", "a"]
    assert order(Reach(TOOLS, segmenter=Remembering())) == ["b", "a"]


def test_the_index_is_the_same_with_and_without() -> None:
    plain, segmented = Reach(TOOLS).finder.index, Reach(TOOLS, segmenter=in_twos).finder.index
    for name, value in vars(plain).items():
        other = getattr(segmented, name)
        same = np.array_equal(value, other) if isinstance(value, np.ndarray) else value == other
        assert same, name


@given(st.text(alphabet="甲乙丙丁的我们查询订单 ab，。", max_size=20))
def test_a_segmenter_changes_shares_and_nothing_else(text: str) -> None:
    plain = analyse_request(text)
    segmented = analyse_request(text, borders=WordBorders(FunctionSegmenter(in_twos)))
    assert (plain.needs, plain.before, plain.kinds) == (segmented.needs, segmented.before, segmented.kinds)
    assert (plain.has_subject, plain.has_words) == (segmented.has_subject, segmented.has_words)
    assert list(plain.items) == list(segmented.items)
    for key, item in plain.items.items():
        assert item.share == 1.0
        assert segmented.items[key].share in (0.5, 1.0)
        assert (item.weight, item.count) == (segmented.items[key].weight, segmented.items[key].count)
    whole = analyse_request(text, borders=WordBorders(FunctionSegmenter(lambda run: [run])))
    assert whole == plain  # one word, no border


def test_a_pair_that_is_once_within_a_word_counts_whole() -> None:
    borders = WordBorders(FunctionSegmenter(in_twos))
    assert analyse_request("甲乙丙", borders=borders).items["乙丙"].share == 0.5
    assert analyse_request("甲乙丙，乙丙", borders=borders).items["乙丙"].share == 1.0


def test_a_request_whose_subject_lies_across_a_border_still_finds() -> None:
    tools = [Tool(name="shop", description="甲乙"), Tool(name="other", description="己庚")]
    cut = {"我们甲乙": ["我们", "甲", "乙"]}
    assert order(Reach(tools, segmenter=lambda text: cut.get(text, [text])), "我们甲乙") == ["shop"]


def test_traditional_and_full_width_requests_are_cut_as_simplified_ones() -> None:
    seen: list[str] = []

    def watch(text: str) -> list[str]:
        seen.append(text)
        return in_twos(text)

    reach = Reach(TOOLS, segmenter=watch)
    seen.clear()
    reach.find("查詢訂單 ＡＰＩ list of 客戶")
    reach.find("查询订单，客户")
    assert seen == ["查询订单", "客户"] or seen == [
        "查询订单"
    ]  # runs are remembered; a single pair needs no cut
    assert not any(text.isascii() for text in seen)


def test_select_and_update_use_it_too() -> None:
    reach = Reach(TOOLS, segmenter=in_twos)
    messages = [{"role": "user", "content": REQUEST}]
    assert [tool.name for tool in reach.select(messages, TOOLS, k=1)] == ["b"]
    assert [tool.name for tool in Reach(TOOLS).select(messages, TOOLS, k=1)] == ["a"]
    reach.update(Tool(name="c", description="戊甲乙丙丁"))
    assert order(reach)[0] == "c"


# -- the catalog's own words ---------------------------------------------------------------------------------


def test_the_words_that_a_catalog_coins() -> None:
    note = AgentNote(
        summary="这里的长句子不算作单个词语",
        triggers=("退货率", "帮我查一下上个月的全部退货情况", "查 对账单"),
        param_hints={"region": ParameterHint(names=("大区",), values={"south": ("華南區", "南")})},
    )
    schema = {"properties": {"region": {"enum": ["south", "东北"], "description": "地区说明"}, "期间": {}}}
    tool = Tool(
        name="查询退货率_v2", aliases=("退货统计",), description="描述不算", input_schema=schema, note=note
    )
    assert set(domain_words([tool, tool])) == {
        "查询退货率", "退货统计", "退货率", "对账单", "大区", "华南区", "东北", "期间"
    }  # fmt: skip
    assert domain_words([Tool(name="get_weather", description="Weather")]) == []


def test_they_are_taught_without_those_of_hidden_tools() -> None:
    tools = [Tool(name="退货率"), Tool(name="密钥表", server="admin")]
    given = Remembering(("旧词",))
    reach = Reach(tools, segmenter=given, deny=["admin/*"])
    assert reach.finder.borders is not None
    taught = reach.finder.borders.segmenter
    assert isinstance(taught, Remembering)
    assert taught.taught == ("旧词", "退货率")
    assert given.taught == ("旧词",)


# -- failures and settings -----------------------------------------------------------------------------------


def test_a_segmenter_that_fails_while_searching_is_reported_and_pairs_count_alike() -> None:
    def moody(text: str) -> list[str]:
        if text == REQUEST:
            raise OSError("gone")
        return in_twos(text)

    reach = Reach(TOOLS, segmenter=moody)
    assert reach.find("丙丁").findings == ()
    found = reach.find(REQUEST)
    assert [one.tool.name for one in found] == ["a", "b"]
    assert [(finding.code, finding.severity) for finding in found.findings] == [
        ("segmenter_failed", "warning")
    ]
    assert "gone" in found.findings[0].message.en
    assert "gone" in found.findings[0].message.zh


def project(folder: Path, reach: dict[str, Any]) -> Path:
    (folder / "tools.json").write_text(
        json.dumps({"tools": [{"name": tool.name, "description": tool.description} for tool in TOOLS]}),
        encoding="utf-8",
    )
    path = folder / "reach.yaml"
    path.write_text(json.dumps({"catalog": "tools.json", "reach": reach}), encoding="utf-8")
    return path


class Point:
    """An installed package that brings a segmenter."""

    name = "twos"

    def load(self) -> Any:
        return Remembering


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()])


@pytest.mark.usefixtures("_installed")
def test_settings_of_a_project_and_of_a_run(tmp_path: Path) -> None:
    assert order(Reach.from_config(project(tmp_path, {"segmenter": "twos"}))) == ["b", "a"]
    assert order(Reach.from_config(project(tmp_path, {"segmenter": None}))) == ["a", "b"]
    task = Task(id="t", kind="must", query=REQUEST)
    for settings, first in (({}, "a"), ({"segmenter": "twos"}, "b")):
        exposure = ExposureConfig(mode="reach", settings={"k": 1, **settings})
        offered = Exposer(Catalog.from_tools(TOOLS), exposure).expose(task).exposure.offered
        assert offered == (first,)


@pytest.mark.parametrize(
    ("value", "message", "step"),
    [
        ("jieba", "no segmenter is named 'jieba'", "did you mean 'rjieba'?"),
        (True, "True is no name of a segmenter", "write segmenter: rjieba, or leave it out"),
        ({"name": "rjieba"}, "is no name of a segmenter", "write segmenter: rjieba, or leave it out"),
    ],
)
def test_wrong_settings_say_where_and_what(value: Any, message: str, step: str) -> None:
    with pytest.raises(ConfigError) as caught:
        layer_options({"segmenter": value}, "reach.yaml: reach")
    assert message in caught.value.message
    assert (caught.value.where, caught.value.next_step) == ("reach.yaml: reach.segmenter", step)


def test_a_missing_extra_is_told_before_anything_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("agent_reach.text.segmenting.import_module", lambda name: _builtin() if name != "rjieba" else missing(name))  # fmt: skip
    with pytest.raises(MissingExtraError, match="rjieba"):
        Reach.from_config(project(tmp_path, {"segmenter": "rjieba"}))


def _builtin() -> Any:
    from agent_reach.text import segmenting

    return segmenting


def test_rjieba_in_a_reach_layer() -> None:
    pytest.importorskip(
        "rjieba", reason="rjieba is not installed: pip install 'agent-reach-toolkit[segmenter]'"
    )
    tools = [
        Tool(name="refunds", description="按门店统计退货率"),
        Tool(name="orders", description="查询客户订单"),
        Tool(name="rooms", description="预订会议室"),
    ]
    reach = Reach(tools, segmenter="rjieba")
    assert order(reach, "帮我查一下客户的订单")[0] == "orders"
    assert order(reach, "上个月退货率是多少")[0] == "refunds"
    request = analyse_request("查询订单", borders=reach.finder.borders)
    assert [request.items[key].share for key in ("查询", "询订", "订单")] == [1.0, 0.5, 1.0]
    coined = [*tools, Tool(name="审单台", description="审核单据")]
    borders = Reach(coined, segmenter="rjieba").finder.borders
    assert borders is not None
    assert borders.shares("打开审单台")[-2:] == (1.0, 1.0)
    assert reach.find("查询订单").findings == ()
