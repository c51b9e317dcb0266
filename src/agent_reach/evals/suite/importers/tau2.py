"""Tasks of tau2-bench: `tasks.json` of a domain (or a result file that holds `tasks`).

Golden calls are `evaluation_criteria.actions` of the assistant; actions of the simulated user's own device are not the
agent's and are left out with a finding. `compare_args` says which arguments count; the others match anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from agent_reach.errors import SuiteError
from agent_reach.evals.suite.importers.base import (
    ImportedTasks,
    ImportOptions,
    Remarks,
    first_rows,
    read_rows,
    shortened,
    written_by_name,
)
from agent_reach.evals.suite.importers.taubench import HANDING_OVER, golden_call, nothing_asked, policy_blocks
from agent_reach.evals.suite.language import language_of
from agent_reach.evals.suite.reading import ROLES
from agent_reach.records.message import Message
from agent_reach.records.task import GoldenCall, GoldenPath, Task


class Tau2Importer:
    """tau2-bench task files."""

    name = "tau2"
    summary = "tau2-bench: tasks.json of a domain, or a result file with its tasks"

    def recognizes(self, source: Traversable) -> bool:
        """Rows with `evaluation_criteria` and `user_scenario`."""
        return any(_is_task(row) for row in _rows(first_rows(source)))

    def read(self, source: Traversable, options: ImportOptions) -> ImportedTasks:
        """One task per row."""
        rows = _rows(read_rows(source))
        for index, row in enumerate(rows):
            if not _is_task(row):
                raise SuiteError(
                    f"item {index + 1} is no tau2 task: it needs `id`, `user_scenario` and `evaluation_criteria`",
                    where=str(source),
                    next_step="give the tasks.json of a domain",
                )
        remarks = Remarks(str(source))
        writes = options.writes or _writes(rows)
        tasks = [_task(row, options, writes, remarks, str(source)) for row in shortened(rows, options.limit)]
        return ImportedTasks(tasks=tuple(tasks), findings=remarks.findings())


def _rows(rows: Sequence[Any]) -> Sequence[Any]:
    if len(rows) == 1 and isinstance(rows[0], Mapping) and isinstance(rows[0].get("tasks"), list):
        tasks: list[Any] = rows[0]["tasks"]
        return tasks
    return rows


def _is_task(row: Any) -> bool:
    return (
        isinstance(row, Mapping) and "id" in row and "user_scenario" in row and "evaluation_criteria" in row
    )


def _actions(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    criteria = row.get("evaluation_criteria")
    actions = criteria.get("actions") if isinstance(criteria, Mapping) else None
    return [action for action in actions or () if isinstance(action, Mapping) and "name" in action]


def _writes(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = {
        str(action["name"])
        for row in rows
        for action in _actions(row)
        if action.get("requestor") in (None, "assistant")
    }
    return tuple(name for name in written_by_name(names) if name not in HANDING_OVER)


def _task(
    row: Mapping[str, Any], options: ImportOptions, writes: Sequence[str], remarks: Remarks, source: str
) -> Task:
    task_id = f"{options.prefix}{row['id']}"
    actions = _actions(row)
    own = [action for action in actions if action.get("requestor") in (None, "assistant")]
    if len(own) < len(actions):
        remarks.note(
            "user_actions_left_out",
            task_id,
            Message(
                "actions on the simulated user's own device are not the agent's: left out",
                "模拟用户在自己设备上的操作不属于智能体：已略去",
            ),
        )
    calls = [_call(action) for action in own]
    query = _query(row, task_id, remarks)
    messages = _history(row, query)
    fields: dict[str, Any] = {"kind": "must", "paths": (GoldenPath(stages=tuple((call,) for call in calls)),)}
    if not calls:
        fields = nothing_asked(task_id, writes, remarks)
    return Task(
        id=task_id,
        query=query,
        messages=messages,
        tags=("tau2", *_domain(row)),
        language=language_of(query),
        context=policy_blocks(options.policy),
        environment=_environment(row),
        metadata=_metadata(row),
        source=source,
        **fields,
    )


def _call(action: Mapping[str, Any]) -> GoldenCall:
    arguments = action.get("arguments") if isinstance(action.get("arguments"), Mapping) else {}
    compared = action.get("compare_args")
    call = golden_call(str(action["name"]), arguments or {}, identity=str(action.get("action_id") or ""))
    if not isinstance(compared, list):
        return call
    args = {name: value if name in compared else {"$any": True} for name, value in call.args.items()}
    return GoldenCall(tool=call.tool, id=call.id, args=args)


def _instructions(row: Mapping[str, Any]) -> Any:
    scenario = row.get("user_scenario")
    return scenario.get("instructions") if isinstance(scenario, Mapping) else scenario


def _query(row: Mapping[str, Any], task_id: str, remarks: Remarks) -> str:
    """The ticket where there is one, else what the user wants and knows."""
    ticket = row.get("ticket")
    if isinstance(ticket, str) and ticket.strip():
        return ticket.strip()
    instructions = _instructions(row)
    if isinstance(instructions, Mapping):
        parts = [instructions.get("reason_for_call"), instructions.get("known_info")]
        text = "\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    else:
        text = str(instructions or "").strip()
    if not text:
        raise SuiteError(f"task {task_id!r} says nothing that a user wants", where=remarks.source)
    remarks.note(
        "scenario_as_query",
        task_id,
        Message(
            "the query is the script of a simulated user, not what a user says",
            "查询是模拟用户的脚本，而不是用户的原话",
        ),
    )
    return text


def _history(row: Mapping[str, Any], query: str) -> tuple[Mapping[str, Any], ...]:
    state = row.get("initial_state")
    history = state.get("message_history") if isinstance(state, Mapping) else None
    kept = [
        {key: value for key, value in message.items() if value is not None}
        for message in history or ()
        if isinstance(message, Mapping) and message.get("role") in ROLES
    ]
    return (*kept, {"role": "user", "content": query}) if kept else ()


def _domain(row: Mapping[str, Any]) -> list[str]:
    instructions = _instructions(row)
    domain = instructions.get("domain") if isinstance(instructions, Mapping) else None
    return [domain] if isinstance(domain, str) and domain else []


def _environment(row: Mapping[str, Any]) -> dict[str, Any]:
    state = row.get("initial_state")
    if not isinstance(state, Mapping):
        return {}
    return {
        key: state[key]
        for key in ("initialization_data", "initialization_actions")
        if state.get(key) is not None
    }


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"scenario": row["user_scenario"]}
    if row.get("description") is not None:
        kept["description"] = row["description"]
    criteria = row.get("evaluation_criteria")
    for key in ("nl_assertions", "communicate_info", "env_assertions", "reward_basis"):
        value = criteria.get(key) if isinstance(criteria, Mapping) else None
        if value:
            kept[key] = value
    return kept
