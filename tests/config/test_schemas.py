"""The shipped JSON Schemas: legal themselves, in step with the loaders, and strict where the loaders are."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from agent_reach.catalog.overlay import load_overlay
from agent_reach.config.documents import parse_yaml
from agent_reach.config.schema_files import SCHEMAS, load_schema
from agent_reach.config.settings import AGENT_TYPES, BACKENDS, DEFAULT_CONTEXT_ORDER, FAULT_KINDS
from agent_reach.evals.suite.reading import TASK_KEYS
from agent_reach.records.context import BLOCK_KINDS
from agent_reach.records.trace import ERROR_KINDS


def valid(name: str, value: Any) -> bool:
    return bool(jsonschema_rs.validator_for(load_schema(name)).is_valid(value))


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_a_legal_schema(name: str) -> None:
    schema = load_schema(name)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$id"].endswith(name)
    jsonschema_rs.validator_for(schema)


def test_words_of_schemas_are_the_words_of_the_code() -> None:
    suite, run = load_schema("suite"), load_schema("run")
    assert set(suite["$defs"]["task"]["properties"]) == set(TASK_KEYS)
    assert suite["$defs"]["block"]["properties"]["kind"]["enum"] == list(BLOCK_KINDS)
    assert suite["$defs"]["result"]["properties"]["error_kind"]["enum"] == list(ERROR_KINDS)
    agent = run["properties"]["agent"]["oneOf"][1]
    assert agent["properties"]["type"]["enum"] == list(AGENT_TYPES)
    execution = run["properties"]["execution"]["oneOf"]
    assert execution[0]["enum"] == list(BACKENDS)
    fault = execution[1]["properties"]["faults"]["items"]
    assert fault["properties"]["kind"]["enum"] == list(FAULT_KINDS)
    order = run["properties"]["context"]["oneOf"][1]["properties"]["order"]
    assert set(order["items"]["enum"]) == set(DEFAULT_CONTEXT_ORDER)


RUN = """
catalog: tools.json
suites: {core-suite: core.jsonl}
agent: {type: chat, base_url: 'http://localhost:8000/v1', model: m, stream: auto}
exposure: {tools: [a], order: shuffled, surface: {max_description: 100, max_tools: null}}
execution: {backend: mcp, on_miss: stop, faults: [{tool: '*', kind: timeout, calls: [1]}], setup: 'm:f'}
context: {template: {order: [request, tools]}, max_passages: 5, best_passages: last}
gate: {threshold: 0.02}
repeats: 3
attempt_timeout: null
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("catalog:", "catlog:"),
        ("type: chat", "type: chatty"),
        ("model: m, ", ""),
        ("base_url: 'http://localhost:8000/v1'", "base_url: localhost"),
        ("stream: auto", "stream: maybe"),
        ("order: shuffled", "order: random"),
        ("max_description: 100", "max_description: -1"),
        ("max_tools: null", "max_tools: 0.5"),
        ("backend: mcp", "mode: mcp"),
        ("on_miss: stop", "on_miss: fail"),
        ("kind: timeout", "kind: slow"),
        ("calls: [1]", "calls: [0]"),
        ("[request, tools]", "[request, tool]"),
        ("max_passages: 5", "max_passages: 1.5"),
        ("best_passages: last", "best_passages: lst"),
        ("threshold: 0.02", "threshold: 1.5"),
        ("repeats: 3", "repeats: 0"),
        ("attempt_timeout: null", "attempt_timeout: 0"),
    ],
)
def test_the_run_schema_takes_the_example_and_refuses_each_mistake(old: str, new: str) -> None:
    assert valid("run", parse_yaml(RUN).value)
    assert old in RUN
    assert not valid("run", parse_yaml(RUN.replace(old, new)).value)


def test_the_project_schema() -> None:
    good = {
        "catalog": "mcp.json",
        "suites": {"core": "core.yaml"},
        "environments": {"prod": {"scopes": ["a"]}},
    }
    assert valid("project", good)
    assert not valid("project", {**good, "suite": {}})
    assert not valid("project", {**good, "language": "de"})
    assert not valid("project", {**good, "environments": {"prod": {"scope": ["a"]}}})


OVERLAY = """
tools:
  orders/create_order:
    note:
      summary: Create an order.
      triggers: [place an order]
      param_hints: {priority: {names: [urgency], values: {high: [紧急, urgent]}, format: word, example: high}}
      conflicts: {update_order: for an order that exists}
    needs: {services: [orders], scopes: [orders:write], env: [TOKEN], files: [key.pem]}
    effect: write
    aliases: [new_order]
    actor: agent
edges: [{from: a, to: b}]
partitions: {search_knowledge_base: [产品手册, 故障排查]}
state_slots: [{name: order_id, from: create_order.order_id}]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("note:", "notes:"),
        ("summary:", "sumary:"),
        ("values:", "value:"),
        ("scopes:", "scope:"),
        ("effect: write", "effect: writes"),
        ("partitions:", "partition:"),
        ("conflicts: {update_order: for an order that exists}", "conflicts: {update_order: 5}"),
    ],
)
def test_the_overlay_schema_is_in_step_with_the_loader(old: str, new: str) -> None:
    good = parse_yaml(OVERLAY).value
    assert valid("overlay", good)
    assert not load_overlay(good).findings
    assert old in OVERLAY
    assert not valid("overlay", parse_yaml(OVERLAY.replace(old, new)).value)
