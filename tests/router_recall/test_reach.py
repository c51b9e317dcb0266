"""Reach as a whole: select in any shape, candidate text in each host's form, wrapped tools, requests, configuration."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_reach import Catalog, Reach
from agent_reach.backends.python import PythonBackend
from agent_reach.catalog.sources.python import python_tools
from agent_reach.errors import ConfigError, InputError, UnknownToolError
from agent_reach.records.tool import AgentNote, Needs, ParameterHint, Tool
from agent_reach.router import confirm
from agent_reach.router.history import History
from agent_reach.router.reach_messages import request_of, used_names
from agent_reach.router.reach_shapes import read_shape
from agent_reach.text.counting import count_tokens

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city to look at, as people write it"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {
            "enum": ["celsius", "fahrenheit"],
            "description": "In which unit the temperature is given back",
        },
    },
    "required": ["city"],
}


def get_weather(city: str, days: int = 1) -> str:
    """Weather forecast for a city."""
    return f"{city}:{days}"


async def send_mail(address: str, text: str) -> str:
    """Send a mail to somebody."""
    return f"{address}<-{text}"


def local_reach(**options: Any) -> Reach:
    tools, handlers = python_tools([get_weather, send_mail])
    return Reach(Catalog.from_tools(tools), backend=PythonBackend(handlers), **options)


# -- shapes --------------------------------------------------------------------------------------------------

SHAPES: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather", "parameters": SCHEMA}},
    {"type": "function", "name": "get_weather", "description": "Weather", "parameters": SCHEMA},
    {"name": "get_weather", "description": "Weather", "input_schema": SCHEMA},
    {"name": "get_weather", "description": "Weather", "inputSchema": SCHEMA},
    {"toolSpec": {"name": "get_weather", "description": "Weather", "inputSchema": {"json": SCHEMA}}},
    Tool(name="get_weather", description="Weather", input_schema=SCHEMA),
    SimpleNamespace(name="get_weather", description="Weather", args_schema=SCHEMA),
    SimpleNamespace(name="get_weather", description="Weather", inputSchema=SCHEMA),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda one: type(one).__name__)
def test_every_shape_is_read_and_handed_back_as_it_was(shape: Any) -> None:
    read = read_shape(shape)
    assert read is not None
    assert (read.name, read.description) == ("get_weather", "Weather")
    assert set(read.parameters) == set(SCHEMA["properties"])
    other = {"name": "send_mail", "description": "Send a mail"}
    selection = Reach([]).select([{"role": "user", "content": "weather in Rome"}], [other, shape], k=1)
    assert len(selection) == 1
    assert selection[0] is shape


def test_functions_and_pydantic_models_are_read() -> None:
    from pydantic import BaseModel

    class Arguments(BaseModel):
        city: str

    function = read_shape(get_weather)
    assert function is not None
    assert set(function.parameters) == {"city", "days"}
    modelled = read_shape(SimpleNamespace(name="x", description="y", args_schema=Arguments))
    assert modelled is not None
    assert set(modelled.parameters) == {"city"}


@pytest.mark.parametrize(
    "given", [{"type": "web_search"}, {"kind": 1}, 5, None, {}, {"name": ""}, {"function": 3}]
)
def test_what_cannot_be_read_is_none_and_passes(given: Any) -> None:
    assert read_shape(given) is None
    assert list(Reach([]).select("weather", [given])) == [given]


def test_used_and_pinned_tools_stay() -> None:
    tools = [
        {"name": name, "description": name.replace("_", " ")}
        for name in ("get_weather", "send_mail", "ask_user")
    ]
    messages = [
        {"role": "user", "content": "mail Bob"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "send_mail", "arguments": "{}"}}]},
        {"role": "user", "content": "and the weather?"},
    ]
    selection = Reach(tools, pins=["ask_user"]).select(messages, tools, k=1)
    assert {tool["name"] for tool in selection} == {"get_weather", "send_mail", "ask_user"}


def test_barred_tools_are_not_selected() -> None:
    tools = [{"name": name, "description": "weather"} for name in ("get_weather", "set_weather")]
    selection = Reach(tools, deny=["set_*"]).select("weather", tools)
    assert [tool["name"] for tool in selection] == ["get_weather"]
    assert selection.left_out == ("set_weather",)
    assert "tools_not_allowed" in {finding.code for finding in selection.findings}


def test_two_tools_of_one_name_both_pass() -> None:
    tools = [{"name": "search", "description": "docs"}, {"name": "search", "description": "mail"}]
    assert len(Reach([]).select("search docs and mail", tools, k=5)) == 2


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ("find flights", "find flights"),
        ([{"role": "user", "content": "find flights"}], "find flights"),
        ([{"role": "user", "content": [{"type": "text", "text": "find"}, {"type": "image"}]}], "find"),
        ([{"role": "user", "content": "book a hotel in Rome tonight"}, {"role": "user", "content": "yes"}], "book a hotel in Rome tonight\nyes"),
        ([{"role": "user", "content": [{"type": "tool_result", "content": "42"}]}], ""),
        ([SimpleNamespace(type="human", content="hello there")], "hello there"),
        ([], ""),
    ],
)  # fmt: skip
def test_what_a_conversation_asks_for(messages: Any, expected: str) -> None:
    assert request_of(messages) == expected


def test_names_used_in_each_form() -> None:
    messages = [
        {"role": "assistant", "tool_calls": [{"function": {"name": "a"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "b"}]},
        {"type": "function_call", "name": "c"},
        SimpleNamespace(tool_calls=[{"name": "d"}], content="", role="assistant"),
    ]
    assert used_names(messages) == ["a", "b", "c", "d"]


# -- candidate text ------------------------------------------------------------------------------------------


def noted_catalog() -> Catalog:
    note = AgentNote(
        summary="Weather ahead",
        conflicts={"past_weather": "days gone by", "send_mail": "mails"},
        param_hints={
            "unit": ParameterHint(values={"celsius": ("摄氏", "C")}),
            "days": ParameterHint(format="1-7"),
        },
    )
    return Catalog.from_tools(
        [
            Tool(name="get_weather", description="A very long story. " * 30, input_schema=SCHEMA, note=note),
            Tool(
                name="past_weather", description="Weather of days gone by. More words.", input_schema=SCHEMA
            ),
            Tool(name="send_mail", description="Send a mail"),
        ]
    )


def test_candidate_text_says_what_a_call_needs() -> None:
    catalog = noted_catalog()
    text = confirm.render_text(catalog.tools[:1], catalog, filled={"get_weather": {"city": "Rome"}})
    assert text == 'get_weather(city="Rome", days?:1-7, unit?=celsius(摄氏/C)|fahrenheit): Weather ahead'


def test_borders_only_where_the_rival_is_a_candidate() -> None:
    catalog = noted_catalog()
    alone = confirm.render_text(catalog.tools[:1], catalog)
    both = confirm.render_text(catalog.tools[:2], catalog)
    assert "days gone by" not in alone
    assert "not past_weather: days gone by" in both
    assert "mails" not in both


def test_the_budget_holds_and_what_went_is_said() -> None:
    schema = {
        "type": "object",
        "properties": {f"option_{n}": {"enum": [f"value_{v}" for v in range(9)]} for n in range(9)},
    }
    tools = [
        Tool(name=f"tool_{n}", description="Does something useful here.", input_schema=schema)
        for n in range(8)
    ]
    catalog = Catalog.from_tools(tools)
    whole = confirm.render_text(tools, catalog)
    for budget in (count_tokens(whole), 400, 120, 60):
        text = confirm.render_text(tools, catalog, budget=budget)
        assert count_tokens(text) <= budget
    assert "more)" in text
    assert "+9 optional" in text


def test_saving_is_counted_against_full_and_all() -> None:
    catalog = noted_catalog()
    saving = confirm.token_saving(confirm.render_text(catalog.tools[:1], catalog), catalog.tools[:1], catalog)
    assert saving.shown < saving.full < saving.all_tools
    assert saving.against_full == pytest.approx(1 - saving.shown / saving.full)
    assert f"{saving.shown} tokens shown" in str(saving)


def test_each_hosts_own_form() -> None:
    catalog = noted_catalog()
    found = Reach(catalog).find("weather", 2)
    names = {candidate.tool.name for candidate in found}
    assert {entry["function"]["name"] for entry in confirm.openai_tools(found, catalog)} == names
    output = confirm.openai_tool_search_output("c1", found, catalog)
    assert (output["type"], output["execution"], output["call_id"]) == ("tool_search_output", "client", "c1")
    assert all(entry["type"] == "function" and entry["defer_loading"] for entry in output["tools"])
    references = confirm.anthropic_tool_references("t1", found, catalog)
    assert {part["tool_name"] for part in references["content"]} == names
    deferred = {
        entry["name"]: entry.get("defer_loading", False)
        for entry in confirm.anthropic_tools(catalog, ["send_mail"])
    }
    assert deferred == {"get_weather": True, "past_weather": True, "send_mail": False}
    assert confirm.openai_tool_search()["execution"] == "client"
    assert [entry["name"] for entry in confirm.meta_tools()] == ["tool_search", "tool_describe", "tool_call"]
    json.dumps([output, references, confirm.meta_tools()])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_weather", "get_weather"),
        ("get-weather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("send_mail", None),
        ("weather", None),
    ],
)
def test_a_choice_is_repaired_only_when_certain(name: str, expected: str | None) -> None:
    catalog = noted_catalog()
    repaired = Reach(catalog).repair_choice(name, Reach(catalog).find("weather", 2))
    assert (repaired.tool.name if repaired.tool else None) == expected


# -- calling -------------------------------------------------------------------------------------------------


def test_meta_tools_search_describe_and_call() -> None:
    reach = local_reach()

    async def run() -> None:
        searched = await reach.call("tool_search", {"query": "weather forecast"})
        assert searched.value == {"tools": ["get_weather"]}
        described = await reach.call("tool_describe", '{"name": "get_weather"}')
        assert described.value["parameters"]["required"] == ["city"]
        called = await reach.call(
            "tool_call", {"name": "get_weather", "arguments": '{"city": "Rome", "days": "2"}'}
        )
        assert called.value == "Rome:2"
        nothing = await reach.call("tool_search", {"query": "hello"})
        assert nothing.text.startswith("No tool fits")
        wrong = await reach.call("tool_call", {"name": "get_wether"})
        assert "nearest: get_weather" in wrong.message

    asyncio.run(run())


def test_execute_without_a_backend_says_what_to_do() -> None:
    reach = Reach(noted_catalog())
    with pytest.raises(ConfigError, match="nothing is there to execute"):
        asyncio.run(reach.execute(reach.normalize("get_weather", {"city": "Rome"})))


def test_unknown_tools_are_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownToolError) as caught:
        local_reach().normalize("get_wether", {})
    assert caught.value.nearest_names[0] == "get_weather"


def test_a_request_leaves_a_trace_and_teaches_the_history() -> None:
    stored = []
    history = History()
    reach = local_reach(history=history, store=SimpleNamespace(add=stored.append))

    async def run() -> None:
        async with reach.request("weather in Rome for two days") as request:
            found = request.find(3)
            outcome = await request.execute(request.normalize(found[0].tool, {"city": "Rome", "days": "2"}))
            assert outcome.value == "Rome:2"

    asyncio.run(run())
    (trace,) = stored
    assert trace.exposure.offered == ("get_weather",)
    assert trace.steps[0].candidates[0].tool == "get_weather"
    (call,) = trace.calls
    assert (call.arguments, call.sent_arguments) == (
        {"city": "Rome", "days": "2"},
        {"city": "Rome", "days": 2},
    )
    assert call.changes
    assert len(history) == 1


def test_prefill_and_candidate_text_with_a_conversation() -> None:
    schema = {
        "type": "object",
        "properties": {"order_id": {"type": "string", "pattern": r"^ORD-\d+$"}},
        "required": ["order_id"],
    }
    reach = Reach(
        Catalog.from_tools([Tool(name="track_order", description="Track an order", input_schema=schema)])
    )
    found = reach.find("track order ORD-20391")
    text = reach.candidate_text(found, conversation="track order ORD-20391")
    assert text == 'track_order(order_id="ORD-20391"): Track an order'


# -- wrapped tools -------------------------------------------------------------------------------------------


def test_a_function_gets_normalised_arguments() -> None:
    wrapped = local_reach().wrap_tool(get_weather)
    assert wrapped(city="Rome", days="3") == "Rome:3"
    assert wrapped("Rome") == "Rome:1"
    assert wrapped.__name__ == "get_weather"
    assert wrapped.__doc__ == get_weather.__doc__


def test_an_async_function_too() -> None:
    wrapped = local_reach().wrap_tool(send_mail)
    assert asyncio.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped(address="a@b.c", text="hi")) == "a@b.c<-hi"


def test_illegal_arguments_never_reach_the_tool() -> None:
    wrapped = local_reach().wrap_tool(get_weather)
    with pytest.raises(InputError, match="get_weather"):
        wrapped(city="Rome", days="soon")
    with pytest.raises(InputError):
        wrapped(days=1)


def test_a_function_outside_the_catalog_is_read_by_itself() -> None:
    def add(left: int, right: int) -> int:
        """Add two numbers."""
        return left + right

    assert Reach([]).wrap_tool(add)(left="1", right=2) == 3


class ToolObject:
    name = "get_weather"
    description = "Weather"
    args_schema = SCHEMA

    def invoke(self, given: Any) -> Any:
        return given

    async def ainvoke(self, given: Any, config: Any = None) -> Any:
        return given, config


def test_an_object_with_invoke_and_ainvoke() -> None:
    wrapped = Reach([]).wrap_tool(ToolObject())
    assert wrapped.name == "get_weather"
    assert wrapped.invoke({"city": "Rome", "days": "3"}) == {"city": "Rome", "days": 3}
    call = {"name": "get_weather", "args": {"city": "Rome", "days": "3"}, "id": "1", "type": "tool_call"}
    assert wrapped.invoke(call)["args"] == {"city": "Rome", "days": 3}
    assert asyncio.run(wrapped.ainvoke({"city": "Rome"}, config={"x": 1})) == ({"city": "Rome"}, {"x": 1})


# -- configuration -------------------------------------------------------------------------------------------


def project(folder: Path, reach: Mapping[str, Any] | str) -> Path:
    (folder / "tools.json").write_text(
        json.dumps({"tools": [{"name": "get_weather", "description": "Weather", "inputSchema": SCHEMA}, {"name": "drop_all", "description": "Drop"}]}),
        encoding="utf-8",
    )  # fmt: skip
    document = {"catalog": "tools.json", "reach": reach, "environments": {"staging": {"scopes": ["read"]}}}
    path = folder / "reach.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_from_config(tmp_path: Path) -> None:
    reach = Reach.from_config(project(tmp_path, {"pins": ["get_weather"], "deny": ["drop_*"], "limit": 12}))
    assert (reach.pins, reach.limit, set(reach.hidden)) == (("get_weather",), 12, {"drop_all"})
    assert [one.tool.name for one in reach.find("drop everything")] == ["get_weather"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pinns": []}, "pins"),
        ({"environment": "production"}, "staging"),
        ({"pins": [3]}, "list of names"),
        ({"execution": {"max_atempts": 3}}, "max_attempts"),
        ({"embedder": {"url": "x"}}, "base_url"),
    ],
)
def test_wrong_settings_say_where_and_what(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Reach.from_config(project(tmp_path, settings))
    assert message in str(caught.value)


def test_an_environment_hides_what_lacks_its_needs(tmp_path: Path) -> None:
    from agent_reach.config.settings import EnvironmentGrants
    from agent_reach.router.reach_config import missing_needs

    tool = Tool(name="a", needs=Needs(scopes=("admin",), env=("KEY",)))
    assert missing_needs(tool, EnvironmentGrants(scopes=("admin",))) == "env: KEY"
    assert missing_needs(tool, EnvironmentGrants(scopes=("admin",), env=("KEY",))) == ""
    reach = Reach.from_config(project(tmp_path, {"environment": "staging"}))
    assert reach.hidden == {}


def test_shown_names_are_callable_even_where_names_repeat() -> None:
    tools = [
        Tool(name="search", server=server, description=f"Search the {server}") for server in ("docs", "mail")
    ]
    catalog = Catalog.from_tools([*tools, Tool(name="Pets.find one", description="Find a pet")])
    shown = [confirm.shown_name(catalog, tool) for tool in catalog.tools]
    assert shown == ["docs/search", "mail/search", "Pets.find one"]
    assert [catalog.get(name) for name in shown] == list(catalog.tools)
