"""The recorded kinds of trouble with emitted calls, each with its right value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.duplicates import mark_duplicates
from agent_reach.calls.identifiers import map_ids, pair_results
from agent_reach.calls.message import parse_message
from agent_reach.calls.stream import assemble_calls
from agent_reach.records.codec import content_hash
from agent_reach.records.tool import Tool

CASES: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parent / "cases.jsonl").read_text("utf-8").splitlines())
}


def test_b40_text_and_calls_are_both_kept() -> None:
    reply = parse_message(CASES["B40"]["input"]["message"])
    assert len(reply.calls) == CASES["B40"]["check"]["calls"]
    assert reply.text == "Let me look."
    assert reply.calls[0].arguments == {"q": 1}


@pytest.mark.parametrize(
    "text",
    [
        CASES["B42"]["input"]["message"]["content"],
        '{"name": "x", "arguments": {}}',
        "<function=x>{}</function>",
        '[TOOL_CALLS][{"name": "x", "arguments": {}}]',
        '```json\n{"name": "x", "arguments": {}}\n```',
        "[x(a=1)]",
    ],
)
def test_b42_without_tools_text_is_only_text(text: str) -> None:
    reply = parse_message({"role": "assistant", "content": text}, tools_offered=False)
    assert reply.calls == ()
    assert reply.text == text
    assert reply.problems == ()


@pytest.mark.parametrize(
    ("known", "emitted", "expected"),
    [
        (CASES["B44"]["input"]["known_tools"], [CASES["B44"]["input"]["call"]["name"]], ["shell"]),
        (
            CASES["B45"]["input"]["known_tools"],
            CASES["B45"]["input"]["calls"],
            CASES["B45"]["check"]["resolved"],
        ),
        (
            CASES["B46"]["input"]["known_tools"],
            CASES["B46"]["input"]["calls"],
            CASES["B46"]["check"]["resolved"],
        ),
        (CASES["B47"]["input"]["known_tools"], [CASES["B47"]["input"]["call"]["name"]], [None]),
    ],
)
def test_b44_to_b47_names(known: list[str], emitted: list[str], expected: list[str | None]) -> None:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.catalog.naming import resolve_emitted_name

    catalog = Catalog.from_tools([Tool(name=name) for name in known])
    resolved = [resolve_emitted_name(name, catalog).tool for name in emitted]
    assert [tool.name if tool else None for tool in resolved] == expected


def test_b48_calls_that_share_an_id_keep_their_own_results() -> None:
    messages = CASES["B48"]["input"]["messages"]
    used: set[str] = set()
    reply = parse_message(messages[0], used_ids=used)
    assert len({call.call_id for call in reply.calls}) == 2
    assert [finding.code for finding in reply.findings] == ["duplicate_call_id"]
    pairing = pair_results(
        [(call.emitted_id, call.name) for call in reply.calls],
        [(message["tool_call_id"], "") for message in messages[1:]],
    )
    pairs = [
        [f"x={reply.calls[call].arguments['x']}", messages[1 + result]["content"]]  # type: ignore[index]
        for call, result in sorted(pairing.results.items())
    ]
    assert pairs == CASES["B48"]["check"]["pairs"]
    later = parse_message(messages[0], used_ids=used)
    assert {call.call_id for call in later.calls}.isdisjoint(call.call_id for call in reply.calls)


def test_b49_parallel_calls_of_one_name_are_kept() -> None:
    reply = parse_message(CASES["B49"]["input"]["message"])
    assert [call.arguments for call in reply.calls] == [{"q": "X"}, {"q": "Y"}]
    assert [call.duplicate_of for call in mark_duplicates(reply.calls)] == ["", ""]


def test_b50_identical_calls_run_once() -> None:
    reply = parse_message(CASES["B50"]["input"]["message"])
    marked = mark_duplicates(reply.calls)
    assert len(marked) == CASES["B50"]["check"]["requested"]
    assert sum(not call.duplicate_of for call in marked) == CASES["B50"]["check"]["executed"]
    assert {call.duplicate_of for call in marked[1:]} == {"k0"}


@pytest.mark.parametrize(
    ("order", "policy", "safe", "executed"),
    [
        ("AABA", "unsafe", False, 3),
        ("ABAB", "unsafe", False, 4),
        ("A" * 70, "unsafe", False, 1),
        ("AAA", "unsafe", True, 3),
        ("AAA", "all", True, 1),
        ("AAA", "none", False, 3),
    ],
)
def test_b50_policy(order: str, policy: Any, safe: bool, executed: int) -> None:
    message = {
        "tool_calls": [
            {"id": f"k{index}", "function": {"name": "send", "arguments": json.dumps({"text": letter})}}
            for index, letter in enumerate(order)
        ]
    }
    marked = mark_duplicates(parse_message(message).calls, policy=policy, is_safe_to_repeat=lambda name: safe)
    assert sum(not call.duplicate_of for call in marked) == executed


def test_b50_key_order_does_not_hide_a_duplicate() -> None:
    message = {
        "tool_calls": [
            {"id": "a", "function": {"name": "send", "arguments": '{"a": 1, "b": 2}'}},
            {"id": "b", "function": {"name": "send", "arguments": '{"b": 2, "a": 1}'}},
        ]
    }
    assert mark_duplicates(parse_message(message).calls)[1].duplicate_of == "a"


def test_b51_a_completed_object_ends_a_streamed_call() -> None:
    calls = assemble_calls(CASES["B51"]["input"]["deltas"])
    assert [json.loads(call["function"]["arguments"]) for call in calls] == CASES["B51"]["check"]["calls"]
    assert [call["function"]["name"] for call in calls] == ["search", "search"]


def test_b53_ids_are_mapped_for_call_and_result_alike() -> None:
    case = CASES["B53"]
    mapping = map_ids(case["input"]["ids"], case["input"]["rule"])
    assert len(set(mapping.values())) == case["check"]["distinct"]
    assert all(re.fullmatch(case["input"]["rule"], value) for value in mapping.values())
    assert [identifier for identifier, new in mapping.items() if new == identifier] == case["check"][
        "unchanged"
    ]
    assert map_ids(case["input"]["ids"], case["input"]["rule"]) == mapping


@pytest.mark.parametrize(
    "rule", [r"^[a-zA-Z0-9]{9}$", r"^[a-z0-9_]{1,64}$", r"^\d{1,16}$", r"^[0-9a-f]{32}$"]
)
def test_b53_other_rules(rule: str) -> None:
    ids = ["call|1", "call\n1", "x" * 90, "abc", "", "编号"]
    mapping = map_ids(ids, rule)
    assert len(set(mapping.values())) == len(ids)
    assert all(re.fullmatch(rule, value) for value in mapping.values())


def test_b54_results_without_ids_are_not_guessed() -> None:
    case = CASES["B54"]
    pairing = pair_results(
        [(call["id"], call["name"]) for call in case["input"]["calls"]],
        [(result.get("tool_call_id") or "", result["name"]) for result in case["input"]["results"]],
    )
    paired = {
        case["input"]["calls"][call]["id"]: case["input"]["results"][result]["content"]
        for call, result in pairing.results.items()
    }
    assert paired == case["check"]["paired"]
    assert len(pairing.ambiguous) == case["check"]["ambiguous"]


@pytest.mark.parametrize("raw", [CASES["B27"]["input"]["raw_arguments"], "", "\n\t", None, "null", {}])
def test_b27_blank_is_no_argument(raw: Any) -> None:
    assert read_arguments(raw).values == {}


@pytest.mark.parametrize(
    "raw",
    [
        CASES["B28"]["input"]["raw_arguments"],
        CASES["B29"]["input"]["raw_arguments"],
        '{"a": 1',
        '{"a": {"b": [1, 2]}',
        '{"a": "one\\',
        '{"a": "\\u4e',
        '{"a": 1, "b":',
        "{",
        "{'a': 'one",
        '```json\n{"a": "one\n```',
    ],
)
def test_b28_cut_arguments_are_their_own_error(raw: str) -> None:
    read = read_arguments(raw)
    assert read.values is None
    assert [problem.code for problem in read.problems] == ["truncated"]


def test_b28_the_finish_reason_counts_even_when_the_text_parses() -> None:
    read = read_arguments('{"path": "a.md"}', finish_reason="length")
    assert read.values is None
    assert read.problems[0].code == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        "what's the user's plan",
        "say \"hi\" to 'them'",
        "5'10\" tall",
        "it's {not} [a] bracket",
        "C:\\new\\table",
    ],
)
def test_b31_correct_json_is_parsed_as_is(text: str) -> None:
    read = read_arguments(json.dumps({"query": text}))
    assert read.values == {"query": text}
    assert read.repairs == ()


def test_b34_escapes_mean_what_they_say() -> None:
    case = CASES["B34"]
    read = read_arguments(case["input"]["raw_arguments"])
    assert read.values == case["check"]["normalised_arguments"]
    assert read.repairs == ()
    assert content_hash(read.values) == content_hash({"question": "학교"})
    assert read_arguments('{"smile": "\\ud83d\\ude00"}').values == {"smile": "😀"}


@pytest.mark.parametrize(
    "raw",
    [
        CASES["B35"]["input"]["raw_arguments"],
        '{"message": "\\ud800"}',
        '{"message": "ok \\udc00 no"}',
        '{"message": "价格 \\元"}',
        '{"message": "\\x41"}',
        '{"message": "\\u12G4"}',
        '{"a": "\\ud83d\\ude00", "b": "\\ud83d"}',
    ],
)
def test_b35_bad_escapes_are_refused_with_their_place(raw: str) -> None:
    read = read_arguments(raw)
    assert read.values is None
    assert read.problems[0].code == "unparsable"
    assert "character" in read.problems[0].message
    read.problems[0].message.encode("utf-8")


def test_b36_whole_numbers_keep_every_digit() -> None:
    case = CASES["B36"]
    read = read_arguments(case["input"]["raw_arguments"])
    assert read.values == case["check"]["normalised_arguments"]
    assert all(type(value) is int for value in read.values.values())  # type: ignore[union-attr]
    assert json.loads(json.dumps(read.values)) == read.values
