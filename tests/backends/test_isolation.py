"""Attempts in worlds of their own: processes, folders, setup and teardown."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import alive, raw_server, run

from agent_reach.backends.isolation import AttemptPlace, Isolation, in_own_folder, load_function
from agent_reach.backends.mcp import McpBackend
from agent_reach.backends.python import PythonBackend
from agent_reach.config.settings import HookConfig
from agent_reach.errors import ConfigError, ServerError
from agent_reach.records.tool import Tool
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import SessionOptions

QUICK = SessionOptions(startup_timeout=20, probe_timeout=5, list_retries=(), close_grace=0.3)
ENVIRONMENT = {"PATH": os.environ["PATH"]}
seen: list[Any] = []


def note_place(place: AttemptPlace) -> None:
    """A setup function."""
    seen.append((place.task_id, place.attempt, os.path.isdir(place.folder)))


async def note_later(place: AttemptPlace) -> None:
    """An async teardown function."""
    await asyncio.sleep(0)
    seen.append(sorted(os.listdir(place.folder)))


def fail(place: AttemptPlace) -> None:
    """A setup that fails."""
    raise ValueError("no database")


def live(place: AttemptPlace) -> McpBackend:
    return McpBackend(in_own_folder([raw_server()], place), options=QUICK)


def tool(name: str) -> Tool:
    return Tool(name=name, server="raw")


def test_each_attempt_has_its_own_process_and_folder() -> None:
    async def main() -> None:
        isolation = Isolation(live, environment=ENVIRONMENT)
        found = []

        async def attempt(number: int) -> None:
            async with isolation.attempt("t", number) as running:
                for _ in range(number + 1):
                    await running.backend.call(tool("write"), {})
                count = (await running.backend.call(tool("count"), {})).value
                process = int((await running.backend.call(tool("pid"), {})).value)
                seen_env = (await running.backend.call(tool("env"), {"names": ["TMPDIR"]})).value
                assert seen_env == {
                    "TMPDIR": running.place.folder,
                    "cwd": os.path.realpath(running.place.folder),
                }
                Path(running.place.folder, "left").write_text("x")
                found.append((number, count, process, running.place.folder))

        await asyncio.gather(*(attempt(number) for number in range(3)))
        await isolation.aclose()
        assert sorted((number, count) for number, count, _, _ in found) == [(0, "1"), (1, "2"), (2, "3")]
        assert len({process for _, _, process, _ in found}) == 3
        assert not any(alive(process) for _, _, process, _ in found)
        assert not any(os.path.exists(folder) for _, _, _, folder in found)

    run(main())


def test_shared_keeps_one_process_over_attempts() -> None:
    async def main() -> None:
        isolation = Isolation(live, mode="shared")
        counts = []
        for number in range(3):
            async with isolation.attempt("t", number) as running:
                await running.backend.call(tool("write"), {})
                counts.append((await running.backend.call(tool("count"), {})).value)
        process = int((await running.backend.call(tool("pid"), {})).value)
        await isolation.aclose()
        await isolation.aclose()
        assert counts == ["1", "2", "3"]
        assert not alive(process)

    run(main())


def test_hooks_run_around_the_attempt() -> None:
    seen.clear()
    writes = (sys.executable, "-c", "import os; open('made', 'w').write(os.environ['AGENT_REACH_TASK'])")
    isolation = Isolation(
        lambda place: PythonBackend({"look": lambda: Path(place.folder, "made").read_text()}),
        setup=HookConfig(function=f"{__name__}:note_place", command=writes),
        teardown=HookConfig(function=f"{__name__}:note_later"),
        environment=ENVIRONMENT,
    )

    async def main() -> None:
        async with isolation.attempt("task-7", 2) as running:
            assert (await running.backend.call(Tool(name="look"), {})).value == "task-7"
        with pytest.raises(KeyError):
            async with isolation.attempt("task-8", 0):
                raise KeyError("the agent failed")

    run(main())
    assert seen == [("task-7", 2, True), ["made"], ("task-8", 0, True), ["made"]]


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (HookConfig(function=f"{__name__}:fail"), "ValueError: no database"),
        (
            HookConfig(command=(sys.executable, "-c", "print('disk full'); raise SystemExit(4)")),
            "exit code 4: disk full",
        ),
        (HookConfig(command=("no-such-command",)), "cannot be started"),
    ],
)
def test_a_failing_setup_ends_the_attempt_before_it_begins(hook: HookConfig, said: str) -> None:
    made: list[str] = []

    def factory(place: AttemptPlace) -> PythonBackend:
        made.append(place.folder)
        return PythonBackend({})

    async def main() -> None:
        with pytest.raises(ServerError, match="setup") as caught:
            async with Isolation(factory, setup=hook, environment=ENVIRONMENT).attempt("t", 0):
                raise AssertionError
        assert said in str(caught.value)

    run(main())
    assert made == []


@pytest.mark.parametrize("written", ["nothing", "no.such.module:f", f"{__name__}:absent", ":f", "m:"])
def test_functions_that_are_not_there(written: str) -> None:
    with pytest.raises(ConfigError):
        load_function(written)


def test_the_folder_stands_where_the_entry_asks_for_it() -> None:
    place = AttemptPlace(task_id="t", attempt=0, folder="/tmp/f")
    local = ServerConfig(
        name="s",
        command="x",
        args=("--db", "{attempt_folder}/a.db"),
        env={"D": "{attempt_folder}"},
        cwd="/fixed",
    )
    remote = ServerConfig(name="r", transport="http", url="http://x")
    settled, same = in_own_folder([local, remote], place)
    assert settled.args == ("--db", "/tmp/f/a.db")
    assert (settled.env["D"], settled.cwd) == ("/tmp/f", "/fixed")
    assert same is remote
