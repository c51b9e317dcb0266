"""Real troubles with tool lists, schemas and names, each with its right answer."""

import json
import re
import socket
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.export import export_tools, to_gemini, to_openai
from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.catalog.schema import (
    allowed_values,
    argument_problems,
    is_legal,
    is_nullable,
    parameter_types,
    value_problems,
)
from agent_reach.catalog.snapshot import load_snapshot, snapshot_document
from agent_reach.errors import AmbiguousToolError, CatalogError

from .builders import case_rows, codes, named, one

CASES = case_rows()


def load(identity: str) -> Catalog:
    given = CASES[identity]["input"]
    return Catalog.load(given["tools_list"] if "tools_list" in given else {"tools": [given["tool"]]})


SCHEMA_CASES = [
    row["id"]
    for row in CASES.values()
    if row["surface"] == "schema_load" and (row.get("check") or {}).keys() & {"valid", "invalid"}
]


@pytest.mark.parametrize("identity", SCHEMA_CASES)
def test_samples_are_judged_as_stated(identity: str) -> None:
    (tool,) = load(identity).tools
    for arguments in CASES[identity]["check"].get("valid", []):
        assert argument_problems(tool, arguments) == ()
        assert is_legal(tool, arguments)
    for arguments in CASES[identity]["check"].get("invalid", []):
        assert argument_problems(tool, arguments)
        assert not is_legal(tool, arguments)


def test_a_schema_that_refers_to_itself_stays_by_reference() -> None:
    catalog = load("A02")
    (tool,) = catalog.tools
    assert catalog.findings == ()
    json.dumps(tool.input_schema)
    (problem,) = argument_problems(tool, {"root": {"text": "a", "children": [{}]}})
    assert (problem.code, problem.pointer) == ("missing_required", "/root/children/0/text")


def test_cycles_without_content_and_missing_targets_are_told() -> None:
    catalog = load("A04")
    assert [tool.name for tool in catalog] == ["put_rule", "put_label"]
    assert codes(catalog, "put_rule") == ["reference_cycle"]
    (finding,) = [item for item in catalog.findings if item.subject == "put_label"]
    assert (finding.code, finding.pointer) == ("reference_missing", "/properties/label")
    assert finding.data["target"] == "#/$defs/Missing"
    assert is_legal(catalog.get("put_label"), {"label": [1, {"any": None}]})
    assert is_legal(catalog.get("put_rule"), {"rule": {"n": 1}})
    assert not is_legal(catalog.get("put_rule"), {"rule": {"n": "one"}})


@pytest.mark.parametrize("depth", [200, 1500, 4000])
def test_a_deep_schema_is_one_finding_with_the_limit(depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    text = '{"type":"object","properties":{"a":' * depth + '{"type":"string"}' + "}}" * depth
    for source in (
        [{"name": "deep", "parameters": schema}],
        '{"tools":[{"name":"deep","inputSchema":' + text + "}]}",
    ):
        catalog = Catalog.load(source)
        (tool,) = catalog.tools
        (finding,) = catalog.findings
        assert (finding.code, finding.subject) == ("schema_too_deep", "deep")
        assert "128" in finding.message.en
        assert is_legal(tool, {"a": {"a": {}}})
        assert not is_legal(tool, {"a": 1})
        assert catalog.hash.startswith("sha256:")
        assert load_snapshot(snapshot_document(catalog)).hash == catalog.hash


def test_nullable_choices_have_their_effective_type() -> None:
    (tool,) = load("A07").tools
    topic, weight = tool.parameters["topic"], tool.parameters["weight"]
    assert parameter_types(topic) == {"string"}
    assert parameter_types(weight) == {"number"}
    assert is_nullable(topic)
    assert is_nullable(weight)
    exported = to_openai(load("A07"), require_types=True)
    shown = exported.definitions[0]["function"]["parameters"]["properties"]
    assert shown["topic"]["type"] == ["string", "null"]
    assert shown["weight"]["type"] == ["number", "null"]
    assert [change.rule for change in exported.changes] == ["type_added", "type_added"]


def test_the_error_is_the_one_of_the_branch_that_was_meant() -> None:
    (tool,) = load("A08").tools
    (problem,) = argument_problems(tool, {"op": {"kind": "delete", "text": "x"}})
    assert (problem.code, problem.pointer) == ("missing_required", "/op/count")
    assert "delete" in problem.message
    (problem,) = argument_problems(tool, {"op": {"kind": "replace"}})
    assert (problem.code, problem.pointer, problem.expected) == (
        "not_in_enum",
        "/op/kind",
        ["insert", "delete"],
    )
    gemini = to_gemini(load("A08")).definitions[0]["parameters"]["properties"]["op"]
    assert [branch["properties"]["kind"]["enum"] for branch in gemini["anyOf"]] == [["insert"], ["delete"]]


def test_an_array_without_items_gets_any_items_on_export() -> None:
    exported = to_openai(load("A09"))
    shown = exported.definitions[0]["function"]["parameters"]["properties"]
    assert shown["words"]["items"] == {}
    assert "items" not in shown["pair"]
    assert [change.pointer for change in exported.changes] == ["/properties/words"]


def test_one_illegal_tool_does_not_hide_the_others() -> None:
    catalog = load("A11")
    assert [tool.name for tool in catalog] == ["good_a", "good_c"]
    assert {item.key: (item.reason.code, item.reason.pointer) for item in catalog.quarantined} == {
        "bad_b": ("type_illegal", "/properties/n/type"),
        "bad_d": ("root_not_object", "/type"),
    }
    with pytest.raises(CatalogError, match="2 problems"):
        Catalog.load(CASES["A11"]["input"]["tools_list"], strict=True)
    repaired = Catalog.load(CASES["A11"]["input"]["tools_list"], repair_types="always")
    assert [tool.name for tool in repaired] == ["good_a", "bad_b", "good_c"]
    assert is_legal(repaired.get("bad_b"), {"n": 3})
    never = Catalog.load(CASES["A11"]["input"]["tools_list"]["tools"], repair_types="never")
    assert [item.key for item in never.quarantined] == ["bad_b", "bad_d"]


def test_a_misplaced_keyword_is_told_from_a_parameter_of_that_name() -> None:
    catalog = load("A12")
    (finding,) = catalog.findings
    assert (finding.subject, finding.code) == ("get_pair", "misplaced_keyword")
    assert finding.pointer == "/properties/required"
    assert finding.data["suggestion"] == {"required": ["pair"]}
    assert catalog.get("get_pair").required == ("pair",)
    assert list(catalog.get("get_pair").parameters) == ["pair"]
    assert list(catalog.get("find_node").parameters) == ["type", "required", "properties"]
    assert is_legal(catalog.get("find_node"), {"type": "x", "required": True, "properties": {}})


@pytest.mark.parametrize("declared", ["https://json-schema.org/draft/2020-12/schema", None])
def test_a_flag_for_an_exclusive_bound_is_repaired(declared: str | None) -> None:
    definition = CASES["A13"]["input"]["tool"]
    if declared is None:
        definition = json.loads(json.dumps(definition))
        del definition["inputSchema"]["$schema"]
    catalog = Catalog.load({"tools": [definition]})
    (tool,) = catalog.tools
    assert tool.parameters["rank"]["exclusiveMinimum"] == 0
    assert "minimum" not in tool.parameters["rank"]
    assert codes(catalog) == ["draft_dialect"]
    (problem,) = argument_problems(tool, {"rank": 0})
    assert (problem.code, problem.expected) == ("out_of_range", 0)


def test_null_in_an_enum_is_a_value_and_told_as_nullable_where_enums_are_text() -> None:
    catalog = load("A14")
    (tool,) = catalog.tools
    assert allowed_values(tool.parameters["mode"]) == ("beat", "plan", None)
    (problem,) = argument_problems(tool, {"mode": "null"})
    assert problem.code == "not_in_enum"
    shown = to_gemini(catalog).definitions[0]["parameters"]["properties"]["mode"]
    assert shown == {"type": "STRING", "enum": ["beat", "plan"], "nullable": True}
    only_null = Catalog.load(
        [{"name": "t", "parameters": {"type": "object", "properties": {"m": {"enum": [None]}}}}]
    )
    assert "enum" not in to_gemini(only_null).definitions[0]["parameters"]["properties"]["m"]


def test_null_outside_the_enum_is_not_allowed_whatever_the_type_says() -> None:
    (tool,) = load("A15").tools
    (problem,) = argument_problems(tool, {"kind": None})
    assert problem.code == "not_in_enum"
    assert not is_nullable(tool.parameters["kind"])
    assert is_legal(tool, {"kind": "RED"})
    assert is_legal(tool, {})
    assert value_problems(tool.parameters["kind"], None)


def test_boolean_schemas_pass_through_everything() -> None:
    catalog = load("A17")
    for form in ("openai", "responses", "anthropic", "langchain", "gemini", "mcp"):
        json.dumps(export_tools(catalog, form).definitions)
    shown = to_openai(catalog).definitions[0]["function"]["parameters"]["properties"]
    assert shown["blob"] == {}
    assert shown["fields"]["items"] == {}
    never = one({"name": "t", "inputSchema": {"type": "object", "properties": {"no": False, "yes": True}}})
    assert is_legal(never, {"yes": [1]})
    assert [problem.pointer for problem in argument_problems(never, {"no": 1})] == ["/no"]


def test_maps_stay_maps() -> None:
    (tool,) = load("A18").tools
    assert is_legal(tool, CASES["A18"]["input"]["call_arguments"])
    (problem,) = argument_problems(tool, {"query": {"colour": 5}})
    assert (problem.code, problem.pointer) == ("wrong_type", "/query/colour")
    assert tool.input_schema["properties"]["input"] == {"type": "object", "additionalProperties": {}}
    shown = to_openai(load("A18")).definitions[0]["function"]["parameters"]["properties"]
    assert shown["query"]["additionalProperties"] == {"type": "string"}


def test_every_way_of_saying_no_arguments_is_one_schema() -> None:
    catalog = load("A20")
    assert len(catalog) == 5
    for tool in catalog:
        assert tool.input_schema == CASES["A20"]["check"]["canonical"]
        assert is_legal(tool, {})
        assert is_legal(tool, None)
        assert not is_legal(tool, {"anything": 1})
    assert catalog.findings == ()


def test_stripped_schemas_are_told_of_the_server() -> None:
    given = CASES["A21"]["input"]["tools_list"]
    catalog = Catalog.load(given, server="notes")
    (finding,) = catalog.findings
    assert (finding.code, finding.subject, finding.severity) == ("schemas_stripped", "notes", "error")
    assert len(catalog) == 2
    with pytest.raises(CatalogError, match="stripped"):
        Catalog.load(given, strict=True)


def test_look_ahead_is_enforced_and_what_cannot_be_compiled_is_skipped() -> None:
    catalog = load("A22")
    (tool,) = catalog.tools
    assert is_legal(tool, {"email": "a@b"})
    assert not is_legal(tool, {"email": "ab"})
    assert not is_legal(tool, {"email": "a@b", "slug": "x" * 41})
    exported = to_openai(catalog)
    shown = exported.definitions[0]["function"]["parameters"]["properties"]
    assert "pattern" not in shown["email"]
    assert shown["slug"]["maxLength"] == 40
    assert [change.rule for change in exported.changes] == ["pattern_dropped", "pattern_dropped"]
    broken = Catalog.load(
        {
            "tools": [
                {
                    "name": "t",
                    "inputSchema": {
                        "type": "object",
                        "properties": {"s": {"type": "string", "pattern": "([", "maxLength": 3}},
                    },
                }
            ]
        }
    )
    assert codes(broken) == ["pattern_uncompilable"]
    assert is_legal(broken.tools[0], {"s": "abc"})
    assert not is_legal(broken.tools[0], {"s": "abcd"})


def test_refused_keys_get_aliases_that_lead_back() -> None:
    exported = to_openai(load("A23"))
    (definition,) = exported.definitions
    schema = definition["function"]["parameters"]
    names = list(schema["properties"])
    pattern = re.compile(CASES["A23"]["check"]["alias_pattern"])
    assert all(pattern.match(name) for name in names)
    assert len(set(names)) == 3
    assert "ids__" in names
    (needed,) = schema["required"]
    restored = exported.restore_arguments("list_subs", {needed: ["1"], "ids__": "x"})
    assert restored == {"ids[]": ["1"], "ids__": "x"}


def test_the_same_name_on_two_servers_is_two_tools_and_alone_ambiguous() -> None:
    catalog = Catalog.load(CASES["A26"]["input"]["servers"])
    assert [tool.key for tool in catalog] == ["mail_a/post_note", "mail_b/post_note"]
    assert list(catalog.get("mail_a/post_note").parameters) == ["to"]
    assert list(catalog.get("mail_b/post_note").parameters) == ["recipient"]
    with pytest.raises(AmbiguousToolError) as caught:
        catalog.get("post_note")
    assert caught.value.candidates == ("mail_a/post_note", "mail_b/post_note")
    resolution = resolve_emitted_name("post_note", catalog)
    assert resolution.tool is None
    assert resolution.is_ambiguous
    assert {catalog.wire_name(tool) for tool in catalog} == {"mail_a__post_note", "mail_b__post_note"}


def test_one_name_twice_on_one_server() -> None:
    catalog = load("A27")
    assert len(catalog) == 1
    assert codes(catalog) == ["duplicate_tool"]
    assert list(catalog.get("fetch").parameters) == ["url"]
    assert [item.key for item in catalog.quarantined] == ["fetch"]
    twin = CASES["A27"]["input"]["tools_list"]["tools"][0]
    same = Catalog.load({"tools": [twin, dict(reversed(twin.items()))]})
    assert len(same) == 1
    assert same.findings == ()
    assert same.quarantined == ()


def test_remote_references_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    catalog = load("A29")
    (tool,) = catalog.tools
    assert codes(catalog) == ["reference_remote", "reference_remote"]
    assert tool.parameters["a"] == {"description": "keep me"}
    assert is_legal(tool, {"a": [1], "b": {"x": None}})
    for form in ("openai", "gemini", "mcp"):
        export_tools(catalog, form)


def test_keywords_beside_a_reference_apply_by_draft() -> None:
    definition = CASES["A30"]["input"]["tool"]
    assert not is_legal(one(definition), {"u": {"name": "n"}})
    older = json.loads(json.dumps(definition))
    older["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    tool = one(older)
    assert is_legal(tool, {"u": {"name": "n"}})
    assert tool.parameters["u"]["description"] == "the user"


def test_a_default_that_its_type_forbids_is_no_legal_value() -> None:
    (tool,) = load("A35").tools
    assert is_legal(tool, {})
    assert not is_legal(tool, {"name": None})
    bad = [name for name, part in tool.parameters.items() if value_problems(part, part["default"])]
    assert bad == ["name"]


def test_control_tokens_are_cut_from_names() -> None:
    catalog = named(*CASES["B44"]["input"]["known_tools"])
    resolution = resolve_emitted_name(CASES["B44"]["input"]["call"]["name"], catalog)
    assert resolution.tool is catalog.get("shell")
    assert resolution.repair == "control_token_cut"
    for rubbish in ("<|channel|>commentary", "", "   ", "<|im_end|>"):
        assert resolve_emitted_name(rubbish, catalog).tool is None


@pytest.mark.parametrize("identity", ["B45", "B46"])
def test_names_in_another_style(identity: str) -> None:
    given = CASES[identity]["input"]
    catalog = named(*given["known_tools"])
    found = [resolve_emitted_name(name, catalog).tool for name in given["calls"]]
    assert [tool.name if tool else None for tool in found] == CASES[identity]["check"]["resolved"]


def test_two_names_of_one_form_are_refused() -> None:
    resolution = resolve_emitted_name("EDIT", named("edit", "Edit"))
    assert resolution.is_ambiguous
    assert resolution.candidates == ("Edit", "edit")


def test_an_invented_name_is_unknown_with_few_near_names() -> None:
    catalog = named(*CASES["B47"]["input"]["known_tools"])
    resolution = resolve_emitted_name("run_script", catalog)
    assert resolution.tool is None
    assert resolution.repair == "unknown"
    crowd = named(*[f"get_item_{index}" for index in range(600)])
    near = resolve_emitted_name("get_item_x", crowd)
    assert near.tool is None
    assert 0 < len(near.candidates) <= 10


def test_the_description_is_inside_the_hash() -> None:
    from agent_reach.catalog.diff import diff_catalogs

    given = CASES["C27"]["input"]
    pinned, now = Catalog.load([given["pinned"]]), Catalog.load([given["now"]])
    difference = diff_catalogs(pinned, now)
    assert difference.drift
    ((tool,),) = (difference.changed,)
    assert [(change.field, change.kind) for change in tool.changes] == [("description", "wording")]
    assert tool.old_hash != tool.new_hash
    shuffled = dict(reversed(given["pinned"].items()))
    assert Catalog.load([shuffled]).hash == pinned.hash
