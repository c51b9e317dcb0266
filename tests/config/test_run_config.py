"""config.yaml and reach.yaml: short forms, defaults, paths, and every kind of mistake with field and range."""

from __future__ import annotations

import os
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.config.fields import check_number, number_problem
from agent_reach.config.project import find_project, load_project
from agent_reach.config.run import load_run_config, public_settings, suite_path
from agent_reach.config.settings import FaultRule, RunConfig
from agent_reach.errors import ConfigError, InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text("[]", encoding="utf-8")
    (tmp_path / "core.jsonl").write_text("", encoding="utf-8")
    return tmp_path


def load(folder: Path, text: str, environment: dict[str, str] | None = None, **options: Any) -> RunConfig:
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return load_run_config(folder / "config.yaml", environment or {}, **options)


def refused(folder: Path, text: str, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, environment)
    return str(caught.value)


def test_the_short_form_of_the_documents(folder: Path) -> None:
    config = load(
        folder,
        "catalog: tools.json\nsuites: {core-suite: core.jsonl}\n"
        "agent: {type: python, function: 'agent_good:run'}\nexecution: recorded\n",
    )
    assert config.catalog == str(folder / "tools.json")
    assert suite_path(config, "core-suite") == folder / "core.jsonl"
    assert config.agent.type == "python"
    assert config.agent.function == "agent_good:run"
    assert config.execution.backend == "recorded"
    assert config.exposure.mode == "all"
    assert config.context.max_passages == 5
    assert config.context.order[0] == "request"
    assert config.context.order[-1] == "retrieval"
    assert (config.repeats, config.concurrency, config.seed) == (1, 4, 0)
    with pytest.raises(FrozenInstanceError):
        config.repeats = 2  # type: ignore[misc]


def test_every_part_written_out(folder: Path) -> None:
    (folder / "prompt.txt").write_text("Be brief.", encoding="utf-8")
    (folder / "prompt.j2").write_text("{{ request }}", encoding="utf-8")
    config = load(
        folder,
        """
catalog: {mcpServers: {time: {command: uvx, args: [mcp-server-time], env: {TZ: "${TZ}"}}}}
suites: [core.jsonl]
agent:
  type: chat
  model: m-1
  base_url: "http://${HOST:-localhost}:8000/v1/"
  api_key_env: MY_KEY
  headers: {X-Org: "${ORG}", X-Number: 7}
  extra_body: {top_k: 5}
  stream: true
  temperature: 0
  max_tokens: null
  parallel_calls: false
  system_file: prompt.txt
exposure:
  tools: [a, "b*"]
  order: [b, a]
  surface: {max_description: 120, max_tools: null}
  pinned: ask_user
execution:
  backend: mcp
  allow_writes: [orders/create_order]
  isolation: shared
  on_miss: stop
  faults:
    - {tool: "track_*", kind: rate_limited, retry_after: 2, calls: 1}
    - {kind: truncated, keep: 80, probability: 0.5, times: 3}
  setup: "pkg.hooks:prepare"
  teardown: "rm -rf '/tmp/a b'"
  call_timeout: null
context:
  template: {file: prompt.j2, order: [retrieval, request]}
  token_budget: 4000
  max_passages: null
  best_passages: middle
  rerank: lexical
  state_slots: false
gate: {threshold: 0.05, on_suspect: warn}
redaction: {keys: [customer_no], patterns: ["CUS-\\\\d+"]}
environment: {services: [orders], scopes: orders:read}
repeats: 3
concurrency: 2
attempt_timeout: null
seed: 7
""",
        {"MY_KEY": "secret", "ORG": "acme"},
    )
    assert config.catalog["mcpServers"]["time"]["env"] == {"TZ": "${TZ}"}
    assert config.suites == {"core": str(folder / "core.jsonl")}
    agent = config.agent
    assert agent.base_url == "http://localhost:8000/v1"
    assert (agent.api_key, agent.headers) == ("secret", {"X-Org": "acme", "X-Number": "7"})
    assert (agent.stream, agent.temperature, agent.max_tokens, agent.parallel_calls) == (
        "always",
        0.0,
        None,
        False,
    )
    assert agent.system == "Be brief."
    assert (config.exposure.mode, config.exposure.order, config.exposure.order_names) == (
        "names",
        "listed",
        ("b", "a"),
    )
    assert config.exposure.surface.max_description == 120
    assert config.exposure.pinned == ("ask_user",)
    assert config.execution.faults == (
        FaultRule(tool="track_*", kind="rate_limited", retry_after=2.0, calls=(1,)),
        FaultRule(kind="truncated", keep=80, probability=0.5, times=3),
    )
    assert config.execution.setup.function == "pkg.hooks:prepare"
    assert config.execution.teardown.command == ("rm", "-rf", "/tmp/a b")
    assert config.execution.call_timeout is None
    assert config.context.template == "{{ request }}"
    assert config.context.order[:2] == ("retrieval", "request")
    assert set(config.context.order) == set(RunConfig().context.order)
    assert (config.context.max_passages, config.context.rerank, config.context.state_slots) == (
        None,
        "lexical",
        False,
    )
    assert config.gate.threshold == 0.05
    assert config.redaction.patterns == ("CUS-\\d+",)
    assert config.environment is not None
    assert config.environment.scopes == ("orders:read",)
    assert config.attempt_timeout is None
    assert "secret" not in repr(config)
    public = public_settings(config)
    assert "secret" not in str(public)
    assert "acme" not in str(public)
    assert public["agent"]["model"] == "m-1"


@pytest.mark.parametrize(
    ("text", "field", "step"),
    [
        ("agnt: lexical", "agnt: unknown key", "did you mean 'agent'?"),
        ("agent: {type: lexicl}", "agent.type", "did you mean 'lexical'?"),
        ("agent: {type: openai}", "agent.type", "did you mean 'chat'?"),
        ("agent: {type: chat, model: m}", "agent.base_url: is missing", "base_url: http"),
        ("agent: {type: python}", "agent.function: is missing", "function:"),
        ("agent: {type: python, function: run}", "agent.function", "my_agent:run"),
        ("agent: {model: m}", "agent.type: is missing", "add `type:"),
        (
            "agent: {type: chat, model: m, base_url: localhost:8000}",
            "agent.base_url",
            "http://localhost:8000/v1",
        ),
        ("agent: {type: mcp-client}", "agent.start: is missing", "command"),
        (
            "agent: {type: mcp-client, start: {command: [a], http: 'http://x'}}",
            "agent.start.http",
            "one of the two",
        ),
        ("agent: {type: lexical, stream: perhaps}", "agent.stream", "stream: auto"),
        ("agent: {type: recorded, traces: nothing.jsonl}", "agent.traces: no such trace file", ""),
        ("agent: [lexical]", "agent: must be a mapping", "key: value"),
        ("catalog: tols.json", "catalog: no such catalog file", "'tools.json'"),
        ("overlay: nothing.yaml", "overlay: no such overlay file", ""),
        ("exposure: {tools: []}", "exposure.tools: shows no tool at all", "all"),
        ("exposure: {order: random}", "exposure.order", "did you mean 'shuffled'?"),
        (
            "exposure: {surface: {max_tool: 5}}",
            "exposure.surface.max_tool: unknown key",
            "did you mean 'max_tools'?",
        ),
        ("execution: recordd", "execution.backend", "did you mean 'recorded'?"),
        ("execution: {mode: mcp}", "execution.mode: unknown key", "did you mean 'backend'?"),
        ("execution: {allow_writes: true}", "execution.allow_writes", "['*']"),
        (
            "execution: {faults: [{tool: x, kind: '429'}]}",
            "execution.faults[0].kind",
            "did you mean 'rate_limited'?",
        ),
        ("execution: {faults: [{tool: x}]}", "execution.faults[0].kind: is missing", "rate_limited"),
        ("execution: {faults: {kind: timeout}}", "execution.faults: must be a list", "- "),
        ("execution: {faults: [{kind: timeout, calls: [0]}]}", "execution.faults[0].calls", "from 1"),
        ("execution: {teardown: 'a \"b'}", "execution.teardown: cannot be split", "list"),
        ("context: {order: [retreival]}", "context.order[0]: 'retreival' is no kind of block", "'retrieval'"),
        ("context: {order: [tools, tools]}", "named twice", "once"),
        ("context: {template: nothing.j2}", "context.template: no such template file", ""),
        ("redaction: {patterns: ['(']}", "redaction.patterns[0]: not a regular expression", "mend"),
        ("suites: 5", "suites: must map", "suites:"),
        ("suites: {core: [a]}", "suites.core: must be text", "quotes"),
        ("environment: prod", "environment: must be one of", ""),
    ],
)
def test_a_mistake_names_field_and_next_step(folder: Path, text: str, field: str, step: str) -> None:
    said = refused(folder, f"catalog: tools.json\n{text}\n" if not text.startswith("catalog") else text)
    assert field in said
    assert step in said
    assert "config.yaml:" in said
    assert "next:" in said


@pytest.mark.parametrize(
    ("key", "bad", "good"),
    [
        ("repeats", [0, -1, 0.5, ".nan", ".inf", "'3'", "true", "null", "[]"], [1, 10, 2.0]),
        ("concurrency", [0, -4, 1.5, ".inf"], [1, 64]),
        ("seed", [-1, 0.5, ".nan"], [0, 12345]),
        ("attempt_timeout", [0, -1, ".nan", ".inf", "'60'"], [0.5, 60, "null"]),
        ("context.max_passages", [-1, 0.5, ".nan"], [0, 5, "null"]),
        ("context.token_budget", [0, -1, ".inf"], [1, "null"]),
        ("exposure.surface.max_description", [-1, 0.5], [0, "null"]),
        ("exposure.surface.max_tools", [0, -1, ".nan"], [1, "null"]),
        ("gate.threshold", [1.5, -0.1, ".nan", ".inf", "'0.02'"], [0, 0.02, 1]),
        ("gate.fail_under", [2, -1], [0.8, "null"]),
        ("agent.temperature", [-1, ".nan"], [0, 0.7, "null"]),
        ("agent.max_steps", [0, -1, 2.5], [1]),
        ("execution.call_timeout", [0, -5, ".inf"], [0.1, "null"]),
    ],
)
def test_nonsense_limits_are_refused_with_field_and_range(
    folder: Path, key: str, bad: list[object], good: list[object]
) -> None:
    *parents, last = key.split(".")

    def text(value: object) -> str:
        body = f"{last}: {value}"
        for parent in reversed(parents):
            extra = "type: lexical, " if parent == "agent" else ""
            body = f"{parent}: {{{extra}{body}}}"
        return f"catalog: tools.json\n{body}\n"

    for value in bad:
        said = refused(folder, text(value))
        assert f"{key}: must be a" in said, value
        assert "next:" in said
    for value in good:
        load(folder, text(value))


def test_all_mistakes_are_told_at_once_in_file_order(folder: Path) -> None:
    said = refused(folder, "repeats: 0\nagnt: x\nconcurrency: -1\n")
    assert "3 problems" in said
    assert said.index("repeats") < said.index("agnt") < said.index("concurrency")


def test_keys_come_only_from_the_given_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSIDE_KEY", "from-the-process")
    text = "agent: {type: chat, base_url: 'http://x/v1', model: m, api_key_env: OUTSIDE_KEY}\n"
    said = refused(folder, text)
    assert "agent.api_key_env: the environment variable 'OUTSIDE_KEY' is not set" in said
    assert load(folder, text, dict(os.environ)).agent.api_key == "from-the-process"
    assert load(folder, text, {}, secrets=False).agent.api_key == ""
    assert "${NOWHERE}" not in refused(folder, "overlay: '${NOWHERE}/x.yaml'\n")
    assert "NOWHERE is not set" in refused(folder, "overlay: '${NOWHERE}/x.yaml'\n")


def test_a_key_pasted_in_place_of_its_name_is_not_repeated(folder: Path) -> None:
    pasted = "sk-" + "a1" * 12
    said = refused(folder, f"agent: {{type: chat, base_url: 'http://x', model: m, api_key_env: {pasted}}}\n")
    assert pasted not in said
    assert "not the key itself" in said


def test_a_project_stands_in_for_what_the_run_leaves_out(folder: Path) -> None:
    (folder / "reach.yaml").write_text(
        "catalog: tools.json\nsuites: {core-suite: core.jsonl}\ngate: {threshold: 0.1}\nruns: archive\n"
        "environments: {prod: {services: [orders]}}\n",
        encoding="utf-8",
    )
    config = load(folder, "agent: lexical\nsuites: {other: core.jsonl}\nenvironment: prod\n")
    assert config.catalog == str(folder / "tools.json")
    assert set(config.suites) == {"core-suite", "other"}
    assert config.gate.threshold == 0.1
    assert config.archive == str(folder / "archive")
    assert config.environment is not None
    assert config.environment.services == ("orders",)
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    assert find_project(inner) == folder / "reach.yaml"
    project = load_project(folder)
    assert project.store == str(folder / ".agent-reach" / "traces.db")
    assert "did you mean 'prod'" in refused(folder, "agent: lexical\nenvironment: prd\n")


def test_catalog_sources_stay_what_they_are(folder: Path) -> None:
    (folder / "shop.py").write_text("", encoding="utf-8")
    assert load(folder, "catalog: shop.tools\n").catalog == "shop.tools"
    assert load(folder, "catalog: shop.py\n").catalog == str(folder / "shop.py")
    assert (
        load(folder, "catalog: https://example.com/openapi.json\n").catalog
        == "https://example.com/openapi.json"
    )
    assert load(folder, "catalog: [tools.json, shop.py]\n").catalog == [
        str(folder / "tools.json"),
        str(folder / "shop.py"),
    ]
    assert load(folder, "catalog: [{name: x}]\n").catalog == [{"name": "x"}]


def test_missing_and_empty_files(folder: Path) -> None:
    with pytest.raises(ConfigError, match="no such run configuration"):
        load_run_config(folder / "nothing.yaml", {})
    assert "the file is empty" in refused(folder, "# nothing\n")
    assert "must be a mapping" in refused(folder, "- a\n")
    config = load(folder, "suites: {core-suite: core.jsonl, gone: gone.yaml}\n")
    with pytest.raises(ConfigError, match="no suite is named 'core-siute'"):
        suite_path(config, "core-siute")
    with pytest.raises(ConfigError, match=r"suites\.gone: no such file"):
        suite_path(config, "gone")
    assert suite_path(config, str(folder / "core.jsonl")) == folder / "core.jsonl"


@given(st.one_of(st.integers(), st.floats(), st.booleans(), st.text(), st.none(), st.lists(st.integers())))
def test_number_problem_agrees_with_a_plain_definition(value: object) -> None:
    good = (
        not isinstance(value, bool)
        and isinstance(value, (int, float))
        and value == value
        and value not in (float("inf"), float("-inf"))
        and 0 <= value <= 1
    )
    assert (number_problem(value, minimum=0, maximum=1) == "") is good


def test_flags_share_the_same_limits() -> None:
    check_number(None, "max_extra", whole=True, minimum=0, allow_null=True)
    for value in (-1, 0.5, float("nan"), float("inf"), "NaN"):
        with pytest.raises(InputError, match="max_extra must be a whole number of 0 or more"):
            check_number(value, "max_extra", whole=True, minimum=0, allow_null=True)


@given(
    st.permutations(["catalog: tools.json", "repeats: 2", "seed: 3", "agent: lexical", "execution: recorded"])
)
def test_order_of_keys_means_nothing(lines: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tools.json").write_text("[]", encoding="utf-8")
        config = load(folder, "\n".join(lines) + "\n")
        assert (config.repeats, config.seed) == (2, 3)
        assert yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))["repeats"] == 2
