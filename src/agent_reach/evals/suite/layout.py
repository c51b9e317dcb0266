"""How a suite lies in its files: which form a file has, where its tasks stand, what holds for all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach.config.documents import (
    Document,
    Steps,
    parse_json,
    parse_json_lines,
    parse_yaml,
    read_text,
)
from agent_reach.config.fields import Section, did_you_mean
from agent_reach.config.problems import Problems
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.reading import TASK_KEYS
from agent_reach.evals.suite.reading_golds import read_match

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
SUITE_SUFFIXES = (*JSON_LINES_SUFFIXES, ".json", ".yaml", ".yml")


def suite_documents(path: Path) -> list[Document]:
    """The documents in a suite file, or in all suite files of a folder in the order of their names."""
    if path.is_dir():
        files = sorted(item for item in path.iterdir() if item.suffix.lower() in SUITE_SUFFIXES)
        if not files:
            raise SuiteError(
                "the folder holds no suite",
                where=str(path),
                next_step=f"files end in {', '.join(SUITE_SUFFIXES)}",
            )
        return [parse_suite_text(read_text(item, error=SuiteError, what="suite"), item) for item in files]
    return [parse_suite_text(read_text(path, error=SuiteError, what="suite"), path)]


def parse_suite_text(text: str, path: Path) -> Document:
    """The document in a suite file: JSON Lines, JSON or YAML by suffix, else by its first character."""
    suffix, source = path.suffix.lower(), str(path)
    if not text.strip():
        return Document(value=[], source=source)
    looks_like_lines = text.lstrip()[0] == "{" and _is_object(text.lstrip().split("\n", 1)[0])
    if suffix in JSON_LINES_SUFFIXES or (suffix not in (".yaml", ".yml") and looks_like_lines):
        return parse_json_lines(text, source, error=SuiteError)
    if suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip()[0] in "[{"):
        return parse_json(text, source, error=SuiteError)
    return parse_yaml(text, source, error=SuiteError)


def _is_object(row: str) -> bool:
    try:
        return isinstance(json.loads(row), dict)
    except ValueError:
        return False


def suite_layout(
    document: Document, problems: Problems
) -> tuple[dict[str, str], Mapping[str, Any], list[Steps]]:
    """Name and description, defaults of all tasks, and where the tasks stand.

    A suite is a list of tasks, or a mapping with `tasks` beside `name`, `description`, `match` and `defaults`; in JSON
    Lines a first line `{"suite": {...}}` carries the same.
    """
    value = document.value
    if value is None:
        return {}, {}, []
    if isinstance(value, list):
        first = value[0] if value else None
        if isinstance(first, Mapping) and set(first) == {"suite"}:
            section = Section(document, first["suite"], (0, "suite"), problems=problems, base=1)
            header, defaults = _header(section)
            section.finish()
            return header, defaults, [(index,) for index in range(1, len(value))]
        return {}, {}, [(index,) for index in range(len(value))]
    if isinstance(value, Mapping) and "tasks" not in value and {"id", "kind"} & set(value):
        return {}, {}, [()]
    section = Section(document, value, problems=problems, synonyms={"cases": "tasks", "items": "tasks"})
    header, defaults = _header(section)
    tasks = section.raw("tasks")
    if not isinstance(tasks, (list, tuple)):
        section.refuse(
            "tasks", "must be a list of tasks" if section.has("tasks") else "is missing", "tasks: [...]"
        )
        tasks = ()
    section.finish("schema_version")
    return header, defaults, [("tasks", index) for index in range(len(tasks))]


def _header(section: Section) -> tuple[dict[str, str], Mapping[str, Any]]:
    header = {"name": section.text("name"), "description": section.text("description")}
    section.raw("metadata")
    defaults = section.mapping("defaults")
    for key in defaults:
        if key not in TASK_KEYS or key == "id":
            section.refuse(
                "defaults", f"unknown key {key!r}", did_you_mean(key, set(TASK_KEYS) - {"id"}), key
            )
    if section.raw("match") is not None:
        read_match(section.section("match"))
        match = section.raw("match")
        own = defaults.get("match")
        if isinstance(match, Mapping):
            defaults["match"] = {**match, **own} if isinstance(own, Mapping) else dict(match)
    return header, defaults
