"""Reading emitted calls: forms of text, streams, argument notation, and what must never happen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.identifiers import map_ids, pair_results, unique_id
from agent_reach.calls.message import parse_message, parse_text
from agent_reach.calls.stream import StreamAssembler, assemble_calls

KNOWN = {"get_weather", "get_time", "查询库存"}
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1), JSON_VALUES, max_size=4
)


def read_text(text: str, **options: Any) -> list[tuple[str, Any]]:
    reply = parse_text(text, is_known=KNOWN.__contains__, **options)
    return [(call.name, call.arguments) for call in reply.calls]


WEATHER = ("get_weather", {"city": "上海", "days": 2})


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}\n</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"上海\\", \\"days\\": 2}"}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}',
        "<tool_call>{'name': 'get_weather', 'arguments': {'city': '上海', 'days': 2}}</tool_call>",
        '<tool_call>```json\n{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}\n```</tool_call>',
        "<tool_call><function=get_weather><parameter=city>\n上海\n</parameter><parameter=days>\n2\n</parameter></function></tool_call>",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>上海</arg_value>\n<arg_key>days</arg_key><arg_value>2</arg_value></tool_call>",
        '<function=get_weather>{"city": "上海", "days": 2}</function>',
        '<function_call>{"name": "get_weather", "parameters": {"city": "上海", "days": 2}}</function_call>',
        '<invoke name="get_weather"><parameter name="city">上海</parameter><parameter name="days">2</parameter></invoke>',
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}]',
        '[TOOL_CALLS]get_weather[ARGS]{"city": "上海", "days": 2}',
        '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}] then words',
        '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "上海", "days": 2}<|call|>',
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "上海", "days": 2}<|tool_call_end|>',
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "上海", "days": 2}\n```<｜tool▁call▁end｜>',
        '<|python_tag|>{"name": "get_weather", "parameters": {"city": "上海", "days": 2}}<|eom_id|>',
        '<|python_tag|>get_weather.call(city="上海", days=2)',
        'I will look.\n```json\n{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}\n```',
        '```\n{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}\n```',
        '```tool_code\nprint(get_weather(city="上海", days=2))\n```',
        '{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}',
        '{"name": "get_weather", "parameters": {"city": "上海", "days": 2}}',
        '{"tool": "get_weather", "args": {"city": "上海", "days": 2}}',
        '{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "上海", "days": 2}}}',
        '{"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "上海", "days": 2}}}]}',
        'Sure: {"name": "get_weather", "arguments": {"city": "上海", "days": 2}} there you go',
        '[get_weather(city="上海", days=2)]',
        'get_weather(city="上海", days=2)',
        'Thought: look\nAction: get_weather\nAction Input: {"city": "上海", "days": 2}\nObservation:',
        '<think>maybe <tool_call>{"name": "get_time", "arguments": {}}</tool_call></think>\n<tool_call>{"name": "get_weather", "arguments": {"city": "上海", "days": 2}}</tool_call>',
    ],
)
def test_every_written_form_is_one_call(text: str) -> None:
    assert read_text(text) == [WEATHER]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "get_weather", "arguments": {"city": "a"}}</tool_call>\n<tool_call>{"name": "get_time", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "a"}}\n{"name": "get_time", "arguments": {}}</tool_call>',
        '[{"name": "get_weather", "arguments": {"city": "a"}}, {"name": "get_time", "arguments": {}}]',
        '{"name": "get_weather", "arguments": {"city": "a"}}\n{"name": "get_time", "arguments": {}}',
        '{"name": "get_weather", "arguments": {"city": "a"}}; {"name": "get_time", "parameters": {}}',
        '[get_weather(city="a"), get_time()]',
        '<function=get_weather>{"city": "a"}</function><function=get_time>{}</function>',
        '```json\n[{"name": "get_weather", "arguments": {"city": "a"}}, {"name": "get_time", "arguments": {}}]\n```',
        '```json\n{"name": "get_weather", "arguments": {"city": "a"}}\n```\n```json\n{"name": "get_time", "arguments": {}}\n```',
    ],
)
def test_several_written_calls_keep_their_order(text: str) -> None:
    assert read_text(text) == [("get_weather", {"city": "a"}), ("get_time", {})]


@pytest.mark.parametrize(
    "text",
    [
        "The weather is fine.",
        'The user record is {"name": "Ann", "age": 3}.',
        '{"name": "Ann", "age": 3}',
        '{"name": "Ann", "arguments": [1, 2]}',
        'Use `<tool_call>{"name": "get_time", "arguments": {}}</tool_call>` in prompts.',
        "Call print(1) or f(x=2) in your script.",
        '```json\n{"name": "Ann", "input": {"a": 1}}\n``` is the record you asked for',
        "```python\nimport os\nos.listdir(path='.')\n```",
        "[1, 2, 3]",
        "<think>I could use get_time()</think>Hello.",
        "",
    ],
)
def test_ordinary_text_is_no_call(text: str) -> None:
    reply = parse_text(text, is_known=KNOWN.__contains__)
    assert reply.calls == ()
    assert reply.problems == ()


def test_text_around_a_written_call_stays() -> None:
    reply = parse_text(
        'Let me look. <tool_call>{"name": "get_time", "arguments": {}}</tool_call> One moment.'
    )
    assert reply.text == "Let me look.  One moment."
    assert reply.calls[0].origin == "text:<tool_call>"


def test_an_invented_name_in_marks_is_still_a_call() -> None:
    assert read_text('<tool_call>{"name": "run_script", "arguments": {"code": "1"}}</tool_call>') == [
        ("run_script", {"code": "1"})
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Sha', "truncated"),
        ('{"name": "get_weather", "arguments": {"city": "Sha', "truncated"),
        ('```json\n{"name": "get_weather", "arguments": {"city": "Sha', "truncated"),
        ("<tool_call>get the weather please</tool_call>", "unparsable"),
        ('<tool_call>{"city": "a"}</tool_call>', "unparsable"),
        ("<function=get_weather><parameter=city>Sha", "truncated"),
    ],
)
def test_a_call_that_cannot_be_read_is_a_problem(text: str, code: str) -> None:
    reply = parse_text(text, is_known=KNOWN.__contains__)
    assert reply.calls == ()
    assert [problem.code for problem in reply.problems] == [code]


def test_cut_arguments_inside_a_closed_form_are_truncated() -> None:
    reply = parse_text('<function=get_weather>{"city": "Sha', is_known=KNOWN.__contains__)
    assert [call.arguments for call in reply.calls] == [None]
    assert reply.calls[0].problems[0].code == "truncated"


@pytest.mark.parametrize(
    ("raw", "expected", "repair"),
    [
        ("{'a': True, 'b': None, 'c': [1, 2.5]}", {"a": True, "b": None, "c": [1, 2.5]}, "python_literal"),
        ("{'a': (1, 2)}", {"a": [1, 2]}, "python_literal"),
        ('```json\n{"a": 1}\n```', {"a": 1}, "code_fence"),
        ('```{"a": 1}```', {"a": 1}, "code_fence"),
        ('"{\\"a\\": 1}"', {"a": 1}, "double_encoded"),
        (json.dumps(json.dumps(json.dumps({"a": "x"}))), {"a": "x"}, "double_encoded"),
        ('{"a": 1,}', {"a": 1}, "loose_json"),
        ('{a: 1, b: "two"}', {"a": 1, "b": "two"}, "loose_json"),
        ('{"a": "line one\nline two"}', {"a": "line one\nline two"}, "raw_control_characters"),
        ('{"a": 1}}', {"a": 1}, "trailing_characters"),
    ],
)
def test_notation_is_mended_and_named(raw: str, expected: Any, repair: str) -> None:
    read = read_arguments(raw)
    assert read.values == expected
    assert repair in read.repairs


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("[1, 2]", "wrong_shape"),
        ('"just text"', "wrong_shape"),
        ("7", "wrong_shape"),
        (["a"], "wrong_shape"),
        ('{"a": NaN}', "unparsable"),
        ('{"a": Infinity}', "unparsable"),
        ('{"a": 1e999}', "unparsable"),
        ('{"a": 1} and more', "unparsable"),
        ("city=Paris", "unparsable"),
        ('{"a": what is this}', "unparsable"),
        ("{'a': {1, 2}}", "unparsable"),
        ('{"a": "\ud800"}', "unparsable"),
        ({"a": ["\udfff"]}, "unparsable"),
    ],
)
def test_what_cannot_be_read_is_refused(raw: Any, code: str) -> None:
    read = read_arguments(raw)
    assert read.values is None
    assert [problem.code for problem in read.problems] == [code]


@given(OBJECTS)
def test_json_is_read_as_written(values: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        read = read_arguments(json.dumps(values, ensure_ascii=ascii_only))
        assert read.values == values
        assert read.repairs == ()


@given(OBJECTS.filter(bool), st.data())
def test_a_prefix_is_never_executed(values: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(values)
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]
    read = read_arguments(cut)
    assert read.values is None
    assert read.problems[0].code == "truncated"


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    reply = parse_message({"content": text}, is_known=lambda name: True)
    assert all(call.arguments is None or isinstance(call.arguments, dict) for call in reply.calls)
    read_arguments(text)


@given(
    st.lists(st.tuples(st.sampled_from(["search", "fetch"]), OBJECTS.filter(bool)), min_size=1, max_size=4),
    st.data(),
)
def test_a_stream_in_any_pieces_is_the_same_message(
    calls: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    style = data.draw(st.sampled_from(["indexed", "index 0", "no index"]))
    pieces: list[dict[str, Any]] = []
    for position, (name, arguments) in enumerate(calls):
        raw = json.dumps(arguments)
        middle = data.draw(st.integers(0, len(raw)))
        index = {} if style == "no index" else {"index": position if style == "indexed" else 0}
        pieces.append({**index, "function": {"name": name, "arguments": raw[:middle]}})
        pieces.append({**index, "function": {"arguments": raw[middle:]}})
    assembled = assemble_calls(pieces)
    assert [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in assembled
    ] == calls


def test_streams_with_ids_repeated_names_and_placeholders() -> None:
    repeated = [
        {"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}},
        {"index": 0, "id": "a", "function": {"name": "search", "arguments": '{"q":'}},
        {"index": 0, "id": "a", "function": {"name": "search", "arguments": ' "x"}'}},
    ]
    assert [call["function"] for call in assemble_calls(repeated)] == [
        {"name": "search", "arguments": '{"q": "x"}'}
    ]
    placeholder = [
        {"index": 0, "id": "a", "function": {"name": "search", "arguments": "{}"}},
        {"index": 0, "function": {"arguments": '{"q": "x"}'}},
    ]
    assert [call["function"]["arguments"] for call in assemble_calls(placeholder)] == ['{"q": "x"}']
    same_index = [
        {"index": 0, "id": "a", "function": {"name": "s", "arguments": '{"q": "{"}'}},
        {"index": 0, "id": "b", "function": {"name": "s", "arguments": '{"q": 2}'}},
    ]
    assert [call["id"] for call in assemble_calls(same_index)] == ["a", "b"]
    name_in_pieces = [
        {"index": 0, "id": "a", "function": {"name": "get_"}},
        {"index": 0, "function": {"name": "time", "arguments": "{}"}},
    ]
    assert assemble_calls(name_in_pieces)[0]["function"]["name"] == "get_time"
    glued = [{"index": 0, "function": {"name": "s", "arguments": '{"q": 1}{"q": 2}'}}]
    assert [call["function"]["arguments"] for call in assemble_calls(glued)] == ['{"q": 1}', '{"q": 2}']


def test_a_streamed_message_keeps_text_and_reasoning() -> None:
    assembler = StreamAssembler()
    for delta in (
        {"reasoning_content": "hm"},
        {"content": "Let "},
        {"content": "me."},
        {"function_call": {"name": "f"}},
    ):
        assembler.add(delta)
    message = assembler.message()
    assert message["content"] == "Let me."
    assert message["reasoning_content"] == "hm"
    assert message["function_call"]["name"] == "f"


def test_glued_objects_in_a_whole_message_are_two_calls() -> None:
    message = {
        "tool_calls": [{"id": "a", "function": {"name": "searchsearch", "arguments": '{"q": 1}{"q": 2}'}}]
    }
    reply = parse_message(message)
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("search", {"q": 1}),
        ("search", {"q": 2}),
    ]


@given(st.lists(st.text(max_size=5), max_size=30))
def test_ids_become_unique_and_mapping_is_one_to_one(ids: list[str]) -> None:
    used: set[str] = set()
    assert len({unique_id(identifier, used) for identifier in ids}) == len(ids)
    mapping = map_ids(ids)
    assert len(set(mapping.values())) == len(set(ids))
    assert {new: new for new in mapping.values()} == map_ids(mapping.values())


def test_results_by_id_in_any_order_and_unknown_ids() -> None:
    calls = [("a", "f"), ("b", "f")]
    pairing = pair_results(calls, [("b", ""), ("zzz", ""), ("a", "")])
    assert pairing.results == {0: 2, 1: 0}
    assert pairing.unmatched == (1,)
    assert pair_results([("a", "f")], [("", "")]).results == {0: 0}


def test_results_with_ids_are_given_out_before_those_without() -> None:
    calls = [("a", "f"), ("b", "f"), ("c", "g")]
    assert pair_results(calls, [("", "f"), ("a", "f"), ("", "g")]).results == {0: 1, 1: 0, 2: 2}
    assert pair_results(calls, [("", "f")]).ambiguous == {0: (0, 1)}
    twice = pair_results(calls, [("", "g"), ("", "g")])
    assert (twice.results, twice.unmatched) == ({2: 0}, (1,))
