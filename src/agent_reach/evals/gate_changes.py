"""What else changed between two runs: settings, and the tool list field by field beside how each tool moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_reach.errors import AgentReachError
from agent_reach.evals.gate_metrics import TaskPair
from agent_reach.evals.scoring.facts import leaves
from agent_reach.records.codec import to_json
from agent_reach.records.gate import RunChange, ToolMovement
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore
from agent_reach.records.tool import Tool
from agent_reach.text.pointers import unescape_pointer

_RUN_FIELDS = (
    "agent",
    "model",
    "model_settings",
    "prompt_hash",
    "template",
    "exposure",
    "execution",
    "suites",
    "git_commit",
    "scorer_version",
    "package_version",
    "placed_by",
    "repeats",
    "seed",
    "deterministic",
)
_UNSEEN_FIELDS = frozenset(("original", "hash"))


def run_changes(before: Report, after: Report) -> tuple[RunChange, ...]:
    """Every setting that differs, and the catalog's hash and exposure."""
    found: list[RunChange] = []
    for name in _RUN_FIELDS:
        old, new = getattr(before.run, name), getattr(after.run, name)
        if old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found.extend(_leaf_changes(name, old, new))
        else:
            found.append(RunChange(where=name, before=old, after=new))
    if before.catalog.hash != after.catalog.hash:
        found.append(RunChange(where="catalog.hash", before=before.catalog.hash, after=after.catalog.hash))
    return tuple(found)


def _leaf_changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[RunChange]:
    before, after = dict(leaves(to_json(old))), dict(leaves(to_json(new)))
    for pointer in dict.fromkeys((*before, *after)):
        if before.get(pointer) != after.get(pointer):
            where = name + unescape_pointer(pointer.replace("/", "."))
            yield RunChange(where=where, before=before.get(pointer), after=after.get(pointer))


def tool_movements(before: Report, after: Report, pairs: Sequence[TaskPair]) -> tuple[ToolMovement, ...]:
    """Tools whose definition changed or whose reachability moved, those with changed definitions first."""
    changes = _tool_changes(before, after)
    old = _reached(attempt for pair in pairs for attempt in pair.before_attempts)
    new = _reached(attempt for pair in pairs for attempt in pair.after_attempts)
    found = []
    for name in dict.fromkeys((*changes, *old, *new)):
        left, right = old.get(name, (0, 0)), new.get(name, (0, 0))
        own = changes.get(name, ())
        if own or left[0] * right[1] != right[0] * left[1]:
            found.append(
                ToolMovement(
                    tool=name,
                    baseline=left,
                    current=right,
                    changes=own,
                    message=_message(name, own, left, right),
                )
            )
    return tuple(sorted(found, key=lambda item: (not item.changes, item.tool)))


def _message(
    name: str, changes: Sequence[RunChange], left: tuple[int, int], right: tuple[int, int]
) -> Message:
    moved = f"{left[0]}/{left[1]} -> {right[0]}/{right[1]}"
    if not changes:
        return Message(f"`{name}` is unchanged; its reachability {moved}", f"`{name}` 定义未变；触达 {moved}")
    fields = ", ".join(f"`{change.where}`" for change in changes[:3])
    if len(changes) > 3:
        fields += f" (+{len(changes) - 3})"
    if not (left[1] or right[1]):
        return Message(f"{fields} changed; no task asks for it", f"{fields} 有变化；没有任务用到它")
    return Message(f"{fields} changed; its reachability {moved}", f"{fields} 有变化；触达 {moved}")


def _tool_changes(before: Report, after: Report) -> Mapping[str, tuple[RunChange, ...]]:
    """Tool key -> its changed fields, from the snapshots in the reports."""
    old, new = _tools(before), _tools(after)
    if old is None or new is None:
        return {}
    found: dict[str, tuple[RunChange, ...]] = {}
    for key in dict.fromkeys((*old, *new)):
        if key not in new:
            found[key] = (RunChange(where=key, before="in the catalog", after=None),)
        elif key not in old:
            found[key] = (RunChange(where=key, before=None, after="in the catalog"),)
        elif old[key] != new[key]:
            changes = tuple(_leaf_changes(key, _seen_fields(old[key]), _seen_fields(new[key])))
            if changes:
                found[key] = changes
    return found


def _tools(report: Report) -> Mapping[str, Tool] | None:
    if not report.catalog.snapshot:
        return None
    from agent_reach.catalog.snapshot import load_snapshot

    try:
        return {tool.key: tool for tool in load_snapshot(report.catalog.snapshot).tools}
    except AgentReachError:
        return None


def _seen_fields(tool: Tool) -> Mapping[str, Any]:
    document: Mapping[str, Any] = to_json(tool)
    return {name: value for name, value in document.items() if name not in _UNSEEN_FIELDS}


def _reached(attempts: Iterator[AttemptScore]) -> Mapping[str, tuple[int, int]]:
    """Tool key -> (reached, required) over attempts."""
    found: dict[str, tuple[int, int]] = {}
    for attempt in attempts:
        for decision in attempt.decisions:
            reached, required = found.get(decision.expected_tool, (0, 0))
            found[decision.expected_tool] = (reached + decision.tool_right, required + 1)
    return found
