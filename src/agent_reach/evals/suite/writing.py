"""A task or a whole suite in the written form, which reads back equal.

Fields that hold their default are left out, so that a file says only what is meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agent_reach.errors import SuiteError
from agent_reach.evals.suite.language import language_of
from agent_reach.records.codec import content_hash
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, RecordedResult, ScriptedTurn, Task

_DEFAULT_MATCH = MatchOptions()


def dump_task(task: Task) -> dict[str, Any]:
    """The task in the form that suites are written in; `source` and `line` are left to the file."""
    out: dict[str, Any] = {"id": task.id, "kind": task.kind}
    _put(out, "tags", list(task.tags))
    if task.language != language_of(task.query):
        out["language"] = task.language
    out.update(_conversation(task))
    _put(out, "now", task.now)
    _put(out, "context", [_block(block) for block in task.context])
    _put(out, "state_slots", [_slot(slot) for slot in task.state_slots])
    if task.order != "in_order":
        out["order"] = task.order
    _put(out, "forbid", list(task.forbid))
    if task.max_extra is not None:
        out["max_extra"] = task.max_extra
    _put(out, "match", dump_match(task.match))
    _put(out, "results", [_result(result) for result in task.results])
    _put(out, "tools", list(task.tools))
    _put(out, "environment", _plain(task.environment))
    _put(out, "metadata", _plain(task.metadata))
    _put(out, "review", task.review)
    return out


def _put(out: dict[str, Any], key: str, value: Any) -> None:
    if value:
        out[key] = value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _conversation(task: Task) -> dict[str, Any]:
    out: dict[str, Any] = {}
    by_turn = any(turn.paths for turn in task.turns)
    if task.messages:
        out["messages"] = _plain(task.messages)
    elif not task.turns:
        out["query"] = task.query
    if task.turns and (task.messages or not by_turn):
        # the first turn repeats the query
        if not task.messages:
            out["query"] = task.query
        out["turns"] = [_turn(turn) for turn in task.turns[1:]]
        out.update(_paths(task.turns[0].paths if by_turn else task.paths))
    elif task.turns:
        out["turns"] = [_turn(turn) for turn in task.turns]
    else:
        out.update(_paths(task.paths))
    return out


def _turn(turn: ScriptedTurn) -> dict[str, Any]:
    return {"user": turn.user, **_paths(turn.paths)}


def _paths(paths: tuple[GoldenPath, ...]) -> dict[str, Any]:
    if not paths:
        return {}
    written = [_path(path) for path in paths]
    return {"path": written[0]} if len(written) == 1 else {"paths": written}


def _path(path: GoldenPath) -> list[Any]:
    return [
        dump_call(stage[0]) if len(stage) == 1 else [dump_call(call) for call in stage]
        for stage in path.stages
        if stage
    ]


def dump_call(call: GoldenCall) -> dict[str, Any]:
    """One golden call in the written form."""
    out: dict[str, Any] = {"id": call.id} if call.id else {}
    out["tool"] = call.tool
    _put(out, "args", _plain(call.args))
    _put(out, "optional", _plain(call.optional))
    if call.has_result:
        out["result"] = _plain(call.result)
    _put(out, "error", call.error)
    _put(out, "error_kind", call.error_kind)
    return out


def _result(result: RecordedResult) -> dict[str, Any]:
    out: dict[str, Any] = {"tool": result.tool}
    if result.args is not None:
        out["args"] = _plain(result.args)
    if not result.error and not result.error_kind:
        out["result"] = _plain(result.result)
    _put(out, "error", result.error)
    _put(out, "error_kind", result.error_kind)
    return out


def _block(block: ContextBlock) -> dict[str, Any]:
    out: dict[str, Any] = {"id": block.id, "kind": block.kind}
    _put(out, "partition", block.partition)
    out["text"] = block.text
    _put(out, "facts", list(block.facts))
    if block.score is not None:
        out["score"] = block.score
    _put(out, "call_id", block.call_id)
    if block.from_step != -1:
        out["from_step"] = block.from_step
    if block.value is not None:
        out["value"] = _plain(block.value)
    return out


def _slot(slot: StateSlot) -> dict[str, Any]:
    out: dict[str, Any] = {"name": slot.name}
    _put(out, "from", slot.source)
    if slot.filled:
        out["value"] = _plain(slot.value)
    _put(out, "metadata", _plain(slot.metadata))
    return out


def dump_match(match: MatchOptions) -> dict[str, Any]:
    """Matching options that differ from the default."""
    out: dict[str, Any] = {}
    for name in ("strings", "float_tolerance", "mode"):
        if getattr(match, name) != getattr(_DEFAULT_MATCH, name):
            out[name] = getattr(match, name)
    _put(out, "ignore_args", list(match.ignore_args))
    return out


_NOT_CONTENT = ("id", "tags", "language", "metadata", "review")


def task_hash(task: Task) -> str:
    """Hash of what is asked and what would be right: two runs with equal hashes asked the same.

    Identity, tags, language, metadata and the review mark are left out: they group and explain, they ask nothing.
    """
    content = dump_task(task)
    for key in _NOT_CONTENT:
        content.pop(key, None)
    return content_hash(content)


def suite_hash(hashes: Mapping[str, str]) -> str:
    """Hash of all tasks by id and content (task id -> task hash), whatever their order in the file."""
    return content_hash(sorted([task_id, content] for task_id, content in hashes.items()))


def suite_json_lines(tasks: Iterable[Task]) -> str:
    """A suite as JSON Lines, one task each."""
    return "".join(json.dumps(dump_task(task), ensure_ascii=False, allow_nan=False) + "\n" for task in tasks)


def suite_yaml(tasks: Iterable[Task], *, comment: str = "") -> str:
    """A suite as a YAML list, readable by YAML 1.1 and 1.2 parsers alike."""
    import yaml

    head = "".join(f"# {line}\n" for line in comment.splitlines())
    body = yaml.dump(
        [dump_task(task) for task in tasks],
        Dumper=_dumper(),
        allow_unicode=True,
        sort_keys=False,
        width=110,
        default_flow_style=None,
    )
    return head + str(body)


def suite_text(tasks: Iterable[Task], path: Path) -> str:
    """A suite in the form that the file's suffix asks for: JSON Lines for `.jsonl` and `.ndjson`, else YAML."""
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return suite_json_lines(tasks)
    if suffix in (".yaml", ".yml"):
        return suite_yaml(tasks)
    if suffix == ".json":
        return (
            json.dumps([dump_task(task) for task in tasks], ensure_ascii=False, indent=1, allow_nan=False)
            + "\n"
        )
    raise SuiteError(
        f"a suite is written as .yaml, .jsonl or .json, not {path.suffix!r}",
        where=str(path),
        next_step="end the file name in .yaml or .jsonl",
    )


def _dumper() -> Any:
    """A dumper that puts every text in quotes that either YAML version would not take for that text, and that writes
    no anchors for values that happen to be shared."""
    import yaml

    from agent_reach.config.documents import yaml_scalar

    class SuiteDumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def represent_text(dumper: Any, text: str) -> Any:
        style = '"' if not text.isprintable() or yaml_scalar(text) != text or _is_odd(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    def represent_number(dumper: Any, number: float) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:float", repr(number))

    SuiteDumper.add_representer(str, represent_text)
    SuiteDumper.add_representer(float, represent_number)
    return SuiteDumper


def _is_odd(text: str) -> bool:
    """Text that looks like a number, date or time to a reader or to another parser."""
    return (bool(text) and (text[0].isdigit() or text[0] in "+-.")) or text != text.strip()
