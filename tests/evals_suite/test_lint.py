"""What the linter finds, and what it must leave alone, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_suite.building import catalog, task

from agent_reach.backends.matching import values_match
from agent_reach.catalog.catalog import Catalog
from agent_reach.config.schema_files import load_schema
from agent_reach.errors import SuiteError
from agent_reach.evals.scoring.values import compile_value
from agent_reach.evals.suite.checks.duplicates import near_duplicates
from agent_reach.evals.suite.checks.matchers import matcher_problem, refuse_malformed, samples
from agent_reach.evals.suite.lint import examine, lint_suite, reaches
from agent_reach.evals.suite.load import Suite
from agent_reach.records.finding import Finding
from agent_reach.records.matchers import MATCHER_NAMES, MATCHERS
from agent_reach.records.task import MatchOptions
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import words

ROOT = Path(__file__).resolve().parents[2]

LOOK = {"tool": "query_stock", "args": {"product_id": "PDT-1001"}}


def lint(*tasks: dict[str, Any], tools: Catalog | None = None) -> list[Finding]:
    return list(lint_suite(Suite.load(list(tasks)), tools or catalog(), pairs=()))


def about_tasks(*tasks: dict[str, Any], tools: Catalog | None = None) -> list[Finding]:
    return [finding for finding in lint(*tasks, tools=tools) if finding.code != "tools_without_task"]


def codes(*tasks: dict[str, Any], tools: Catalog | None = None) -> list[str]:
    return [finding.code for finding in about_tasks(*tasks, tools=tools)]


def update(**args: Any) -> dict[str, Any]:
    return {"tool": "update_stock", "args": {"product_id": "PDT-1001", "quantity": 50, **args}}


def test_a_sound_task_has_no_finding() -> None:
    sound = task(
        query="set PDT-1001 to 50 pieces in the warehouse where it is",
        path=[
            {"id": "look", **LOOK, "result": {"quantity": 12, "warehouse_id": "WH-SH-01"}},
            {
                **update(labels=["PDT-1001"]),
                "optional": {"remark": {"$any": True}, "mode": "set", "urgent": True},
            },
        ],
        forbid=["adjust_inventory"],
    )
    assert about_tasks(sound) == []


@pytest.mark.parametrize(
    ("fields", "code", "said"),
    [
        ({"path": [{"tool": "query_stok", "args": {}}]}, "gold_unknown_tool", "closest: query_stock"),
        (
            {"path": [LOOK], "forbid": ["adjust_inventroy"]},
            "forbid_unknown_tool",
            "closest: adjust_inventory",
        ),
        (
            {"path": [LOOK], "tools": ["query_stock", "updte_stock"]},
            "tools_unknown_tool",
            "closest: update_stock",
        ),
        ({"path": [LOOK], "results": [{"tool": "other", "result": 1}]}, "result_unknown_tool", "other"),
        ({"path": [LOOK], "tools": ["update_stock"]}, "gold_not_offered", "not among the task's `tools`"),
        ({"path": [LOOK], "forbid": ["query_stock"]}, "path_calls_forbidden_tool", "which the task forbids"),
        ({"path": []}, "must_without_path", "cannot be evaluated"),
        ({}, "must_without_path", "cannot be evaluated"),
        ({"kind": "forbid", "path": [LOOK]}, "path_in_forbid", "must not call"),
        (
            {"path": [{**LOOK, "args": {"product": "PDT-1001"}}]},
            "gold_unknown_argument",
            "closest: product_id",
        ),
        ({"path": [{**LOOK, "optional": {"colour": 1}}]}, "gold_unknown_argument", "no argument 'colour'"),
        (
            {"path": [{"tool": "update_stock", "args": {"product_id": "PDT-1001"}}]},
            "gold_missing_required",
            "'quantity'",
        ),
        ({"path": [update(mode="sett")]}, "gold_not_in_enum", "no schema allows the gold 'sett'"),
        ({"path": [update(quantity="50")]}, "gold_wrong_type", "no schema allows"),
        ({"path": [update(quantity=-1)]}, "gold_out_of_range", "no schema allows"),
        ({"path": [update(labels=[1])]}, "gold_wrong_type", "labels"),
        ({"path": [update(urgent="true")]}, "gold_wrong_type", "urgent"),
        (
            {"path": [{**LOOK, "args": {"product_id": "PDT-1001", "at": "1/3/2024"}}]},
            "gold_wrong_format",
            "at",
        ),
        (
            {"path": [{**LOOK, "args": {"product_id": "PDT-1001", "warehouse_id": "SH-01"}}]},
            "gold_wrong_format",
            "WH-",
        ),
        ({"path": [update(mode={"$one_of": ["sett", "sell"]})]}, "gold_not_in_enum", "no schema allows"),
        (
            {"path": [update(mode={"$one_of": ["set", "sell"]})]},
            "gold_alternative_illegal",
            "'sell' is not allowed",
        ),
        ({"path": [update(mode={"$pattern": "^x"})]}, "gold_unsatisfiable", "no value of the enum fits"),
        ({"path": [update(quantity={"$pattern": "5"})]}, "gold_unsatisfiable", "the schema wants integer"),
        ({"path": [update(quantity={"$type": "string"})]}, "gold_unsatisfiable", "the schema wants integer"),
        ({"path": [update(mode={"$approx": 5})]}, "gold_unsatisfiable", "the schema wants string"),
        ({"path": [update(mode={"$unordered": ["set"]})]}, "gold_unsatisfiable", "the schema wants string"),
        ({"path": [update(remark={"$default": True})]}, "gold_unsatisfiable", "no default"),
        ({"path": [update(mode={"$oneof": ["set"]})]}, "matcher_malformed", "did you mean '$one_of'?"),
        ({"path": [update(labels=[{"$any": 1}])]}, "matcher_malformed", "'$any' must be true"),
        ({"path": [{**LOOK, "result": {"quantity": "many"}}]}, "result_illegal", "output schema"),
        ({"path": [LOOK, update(remark={"$from": "look.id"})]}, "from_unknown_step", "does not exist"),
        (
            {"path": [update(remark={"$from": "look.id"}), {"id": "look", **LOOK}]},
            "from_unknown_step",
            "is not earlier",
        ),
        (
            {
                "path": [
                    {"id": "look", **LOOK, "result": {"quantity": 1}},
                    update(remark={"$from": "look.shelf"}),
                ]
            },
            "from_leads_nowhere",
            "has no 'shelf'",
        ),
        (
            {"path": [LOOK], "state_slots": {"order": "create.order_id"}},
            "slot_unknown_tool",
            "no tool is named 'create'",
        ),
        (
            {"path": [LOOK], "context": [{"kind": "retrieval", "text": "a", "facts": ["WH-9"]}]},
            "fact_not_in_block",
            "'WH-9'",
        ),
        ({"path": [LOOK], "match": {"ignore_args": ["tokn"]}}, "ignored_argument_unknown", "'tokn'"),
        ({"path": [LOOK], "now": "2025-12-10T10:00:00"}, "now_without_zone", "no time zone"),
        (
            {
                "query": "stock of PDT-1001 yesterday?",
                "path": [{**LOOK, "args": {"product_id": "PDT-1001", "at": "2024-03-01"}}],
            },
            "relative_date_without_now",
            "'yesterday'",
        ),
    ],
)
def test_each_trouble_is_named_with_task_place_and_fix(fields: dict[str, Any], code: str, said: str) -> None:
    found = [finding for finding in about_tasks(task(**fields)) if finding.code == code]
    assert len(found) == 1, codes(task(**fields))
    assert said in found[0].message.en
    assert found[0].subject == "t"
    assert any("\u4e00" <= character <= "\u9fff" for character in found[0].message.zh)
    assert found[0].fix is None or found[0].fix.en


def test_names_are_resolved_as_the_catalog_does() -> None:
    two = Catalog.load({"a": [{"name": "search"}], "b": [{"name": "search"}, {"name": "only"}]})
    found = about_tasks(task(path=["search", "only", "b/search"]), tools=two)
    assert [finding.code for finding in found] == ["gold_ambiguous_tool"]
    assert "a/search" in found[0].message.en


def test_matchers() -> None:
    for good in [
        {"$one_of": [1, {"$pattern": "x"}]},
        {"$approx": 1.5, "$tol": 0.1},
        {"$type": ["string", "null"]},
        {"$any": True},
        {"$unordered": []},
        {"$date": "2024-03-01"},
        {"$from": "look[0].id"},
        {"$from": "look"},
        {"$default": True},
        {"$range": [1, 10]},
        {"$range": [None, 10.5]},
        {"$contains": []},
        {"$contains": [{"$range": [1, None]}]},
        {"$pattern": r"^(a+)+$"},
        {"$pattern": r"(?P<x>a)b\Z"},
        # a literal of another language is no matcher
        {"$gt": 5},
        {"$and": [{"$gt": 5}, {"$lt": 9}]},
        {"$ref": "#/definitions/a"},
        {"$regex": "x"},
    ]:
        assert matcher_problem(good) == ""
    for bad, said in [
        ({"$one_of": []}, "at least one value"),
        ({"$one_of": "a"}, "must be a list"),
        ({"$pattern": "("}, "no regular expression"),
        ({"$approx": "1"}, "must be a number"),
        ({"$approx": 1, "$tol": -1}, "0 or more"),
        ({"$approx": float("nan")}, "must be a number"),
        ({"$type": "text"}, "must be one of string"),
        ({"$any": False}, "must be true"),
        ({"$date": "March"}, "must be a date"),
        ({"$date": 20240301}, "must be a date"),
        ({"$from": ".x"}, "step_id.path"),
        ({"$any": True, "$type": "string"}, "exactly one"),
        ({"$any": True, "x": 1}, "there is no matcher 'x'"),
        ({"$tol": 1}, "exactly one"),
        ({"$any": True, "$tol": 1}, "goes with '$approx'"),
        ({"$patern": "x"}, "did you mean '$pattern'?"),
        ({"$oneOf": "x"}, "did you mean '$one_of'?"),
        ({"$form": "look.id"}, "did you mean '$from'?"),
        ({"$contain": "x"}, "did you mean '$contains'?"),
        ({"$pattern": "(?<n>a)(?i"}, "no regular expression"),
        ({"$range": [1]}, "[lowest, highest]"),
        ({"$range": [None, None]}, "two numbers"),
        ({"$range": ["1", 2]}, "two numbers"),
        ({"$range": [2, 1]}, "holds no number"),
        ({"$contains": "a"}, "must be a list"),
    ]:
        assert said in matcher_problem(bad), bad


def test_every_matcher_of_the_table_is_known_everywhere() -> None:
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("suite.md", "scoring.md")]
    schema = load_schema("suite")["$defs"]
    for name in MATCHER_NAMES:
        assert all(f"| `{{{name}: " in page for page in pages), name
        assert f"matcher_{name[1:]}" in schema, name
    assert set(schema["golden_value"]["if"]["propertyNames"]["enum"]) == set(MATCHERS)
    assert len(schema["golden_value"]["then"]["oneOf"]) == len(MATCHER_NAMES)
    rows = [[line for line in page.splitlines() if line.startswith("| `{$")] for page in pages]
    assert rows[0] == rows[1], "both pages list the same"


@pytest.mark.parametrize(
    ("matcher", "right", "wrong"),
    [
        ({"$one_of": [1, 2]}, 2, 3),
        ({"$pattern": r"^PDT-\d+$"}, "PDT-12", "PDT-x"),
        ({"$approx": 0.3, "$tol": 0.01}, 0.1 + 0.2, 0.32),
        ({"$approx": 0.3}, 0.1 + 0.2, 0.31),
        ({"$range": [1, 10]}, 10, 10.5),
        ({"$range": [None, 10]}, -3, 11),
        ({"$range": [1, None]}, 1, "2"),
        ({"$type": ["string", "null"]}, None, 1),
        ({"$unordered": [1, 2]}, [2, 1], [2, 1, 3]),
        ({"$contains": [{"$range": [1, 2]}, 1]}, [9, 1, 2], [9, 1]),
        ({"$date": "2024-03-01"}, "2024-03-01", "2024-03-02"),
    ],
)
def test_scoring_and_recorded_execution_agree_on_matchers(matcher: Any, right: Any, wrong: Any) -> None:
    compared = compile_value(matcher, None, None, MatchOptions())
    assert matcher_problem(matcher) == ""
    assert (compared(right, None), compared(wrong, None)) == (True, False)
    assert (values_match(matcher, right), values_match(matcher, wrong)) == (True, False)


def test_a_misspelt_matcher_is_refused_before_a_run(tmp_path: Path) -> None:
    place = tmp_path / "s.yaml"
    place.write_text("- {id: a, kind: must, query: q, path: [{tool: t, args: {x: {$patern: x}}}]}\n")
    with pytest.raises(SuiteError, match=r"'\$patern'.*did you mean '\$pattern'") as refused:
        refuse_malformed(Suite.load(place))
    assert refused.value.where == f"{place}:1 /path/0/args/x"
    kept = refuse_malformed(
        Suite.load(
            [{"id": "a", "kind": "must", "query": "q", "path": [{"tool": "t", "args": {"x": {"$gt": 5}}}]}]
        )
    )
    assert [finding.code for finding in kept.findings] == ["matcher_unknown"]


def test_arguments_may_have_names_that_begin_with_a_dollar() -> None:
    tool = Tool(
        name="odata",
        input_schema={"type": "object", "properties": {"$filter": {}, "$top": {"type": "integer"}}},
    )
    suite = Suite.load(
        [
            {
                "id": "a",
                "kind": "must",
                "query": "top 5 of x",
                "path": [{"tool": "odata", "args": {"$filter": "x", "$top": {"$range": [5, 5]}}}],
            }
        ]
    )
    found = lint_suite(suite, Catalog.from_tools([tool]))
    assert not [finding for finding in found if finding.severity == "error"]


def test_samples_stand_for_every_alternative() -> None:
    assert samples({"a": {"$one_of": [1, 2]}, "b": [3]}) == [{"a": 1, "b": [3]}, {"a": 2, "b": [3]}]
    assert samples({"a": {"$any": True}}) is None
    assert samples([{"$date": "2024-03-01"}]) == [["2024-03-01"]]


# --- where a value can come from


def unsourced(**fields: Any) -> list[tuple[str, Any]]:
    found = lint(task(**fields))
    return [(item.severity, item.data["value"]) for item in found if item.code == "gold_unsourced_value"]


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "stock of PDT-7781?"},
        {"query": "stock of pdt 7781 please"},
        {"query": "查一下 ＰＤＴ－７７８１ 的库存"},
        {"query": "the product number is PDT followed by 7781"},
        {"query": "how many?", "context": [{"kind": "retrieval", "text": "article PDT-7781, blue"}]},
        {"query": "how many?", "context": [{"kind": "history", "value": {"items": [{"id": "PDT-7781"}]}}]},
        {"query": "how many?", "context": [{"kind": "history", "text": "x", "facts": ["PDT-7781"]}]},
        {
            "query": "how many?",
            "state_slots": [{"name": "product", "from": "query_stock.id", "value": "PDT-7781"}],
        },
        {"query": "how many?", "environment": {"products": ["PDT-7781"]}},
        {"query": "how many?", "results": [{"tool": "update_stock", "result": {"id": "PDT-7781"}}]},
        {"query": "how many?", "match": {"ignore_args": ["product_id"]}},
        {"query": "how many?", "match": {"ignore_args": ["query_stock.product_id"]}},
    ],
)
def test_values_that_something_supplies(fields: dict[str, Any]) -> None:
    assert unsourced(**fields, path=[{"tool": "query_stock", "args": {"product_id": "PDT-7781"}}]) == []


def test_a_conversation_supplies_values() -> None:
    messages = [
        {"role": "user", "content": "which product?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": '{"id": "PDT-7781"}'}}],
        },
        {"role": "user", "content": "that one"},
    ]
    path = [{"tool": "query_stock", "args": {"product_id": "PDT-7781"}}]
    whole = {"id": "t", "kind": "must", "messages": messages, "path": path}
    assert "gold_unsourced_value" not in codes(whole)
    later = {"id": "t", "kind": "must", "turns": [{"user": "hi"}, {"user": "PDT-7781", "path": path}]}
    assert "gold_unsourced_value" not in codes(later)


def test_earlier_results_supply_values_and_unrecorded_ones_may() -> None:
    use = {"tool": "update_stock", "args": {"product_id": "PDT-7781", "quantity": 5}}
    first = {"tool": "query_stock", "args": {"product_id": "PDT-1001"}}
    assert unsourced(path=[{**first, "result": {"quantity": 1, "rival": "PDT-7781"}}, use]) == []
    assert unsourced(path=[first, use]) == []
    assert unsourced(path=[{**first, "result": {"quantity": 1}}, use]) == [("warning", "PDT-7781")]
    assert unsourced(path=[[{**first, "result": {"rival": "PDT-7781"}}, use]]) == [("warning", "PDT-7781")]
    assert unsourced(path=[use, {**first, "result": {"rival": "PDT-7781"}}]) == [("warning", "PDT-7781")]


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({}, "warning"),
        ({"tools": ["query_stock"]}, "error"),
        ({"environment": {"products": ["PDT-1", "PDT-2"]}}, "error"),
    ],
)
def test_an_identifier_from_nowhere(fields: dict[str, Any], severity: str) -> None:
    path = [{"tool": "query_stock", "args": {"product_id": "PDT-7781"}}]
    assert unsourced(query="how many are left?", path=path, **fields) == [(severity, "PDT-7781")]
    assert unsourced(query="还剩多少？", path=path, **fields) == [(severity, "PDT-7781")]


def test_what_nobody_has_to_say() -> None:
    assert (
        unsourced(query="set it", path=[update(mode="reserve", product_id={"$any": True}, quantity=0)]) == []
    )
    assert unsourced(query="补到五十件 PDT-1001", path=[update()]) == []
    assert (
        unsourced(
            query="stock of PDT-1001 last Friday",
            path=[{**LOOK, "args": {"product_id": "PDT-1001", "at": "2024-03-01"}}],
        )
        == []
    )
    assert (
        unsourced(query="PDT-1001, 50; say why: moisture damage", path=[update(remark="damage by moisture")])
        == []
    )
    assert unsourced(query="PDT-1001 to 50", path=[update(remark="completely other words here")]) == [
        ("info", "completely other words here")
    ]
    assert unsourced(query="PDT-1001 to 50", path=[update(quantity=48211)]) == [("warning", 48211)]
    assert unsourced(query="PDT-1001 to 48,211", path=[update(quantity=48211)]) == []
    assert unsourced(query="PDT-1001 to 50", path=[update(remark={"$one_of": ["ZZ-99", "PDT-1001"]})]) == []


def test_a_hint_of_the_overlay_supplies_values() -> None:
    overlay = {"tools": {"query_stock": {"note": {"param_hints": {"product_id": {"example": "PDT-7781"}}}}}}
    path = [{"tool": "query_stock", "args": {"product_id": "PDT-7781"}}]
    assert "gold_unsourced_value" not in codes(task(query="how many?", path=path), tools=catalog(overlay))


# --- the suite as a whole


def many(counts: dict[str, int], **fields: Any) -> Suite:
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = []
    for kind, count in counts.items():
        for index in range(count):
            text = f"{kind} {letters[index]} {letters[-index - 1] * 3} PDT-1001"
            path = [LOOK] if kind == "must" else None
            rows.append(
                task(id=f"{kind}{index}", kind=kind, query=text, **({"path": path} if path else {}), **fields)
            )
    return Suite.load(rows)


def suite_codes(suite: Suite) -> set[str]:
    return {finding.code for finding in examine(suite, catalog())[0]}


def test_the_mix_of_kinds() -> None:
    assert "kind_mix" not in suite_codes(many({"must": 12, "may": 4, "forbid": 4}))
    assert "kind_mix" in suite_codes(many({"must": 20}))
    assert "kind_mix" in suite_codes(many({"must": 6, "may": 10, "forbid": 4}))
    assert "kind_mix" not in suite_codes(many({"must": 9}))


def test_figures_coverage_confusable_and_review() -> None:
    findings, figures = examine(
        many({"must": 6, "may": 2, "forbid": 2}, tags=["confusable"], review=True), catalog()
    )
    found = {finding.code: finding for finding in findings}
    assert figures.kinds == {"must": 6, "may": 2, "forbid": 2}
    assert (figures.tasks, figures.decisions, figures.confusable, figures.review, figures.tools) == (
        10,
        6,
        10,
        10,
        3,
    )
    assert found["tools_without_task"].data["tools"] == ["update_stock", "adjust_inventory"]
    assert "10 of 10" in found["review_pending"].message.en


def test_few_confusable_tasks() -> None:
    alike = Catalog.load(
        [
            {
                "name": "get_order",
                "description": "Get an order by its number.",
                "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}},
            },
            {
                "name": "get_orders",
                "description": "Get orders by their number.",
                "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}},
            },
            {
                "name": "weather",
                "description": "Tell the weather of a town.",
                "inputSchema": {"type": "object", "properties": {"town": {"type": "string"}}},
            },
        ]
    )

    def rows(tool: str) -> Suite:
        return Suite.load(
            [task(id=f"t{n}", query=f"{chr(97 + n) * 4} {chr(110 + n) * 4}", path=[tool]) for n in range(10)]
        )

    assert "few_confusable" in {finding.code for finding in examine(rows("weather"), alike)[0]}
    assert "few_confusable" not in {finding.code for finding in examine(rows("get_order"), alike)[0]}


def test_duplicates() -> None:
    same = [task(id="a", path=[LOOK]), task(id="b", path=[LOOK], tags=["x"])]
    assert codes(*same) == ["duplicate_task", "near_duplicate_tasks"]
    other_tools = [task(id="a", path=[LOOK]), task(id="b", path=[update()])]
    assert "near_duplicate_tasks" not in codes(*other_tools)
    zh = [
        task(id="a", query="帮我查一下保温杯在上海仓还剩多少件库存", path=[LOOK]),
        task(id="b", query="帮我查一下保温杯在上海仓还剩多少件库存呢", path=[LOOK]),
        task(id="c", query="机械键盘昨天卖出去几个", path=[LOOK]),
    ]
    found = [item for item in lint(*zh) if item.code == "near_duplicate_tasks"]
    assert [item.data["tasks"] for item in found] == [["a", "b"]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=7).map(" ".join), min_size=2, max_size=14
    )
)
def test_the_join_finds_what_comparing_all_pairs_finds(queries: list[str]) -> None:
    suite = Suite.load(
        [{"id": str(index), "kind": "may", "query": text} for index, text in enumerate(queries)]
    )
    linked = {task.id: number for number, group in enumerate(near_duplicates(suite.tasks)) for task in group}
    bags = [set(words(text)) for text in queries]
    parents = list(range(len(bags)))

    def root(index: int) -> int:
        while parents[index] != index:
            index = parents[index]
        return index

    for left in range(len(bags)):
        for right in range(left):
            if len(bags[left] & bags[right]) >= 0.8 * len(bags[left] | bags[right]):
                parents[root(left)] = root(right)
    for left in range(len(bags)):
        for right in range(left):
            together = str(left) in linked and linked[str(left)] == linked.get(str(right))
            assert together is (root(left) == root(right))


def test_severities_and_order() -> None:
    found = lint(
        task(path=[{"tool": "nothing_like_it"}]),
        task(id="u", path=[{**LOOK, "args": {"product_id": "ZZ-77"}}]),
    )
    ranks = [["error", "warning", "info"].index(item.severity) for item in found]
    assert ranks == sorted(ranks)
    assert reaches(found, "error")
    assert not reaches(found, "never")
    assert not reaches([item for item in found if item.severity == "info"], "warning")
