"""One import from request to file texts: options gathered, tasks read, nothing written yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.documents import read_text
from agent_reach.errors import InputError, SuiteError
from agent_reach.evals.suite.importers.base import ImportOptions
from agent_reach.evals.suite.importers.registry import import_tasks
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.writing import suite_text
from agent_reach.records.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What is to be imported and where it goes; paths as given."""

    source: str
    output: Path
    form: str = ""
    tools_output: Path | None = None
    categories: tuple[str, ...] = ()
    limit: int | None = None
    policy: Path | None = None
    catalog: str = ""
    prefix: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The suite, what was said on the way, and the texts of the files to write."""

    suite: Suite
    findings: tuple[Finding, ...]
    files: Mapping[Path, str]


def import_suite(request: ImportRequest, environment: Mapping[str, str]) -> ImportResult:
    """Read the task set; refuses to overwrite unless asked to."""
    wanted = [request.output, *([request.tools_output] if request.tools_output else [])]
    refuse_present(wanted, request.force)
    writes: tuple[str, ...] = ()
    if request.catalog:
        tools = Catalog.load(request.catalog, environment=environment)
        writes = tuple(tool.key for tool in tools if tool.effects and not tool.is_read_only)
    options = ImportOptions(
        categories=request.categories,
        limit=request.limit,
        policy=read_text(request.policy, error=SuiteError, what="policy") if request.policy else "",
        writes=writes,
        prefix=request.prefix,
    )
    imported = import_tasks(request.source, request.form, options)
    suite = Suite.from_tasks(imported.tasks, name=request.output.stem, source=request.source)
    files = {request.output: suite_text(suite.tasks, request.output)}
    if request.tools_output is not None:
        if not imported.tools:
            raise SuiteError(
                "this task set brings no tool definitions",
                where=request.source,
                next_step="leave out --tools-output and give the tools by their own file",
            )
        # a plain list, not {"tools": [...]}: these definitions never went over the protocol
        files[request.tools_output] = json.dumps(list(imported.tools), ensure_ascii=False, indent=1) + "\n"
    return ImportResult(suite=suite, findings=imported.findings, files=files)


def refuse_present(paths: Iterable[Path], force: bool) -> None:
    """Refuse to overwrite files, unless asked to."""
    present = [str(path) for path in paths if path.exists()]
    if present and not force:
        raise InputError(
            f"already there: {', '.join(present)}", next_step="give another name, or --force to overwrite"
        )
