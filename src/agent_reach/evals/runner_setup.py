"""From settings to everything a run needs: catalog, suite, agent, exposure, backend, redaction, and the run's key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.backends.base import Backend
from agent_reach.config.redaction import redactor_of
from agent_reach.config.run import load_run_config, public_settings, resolve_run_config, suite_path
from agent_reach.config.settings import RunConfig
from agent_reach.errors import ConfigError
from agent_reach.evals.agents.base import Agent, AgentSetup, agent_types, build_agent
from agent_reach.evals.context.options import Layout
from agent_reach.evals.exposure import Exposer
from agent_reach.evals.runner_backend import BackendMaker
from agent_reach.evals.suite.checks.matchers import refuse_malformed
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.project import refuse_empty
from agent_reach.records.codec import content_hash
from agent_reach.records.events import Event, Listener
from agent_reach.records.report import SCORER_VERSION
from agent_reach.redact.redactor import Redactor

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a caller may say beside the configuration.

    `resume` goes on with the newest unfinished (or finished) run of the same key; `select` holds filters of
    `Suite.select`; `environment` resolves variables of the configuration and of servers. `catalog`, `agent`, `backend`
    and `reach` replace what the configuration names..
    """

    repeats: int | None = None
    concurrency: int | None = None
    resume: bool = False
    listeners: Sequence[Listener] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    select: Mapping[str, Any] = field(default_factory=dict)
    catalog: Catalog | None = None
    agent: Agent | None = None
    backend: Backend | None = None
    reach: Any = None
    archive: str | Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Everything a run needs, resolved. `key` is equal for runs that may continue each other."""

    config: RunConfig
    catalog: Catalog
    suite: Suite
    agent: Agent
    exposer: Exposer
    layout: Layout
    backends: BackendMaker
    redactor: Redactor
    repeats: int
    concurrency: int
    key: str
    notify: Callable[[Event], None]


def resolve_config(
    config: RunConfig | str | Path | Mapping[str, Any], environment: Mapping[str, str]
) -> RunConfig:
    """A run configuration from a record, a file or a mapping in file form."""
    if isinstance(config, RunConfig):
        return config
    if isinstance(config, Mapping):
        from agent_reach.config.documents import Document

        return resolve_run_config(
            Document(value=dict(config)), Path.cwd(), environment, agent_types=agent_types()
        )
    return load_run_config(config, environment, agent_types=agent_types())


def prepare(config: RunConfig, suite: Any, options: RunOptions) -> Prepared:
    """Load and build everything; raises an `InputError` for whatever a person has to mend."""
    loaded_suite = refuse_malformed(_suite(config, suite, options))
    catalog = options.catalog if options.catalog is not None else load_catalog(config, options.environment)
    refuse_empty(catalog, config.catalog)
    notify = _notifier(options.listeners)
    setup = AgentSetup(
        folder=config.folder,
        seed=config.seed,
        notify=notify,
        catalog=catalog,
        environment=options.environment,
    )
    agent = options.agent or build_agent(config.agent, setup)
    info = agent.info
    exposer = Exposer(
        catalog,
        config.exposure,
        grants=config.environment,
        seed=config.seed,
        placed_by=info.placed_by,
        reach=options.reach,
    )
    backends = BackendMaker(
        config.execution,
        catalog,
        source=config.catalog,
        folder=config.folder,
        environment=options.environment,
        seed=config.seed,
        custom=options.backend,
    )
    backends.check()
    redactor = redactor_of(config.redaction, known=[config.agent.api_key] if config.agent.api_key else [])
    return Prepared(
        config=config,
        catalog=catalog,
        suite=loaded_suite,
        agent=agent,
        exposer=exposer,
        layout=Layout(
            config=config.context, system_prompt=info.system_prompt, tools_in_system=info.tools_in_system
        ),
        backends=backends,
        redactor=redactor,
        repeats=_whole(options.repeats, config.repeats, "repeats"),
        concurrency=_whole(options.concurrency, config.concurrency, "concurrency"),
        key=run_key(config, loaded_suite, catalog),
        notify=notify,
    )


def _whole(given: int | None, configured: int, name: str) -> int:
    value = configured if given is None else given
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} is {value!r}, expected a whole number from 1", where=name)
    return value


def _suite(config: RunConfig, suite: Any, options: RunOptions) -> Suite:
    if suite is None:
        if len(config.suites) != 1:
            names = ", ".join(config.suites) or "none"
            raise ConfigError(
                "no suite is chosen", where=config.source, next_step=f"name one with --suite (known: {names})"
            )
        suite = next(iter(config.suites))
    if isinstance(suite, Suite):
        loaded = suite
    elif isinstance(suite, Path) or (isinstance(suite, str) and suite):
        loaded = Suite.load(
            suite_path(config, str(suite)), name=str(suite) if str(suite) in config.suites else ""
        )
    else:
        loaded = Suite.load(suite)
    return loaded.select(**options.select) if options.select else loaded


def load_catalog(config: RunConfig, environment: Mapping[str, str]) -> Catalog:
    """The catalog that a run configuration names, with its overlay."""
    from agent_reach.catalog.catalog import Catalog

    if config.catalog == "" or config.catalog is None:
        raise ConfigError(
            "the configuration names no catalog",
            where=config.source,
            next_step="add `catalog: tools.json` (a tool list, an mcpServers file or a module)",
        )
    return Catalog.load(config.catalog, overlay=config.overlay or None, environment=environment)


def _notifier(listeners: Sequence[Listener]) -> Callable[[Event], None]:
    def notify(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return notify


def run_key(config: RunConfig, suite: Suite, catalog: Catalog) -> str:
    """A hash of everything that decides what an attempt means: settings, suite, catalog, scorer, the agent's own code.

    How often and how fast (repeats, concurrency, archive) is left out, so that a run may be continued with more of it.
    """
    settings = public_settings(config)
    for name in ("repeats", "concurrency", "archive", "gate", "source", "suites"):
        settings.pop(name, None)
    settings["catalog"] = catalog.hash
    agent = settings.get("agent")
    if isinstance(agent, dict):
        for name in ("request_timeout", "max_retries"):
            agent.pop(name, None)
    return content_hash(
        {
            "settings": settings,
            "suite": suite.hash,
            "scorer": SCORER_VERSION,
            "code": code_hash(config),
        }
    )


def code_hash(config: RunConfig) -> str:
    """The digest of the file that a `python` agent lives in, or that a `recorded` agent reads; empty for others."""
    if config.agent.type == "recorded" and config.agent.traces:
        return _file_hash(Path(config.folder) / config.agent.traces)
    if config.agent.type != "python" or not config.agent.function:
        return ""
    module = config.agent.function.rpartition(":")[0]
    if module.endswith(".py"):
        return _file_hash(Path(config.folder) / module)
    from importlib.util import find_spec

    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return ""
    return _file_hash(Path(spec.origin)) if spec and spec.origin else ""


def _file_hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
