"""What `init` writes, and how commands find the suite and catalog that a person means.

A suite is named or given as a file; names and catalog come from `--config`, else from `config.yaml` in the folder, else
from the nearest `reach.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.places import find_suite, is_address
from agent_reach.config.project import PROJECT_FILE, find_project, load_project
from agent_reach.config.run import load_run_config
from agent_reach.config.starter import CONFIG_FILE, SUITE_COMMENT, SUITE_FILE, project_texts
from agent_reach.errors import ConfigError
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.starter import starter_tasks
from agent_reach.evals.suite.writing import suite_yaml
from agent_reach.records.message import Language

CATALOG_FILES = (
    "mcp.json",
    ".mcp.json",
    "tools.json",
    "tools.jsonl",
    "openapi.json",
    "openapi.yaml",
    "tools.py",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known around a command: the suites by name, the catalog and overlay that were named, and where."""

    suites: Mapping[str, str]
    catalog: Any = ""
    overlay: str = ""
    source: str = ""

    def suite(self, name: str) -> Suite:
        """The suite of that name or path."""
        path = find_suite(name, self.suites, where=self.source)
        return Suite.load(path, name=name if name in self.suites else "")

    def load_catalog(
        self, environment: Mapping[str, str], *, catalog: Any = "", overlay: str = ""
    ) -> Catalog:
        """The catalog that was given, else the one that config or project names."""
        source = catalog or self.catalog
        if not source:
            raise ConfigError(
                "no catalog is named",
                where=self.source,
                next_step="give --catalog FILE, or name it under `catalog` in config.yaml or reach.yaml",
            )
        loaded = Catalog.load(source, overlay=overlay or self.overlay or None, environment=environment)
        refuse_empty(loaded, source)
        return loaded


def refuse_empty(catalog: Catalog, source: Any) -> None:
    """Refuse a catalog without a usable tool, with the reason why the first unusable tool, or the first server, is out."""
    if catalog.tools:
        return
    count = len(catalog.quarantined)
    errors = [finding for finding in catalog.findings if finding.severity == "error"]
    reason = catalog.quarantined[0].reason if count else next(iter(errors), None)
    said = f"{reason.subject}: {reason.message.en}" if reason else ""
    raise ConfigError(
        f"the catalog holds no usable tool ({count} cannot be used)" + (f"; {said}" if said else ""),
        where=source if isinstance(source, str) else "catalog",
        next_step="mend the tool list, or give another one",
    )


def surroundings(
    config: str | Path | None, environment: Mapping[str, str], *, folder: str | Path = "."
) -> Surroundings:
    """What config.yaml and reach.yaml around `folder` say; nothing at all where there are none."""
    file = Path(config) if config else Path(folder) / CONFIG_FILE
    if config or file.is_file():
        run = load_run_config(file, environment, secrets=False)
        return Surroundings(suites=run.suites, catalog=run.catalog, overlay=run.overlay, source=run.source)
    project_file = find_project(folder)
    if project_file is None:
        return Surroundings(suites={})
    project = load_project(project_file, environment)
    return Surroundings(
        suites=project.suites, catalog=project.catalog, overlay=project.overlay, source=project.source
    )


def find_catalog(folder: Path) -> str:
    """The first file in a folder that is named like a catalog."""
    for name in CATALOG_FILES:
        if (folder / name).is_file():
            return name
    raise ConfigError(
        "no catalog was found",
        where=str(folder),
        next_step=f"give --catalog FILE (an mcpServers file, tools/list, OpenAPI or Python file); looked for "
        f"{', '.join(CATALOG_FILES)}",
    )


def project_files(
    folder: Path, catalog: str, language: Language, environment: Mapping[str, str]
) -> dict[str, str]:
    """File name -> text of a new project around the catalog given (or found in the folder).

    Raises `ConfigError` where no catalog is found, and whatever loading it raises.
    """
    named = catalog or find_catalog(folder)
    written = named
    if not is_address(named):
        place = Path(named).expanduser()
        inside = place if place.is_absolute() else (folder / place if (folder / place).exists() else place)
        if inside.exists():
            written = _relative(inside.resolve(), folder.resolve())
            named = str(inside)
    loaded = Catalog.load(named, environment=environment)
    if not loaded.tools:
        raise ConfigError(
            "the catalog holds no usable tool",
            where=named,
            next_step="`agent-reach check` says what is wrong",
        )
    texts = project_texts(written, language)
    return {
        PROJECT_FILE: texts[PROJECT_FILE],
        CONFIG_FILE: texts[CONFIG_FILE],
        SUITE_FILE: suite_yaml(starter_tasks(loaded, language), comment=SUITE_COMMENT[language]),
        **{name: text for name, text in texts.items() if name not in (PROJECT_FILE, CONFIG_FILE)},
    }


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
