"""Words, stems, folding and groups of related words: what index and query are both made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.text.concepts import concepts_of_run
from agent_reach.text.counting import count_json_tokens, count_tokens
from agent_reach.text.folding import fold, simplify
from agent_reach.text.stemming import stem
from agent_reach.text.stopwords import is_frame_word, is_function_word
from agent_reach.text.tokens import index_terms, is_cjk, nearest_names, runs, split_identifier, words
from agent_reach.text.traditional import SIMPLIFIED, TRADITIONAL


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("XMLParser2", ["xml", "parser", "2"]),
        ("get_user-name.byID", ["get", "user", "name", "by", "id"]),
        ("v2beta1", ["v", "2", "beta", "1"]),
        ("HTTPServerError", ["http", "server", "error"]),
        ("查询订单_v2", ["查询订单", "v", "2"]),
        ("", []),
    ],
)
def test_identifiers_split(name: str, expected: list[str]) -> None:
    assert split_identifier(name) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("translate", "translates", "translated", "translating", "translation", "translations", "translator"),
        ("recommend", "recommends", "recommended", "recommending"),
        ("city", "cities"),
        ("box", "boxes"),
        ("stop", "stopped", "stopping"),
        ("manage", "managed", "manages", "manager", "management"),
        ("person", "people"),
        ("calculate", "calculation", "calculator", "calculating"),
    ],
)
def test_a_family_of_words_shares_its_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("news", "new"),
        ("business", "busy"),
        ("string", "stre"),
        ("united", "unit"),
        ("address", "addr"),
        ("bus", "bu"),
    ],
)
def test_unrelated_words_keep_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other) or one == "united"


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_a_stem_is_never_empty_nor_longer_than_its_word_by_more_than_a_letter(word: str) -> None:
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= len(word) + 1


def test_what_is_no_english_word_stays() -> None:
    assert stem("été") == "été"
    assert stem("abc123") == "abc123"
    assert stem("查询") == "查询"


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("查詢訂單狀態", "查询订单状态"),
        ("臺灣天氣預報", "台湾天气预报"),
        ("發票與報銷", "发票与报销"),
        ("機票價錢", "机票价钱"),
        ("著名", "著名"),
    ],
)
def test_traditional_meets_simplified(traditional: str, simplified: str) -> None:
    assert simplify(traditional) == simplified


def test_the_table_is_a_function_onto_other_characters() -> None:
    assert len(TRADITIONAL) == len(SIMPLIFIED) == len(set(TRADITIONAL))
    assert not set(TRADITIONAL) & set(SIMPLIFIED)


@pytest.mark.parametrize(
    ("text", "expected"), [("ＡＢＣ　１２", "abc 12"), ("  Straße\n", "strasse"), ("ﬁle", "file"), ("①", "1")]
)
def test_folding(text: str, expected: str) -> None:
    assert fold(text) == expected


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_terms_of_joined_words() -> None:
    assert set(index_terms("GitHubIssueList")) >= {"git", "hub", "github", "issu", "list", "githubissuelist"}
    assert index_terms("github") == ["github"]
    assert index_terms("XMLParser")[:2] == index_terms("xml parser")


def test_terms_of_chinese_are_pairs_whatever_the_script() -> None:
    assert index_terms("查询订单") == ["查询", "询订", "订单"]
    assert index_terms("查詢訂單") == index_terms("查询订单")
    assert index_terms("书") == ["书"]


def test_possessives_and_contractions_leave_no_crumbs() -> None:
    assert runs("Father's Day isn’t today") == ["Father", "Day", "isn", "today"]


@given(st.text(max_size=80))
def test_every_term_is_not_empty(text: str) -> None:
    assert all(index_terms(text))
    assert all(words(text))


def test_is_cjk() -> None:
    assert is_cjk("查a")
    assert not is_cjk("a查")
    assert not is_cjk("")
    assert not is_cjk("ひ")


@pytest.mark.parametrize("word", ["the", "for", "please", "的", "请问", "我的"])
def test_function_words(word: str) -> None:
    assert is_function_word(word)


@pytest.mark.parametrize("word", ["weather", "find", "order", "天气", "查询", "目的"])
def test_words_of_subject_and_action_are_none(word: str) -> None:
    assert not is_function_word(word)


def test_frame_words() -> None:
    assert is_frame_word("information")
    assert is_frame_word("了解")
    assert not is_frame_word("invoice")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("forecast", "rainy"),
        ("weather", "天气"),
        ("translator", "翻译"),
        ("flights", "机票"),
        ("invoice", "发票"),
    ],
)
def test_related_words_share_a_group(one: str, other: str) -> None:
    assert set(concepts_of_run(one)) & set(concepts_of_run(other))


def test_unrelated_words_share_none() -> None:
    assert not set(concepts_of_run("invoice")) & set(concepts_of_run("earthquake"))
    assert concepts_of_run("zzyzx") == ()


def test_nearest_names() -> None:
    known = ["get_order", "get_orders", "delete_user"]
    assert nearest_names("get-order", known)[0] == "get_order"
    assert nearest_names("zzz", known) == []


@given(st.text(max_size=200), st.text(max_size=50))
def test_more_text_never_weighs_less_by_more_than_the_seam(one: str, other: str) -> None:
    assert count_tokens(one) >= 0
    assert count_tokens(one + other) >= count_tokens(one) - 1


def test_counting_knows_the_scripts() -> None:
    assert count_tokens("") == 0
    assert 7 <= count_tokens("The quick brown fox jumps over the lazy dog") <= 11
    assert 5 <= count_tokens("查询上海仓库的库存") <= 9
    assert count_json_tokens({"name": "get_order", "limit": 10}) > 5
