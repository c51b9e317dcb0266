"""Segmenters: from what a caller gives, the borders they show, and what happens when they are wrong or missing."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.errors import ConfigError, MissingExtraError
from agent_reach.text import segmenting
from agent_reach.text.segmenting import (
    FunctionSegmenter,
    RjiebaSegmenter,
    Segmenter,
    TeachableSegmenter,
    WordBorders,
    as_segmenter,
    pairs_within,
)
from agent_reach.text.tokens import run_terms

HAN = st.text(alphabet="查询订单退货率客户华南区上个月的", min_size=1, max_size=12)


def in_twos(text: str) -> list[str]:
    """Words of two characters from the left: 查询订单号 is 查询, 订单, 号."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]


class Dictionary:
    """The longest known word from the left, else one character; can be taught."""

    name = "dictionary"

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known = frozenset(known)

    def words(self, text: str) -> list[str]:
        found = []
        while text:
            size = max((len(word) for word in self.known if text.startswith(word)), default=1)
            found.append(text[:size])
            text = text[size:]
        return found

    def knowing(self, words: Iterable[str]) -> Dictionary:
        return Dictionary((*self.known, *words))


def test_a_function_is_a_segmenter() -> None:
    segmenter = as_segmenter(in_twos)
    assert isinstance(segmenter, Segmenter)
    assert not isinstance(segmenter, TeachableSegmenter)
    assert segmenter.name == "function:in_twos"
    assert list(segmenter.words("查询订单号")) == ["查询", "订单", "号"]


def test_an_object_is_taken_as_it_is() -> None:
    given = Dictionary(["退货率"])
    assert as_segmenter(given) is given
    assert isinstance(given, TeachableSegmenter)


def test_a_generator_of_words_is_read() -> None:
    def letters(text: str) -> Iterator[str]:
        yield from text

    assert as_segmenter(letters).words("订单") == ["订", "单"]


async def later(text: str) -> list[str]:
    return [text]


@pytest.mark.parametrize("wrong", [3, True, ["rjieba"], object(), Dictionary, later])
def test_what_is_no_segmenter_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is no segmenter") as caught:
        as_segmenter(wrong)
    assert caught.value.where == "segmenter"
    assert "'rjieba'" in caught.value.next_step


@pytest.mark.parametrize("answer", [None, 3, "查询 订单", b"x", ["查询", 3]])
def test_a_function_that_returns_no_words_is_refused_at_once(answer: Any) -> None:
    with pytest.raises(ConfigError, match="returned"):
        as_segmenter(lambda text: answer)


def test_a_function_that_fails_is_refused_at_once() -> None:
    def broken(text: str) -> list[str]:
        raise OSError("no dictionary")

    with pytest.raises(ConfigError, match=r"failed on .*no dictionary") as caught:
        as_segmenter(broken)
    assert isinstance(caught.value.__cause__, OSError)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="'jieba'") as caught:
        as_segmenter("jieba")
    assert caught.value.next_step == "did you mean 'rjieba'?"
    with pytest.raises(ConfigError) as caught:
        as_segmenter("qqqq")
    assert caught.value.next_step == "known: rjieba"


def test_an_installed_package_may_bring_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "mine"

        def load(self) -> type[Dictionary]:
            return Dictionary

    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [Point()] * (group == segmenting.ENTRY_POINTS)
    )
    assert as_segmenter("mine").name == "dictionary"


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *rest: Any) -> Any:
        if name == "rjieba":
            raise ModuleNotFoundError("No module named 'rjieba'", name="rjieba")
        return importlib.import_module(name, *rest)

    monkeypatch.setattr(segmenting, "import_module", missing)
    with pytest.raises(MissingExtraError, match="rjieba") as caught:
        as_segmenter("rjieba")
    assert caught.value.next_step == "pip install 'agent-reach-toolkit[segmenter]'"


def test_the_package_is_imported_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def watched(name: str) -> Any:
        asked.append(name)
        return importlib.import_module(name)

    monkeypatch.setattr(segmenting, "import_module", watched)
    WordBorders(as_segmenter(in_twos)).shares("查询订单")
    assert asked == []


# -- borders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "words", "within"),
    [
        ("查询订单", ["查询", "订单"], {0, 2}),
        ("客户退货率", ["客户", "退货率"], {0, 2, 3}),
        ("订单订单", ["订单", "订单"], {0, 2}),
        (
            "华南区",
            ["华南", "南区", "华南区"],
            {0, 1},
        ),  # overlapping words, as a cut for searching gives them
        ("查询的订单", ["查询", "订单"], {0, 3}),  # left out: 的
        ("查询", ["find", "", "查"], set()),
    ],
)
def test_pairs_within_words(run: str, words: list[str], within: set[int]) -> None:
    assert pairs_within(run, words) == within


def test_pairs_across_a_border_count_half() -> None:
    borders = WordBorders(FunctionSegmenter(in_twos))
    assert run_terms("查询订单号") == ("查询", "询订", "订单", "单号")
    assert borders.shares("查询订单号") == (1.0, 0.5, 1.0, 0.5)
    assert WordBorders(FunctionSegmenter(in_twos), across=0.0).shares("查询订单") == (1.0, 0.0, 1.0)


def test_a_cut_into_single_characters_says_nothing() -> None:
    assert WordBorders(FunctionSegmenter(list)).shares("买书") == (1.0,)
    assert WordBorders(FunctionSegmenter(list)).shares("查询订单") == (1.0, 1.0, 1.0)


def test_a_segmenter_that_fails_later_is_kept_as_a_failure() -> None:
    def moody(text: str) -> list[str]:
        if "号" in text:
            raise ValueError("no 号 please")
        return in_twos(text)

    borders = WordBorders(as_segmenter(moody))
    assert borders.shares("查询订单") == (1.0, 0.5, 1.0)
    assert borders.failure is None
    assert borders.shares("订单号") == (1.0, 1.0)
    assert str(borders.failure) == "no 号 please"


@given(HAN, st.lists(HAN, max_size=6))
def test_shares_fit_the_terms_whatever_the_words(run: str, words: list[str]) -> None:
    shares = WordBorders(FunctionSegmenter(lambda text: words)).shares(run)
    assert len(shares) == len(run_terms(run))
    assert set(shares) <= {0.5, 1.0}
    assert 1.0 in shares


# -- the package of the extra --------------------------------------------------------------------------------


def test_rjieba_cuts_and_learns() -> None:
    pytest.importorskip(
        "rjieba", reason="rjieba is not installed: pip install 'agent-reach-toolkit[segmenter]'"
    )
    plain = as_segmenter("rjieba")
    assert isinstance(plain, TeachableSegmenter)
    assert list(plain.words("查询订单")) == ["查询", "订单"]
    run = "查询客户退货率"
    assert list(plain.words(run)) == ["查询", "客户", "退货", "率"]
    taught = plain.knowing(["退货率", "客户", ""])
    assert list(taught.words(run)) == ["查询", "客户", "退货率"]
    assert isinstance(taught, RjiebaSegmenter)
    again = taught.knowing(["单号表"])
    assert list(again.words(run))[-1] == "退货率"  # what was taught before stays known
    assert list(plain.words(run))[-1] == "率"  # and the shared dictionary was not changed
    assert "".join(plain.words("𠮷野家在哪㐀儿")) == "𠮷野家在哪㐀儿"
