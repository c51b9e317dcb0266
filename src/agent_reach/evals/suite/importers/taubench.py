"""Tasks of tau-bench: task lists (`instruction`, `actions`, `outputs`) and recorded trajectories with their golds.

Trajectories of the same task make one task; its query is the first user message of the first trial, and what the tools
answered becomes its recorded results. A task whose gold
is empty becomes a `may` task with an empty path in which the tools that write are forbidden. The final data base, which
tau-bench compares, is not here: calls are compared instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from agent_reach.config.documents import parse_json
from agent_reach.errors import ConfigError, SuiteError
from agent_reach.evals.suite.importers.base import (
    ImportedTasks,
    ImportOptions,
    Remarks,
    first_rows,
    read_rows,
    written_by_name,
)
from agent_reach.evals.suite.language import language_of
from agent_reach.evals.suite.reading import message_text
from agent_reach.records.codec import canonical_json
from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message
from agent_reach.records.task import GoldenCall, GoldenPath, RecordedResult, Task

FREE_TEXT = ("summary", "thought")
"""Arguments in which the model says something in its own words; no wording of them is the right one."""
HANDING_OVER = ("transfer_to_human_agents", "transfer_to_human")
"""Not a write of the domain: giving up a task that asks for nothing is not an over-call by itself."""


class TauBenchImporter:
    """tau-bench task lists and trajectory files."""

    name = "tau-bench"
    summary = "tau-bench: task lists (JSON) or recorded trajectories with gold actions (JSON, JSONL)"

    def recognizes(self, source: Traversable) -> bool:
        """Rows with gold actions, or with an instruction and actions."""
        return any(isinstance(row, Mapping) and _gold(row) is not None for row in first_rows(source))

    def read(self, source: Traversable, options: ImportOptions) -> ImportedTasks:
        """One task per task id."""
        rows = [row for row in read_rows(source) if isinstance(row, Mapping)]
        remarks = Remarks(str(source))
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for index, row in enumerate(rows):
            if _gold(row) is None:
                raise SuiteError(
                    f"row {index + 1} has neither `gold_actions` nor `actions`",
                    where=str(source),
                    next_step="give a tau-bench task list or trajectory file",
                )
            groups.setdefault(_identity(row, index), []).append(row)
        writes = options.writes or _writes(rows)
        tasks = [
            _task(identity, group, options, writes, remarks, str(source))
            for identity, group in list(groups.items())[: options.limit]
        ]
        return ImportedTasks(tasks=tuple(tasks), findings=remarks.findings())


def _info(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The task inside a trajectory row of the original form, else the row itself."""
    info = row.get("info")
    task = info.get("task") if isinstance(info, Mapping) else None
    return task if isinstance(task, Mapping) else row


def _gold(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]] | None:
    inner = _info(row)
    for key in ("gold_actions", "actions"):
        actions = inner.get(key)
        if isinstance(actions, list) and all(
            isinstance(action, Mapping) and "name" in action for action in actions
        ):
            if key == "actions" and "instruction" not in inner and inner is row:
                return None
            return actions
    return None


def _identity(row: Mapping[str, Any], index: int) -> str:
    for key in ("task_id", "id"):
        value = row.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return str(index)


def _conversation(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    for key in ("messages", "traj"):
        messages = row.get(key)
        if isinstance(messages, list):
            return [message for message in messages if isinstance(message, Mapping)]
    return []


def _writes(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = {str(action["name"]) for row in rows for action in _gold(row) or ()}
    for row in rows:
        for message in _conversation(row):
            for call in message.get("tool_calls") or ():
                function = call.get("function") if isinstance(call, Mapping) else None
                if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                    names.add(function["name"])
    return tuple(name for name in written_by_name(names) if name not in HANDING_OVER)


def golden_call(name: str, arguments: Mapping[str, Any], *, identity: str = "") -> GoldenCall:
    """A gold action; free text may be worded in any way."""
    args = {key: {"$any": True} if key in FREE_TEXT else value for key, value in arguments.items()}
    return GoldenCall(tool=name, id=identity, args=args)


def nothing_asked(task_id: str, writes: Sequence[str], remarks: Remarks) -> dict[str, Any]:
    """Kind, path and forbidden tools of a task without gold calls."""
    remarks.note(
        "empty_gold",
        task_id,
        Message(
            f"no gold call: imported as `may` with these writes forbidden: {', '.join(writes) or 'none known'}",
            f"没有标准调用：作为 may 导入，禁止以下写操作：{'、'.join(writes) or '未知'}",
        ),
        fix=Message("give --catalog to say which tools write", "用 --catalog 指明哪些工具会写"),
    )
    return {"kind": "may", "paths": (), "forbid": tuple(writes)}


def policy_blocks(policy: str) -> tuple[ContextBlock, ...]:
    """The policy as a constraint of the task."""
    return (ContextBlock(id="policy", kind="constraint", text=policy),) if policy else ()


def _task(
    identity: str,
    group: Sequence[Mapping[str, Any]],
    options: ImportOptions,
    writes: Sequence[str],
    remarks: Remarks,
    source: str,
) -> Task:
    row = group[0]
    inner = _info(row)
    actions = _gold(row) or ()
    task_id = f"{options.prefix}{identity}"
    calls = [
        golden_call(str(action["name"]), action.get("kwargs") or action.get("arguments") or {})
        for action in actions
    ]
    if any((_gold(other) or ()) != actions for other in group):
        remarks.note(
            "golds_differ",
            task_id,
            Message(
                "trials of one task have different golds: the first was taken",
                "同一任务的标准答案不同：取第一个",
            ),
            severity="warning",
        )
    query = _query(row, inner, task_id, remarks)
    tags = ("tau-bench", *([row["domain"]] if isinstance(row.get("domain"), str) else []))
    fields: dict[str, Any] = {"kind": "must", "paths": (GoldenPath(stages=tuple((call,) for call in calls)),)}
    if not calls:
        fields = nothing_asked(task_id, writes, remarks)
    return Task(
        id=task_id,
        query=query,
        tags=tags,
        language=language_of(query),
        context=policy_blocks(options.policy),
        results=recorded_results(group),
        metadata={
            key: inner[key]
            for key in ("instruction", "outputs", "user_id")
            if inner.get(key) not in (None, "", [])
        },
        source=source,
        **fields,
    )


def recorded_results(group: Sequence[Mapping[str, Any]]) -> tuple[RecordedResult, ...]:
    """What the tools answered in the recorded conversations: the first answer to each different call."""
    found: dict[str, RecordedResult] = {}
    for row in group:
        waiting: dict[str, tuple[str, Any]] = {}
        for message in _conversation(row):
            for call in message.get("tool_calls") or ():
                function = call.get("function") if isinstance(call, Mapping) else None
                if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                    waiting[str(call.get("id"))] = (function["name"], _json(function.get("arguments")))
            if message.get("role") != "tool" or str(message.get("tool_call_id")) not in waiting:
                continue
            name, arguments = waiting.pop(str(message.get("tool_call_id")))
            if isinstance(arguments, Mapping):
                key = canonical_json([name, arguments])
                found.setdefault(key, _answer(name, arguments, message))
    return tuple(found.values())


def _answer(name: str, arguments: Mapping[str, Any], message: Mapping[str, Any]) -> RecordedResult:
    text = message_text(message)
    if message.get("is_error") is True or text.startswith("Error"):
        return RecordedResult(tool=name, args=dict(arguments), error=text, error_kind="tool_error")
    return RecordedResult(tool=name, args=dict(arguments), result=_json(text))


def _json(text: Any) -> Any:
    """The JSON value in a text, or the text itself."""
    if not isinstance(text, str):
        return text
    try:
        return parse_json(text).value
    except ConfigError:
        return text


def _query(row: Mapping[str, Any], inner: Mapping[str, Any], task_id: str, remarks: Remarks) -> str:
    said = [message_text(message) for message in _conversation(row) if message.get("role") == "user"]
    if said and said[0]:
        return said[0]
    instruction = inner.get("instruction")
    if not isinstance(instruction, str) or not instruction:
        raise SuiteError(f"task {task_id!r} has neither messages nor an instruction", where=remarks.source)
    remarks.note(
        "scenario_as_query",
        task_id,
        Message(
            "the query is the script of a simulated user, not what a user says",
            "查询是模拟用户的脚本，而不是用户的原话",
        ),
    )
    return instruction
