"""`reach.yaml`: what belongs to a project (catalog, overlay, suites, baseline, environments), resolved.

Found by walking up from a folder, so that commands need no `--config` inside a project.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agent_reach.config.documents import read_document
from agent_reach.config.fields import Section
from agent_reach.config.places import catalog_source, existing_path, is_address, suite_paths
from agent_reach.config.problems import Problems
from agent_reach.config.redaction import read_redaction
from agent_reach.config.settings import EnvironmentGrants, GateConfig, ProjectConfig
from agent_reach.errors import ConfigError

PROJECT_FILE = "reach.yaml"
_SYNONYMS = {"suite": "suites", "tools": "catalog", "config": "run", "archive": "runs", "traces": "store"}


def find_project(start: str | Path = ".") -> Path | None:
    """The nearest `reach.yaml` in that folder or above it."""
    folder = Path(start).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / PROJECT_FILE).is_file():
            return candidate / PROJECT_FILE
    return None


def load_project(path: str | Path, environment: Mapping[str, str] | None = None) -> ProjectConfig:
    """The resolved project in a `reach.yaml` (or in the folder that holds one)."""
    file = Path(path)
    if file.is_dir():
        file = file / PROJECT_FILE
    document = read_document(file, what="project file")
    folder = file.resolve().parent
    problems = Problems(ConfigError, document.source)
    if document.value is not None and not isinstance(document.value, Mapping):
        raise ConfigError(
            f"a project file must be a mapping, not {type(document.value).__name__}",
            where=document.source,
            next_step="write `catalog: mcp.json` and what else belongs to the project",
        )
    section = Section(
        document, document.value or {}, problems=problems, environment=environment, synonyms=_SYNONYMS
    )
    project = ProjectConfig(
        source=document.source,
        folder=str(folder),
        name=section.text("name") or folder.name,
        language=section.choice("language", ("en", "zh"), "en"),
        catalog=catalog_source(section, "catalog", folder),
        overlay=_existing(section, "overlay", folder),
        suites=suite_paths(section, folder),
        run=_path(section, "run", folder),
        baseline=_path(section, "baseline", folder),
        runs=_path(section, "runs", folder) or str(folder / ".agent-reach" / "runs"),
        store=_store(section, folder),
        gate=read_gate(section),
        redaction=read_redaction(section),
        environments=read_environments(section),
        lint=section.mapping("lint"),
        map=section.mapping("map"),
        reach=section.mapping("reach"),
        gateway=section.mapping("gateway"),
    )
    section.finish()
    problems.raise_if_any()
    return project


def _path(section: Section, key: str, folder: Path) -> str:
    text = section.text(key)
    return str((folder / Path(text).expanduser()).resolve()) if text else ""


def _existing(section: Section, key: str, folder: Path) -> str:
    text = section.text(key)
    return existing_path(section, key, text, folder, f"{key} file") if text else ""


def _store(section: Section, folder: Path) -> str:
    text = section.text("store")
    if not text:
        return str(folder / ".agent-reach" / "traces.db")
    return text if is_address(text) else str((folder / Path(text).expanduser()).resolve())


def read_gate(section: Section) -> GateConfig:
    """The `gate` part: threshold between 0 and 1, what a suspect does, an absolute floor."""
    inner = section.section("gate")
    config = GateConfig(
        threshold=inner.number("threshold", 0.02, minimum=0, maximum=1),
        on_suspect=cast(Any, inner.choice("on_suspect", ("fail", "warn"), "fail")),
        fail_under=inner.number("fail_under", None, minimum=0, maximum=1, allow_null=True),
    )
    inner.finish()
    return config


def read_environments(section: Section) -> dict[str, EnvironmentGrants]:
    """The `environments` part: name -> what it grants."""
    found = {}
    inner = section.section("environments")
    for name in inner.values:
        found[name] = read_grants(inner.section(name), name)
    return found


def read_grants(section: Section, name: str) -> EnvironmentGrants:
    """What one environment grants."""
    grants = EnvironmentGrants(
        name=name,
        services=section.texts("services"),
        scopes=section.texts("scopes"),
        env=section.texts("env"),
        files=section.texts("files"),
    )
    section.finish()
    return grants
