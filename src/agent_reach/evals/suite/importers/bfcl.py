"""Tasks of the Berkeley Function-Calling Leaderboard: the data files of the `bfcl-eval` package.

A question file `BFCL_v4_<category>.json` is joined with `possible_answer/` beside it. Its accept lists become `$one_of`;
an empty text in one means that the argument may be left out. Parallel golds have no order. Irrelevance becomes
`forbid`; relevance (some call, no gold) becomes `may`. Strings are compared without regard to case, as there; that
benchmark also drops blanks and some punctuation, which is not imitated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from agent_reach.errors import SuiteError
from agent_reach.evals.suite.importers.base import (
    ImportedTasks,
    ImportOptions,
    Remarks,
    read_rows,
    shortened,
)
from agent_reach.evals.suite.importers.bfcl_answers import golden_arguments, parse_call
from agent_reach.evals.suite.importers.bfcl_tools import BfclTools
from agent_reach.evals.suite.language import language_of
from agent_reach.records.message import Message
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, ScriptedTurn, Task

_FILE = re.compile(r"BFCL_v\d+_(?P<category>[a-z_]+)\.jsonl?")
_WITHOUT_CALLS = ("memory", "web_search", "format_sensitivity", "memory_prereq")
_MATCH = MatchOptions(strings="casefold")
_MORE_TOOLS = "More functions are available now. Please go on."


class BfclImporter:
    """BFCL question files, alone or all of a folder or wheel."""

    name = "bfcl"
    summary = "BFCL: BFCL_v4_<category>.json, the data folder, or the bfcl-eval wheel"

    def recognizes(self, source: Traversable) -> bool:
        """A file of that name, or a folder (or wheel) that holds such files."""
        if source.is_file():
            return _FILE.fullmatch(source.name) is not None
        return _data_folder(source) is not None

    def read(self, source: Traversable, options: ImportOptions) -> ImportedTasks:
        """All tasks with golden calls of the chosen categories."""
        folder, files = self._files(source, options)
        remarks = Remarks(str(source))
        tools = BfclTools(folder)
        tasks: list[Task] = []
        for category, file in files.items():
            tasks += _category_tasks(category, file, folder, tools, options, remarks)
        return ImportedTasks(tasks=tuple(tasks), findings=remarks.findings(), tools=tools.definitions())

    def _files(
        self, source: Traversable, options: ImportOptions
    ) -> tuple[Traversable, dict[str, Traversable]]:
        if source.is_file():
            match = _FILE.fullmatch(source.name)
            if match is None:
                raise SuiteError(
                    f"{source.name!r} is no question file of BFCL",
                    where=str(source),
                    next_step="question files are named BFCL_v4_<category>.json",
                )
            files = {match["category"]: source}
            folder = _parent(source)
        else:
            found = _data_folder(source)
            if found is None:
                raise SuiteError(
                    "no BFCL_v4_<category>.json in here", where=str(source), next_step="check the path"
                )
            folder, files = found, _question_files(found)
        wanted = options.categories or tuple(name for name in files if name not in _WITHOUT_CALLS)
        return folder, {name: _wanted(name, files, str(source)) for name in wanted}


def _wanted(category: str, files: Mapping[str, Traversable], source: str) -> Traversable:
    from agent_reach.config.fields import did_you_mean

    if category in _WITHOUT_CALLS:
        raise SuiteError(
            f"the category {category!r} has answers in words and no golden calls",
            where=source,
            next_step="choose another category",
        )
    if category not in files:
        known = [name for name in files if name not in _WITHOUT_CALLS]
        raise SuiteError(
            f"no category is named {category!r}", where=source, next_step=did_you_mean(category, known)
        )
    return files[category]


def _parent(source: Traversable) -> Traversable:
    parent: Traversable = source.parent  # type: ignore[attr-defined]
    return parent


def _data_folder(source: Traversable) -> Traversable | None:
    for steps in ((), ("data",), ("bfcl_eval", "data")):
        folder = source
        for step in steps:
            folder = folder / step
        if folder.is_dir() and _question_files(folder):
            return folder
    return None


def _question_files(folder: Traversable) -> dict[str, Traversable]:
    found = {}
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        match = _FILE.fullmatch(item.name)
        if match is not None and item.is_file():
            found[match["category"]] = item
    return found


def _category_tasks(
    category: str,
    file: Traversable,
    folder: Traversable,
    tools: BfclTools,
    options: ImportOptions,
    remarks: Remarks,
) -> list[Task]:
    rows = read_rows(file)
    answers = _answers(folder, file, category)
    tasks = []
    for index, row in enumerate(shortened(rows, options.limit)):
        if not isinstance(row, Mapping) or not isinstance(row.get("question"), list) or "id" not in row:
            raise SuiteError(
                f"row {index + 1} is no BFCL question: it needs `id` and `question`",
                where=str(file),
                next_step="give a question file, not an answer file",
            )
        reader = _multi_turn if category.startswith("multi_turn") else _single_turn
        tasks.append(reader(category, row, answers, tools, options, remarks))
    return tasks


def _answers(folder: Traversable, file: Traversable, category: str) -> dict[str, Any] | None:
    """Golden answers by id; None for the categories that have none."""
    if "irrelevance" in category or "relevance" in category:
        return None
    place = folder / "possible_answer" / file.name
    if not place.is_file():
        raise SuiteError(
            f"the answers of {category!r} are missing: {place}",
            where=str(file),
            next_step="keep the folder possible_answer beside the question file",
        )
    return {row["id"]: row.get("ground_truth") for row in read_rows(place) if isinstance(row, Mapping)}


def _answer(row: Mapping[str, Any], answers: Mapping[str, Any], remarks: Remarks) -> Any:
    gold = answers.get(row["id"])
    if gold is None:
        raise SuiteError(
            f"question {row['id']!r} has no answer", where=remarks.source, next_step="use matching files"
        )
    return gold


def _single_turn(
    category: str,
    row: Mapping[str, Any],
    answers: Mapping[str, Any] | None,
    tools: BfclTools,
    options: ImportOptions,
    remarks: Remarks,
) -> Task:
    task_id = f"{options.prefix}{row['id']}"
    keys = tools.add_functions(row.get("function") or ())
    messages = [message for turn in row["question"] for message in turn]
    query = next((str(message["content"]) for message in reversed(messages) if message["role"] == "user"), "")
    kind, paths = "must", ()
    if answers is None:
        kind = "forbid" if "irrelevance" in category else "may"
        if kind == "may":
            remarks.note(
                "no_gold",
                task_id,
                Message(
                    "some call is wanted, but none is named: imported as `may`",
                    "要求调用但未给出标准调用：作为 may 导入",
                ),
            )
    else:
        gold = _answer(row, answers, remarks)
        calls = tuple(
            _golden_call(name, accepted, keys, tools, task_id, remarks)
            for call in gold
            for name, accepted in call.items()
        )
        paths = (GoldenPath(stages=(calls,)),)  # type: ignore[assignment]
    return Task(
        id=task_id,
        kind=kind,  # type: ignore[arg-type]
        query=query,
        messages=tuple(messages) if len(messages) > 1 else (),
        tags=("bfcl", category),
        language=language_of(query),
        paths=paths,
        match=_MATCH,
        tools=tuple(keys.values()),
        source=remarks.source,
    )


def _golden_call(
    name: str,
    accepted: Mapping[str, Any],
    keys: Mapping[str, str],
    tools: BfclTools,
    task_id: str,
    remarks: Remarks,
) -> GoldenCall:
    key = keys.get(name)
    if key is None:
        remarks.note(
            "gold_tool_missing",
            task_id,
            Message(
                "a gold names a function that the question does not offer", "标准答案使用了题目未提供的函数"
            ),
            severity="warning",
        )
        key = name
    args, optional = golden_arguments(accepted, tools.parameters(key))
    return GoldenCall(tool=key, args=args, optional=optional)


def _multi_turn(
    category: str,
    row: Mapping[str, Any],
    answers: Mapping[str, Any] | None,
    tools: BfclTools,
    options: ImportOptions,
    remarks: Remarks,
) -> Task:
    task_id = f"{options.prefix}{row['id']}"
    keys = tools.add_classes(row.get("involved_classes") or (), row.get("excluded_function") or ())
    gold = _answer(row, answers or {}, remarks)
    turns = []
    for messages, calls in zip(row["question"], gold, strict=True):
        stages = tuple((_written_call(text, keys, tools, task_id, remarks),) for text in calls)
        turns.append(ScriptedTurn(user=_said(messages), paths=(GoldenPath(stages=stages),)))
    if row.get("missed_function"):
        remarks.note(
            "tools_not_withheld",
            task_id,
            Message(
                "functions that should appear only in a later turn are offered from the start",
                "本应在后续轮次才出现的函数从一开始就已提供",
            ),
            severity="warning",
            fix=Message(
                "leave these tasks out, or treat their first turns with care",
                "略去这些任务，或谨慎看待其前几轮",
            ),
        )
    whole = tuple(stage for turn in turns for stage in turn.paths[0].stages)
    metadata = {key: row[key] for key in ("missed_function", "involved_classes") if row.get(key)}
    return Task(
        id=task_id,
        kind="must",
        query=turns[0].user,
        turns=tuple(turns) if len(turns) > 1 else (),
        tags=("bfcl", category),
        language=language_of(turns[0].user),
        paths=(GoldenPath(stages=whole),),
        match=_MATCH,
        tools=tuple(keys.values()),
        environment={"initial_config": row["initial_config"]} if row.get("initial_config") else {},
        metadata=metadata,
        source=remarks.source,
    )


def _said(messages: Sequence[Mapping[str, Any]]) -> str:
    texts = [str(message["content"]) for message in messages if message.get("role") == "user"]
    return "\n".join(texts) or _MORE_TOOLS


def _written_call(
    text: str, keys: Mapping[str, str], tools: BfclTools, task_id: str, remarks: Remarks
) -> GoldenCall:
    parsed = parse_call(text)
    if parsed is None:
        raise SuiteError(
            f"task {task_id!r}: the golden call {text!r} cannot be read",
            where=remarks.source,
            next_step="golden calls are written as name(argument='value')",
        )
    name, positional, named = parsed
    key = keys.get(name, name)
    if name not in keys:
        remarks.note(
            "gold_tool_missing",
            task_id,
            Message(
                "a gold names a function that the question does not offer", "标准答案使用了题目未提供的函数"
            ),
            severity="warning",
        )
    parameters = list(tools.parameters(key).get("properties") or {})
    args = dict(zip(parameters, positional, strict=False))
    return GoldenCall(tool=key, args={**args, **named})
