"""What is done before and after an attempt: a function, or a command in words without a shell.

Hooks of the run come first before an attempt and last after it, those of the task inside.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

from agent_reach.config.settings import HookConfig
from agent_reach.errors import ConfigError, ServerError
from agent_reach.evals.agents.python import load_function
from agent_reach.records.task import Task

_SHOWN = 300


async def run_hook(hook: HookConfig, task: Task, attempt: int, folder: str, name: str) -> None:
    """Run one hook; raises `ServerError` when it fails, which loses the attempt but judges nobody.

    A function is called with the task and the attempt number, or with nothing if it takes nothing; a command finds them in
    `AGENT_REACH_TASK` and `AGENT_REACH_ATTEMPT`.
    """
    if hook.function:
        await _call(load_function(hook.function, folder), task, attempt, name)
    elif hook.command:
        await _execute(hook.command, task, attempt, folder, name)


async def _call(function: Any, task: Task, attempt: int, name: str) -> None:
    try:
        takes = len(inspect.signature(function).parameters)
        result = function(*(task, attempt)[:takes])
        if inspect.isawaitable(result):
            await result
    except Exception as error:
        raise ServerError(
            f"{name} failed: {type(error).__name__}: {error}",
            where=f"task {task.id!r}",
            next_step="run the function alone and mend it",
        ) from error


async def _execute(command: tuple[str, ...], task: Task, attempt: int, folder: str, name: str) -> None:
    words = ["env", f"AGENT_REACH_TASK={task.id}", f"AGENT_REACH_ATTEMPT={attempt}", *command]
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise ServerError(f"{name} cannot be started: {error}", where=command[0]) from error
    try:
        _, said = await process.communicate()
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        words_said = said.decode("utf-8", "replace").strip()[-_SHOWN:]
        raise ServerError(
            f"{name} ended with code {process.returncode}: {words_said}",
            where=" ".join(command),
            next_step="run the command alone and mend it",
        )


def task_hook(task: Task, key: str) -> HookConfig:
    """The hook that a task names under `environment` (`setup: module:function`, or a list of words)."""
    value = task.environment.get(key)
    if value is None:
        return HookConfig()
    if isinstance(value, str):
        return HookConfig(function=value) if ":" in value else HookConfig(command=tuple(value.split()))
    if isinstance(value, (list, tuple)):
        return HookConfig(command=tuple(map(str, value)))
    if isinstance(value, Mapping) and ("function" in value or "command" in value):
        words = value.get("command") or ()
        return HookConfig(
            function=str(value.get("function") or ""),
            command=tuple(words.split()) if isinstance(words, str) else tuple(map(str, words)),
        )
    raise ConfigError(f"{key} is {value!r}", where=f"task {task.id!r}", next_step="write module:function")
