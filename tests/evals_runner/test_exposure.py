"""Which tools are offered, in which order, and why others are not."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import (
    AgentConfig,
    EnvironmentGrants,
    ExposureConfig,
    RunConfig,
    SurfaceConfig,
)
from agent_reach.errors import AgentReachError, ConfigError
from agent_reach.evals.exposure import ExposedTools, Exposer, missing_permissions
from agent_reach.evals.runner import run
from agent_reach.records.task import Task
from agent_reach.records.tool import Needs, Tool

TOOLS = tuple(
    Tool(name=name, server=server, description=f"{name} does something. " * 4)
    for server, name in (("a", "look"), ("a", "send"), ("b", "look"), ("b", "list_all"))
)
CATALOG = Catalog.from_tools(TOOLS)
TASK = Task(id="t", kind="must", query="send it")


def expose(catalog: Catalog = CATALOG, task: Task = TASK, **fields: Any) -> ExposedTools:
    more = {name: fields.pop(name) for name in ("grants", "seed", "reach", "placed_by") if name in fields}
    return Exposer(catalog, ExposureConfig(**fields), **more).expose(task)


def test_all_tools_in_catalog_order_with_unique_wire_names() -> None:
    exposed = expose()
    assert exposed.exposure.offered == ("a/look", "a/send", "b/look", "b/list_all")
    assert [item["function"]["name"] for item in exposed.definitions] == [
        "a__look",
        "send",
        "b__look",
        "list_all",
    ]
    assert exposed.exposure.hidden == {}
    assert exposed.exposure.tokens
    assert exposed.exposure.placed_by == "provider"


def test_names_and_globs() -> None:
    exposed = expose(mode="names", tools=("b/*", "send"))
    assert exposed.exposure.offered == ("a/send", "b/look", "b/list_all")
    assert exposed.exposure.hidden == {"a/look": "not_listed"}


def test_a_name_that_means_nothing_or_two_is_refused() -> None:
    with pytest.raises(ConfigError, match="'sned' means no tool") as caught:
        expose(mode="names", tools=("sned",))
    assert "send" in caught.value.next_step
    with pytest.raises(AgentReachError, match="several servers"):
        expose(mode="names", tools=("look",))


def test_orders() -> None:
    assert expose(order="name").exposure.offered == ("b/list_all", "a/look", "b/look", "a/send")
    listed = expose(order="listed", order_names=("b/list_all",)).exposure.offered
    assert listed == ("b/list_all", "a/look", "a/send", "b/look")
    shuffled = {seed: expose(order="shuffled", seed=seed).exposure.offered for seed in range(8)}
    assert shuffled[3] == expose(order="shuffled", seed=3).exposure.offered
    assert len(set(shuffled.values())) > 1
    assert all(sorted(order) == sorted(tool.key for tool in TOOLS) for order in shuffled.values())


def test_surface_limits_are_recorded() -> None:
    exposed = expose(surface=SurfaceConfig(max_description=20, max_tools=2), pinned=("list_all",))
    assert exposed.exposure.offered == ("a/look", "b/list_all")
    assert exposed.exposure.hidden == {"a/send": "limit", "b/look": "limit"}
    assert set(exposed.exposure.cut_descriptions) == {"a/look", "b/list_all"}
    assert all(len(item["function"]["description"]) <= 20 for item in exposed.definitions)
    assert expose(surface=SurfaceConfig(max_description=500)).exposure.cut_descriptions == {}


def test_a_task_may_bring_its_own_subset() -> None:
    exposed = expose(task=Task(id="u", kind="must", query="q", tools=("send",)))
    assert exposed.exposure.offered == ("a/send",)
    assert set(exposed.exposure.hidden.values()) == {"not_listed"}


def test_missing_permissions_hide_a_tool_and_say_why() -> None:
    tools = (
        Tool(name="open"),
        Tool(
            name="closed",
            needs=Needs(scopes=("orders:write",), env=("KEY",), services=("db",), files=("/x",)),
        ),
    )
    grants = EnvironmentGrants(scopes=("orders:*",), env=("KEY",), services=(), files=())
    exposed = expose(Catalog.from_tools(tools), grants=grants)
    assert exposed.exposure.offered == ("open",)
    assert exposed.exposure.hidden == {"closed": "permission"}
    assert exposed.permissions_missing == {"closed": ("service db", "file /x")}
    assert missing_permissions(tools, None) == {}


def test_the_reach_layer_decides_and_its_candidates_are_kept() -> None:
    class Finder:
        def find(self, query: str, k: int) -> list[Any]:
            assert query == "send it"
            assert k == 2
            return [
                SimpleNamespace(tool=TOOLS[1], score=0.9, why="name"),
                SimpleNamespace(tool="b/look", score=0.1),
            ]

    exposed = expose(mode="reach", settings={"k": 2}, pinned=("list_all",), reach=Finder())
    assert exposed.exposure.offered == ("a/send", "b/look", "b/list_all")
    assert exposed.exposure.hidden == {"a/look": "not_recalled"}
    assert [(item.tool, item.score, item.why) for item in exposed.candidates] == [
        ("a/send", 0.9, "name"),
        ("b/look", 0.1, ""),
    ]


class Meaning:
    """An embedder that knows one thing: what the request and one tool have in common. Slow, as models are."""

    name = "meaning"

    def embed(self, texts: Any) -> Any:
        import numpy as np

        time.sleep(0.3)
        return np.array(
            [[1.0, 0.0] if "blorp" in text or "send" in text else [0.0, 1.0] for text in texts],
            dtype=np.float32,
        )


def test_a_run_waits_for_vectors_so_that_every_task_is_measured_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "agent_reach.router.reach_config._embedder", lambda value, where: Meaning() if value else None
    )
    task = Task(id="t", kind="must", query="blorp frobnicate")
    assert "a/send" not in expose(task=task, mode="reach", settings={"k": 1}).exposure.offered
    exposed = expose(task=task, mode="reach", settings={"k": 1, "embedder": "meaning"})
    assert exposed.exposure.offered == ("a/send",)


def test_settings_of_the_reach_layer_are_checked() -> None:
    with pytest.raises(ConfigError, match="'embeder'") as caught:
        expose(mode="reach", settings={"embeder": "encoder"})
    assert caught.value.next_step == "did you mean 'embedder'?"
    with pytest.raises(ConfigError, match="no embedder is named 'x'"):
        expose(mode="reach", settings={"embedder": "x"})
    for key, value in (("limit", "many"), ("k", 0), ("k", "3"), ("k", True)):
        with pytest.raises(ConfigError, match="is no number of tools") as caught:
            expose(mode="reach", settings={key: value})
        assert caught.value.where == f"exposure.reach.{key}"
    with pytest.raises(ConfigError, match="no embedder is named 'function'"):
        expose(mode="reach", settings={"embedder": "function"})


def test_an_embedder_that_fails_ends_the_run_instead_of_measuring_half_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        name = "broken"

        def embed(self, texts: Any) -> Any:
            raise OSError("no route")

    monkeypatch.setattr(
        "agent_reach.router.reach_config._embedder", lambda value, where: Broken() if value else None
    )
    with pytest.raises(ConfigError, match="the embedder failed: no route"):
        expose(mode="reach", settings={"embedder": "broken"})


def test_the_report_says_what_was_offered(tmp_path: Path) -> None:
    """The headline speaks of the tools that were shown, not of the whole catalog."""
    settings = RunConfig(
        folder=str(tmp_path),
        catalog=[
            {"name": name, "description": f"Tool {name}.", "parameters": {"type": "object"}}
            for name in "abcdef"
        ],
        archive=str(tmp_path / "runs"),
        agent=AgentConfig(type="lexical"),
        exposure=ExposureConfig(mode="names", tools=("a", "b")),
    )
    suite = [{"id": "t", "kind": "must", "query": "tool a", "path": [{"tool": "a", "result": 1}]}]
    report = run(settings, suite=suite)
    offered = report.catalog.offered
    assert offered is not None
    assert (offered.least, offered.most, report.catalog.tool_count) == (2, 2, 6)
    assert offered.tokens is not None
    assert 0 < offered.tokens < report.catalog.tokens
    assert "2 of 6 tools offered" in report.headline.en
    assert "6 个工具中提供了 2 个" in report.headline.zh


def test_the_whole_catalog_offered_weighs_what_the_catalog_weighs(tmp_path: Path) -> None:
    settings = RunConfig(
        folder=str(tmp_path),
        catalog=[
            {"name": name, "description": f"Tool {name}.", "parameters": {"type": "object"}} for name in "ab"
        ],
        archive=str(tmp_path / "runs"),
        agent=AgentConfig(type="lexical"),
    )
    report = run(settings, suite=[{"id": "t", "kind": "must", "query": "tool a", "path": ["a"]}])
    assert report.catalog.offered is not None
    assert report.catalog.offered.tokens == report.catalog.tokens
    assert not report.catalog.shows_part
