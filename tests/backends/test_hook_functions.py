"""Hook functions: with or without an argument, plain or async; what they set is seen by the attempt."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import types

import pytest

from agent_reach.backends.isolation import AttemptPlace, _call_function
from agent_reach.errors import ServerError

seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="")


@pytest.fixture
def hooks(monkeypatch):
    module = types.ModuleType("hook_examples")

    async def later(place):
        seen.set(f"later {place.task_id}")

    def broken():
        raise ValueError("no disk")

    module.nothing = lambda: seen.set("nothing")
    module.placed = lambda place: seen.set(place.task_id)
    module.defaulted = lambda place=None: seen.set(str(place is not None))
    module.later = later
    module.broken = broken
    monkeypatch.setitem(sys.modules, "hook_examples", module)


@pytest.mark.parametrize(
    ("name", "told"), [("nothing", "nothing"), ("placed", "t1"), ("defaulted", "True"), ("later", "later t1")]
)
def test_what_a_hook_sets_is_seen(hooks, tmp_path, name, told):
    async def attempt() -> str:
        await _call_function(
            f"hook_examples:{name}", AttemptPlace(task_id="t1", attempt=0, folder=tmp_path), "setup"
        )
        return await asyncio.to_thread(seen.get)

    assert asyncio.run(attempt()) == told


def test_a_hook_that_fails_is_told(hooks, tmp_path):
    with pytest.raises(ServerError, match="setup failed: ValueError: no disk"):
        asyncio.run(
            _call_function(
                "hook_examples:broken", AttemptPlace(task_id="t1", attempt=0, folder=tmp_path), "setup"
            )
        )
