"""The recorded troubles with emitted arguments, with other inputs of the same kinds and counter-cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.router_normalize.support import FLAG, NUMBER, TEXT, WHOLE, codes, normalize, rules, tool

from agent_reach.records.tool import Tool
from agent_reach.router.normalize import NormalizeOptions, normalize_call

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] != "A23"], ids=lambda case: case["id"])
def test_recorded_case(case: dict[str, Any]) -> None:
    given = case["input"]
    schema = given.get("schema") or given["tool"]["inputSchema"]
    raw = given["raw_arguments"] if "raw_arguments" in given else given["call_arguments"]
    done = normalize_call(
        Tool(name="probe", input_schema=schema), raw, finish_reason=given.get("finish_reason", "")
    )
    if case["check"].get("rejected"):
        assert done.problems
        assert not done.is_legal
    else:
        assert done.problems == ()
        assert done.arguments == case["check"].get("normalised_arguments", raw)
        assert done.changes or done.arguments == raw or isinstance(raw, (str, type(None)))
    if case["counter_case"]:
        assert done.changes == ()


TAGS = tool({"tags": {"type": "array", "items": TEXT}, "kinds": {"type": "array", "items": {"type": "string", "enum": ["table", "chart"]}}, "sizes": {"type": "array", "items": WHOLE}})  # fmt: skip


@pytest.mark.parametrize(
    ("emitted", "expected"),
    [
        ({"kinds": '["table", "chart"]'}, {"kinds": ["table", "chart"]}),
        ({"kinds": "['table']"}, {"kinds": ["table"]}),
        ({"kinds": "table"}, {"kinds": ["table"]}),
        ({"kinds": "table, chart"}, {"kinds": ["table", "chart"]}),
        ({"kinds": "TABLE、chart"}, {"kinds": ["table", "chart"]}),
        ({"sizes": "1,2,3"}, {"sizes": [1, 2, 3]}),
        ({"sizes": "[1, 2]"}, {"sizes": [1, 2]}),
        ({"sizes": 4}, {"sizes": [4]}),
        ({"sizes": ["1", "二"]}, {"sizes": [1, 2]}),
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"tags": "红、绿、蓝"}, {"tags": ["红", "绿", "蓝"]}),
        ({"tags": "red,green"}, {"tags": ["red", "green"]}),
        ({"tags": "New York; Portland"}, {"tags": ["New York", "Portland"]}),
        ({"tags": {"items": ["a", "b"]}}, {"tags": ["a", "b"]}),
        ({"tags": {"item": "a"}}, {"tags": ["a"]}),
    ],
)
def test_b02_lists_in_other_clothes(emitted: dict[str, Any], expected: dict[str, Any]) -> None:
    done = normalize(TAGS, emitted)
    assert done.problems == ()
    assert done.arguments == expected


@pytest.mark.parametrize(
    "emitted",
    [
        {"tags": "Portland, Oregon"},
        {"tags": "北京市，朝阳区"},
        {"kinds": "pie"},
        {"kinds": '["table"'},
        {"sizes": "1 or 2"},
    ],
)
def test_b02_what_is_no_certain_list_is_never_passed_through(emitted: dict[str, Any]) -> None:
    assert normalize(TAGS, emitted).problems


def test_b05_null_in_words_only_where_null_is_allowed_or_text_is_not() -> None:
    probe = tool({"plain": TEXT, "maybe": {"type": ["string", "null"]}, "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "mood": {"enum": ["None", "Light"]}})  # fmt: skip
    assert normalize(probe, {"maybe": "null"}).arguments == {"maybe": None}
    assert normalize(probe, {"any": "None"}).arguments == {"any": None}
    for untouched in ({"plain": "None"}, {"mood": "None"}, {"maybe": "None of them"}):
        done = normalize(probe, untouched)
        assert done.arguments == untouched
        assert done.changes == ()
    off = normalize(probe, {"maybe": "null"}, options=NormalizeOptions(disabled=frozenset({"null_text"})))
    assert off.arguments == {"maybe": "null"}


def test_b07_null_is_left_out_only_where_optional_and_not_allowed() -> None:
    probe = tool({"need": TEXT, "free": NUMBER, "null_ok": {"type": ["string", "null"]}, "deep": {"type": "array", "items": {"type": "object", "properties": {"a": WHOLE}}}}, ["need"])  # fmt: skip
    done = normalize(probe, {"need": "x", "free": None, "null_ok": None, "deep": [{"a": None}]})
    assert done.arguments == {"need": "x", "null_ok": None, "deep": [{}]}
    assert [change.pointer for change in done.changes] == ["/free", "/deep/0/a"]
    refused = normalize(probe, {"need": None})
    assert refused.problems


@pytest.mark.parametrize(
    ("emitted", "value"),
    [("true", True), ("FALSE", False), (" True ", True), ('"false"', False), ([True], True)],
)
def test_b12_booleans_in_words(emitted: Any, value: bool) -> None:
    assert normalize(tool({"flag": FLAG}), {"flag": emitted}).arguments == {"flag": value}


@pytest.mark.parametrize("emitted", ["maybe", "nope", "yes", "1", 1, 0, "是", "truee"])
def test_b12_other_words_are_refused_unless_asked_for(emitted: Any) -> None:
    done = normalize(tool({"flag": FLAG}), {"flag": emitted})
    assert done.problems
    lenient = NormalizeOptions(enabled=frozenset({"boolean_word"}))
    allowed = normalize(tool({"flag": FLAG}), {"flag": emitted}, options=lenient)
    assert bool(allowed.problems) is (emitted in ("maybe", "nope", "truee"))


def test_b13_a_single_empty_text_that_is_legal_is_kept() -> None:
    probe = tool({"id": TEXT, "note": TEXT, "count": WHOLE}, ["id"])
    kept = normalize(probe, {"id": "7", "note": ""})
    assert kept.arguments == {"id": "7", "note": ""}
    assert kept.changes == ()
    padded = normalize(probe, {"id": "7", "note": "", "count": ""})
    assert padded.arguments == {"id": "7"}
    assert rules(padded) == ["blank_text", "blank_text_lenient"]
    assert normalize(probe, {"id": "", "count": 1}).arguments == {"id": "", "count": 1}


def test_b15_nothing_is_invented() -> None:
    probe = tool(
        {"q": TEXT, "n": {"type": "integer", "default": 10}, "only": {"type": "string", "enum": ["one"]}},
        ["q"],
    )
    for given in ({"q": "x"}, {"q": "x", "n": 3}):
        done = normalize(probe, given, conversation="please search for y with one and 10")
        assert done.arguments == given
        assert done.changes == ()
    assert codes(normalize(probe, {})) == ["missing_required"]


@pytest.mark.parametrize(
    ("emitted", "expected"),
    [
        ("FAILED", "Failed"),
        (" connected ", "Connected"),
        ("in_progress", "In Progress"),
        ("ＦＡＩＬＥＤ", "Failed"),
        ("Failed.", "Failed"),
    ],
)
def test_b16_enum_forms(emitted: str, expected: str) -> None:
    probe = tool({"status": {"type": "string", "enum": ["Connected", "Failed", "In Progress"]}})
    assert normalize(probe, {"status": emitted}).arguments == {"status": expected}


def test_b16_an_unknown_value_is_refused_with_the_list() -> None:
    probe = tool({"status": {"type": "string", "enum": ["Connected", "Failed"]}})
    for word in ("Open", "Fail", "connecte", "Connected or Failed"):
        done = normalize(probe, {"status": word})
        assert codes(done) == ["not_in_enum"]
        assert set(done.problems[0].expected) == {"Connected", "Failed"}


def test_b16_two_values_in_one_form_are_asked_about() -> None:
    probe = tool({"mode": {"type": "string", "enum": ["Fast", "FAST", "slow"]}})
    done = normalize(probe, {"mode": "fast"})
    assert codes(done) == ["ambiguous"]
    assert normalize(probe, {"mode": "FAST"}).changes == ()


@pytest.mark.parametrize(
    ("names", "emitted", "expected"),
    [
        (["imageType"], {"image_type": 1}, {"imageType": 1}),
        (["image_type"], {"imageType": 1}, {"image_type": 1}),
        (["image-type"], {"IMAGE_TYPE": 1}, {"image-type": 1}),
        (["keywords"], {"keyword": 1}, {"keywords": 1}),
        (["category"], {"categories": 1}, {"category": 1}),
        (["ids[]"], {"ids": 1}, {"ids[]": 1}),
    ],
)
def test_b20_names(names: list[str], emitted: dict[str, Any], expected: dict[str, Any]) -> None:
    done = normalize(tool(dict.fromkeys(names, WHOLE)), emitted)
    assert done.arguments == expected
    assert rules(done) == ["parameter_name"]


def test_b20_ambiguous_and_taken_names_are_left_alone() -> None:
    both = tool({"image_type": TEXT, "imageType": TEXT})
    assert normalize(both, {"ImageType": "x"}).arguments == {"ImageType": "x"}
    one = tool({"imageType": TEXT})
    twice = normalize(one, {"imageType": "a", "image_type": "b"})
    assert twice.arguments == {"imageType": "a", "image_type": "b"}
    assert twice.problems
    assert normalize(one, {"image_type": "a", "IMAGE_TYPE": "b"}).problems
    free = tool({"imageType": TEXT}, additionalProperties=True)
    assert normalize(free, {"image_type": "x"}).arguments == {"image_type": "x"}


@pytest.mark.parametrize(
    "emitted",
    [
        {"arguments": {"text": "hello"}},
        {"input": '{"text": "hello"}'},
        {"params": {"arguments": {"text": "hello"}}},
        '{"arguments": "{\\"input\\": \\"{\\\\\\"text\\\\\\": \\\\\\"hello\\\\\\"}\\"}"}',
        {"probe": {"text": "hello"}},
        {"name": "probe", "arguments": {"text": "hello"}},
        {"function": {"name": "probe", "arguments": '{"text": "hello"}'}},
        [{"text": "hello"}],
    ],
)
def test_b21_wrappers(emitted: Any) -> None:
    done = normalize(tool({"text": TEXT}, ["text"]), emitted)
    assert done.problems == ()
    assert done.arguments == {"text": "hello"}


@pytest.mark.parametrize(
    ("properties", "emitted"),
    [
        ({"input": {"type": "object"}}, {"input": {"text": "x"}}),
        ({"data": TEXT, "text": TEXT}, {"data": '{"text": "x"}'}),
        ({"params": {"type": "object"}, "text": TEXT}, {"params": {"text": "x"}}),
    ],
)
def test_b22_declared_names_are_no_wrappers(properties: dict[str, Any], emitted: dict[str, Any]) -> None:
    done = normalize(tool(properties), emitted)
    assert done.arguments == emitted
    assert done.changes == ()


def test_b21_a_wrapper_beside_other_arguments_is_none() -> None:
    done = normalize(tool({"text": TEXT, "n": WHOLE}), {"arguments": {"text": "x"}, "n": 1})
    assert done.problems
    assert normalize(tool({"text": TEXT}), {"arguments": {"other": 1}}).problems


@pytest.mark.parametrize("emitted", [None, "", "  ", "null", "{}", "\n{}\n", '"{}"'])
def test_b26_b27_nothing_means_no_arguments(emitted: Any) -> None:
    assert normalize(tool({"limit": WHOLE}), emitted).arguments == {}
    refused = normalize(tool({"limit": WHOLE, "q": TEXT}, ["q", "limit"]), emitted)
    assert codes(refused) == ["missing_required", "missing_required"]
    assert {problem.expected for problem in refused.problems} == {"q", "limit"}


WRITE = tool(
    {"path": TEXT, "content": TEXT, "lines": {"type": "array", "items": TEXT}, "n": WHOLE}, effects=["write"]
)
READ = tool(
    {"path": TEXT, "content": TEXT, "lines": {"type": "array", "items": TEXT}, "n": WHOLE}, effects=["read"]
)


@pytest.mark.parametrize(
    "raw",
    ['{"path":"a', '{"path":"a"', '{"path":', '{', '{"path":"a","lines":["b"', '{"path":"a","lines":["b",', '{"n": 12', '{"path":"a\\', '{"path":"\\u12', '{"n": tru', "{'path': 'a"],
)  # fmt: skip
def test_b28_b29_cut_text_is_truncated_for_whatever_may_write(raw: str) -> None:
    for probe in (WRITE, tool({"path": TEXT})):
        done = normalize(probe, raw)
        assert codes(done) == ["truncated"]
        assert done.arguments is None
        assert "send less" in done.problems[0].message


def test_b28_the_models_own_word_counts_too() -> None:
    for reason in ("length", "max_tokens"):
        assert codes(normalize(READ, '{"path":"a"}', finish_reason=reason)) == ["truncated"]
    assert normalize(READ, '{"path":"a"}', finish_reason="tool_calls").problems == ()


def test_b29_a_reading_tool_gets_the_brackets_and_a_mark() -> None:
    done = normalize(READ, '{"path":"a","lines":["b","c"')
    assert done.arguments == {"path": "a", "lines": ["b", "c"]}
    assert rules(done) == ["closed_truncated_json"]
    assert [finding.code for finding in done.findings] == ["repaired_truncated_arguments"]
    for raw in ('{"path":"a', '{"n": 12', '{"path":"a","lines":["b",', '{"path":'):
        assert codes(normalize(READ, raw)) == ["truncated"]
    off = NormalizeOptions(disabled=frozenset({"closed_truncated_json"}))
    assert codes(normalize(READ, '{"path":"a"', options=off)) == ["truncated"]


def test_json_repair_is_for_reading_tools_and_marked() -> None:
    raw = '{"path": "a" "n": 3}'
    assert codes(normalize(WRITE, raw)) == ["unparsable"]
    done = normalize(READ, raw)
    assert done.arguments == {"path": "a", "n": 3}
    assert rules(done) == ["json_repair"]
    assert [finding.code for finding in done.findings] == ["repaired_arguments"]


@pytest.mark.parametrize(
    "text",
    [
        "what's the user's plan",
        'say "hi"',
        "a\\b",
        "{not json}",
        "[1, 2",
        "None",
        "it's 5 o'clock, \"ok\"",
        "// no comment",
        "```",
    ],
)
def test_b31_b34_correct_json_passes_untouched(text: str) -> None:
    probe = tool({"query": TEXT}, ["query"])
    for raw in (json.dumps({"query": text}), json.dumps({"query": text}, ensure_ascii=False)):
        done = normalize(probe, raw)
        assert done.arguments == {"query": text}
        assert done.changes == ()


@pytest.mark.parametrize(
    "raw", ['{"m":"\\가"}', '{"m":"\\u7나"}', '{"m":"\\ud800"}', '{"m":"a\\udc00b"}', '{"m":"\\x41"}']
)
def test_b35_bad_escapes_are_refused_with_their_position(raw: str) -> None:
    for effects in (["read"], ["write"]):
        done = normalize(tool({"m": TEXT}, effects=effects), raw)
        assert codes(done) == ["unparsable"]
        assert f"character {raw.index(chr(92))}" in done.problems[0].message
        json.dumps([problem.message for problem in done.problems], ensure_ascii=False).encode("utf-8")


def test_b35_a_whole_pair_is_fine() -> None:
    assert normalize(tool({"m": TEXT}), '{"m":"\\ud83d\\ude00"}').arguments == {"m": "😀"}


@pytest.mark.parametrize("number", [612345678901234567, 2**63, -(2**70), 10**40, 9007199254740993])
def test_b36_large_whole_numbers_stay_exact(number: int) -> None:
    probe = tool({"id": WHOLE, "ref": {"type": ["string", "number"]}, "name": TEXT})
    for raw in (
        f'{{"id": {number}, "ref": {number}}}',
        f"{{'id': {number}, 'ref': {number},}}",
        {"id": str(number), "ref": number},
    ):
        done = normalize(probe, raw)
        assert done.arguments == {"id": number, "ref": number}
    assert normalize(probe, {"name": number}).arguments == {"name": str(number)}


@pytest.mark.parametrize("text", ["25-4-2031", "11/30/31", "3/4/2026", "2031-02-30", "someday", "31.12.2031"])
def test_b37_uncertain_dates_are_refused(text: str) -> None:
    done = normalize(tool({"date": {"type": "string", "format": "date"}}, ["date"]), {"date": text})
    assert done.problems
    assert done.arguments == {"date": text}


def test_b37_a_stated_order_or_clock_makes_them_certain() -> None:
    probe = tool({"date": {"type": "string", "format": "date"}}, ["date"])
    for order, expected in (("dmy", "2026-04-03"), ("mdy", "2026-03-04")):
        done = normalize(probe, {"date": "3/4/2026"}, options=NormalizeOptions(date_order=order))  # type: ignore[arg-type]
        assert done.arguments == {"date": expected}
    assert normalize(probe, {"date": "25-4-2031"}, options=NormalizeOptions(date_order="dmy")).arguments == {
        "date": "2031-04-25"
    }
    assert normalize(probe, {"date": "tomorrow"}).arguments == {"date": "2025-12-11"}
    refused = normalize(probe, {"date": "tomorrow"}, now=None)
    assert refused.problems
    assert "now" in refused.problems[0].message


def test_a15_a_null_that_the_enum_forgot_is_left_out() -> None:
    probe = tool({"kind": {"type": ["null", "string"], "enum": ["RED", "BLUE"]}})
    assert normalize(probe, {"kind": None}).arguments == {}
    assert normalize(probe, {"kind": "red"}).arguments == {"kind": "RED"}
    assert normalize(probe, {"kind": "RED"}).changes == ()


def test_a35_defaults_are_never_filled_in() -> None:
    probe = tool({"name": {"type": "string", "default": None}, "limit": {"type": "integer", "default": 20}})
    assert normalize(probe, {}).arguments == {}
    assert normalize(probe, {"limit": "5"}).arguments == {"limit": 5}


def test_a23_a_name_that_was_shown_leads_back_to_the_strange_key() -> None:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.catalog.export import to_openai

    case = next(case for case in CASES if case["id"] == "A23")
    catalog = Catalog.load([case["input"]["tool"]])
    exported = to_openai(catalog)
    (aliases,) = exported.aliases.values()
    probe = catalog.tools[0]
    for alias, own in aliases.items():
        value: Any = ["1"] if own == "ids[]" else "json"
        required: dict[str, Any] = {} if own == "ids[]" else {"ids[]": ["1"]}
        done = normalize(probe, {alias: value, **required})
        assert done.arguments == {own: value, **required}
        assert done.problems == ()
    assert normalize(probe, {"ids[]": ["1"], "ids__": "x"}).changes == ()


def test_padding_under_the_right_name_gives_way_to_the_value() -> None:
    done = normalize(tool({"user_id": TEXT, "n": WHOLE}), {"userId": "7", "user_id": None, "n": 1})
    assert done.arguments == {"user_id": "7", "n": 1}
