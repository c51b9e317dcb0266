"""Files that a command is told to write, checked before it does any work.

A target that is one of the command's own inputs, or is named for two things, is a slip of the hand that would cost a
file; one that cannot be written should be told before a run, not after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.errors import InputError

if TYPE_CHECKING:
    from agent_reach.config.settings import RunConfig


def check_targets(targets: Mapping[str, Path | None], inputs: Mapping[str, Any] | None = None) -> None:
    """Raise `InputError` for a target (flag: path) that is an input (name: path, or anything that is no path), that another
    flag names too, or that cannot be written."""
    read = [(what, path) for what, value in (inputs or {}).items() for path in _paths(value)]
    seen: dict[Path, str] = {}
    for flag, target in targets.items():
        if target is None:
            continue
        place = _resolved(target)
        for what, path in read:
            if _is_same(place, path):
                raise InputError(
                    f"this is the {what}, and would be overwritten",
                    where=f"{flag} {target}",
                    next_step="give another file name",
                )
        if place in seen:
            raise InputError(
                f"{seen[place]} names the same file",
                where=f"{flag} {target}",
                next_step="give each its own file name",
            )
        seen[place] = flag
        _check_writable(flag, target, place)


def files_of_run(settings: RunConfig, *, config: str, suite: str | None) -> dict[str, Any]:
    """What a run reads, by name, for `check_targets`: its configuration, tools, suites (all that are configured, and the
    one that is named), and the files of its agent and functions."""
    folder = Path(settings.folder)
    return {
        "configuration": config,
        "project file": settings.source,
        "tool list": settings.catalog,
        "overlay": settings.overlay,
        "suite": [*settings.suites.values(), suite],
        "agent's code": _module_file(folder, settings.agent.function),
        "agent's traces": settings.agent.traces,
        "agent's model": settings.agent.model_file,
        "functions of the tools": _module_file(folder, settings.execution.handlers),
    }


def _module_file(folder: Path, named: str) -> Path:
    return folder / f"{named.split(':')[0].removesuffix('.py')}.py"


def _paths(value: Any) -> Iterable[Path]:
    if isinstance(value, Path) or (isinstance(value, str) and value and "://" not in value):
        try:
            place = Path(value).resolve()
            present = place.is_file()
        except (OSError, RuntimeError, ValueError):  # no path at all: whoever reads it says so
            return
        if present:
            yield place
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _paths(item)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def _is_same(target: Path, read: Path) -> bool:
    try:
        return target == read or (target.exists() and target.samefile(read))
    except OSError:
        return False


def _check_writable(flag: str, target: Path, place: Path) -> None:
    where = f"{flag} {target}"
    if place.is_dir():
        raise InputError("this is a folder, a file is wanted", where=where, next_step="give a file name")
    if place.exists():
        writable = os.access(place, os.W_OK)
    else:
        parent = place.parent
        while not parent.exists() and parent != parent.parent:
            parent = parent.parent
        writable = parent.is_dir() and os.access(parent, os.W_OK)
    if not writable:
        raise InputError("this cannot be written", where=where, next_step="give another path")
