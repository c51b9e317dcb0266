"""The release gate on a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_reach.cli.output import echo, print_json
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.config.settings import ProjectConfig

_MARKS = {"pass": "+", "fail": "x", "undecided": "?", "skipped": "-"}


def run_release_check(project: ProjectConfig, *, as_json: bool, language: Language, timeout: float) -> int:
    """Load the project's tools, run the gate, print it; the exit code."""
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.errors import ConfigError
    from agent_reach.evals.check.release import release_gate
    from agent_reach.records.codec import to_json
    from agent_reach.redact.redactor import Redactor
    from agent_reach.reports.figures import wrap

    if not project.catalog:
        raise ConfigError(
            "the project names no catalog", where=project.source, next_step="add `catalog: mcp.json` to it"
        )
    catalog = Catalog.load(
        project.catalog, overlay=project.overlay or None, environment=os.environ, timeout=timeout
    )
    result = release_gate(project, catalog)
    redactor = Redactor.standard()
    if as_json:
        print_json(redactor.value({"exit_code": result.exit_code, "checks": to_json(result.checks)}))
        return result.exit_code
    for check in result.checks:
        text = redactor.text(f"{_MARKS[check.state]} {check.name}: {check.message.text(language)}")
        echo("\n".join(wrap(text, 80, first="", indent="    ")))
        for finding in check.findings[:5]:
            place = " ".join(part for part in (finding.subject, finding.pointer) if part)
            echo(
                "\n".join(
                    wrap(
                        redactor.text(f"{finding.code} {place}: {finding.message.text(language)}"),
                        80,
                        first="    ",
                        indent="      ",
                    )
                )
            )
    return result.exit_code
