"""Numbers, texts, ids, aliases, evidence from the conversation, converters and prefill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.router_normalize.support import NOW, NUMBER, TEXT, WHOLE, codes, normalize, rules, tool

from agent_reach.errors import ConfigError
from agent_reach.records.tool import ParameterHint
from agent_reach.records.trace import CallOutcome
from agent_reach.router.normalize import RULES, Converter, NormalizeOptions, tool_converter
from agent_reach.router.prefill import prefill


def described(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "description": text}


@pytest.mark.parametrize(
    ("schema", "emitted", "expected"),
    [
        (WHOLE, "12", 12), (WHOLE, " 12 ", 12), (WHOLE, "１２", 12), (WHOLE, "1,200", 1200), (WHOLE, "12.0", 12), (WHOLE, "-3", -3),
        (WHOLE, "三十五", 35), (WHOLE, "1.2万", 12000), (WHOLE, "两百零六", 206), (WHOLE, "十万", 100000), (WHOLE, "五百块", 500),
        (WHOLE, "$3.5k", 3500), (WHOLE, "twenty-five", 25), (WHOLE, "50件", 50), (WHOLE, "3个", 3), (WHOLE, "5 items", 5), (WHOLE, [7], 7),
        (NUMBER, "3.14", 3.14), (NUMBER, "1e3", 1000), (NUMBER, "¥1,299.50", 1299.5), (NUMBER, "一点五", 1.5), (NUMBER, "-.5", -0.5),
        (described("number", "rate in percent"), "10%", 10), (described("number", "百分比"), "百分之十", 10), ({"type": "number", "maximum": 1}, "10%", 0.1),
        (described("number", "Distance in meters"), "5 km", 5000), (described("number", "距离（公里）"), "500米", 0.5), (described("integer", "时长（分钟）"), "2小时", 120),
        (described("integer", "number of days"), "2 weeks", 14), (described("number", "price in USD"), "20 dollars", 20), (described("number", "重量，单位kg"), "3斤", 1.5),
        (described("integer", "年龄"), "35岁", 35),
    ],
)  # fmt: skip
def test_certain_numbers(schema: dict[str, Any], emitted: Any, expected: float) -> None:
    done = normalize(tool({"n": schema}, ["n"]), {"n": emitted})
    assert done.problems == ()
    assert done.arguments == {"n": expected}
    assert type(done.arguments["n"]) in (int, float)
    assert done.changes


@pytest.mark.parametrize(
    ("schema", "emitted"),
    [
        (WHOLE, "12.5"), (WHOLE, True), (WHOLE, "about 5"), (WHOLE, "5+"), (WHOLE, "3-5"), (WHOLE, "三五"), (WHOLE, "1.2.3"), (WHOLE, "PDT-1001"),
        (WHOLE, "10%"), (WHOLE, "5 km"), (WHOLE, "5m"), (WHOLE, "many"), (WHOLE, "1,20"), (WHOLE, [1, 2]), (WHOLE, ""), (WHOLE, "0x1F"), (WHOLE, "二十三十"),
        (NUMBER, "NaN"), (NUMBER, "Infinity"), (described("number", "price in USD"), "500元"), (described("number", "Distance in km or miles"), "5 km"),
        ({"type": "integer", "maximum": 10}, "50"), (NUMBER, "3 apples and 2"),
    ],
)  # fmt: skip
def test_uncertain_numbers_are_refused_and_kept(schema: dict[str, Any], emitted: Any) -> None:
    done = normalize(tool({"n": schema}, ["n"]), {"n": emitted})
    assert done.problems
    assert not done.is_legal


@pytest.mark.parametrize("text", ["三十五", "12", "1,200", "10%", "true", "null", "2024", "  x ", '["a"]'])
def test_text_parameters_keep_texts(text: str) -> None:
    done = normalize(tool({"t": TEXT}, ["t"]), {"t": text})
    assert done.arguments == {"t": text}
    assert done.changes == ()


HINTS = {
    "priority": ParameterHint(
        names=("urgency", "紧急程度"), values={"high": ("紧急", "urgent"), "low": ("不急",)}
    ),
    "region": ParameterHint(values={"south": ("华南", "华南区"), "north": ("华北",)}),
    "remark": ParameterHint(fill="last_user_event"),
}


def test_noted_names_and_values() -> None:
    probe = tool({"priority": {"type": "string", "enum": ["high", "low"]}, "region": TEXT}, hints=HINTS)
    done = normalize(probe, {"urgency": "紧急", "region": "华南区"})
    assert done.arguments == {"priority": "high", "region": "south"}
    assert rules(done) == ["parameter_name", "enum_alias", "enum_alias"]
    kept = normalize(probe, {"priority": "low", "region": "east"})
    assert kept.arguments == {"priority": "low", "region": "east"}
    assert kept.changes == ()
    assert codes(normalize(probe, {"priority": "soon"})) == ["not_in_enum"]


def test_titles_of_constants_are_declared_aliases() -> None:
    colour = {"oneOf": [{"const": 1, "title": "red"}, {"const": 2, "title": "blue"}]}
    assert normalize(tool({"colour": colour}), {"colour": "Red"}).arguments == {"colour": 1}
    words = {"type": "string", "pattern": "^(Email|Slack|SMS)$"}
    assert normalize(tool({"by": words}), {"by": "sms"}).arguments == {"by": "SMS"}


IDS = tool(
    {"product_id": {"type": "string", "pattern": "^PDT-\\d{4}$"}, "quantity": WHOLE},
    ["product_id", "quantity"],
)


@pytest.mark.parametrize("emitted", ["pdt-1001", " PDT-1001 ", "PDT 1001", "ＰＤＴ-1001"])
def test_ids_in_another_form(emitted: str) -> None:
    done = normalize(IDS, {"product_id": emitted, "quantity": 1})
    assert done.arguments == {"product_id": "PDT-1001", "quantity": 1}


def test_an_id_is_completed_from_the_conversation() -> None:
    talk = [
        {"role": "user", "content": "restock PDT-1001 to 50"},
        {"role": "assistant", "content": "PDT-9991001?"},
    ]
    done = normalize(IDS, {"product_id": "1001", "quantity": 50}, conversation=talk)
    assert done.arguments == {"product_id": "PDT-1001", "quantity": 50}
    change = done.changes[0]
    assert (change.rule, change.source) == ("identifier", "conversation[0] user")
    assert change.span is not None
    assert talk[0]["content"][change.span[0] : change.span[1]] == "PDT-1001"
    two = normalize(IDS, {"product_id": "100", "quantity": 1}, conversation="PDT-1001 or PDT-1002")
    assert two.problems


def test_missing_arguments_are_filled_only_when_certain() -> None:
    done = normalize(IDS, {"quantity": 50}, conversation="把 PDT-1001 补到 50 件")
    assert done.arguments == {"product_id": "PDT-1001", "quantity": 50}
    assert rules(done) == ["fill_from_conversation"]
    for talk in ("把 PDT-1001 和 PDT-1002 补到 50 件", "补到 50 件", ""):
        assert codes(normalize(IDS, {"quantity": 50}, conversation=talk)) == ["missing_required"]
    number = normalize(IDS, {"product_id": "PDT-1001"}, conversation="把 PDT-1001 补到 50 件")
    assert codes(number) == ["missing_required"]
    off = NormalizeOptions(disabled=frozenset({"fill_from_conversation"}))
    assert normalize(IDS, {"quantity": 50}, conversation="PDT-1001", options=off).problems


def test_a_missing_period_and_a_missing_choice_come_from_the_users_words() -> None:
    report = tool(
        {"period": {"type": "string", "description": "YYYY-MM-DD~YYYY-MM-DD"}, "region": TEXT},
        ["period", "region"],
        hints=HINTS,
    )
    done = normalize(report, {}, conversation=[{"role": "user", "content": "查下上个月华南区营收"}])
    assert done.arguments == {"period": "2025-11-01~2025-11-30", "region": "south"}
    both = normalize(report, {}, conversation="上个月和上上个月，华南和华北")
    assert codes(both) == ["missing_required", "missing_required"]
    only_model = normalize(report, {}, conversation=[{"role": "assistant", "content": "上个月华南区"}])
    assert codes(only_model) == ["missing_required", "missing_required"]


def test_a_noted_parameter_takes_the_users_last_words() -> None:
    probe = tool({"remark": TEXT}, ["remark"], hints=HINTS)
    talk = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "yes?"},
        {"role": "user", "content": "机器坏了"},
    ]
    done = normalize(probe, {}, conversation=talk)
    assert done.arguments == {"remark": "机器坏了"}
    assert rules(done) == ["fill_last_user_event"]


def test_prefill_proposes_with_places() -> None:
    probe = tool(
        {
            "period": {"type": "string", "description": "YYYY-MM-DD~YYYY-MM-DD"}, "region": TEXT, "product_id": {"type": "string", "pattern": "^PDT-\\d{4}$"},
            "quantity": WHOLE, "email": TEXT, "remark": TEXT, "title": TEXT,
        },
        ["period", "title"],
        hints=HINTS,
    )  # fmt: skip
    words = "查下上个月华南区 PDT-1001 的 50 件，发到 a.b@example.com"
    found = prefill(probe, [{"role": "user", "content": words}], now=NOW)
    assert found.arguments == {
        "period": "2025-11-01~2025-11-30", "region": "south", "product_id": "PDT-1001", "quantity": 50, "email": "a.b@example.com", "remark": words,
    }  # fmt: skip
    assert found.missing == ("title",)
    for proposal in found.proposals:
        start, end = proposal.span
        assert words[start:end] == proposal.text
        assert proposal.message_index == 0
    by_name = {proposal.parameter: proposal for proposal in found.proposals}
    assert by_name["period"].text == "上个月"
    assert by_name["period"].certain
    assert not by_name["quantity"].certain
    assert prefill(probe, None, now=NOW).arguments == {}
    assert "period" not in prefill(probe, words).arguments


@pytest.mark.parametrize(
    "talk", ["5 or 6 pieces", "call me at 138-1234-5678", "room A12", "v1.2.3", "on March 3"]
)
def test_prefill_proposes_no_uncertain_number(talk: str) -> None:
    assert prefill(tool({"quantity": WHOLE}), talk, now=NOW).arguments == {}


def test_converters_are_explicit_and_asked_only_when_needed() -> None:
    asked: list[Any] = []

    def run(name: str, arguments: Any) -> CallOutcome:
        asked.append((name, dict(arguments)))
        users = {"张三": [{"id": "U100"}], "李四": [{"id": "U1"}, {"id": "U2"}]}
        found = users.get(arguments["name"])
        return (
            CallOutcome(status="ok", value={"users": found})
            if found
            else CallOutcome(status="failed", error_kind="not_found")
        )

    probe = tool({"user_id": TEXT, "text": TEXT}, ["user_id"])
    converter = tool_converter(
        "user_id", tool="crm/find_user", argument="name", result="users.id", run=run, already=r"U\d+"
    )
    done = normalize(probe, {"user_id": "张三", "text": "hi"}, converters=[converter])
    assert done.arguments == {"user_id": "U100", "text": "hi"}
    assert done.changes[0].source == "tool crm/find_user"
    assert asked == [("crm/find_user", {"name": "张三"})]
    assert normalize(probe, {"user_id": "U7"}, converters=[converter]).changes == ()
    assert len(asked) == 1
    for unknown in ("李四", "王五"):
        refused = normalize(probe, {"user_id": unknown}, converters=[converter])
        assert codes(refused) == ["ambiguous"]
        assert refused.arguments == {"user_id": unknown}
    other = Converter(parameter="other_tool.user_id", convert=lambda value: "never")
    assert normalize(probe, {"user_id": "张三"}, converters=[other]).changes == ()


def test_alternatives_are_taken_only_when_one_fits() -> None:
    either = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}
    assert normalize(tool({"x": either}), {"x": "[1, 2]"}).arguments == {"x": [1, 2]}
    assert codes(normalize(tool({"x": either}), {"x": "7"}))[0] == "ambiguous"
    nested = {
        "oneOf": [
            {"type": "object", "properties": {"a": WHOLE}, "required": ["a"], "additionalProperties": False},
            {"type": "null"},
        ]
    }
    assert normalize(tool({"x": nested}), {"x": '{"a": "3"}'}).arguments == {"x": {"a": 3}}


def test_references_are_followed() -> None:
    probe = tool(
        {"root": {"$ref": "#/$defs/Node"}},
        **{
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"n": WHOLE, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                }
            }
        },
    )
    done = normalize(probe, {"root": '{"n": "1", "kids": [{"n": "二", "kids": []}]}'})
    assert done.arguments == {"root": {"n": 1, "kids": [{"n": 2, "kids": []}]}}
    assert done.problems == ()


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_has_words_in_both_languages(rule: str) -> None:
    assert RULES[rule].what.en
    assert RULES[rule].what.zh


def test_every_rule_can_be_switched_off_and_unknown_ones_are_named() -> None:
    everything = NormalizeOptions(disabled=frozenset(RULES))
    probe = tool(
        {"n": WHOLE, "flag": {"type": "boolean"}, "day": {"type": "string", "format": "date"}, "t": TEXT}
    )
    for emitted in (
        {"n": "1"},
        {"flag": "true"},
        {"day": "yesterday"},
        {"N": 1},
        {"n": None},
        {"n": ""},
        {"t": 5},
        {"arguments": {"n": 1}},
        "{'n': 1}",
        {"n": 1.0},
    ):
        done = normalize(probe, emitted, options=everything)
        assert done.changes == ()
    with pytest.raises(ConfigError, match="number_txt"):
        NormalizeOptions(disabled=frozenset({"number_txt"}))
    with pytest.raises(ConfigError, match="time zone"):
        normalize(probe, {}, options=NormalizeOptions(timezone="Mars/Olympus"))


@pytest.mark.parametrize(
    ("schema", "name", "talk"),
    [
        ({"type": "string", "pattern": "^[a-zA-Z0-9_-]{10,30}$"}, "formId", "call me at 1234567890"),
        (described("string", "Disease, e.g. COVID-19"), "disease", "statistics of COVID-19 and then flu"),
        (described("string", "Colour code, e.g. #FF0000"), "color_code", "the item ABC123 in red"),
        ({"type": "string", "pattern": "^ORD-\\d+$"}, "order_id", "ORD-1 first, and ORD-2 later"),
    ],
)
def test_what_only_looks_like_evidence_is_not_sent(schema: dict[str, Any], name: str, talk: str) -> None:
    done = normalize(tool({name: schema}, [name]), {}, conversation=talk)
    assert codes(done) == ["missing_required"]


def test_addresses_end_where_they_end() -> None:
    probe = tool({"email": TEXT, "website_url": TEXT}, ["email", "website_url"])
    talk = "把邮箱改为new@domain.com。网址是 https://example.com/repo1."
    done = normalize(probe, {}, conversation=talk)
    assert done.arguments == {"email": "new@domain.com", "website_url": "https://example.com/repo1"}


def test_the_page_lists_every_rule_as_the_table_has_it() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "normalising.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        assert f"| `{rule.name}` | {rule.what.en} | {'on' if rule.on else 'off'} |" in page


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_code_fence_of_either_kind_is_taken_off(fence: str) -> None:
    done = normalize(IDS, f'{fence}json\n{{"product_id": "PDT-1001", "quantity": 5}}\n{fence}')
    assert done.arguments == {"product_id": "PDT-1001", "quantity": 5}
    assert rules(done) == ["code_fence"]
