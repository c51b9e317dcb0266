"""Runs against live MCP servers: each attempt's own folder, shared by hooks and servers, and whose time limit holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import SERVERS

from agent_reach.backends.mcp import McpBackend
from agent_reach.config.settings import ExecutionConfig, HookConfig, RunConfig
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.runner import run
from agent_reach.records.trace import CallOutcome

SUITE = [{"id": f"t{number}", "kind": "may", "query": f"try number {number}"} for number in range(2)]

PAGES = [
    {
        "tools": [
            {"name": "env", "inputSchema": {"type": "object", "properties": {"names": {"type": "array"}}}},
            {
                "name": "slow",
                "inputSchema": {"type": "object", "properties": {"seconds": {"type": "number"}}},
            },
            {"name": "never", "inputSchema": {"type": "object"}},
            {"name": "pid", "inputSchema": {"type": "object"}},
        ]
    }
]


class Scripted:
    """Makes one call per attempt."""

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self._call = (tool, arguments)
        self.info = AgentInfo(name="scripted", placed_by="agent")

    async def run(self, session: Any) -> None:
        await session.call(*self._call)

    async def aclose(self) -> None:
        pass


def outcomes(
    tmp_path: Path,
    call: tuple[str, dict[str, Any]],
    *,
    entry: dict[str, Any] | None = None,
    execution: dict[str, Any] | None = None,
) -> list[CallOutcome]:
    """What the call was answered in each attempt, in order of tasks."""
    words = ["-S", "-E", str(SERVERS / "raw_server.py"), "--pages", json.dumps(PAGES)]
    server = {"command": sys.executable, "args": words, **(entry or {})}
    config = RunConfig(
        folder=str(tmp_path),
        catalog={"mcpServers": {"raw": server}},
        archive=str(tmp_path / "runs"),
        execution=ExecutionConfig(backend="mcp", allow_writes=("*",), **(execution or {})),
    )
    report = run(config, suite=SUITE, agent=Scripted(*call))
    assert report.infra_errors == ()
    found = []
    for task in report.tasks:
        trace = task.attempts[0].trace
        assert trace is not None
        (made,) = trace.calls
        assert made.outcome is not None
        found.append(made.outcome)
    return found


def test_hooks_and_servers_share_the_folder_of_the_attempt(tmp_path: Path) -> None:
    (tmp_path / "folder_hooks.py").write_text(
        "from pathlib import Path\n"
        "def make(place):\n    Path(place.folder, 'made.txt').write_text(place.task_id)\n"
        f"def look(place):\n    Path({str(tmp_path)!r}, place.task_id + '.seen').write_text(place.folder)\n"
    )
    entry = {"env": {"PLACE": "{attempt_folder}/made.txt"}}
    hooks = {
        "setup": HookConfig(function="folder_hooks:make"),
        "teardown": HookConfig(function="folder_hooks:look"),
    }
    found = outcomes(tmp_path, ("env", {"names": ["PLACE", "TMPDIR"]}), entry=entry, execution=hooks)
    seen = [json.loads(outcome.text) for outcome in found]
    folders = [Path(place["cwd"]) for place in seen]
    assert [str(folder) for folder in folders] == [
        (tmp_path / f"{task['id']}.seen").read_text() for task in SUITE
    ]
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)
    for place in seen:
        assert place["PLACE"] == f"{place['cwd']}/made.txt"
        assert place["TMPDIR"] == place["cwd"]


def test_the_limit_of_the_run_ends_a_call(tmp_path: Path) -> None:
    for outcome in outcomes(tmp_path, ("never", {}), execution={"call_timeout": 0.3}):
        assert outcome.error_kind == "timeout"
        assert outcome.status == "unknown"  # it may have happened: the tool is not known to only read


def test_the_limit_of_a_servers_own_entry_comes_before_that_of_the_run(tmp_path: Path) -> None:
    slow = ("slow", {"seconds": 0.8})
    patient = outcomes(tmp_path, slow, entry={"timeout": 30}, execution={"call_timeout": 0.2})
    assert [outcome.status for outcome in patient] == ["ok", "ok"]
    strict = outcomes(tmp_path, ("never", {}), entry={"timeout": 0.2}, execution={"call_timeout": 600.0})
    assert [outcome.error_kind for outcome in strict] == ["timeout", "timeout"]


@pytest.mark.parametrize(("limit", "total"), [(None, None), (7.0, 600.0)])
def test_no_limit_is_no_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: float | None, total: float | None
) -> None:
    given = []

    class Noted(McpBackend):
        def __init__(self, servers: Any, **fields: Any) -> None:
            given.append(fields["options"])
            super().__init__(servers, **fields)

        async def call(self, tool: Any, arguments: Any, **more: Any) -> CallOutcome:
            assert more["timeout"] is None
            return await super().call(tool, arguments, **more)

    monkeypatch.setattr("agent_reach.backends.mcp.McpBackend", Noted)
    found = outcomes(tmp_path, ("pid", {}), execution={"call_timeout": limit})
    assert [outcome.status for outcome in found] == ["ok", "ok"]
    assert [(options.call_timeout, options.max_total) for options in given] == [(limit, total)] * 2
