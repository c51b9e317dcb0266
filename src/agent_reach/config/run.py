"""`config.yaml`: from the loose form that people write to one resolved `RunConfig`.

Short forms (`execution: recorded`, `exposure: all`, `agent: lexical`) stand for a mapping with that one field. Where a
`reach.yaml` lies in the same folder, the catalog, overlay, suites and gate it names stand in for those the run leaves
out. Environment variables come only from the mapping that is handed in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from agent_reach.config.agent import read_agent
from agent_reach.config.documents import Document, read_document
from agent_reach.config.execution import read_execution
from agent_reach.config.fields import Section
from agent_reach.config.places import catalog_source, existing_path, find_suite, suite_paths
from agent_reach.config.problems import Problems
from agent_reach.config.project import PROJECT_FILE, load_project, read_gate, read_grants
from agent_reach.config.redaction import read_redaction
from agent_reach.config.settings import (
    AGENT_TYPES,
    DEFAULT_CONTEXT_ORDER,
    REQUEST_BLOCK,
    ContextConfig,
    EnvironmentGrants,
    ExposureConfig,
    ProjectConfig,
    RunConfig,
    SurfaceConfig,
)
from agent_reach.errors import ConfigError
from agent_reach.records.context import BLOCK_KINDS

_SYNONYMS = {
    "suite": "suites",
    "tools": "catalog",
    "model": "agent",
    "runs": "repeats",
    "trials": "repeats",
    "timeout": "attempt_timeout",
    "workers": "concurrency",
    "parallel": "concurrency",
    "redact": "redaction",
}


def load_run_config(
    path: str | Path,
    environment: Mapping[str, str],
    *,
    secrets: bool = True,
    agent_types: Collection[str] = AGENT_TYPES,
) -> RunConfig:
    """The resolved settings in a run configuration file.

    `environment` resolves `${NAME}` and `api_key_env`; with `secrets` False a key that is not set is no error (for
    commands that call no model). `agent_types` are the known agents (plug-ins add to them). Raises `ConfigError` that
    names every field that is wrong.
    """
    file = Path(path)
    document = read_document(file, what="run configuration")
    return resolve_run_config(
        document, file.resolve().parent, environment, secrets=secrets, agent_types=agent_types
    )


def resolve_run_config(
    document: Document,
    folder: Path,
    environment: Mapping[str, str],
    *,
    secrets: bool = True,
    agent_types: Collection[str] = AGENT_TYPES,
) -> RunConfig:
    """The same for a document at hand; relative paths start at `folder`."""
    problems = Problems(ConfigError, document.source)
    if document.value is None:
        raise ConfigError(
            "the file is empty",
            where=document.source,
            next_step="name at least `catalog`, `suites` and `agent`; `agent-reach init` writes an example",
        )
    section = Section(
        document, document.value, problems=problems, environment=environment, synonyms=_SYNONYMS
    )
    project = _project(folder, environment)
    config = RunConfig(
        source=document.source,
        folder=str(folder),
        catalog=catalog_source(section, "catalog", folder) or project.catalog,
        overlay=_overlay(section, folder) or project.overlay,
        suites={**project.suites, **suite_paths(section, folder)},
        agent=read_agent(section, folder, environment, secrets=secrets, types=agent_types),
        exposure=_exposure(section),
        execution=read_execution(section, folder),
        context=_context(section, folder),
        gate=read_gate(section) if section.has("gate") else project.gate,
        redaction=read_redaction(section) if section.has("redaction") else project.redaction,
        environment=_environment(section, project),
        repeats=section.whole("repeats", 1, minimum=1),
        concurrency=section.whole("concurrency", 4, minimum=1),
        attempt_timeout=section.number("attempt_timeout", 300.0, above=0, allow_null=True),
        seed=section.whole("seed", 0, minimum=0),
        archive=_archive(section, folder, project),
    )
    section.finish()
    problems.raise_if_any()
    return config


def suite_path(config: RunConfig, name: str) -> Path:
    """The file of the suite of that name (or of that path)."""
    return find_suite(name, config.suites, where=config.source)


def public_settings(settings: Any) -> dict[str, Any]:
    """A settings record as JSON values without its secrets: keys, proxies and salt are left out, header values masked."""
    values = asdict(settings)
    if isinstance(values.get("redaction"), dict):
        values["redaction"].pop("salt", None)
    for holder in (values, values.get("agent", {})):
        if isinstance(holder, dict) and "api_key" in holder:
            holder.pop("api_key")
            holder.pop("proxy", None)
            holder["headers"] = dict.fromkeys(holder.get("headers") or {}, "***")
    return cast(dict[str, Any], _as_lists(values))


def _as_lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def _project(folder: Path, environment: Mapping[str, str]) -> ProjectConfig:
    file = folder / PROJECT_FILE
    return load_project(file, environment) if file.is_file() else ProjectConfig(folder=str(folder))


def _overlay(section: Section, folder: Path) -> str:
    text = section.text("overlay")
    return existing_path(section, "overlay", text, folder, "overlay file") if text else ""


def _archive(section: Section, folder: Path, project: ProjectConfig) -> str:
    text = section.text("archive")
    if text:
        return str((folder / Path(text).expanduser()).resolve())
    return project.runs if project.source else str(folder / ".agent-reach" / "runs")


def _environment(section: Section, project: ProjectConfig) -> EnvironmentGrants | None:
    value = section.raw("environment")
    if value is None:
        return None
    if isinstance(value, str):
        name = section.choice("environment", tuple(project.environments) or ("(none)",), "")
        return project.environments.get(name)
    return read_grants(section.section("environment"), "")


# --- exposure

_EXPOSURE_KEYS = {"names": "tools", "mode": "tools", "include": "tools", "max_tools": "surface"}


def _exposure(section: Section) -> ExposureConfig:
    value = section.raw("exposure")
    if isinstance(value, (str, list, tuple)):
        value = {"tools": value}
    inner = section.child("exposure", value, synonyms=_EXPOSURE_KEYS)
    mode, tools = _exposed_tools(inner)
    order, names = _exposure_order(inner)
    surface = inner.section("surface", synonyms={"max_description_length": "max_description"})
    config = ExposureConfig(
        mode=cast(Any, mode),
        tools=tools,
        order=cast(Any, order),
        order_names=names,
        surface=SurfaceConfig(
            max_description=surface.whole("max_description", None, minimum=0, allow_null=True),
            max_tools=surface.whole("max_tools", None, minimum=1, allow_null=True),
        ),
        pinned=inner.texts("pinned"),
        settings=inner.mapping("reach"),
    )
    surface.finish()
    inner.finish()
    return config


def _exposed_tools(inner: Section) -> tuple[str, tuple[str, ...]]:
    value = inner.raw("tools")
    if value is None:
        return ("reach", ()) if inner.has("reach") else ("all", ())
    if value in ("all", "reach"):
        return str(value), ()
    tools = inner.texts("tools")
    if not tools and isinstance(value, (list, tuple)):
        inner.refuse("tools", "shows no tool at all", "write `all`, `reach` or names")
    return "names", tools


def _exposure_order(inner: Section) -> tuple[str, tuple[str, ...]]:
    if isinstance(inner.raw("order"), (list, tuple)):
        return "listed", inner.texts("order")
    synonyms = {"alphabetical": "name", "random": "shuffled", "loaded": "catalog"}
    return inner.choice("order", ("catalog", "name", "shuffled"), "catalog", synonyms), ()


# --- context

_CONTEXT_KEYS = {
    "budget": "token_budget",
    "max_tokens": "token_budget",
    "passages": "max_passages",
    "text": "template",
}


def _context(section: Section, folder: Path) -> ContextConfig:
    value = section.raw("context")
    inner = section.child(
        "context", {"template": value} if isinstance(value, str) else value, synonyms=_CONTEXT_KEYS
    )
    name, text, order = _template(inner, folder)
    config = ContextConfig(
        name=name,
        order=order,
        template=text,
        token_budget=inner.whole("token_budget", None, minimum=1, allow_null=True),
        max_passages=inner.whole("max_passages", 5, minimum=0, allow_null=True),
        best_passages=cast(Any, inner.choice("best_passages", ("first", "middle", "last"), "first")),
        rerank=cast(Any, inner.choice("rerank", ("none", "lexical"), "none")),
        state_slots=inner.flag("state_slots", True),
    )
    inner.finish()
    return config


def _template(inner: Section, folder: Path) -> tuple[str, str, tuple[str, ...]]:
    """Name, text and order of the template: `default`, a Jinja text, a file, or `{name, order, text | file}`."""
    order = _order(inner)
    value = inner.raw("template")
    if value is None or value == "default":
        return "default", "", order
    if isinstance(value, str):
        return (*_template_text(inner, "template", folder), order)
    fields = inner.section("template")
    order = _order(fields) if fields.raw("order") is not None else order
    name, text = fields.text("name") or "default", fields.raw("text") or ""
    if fields.raw("file") is not None:
        name, text = _template_text(fields, "file", folder)
    elif not isinstance(text, str):
        fields.refuse("text", "must be text", "put it in quotes or a block ('|')")
        text = ""
    fields.finish("name")
    return name, text, order


def _template_text(holder: Section, key: str, folder: Path) -> tuple[str, str]:
    from agent_reach.config.documents import read_text

    value = holder.raw(key)
    if key == "template" and ("{{" in value or "{%" in value or "\n" in value):
        return "inline", value
    path = Path(existing_path(holder, key, holder.text(key), folder, "template file"))
    return (path.name, read_text(path, what="template")) if path.is_file() else (path.name, "")


def _order(holder: Section) -> tuple[str, ...]:
    words = (REQUEST_BLOCK, *BLOCK_KINDS)
    order = holder.texts("order")
    for index, word in enumerate(order):
        if word not in words:
            from agent_reach.config.fields import did_you_mean

            holder.refuse("order", f"{word!r} is no kind of block", did_you_mean(word, words), index)
        elif word in order[:index]:
            holder.refuse("order", f"{word!r} is named twice", "keep it once", index)
    return (*order, *(word for word in DEFAULT_CONTEXT_ORDER if word not in order))
