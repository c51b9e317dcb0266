"""The resolved settings of a run: complete, frozen, with every default filled in and every path absolute.

Made by `config.run.load_run_config` from the loose file form. Only records: they read no file and no environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AGENT_TYPES: tuple[str, ...] = ("chat", "anthropic", "python", "recorded", "local", "lexical", "mcp-client")
BACKENDS: tuple[str, ...] = ("recorded", "python", "mcp", "http")
FAULT_KINDS: tuple[str, ...] = (
    "rate_limited",
    "timeout",
    "empty",
    "truncated",
    "tool_error",
    "transport",
    "permission",
    "malformed_result",
)
REQUEST_BLOCK = "request"
"""The word for the user's request in the order of a context template."""
DEFAULT_CONTEXT_ORDER: tuple[str, ...] = (
    REQUEST_BLOCK,
    "instruction",
    "constraint",
    "tools",
    "state_slot",
    "history",
    "tool_result",
    "retrieval",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartConfig:
    """How the program of an `mcp-client` agent is started: `command` (words, no shell), or `http` address to call."""

    command: tuple[str, ...] = ()
    http: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """Which agent decides, and how it is reached.

    `api_key` is the value of the variable `api_key_env` (never written anywhere); times in seconds; `max_steps` model
    messages per attempt; `options` are settings of a plug-in agent. `traces` is the file that `recorded` scores,
    `model_file` the weights of `local`. `temperature`, `max_tokens`, `seed` None: not sent.
    """

    type: str = "lexical"
    name: str = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    proxy: str = field(default="", repr=False)
    ca_file: str = ""
    stream: Literal["auto", "always", "never"] = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    tool_choice: str = "auto"
    parallel_calls: bool | None = None
    system: str = ""
    max_steps: int = 20
    request_timeout: float = 120.0
    max_retries: int = 5
    function: str = ""
    start: StartConfig = field(default_factory=StartConfig)
    traces: str = ""
    traces_format: str = ""
    model_file: str = ""
    context_tokens: int = 8192
    threads: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceConfig:
    """What a host cuts from the tool list: characters of each description, number of tools; None is unlimited."""

    max_description: int | None = None
    max_tools: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureConfig:
    """Which tools are shown, in which order.

    `mode`: `all`; `names` (those in `tools`, globs allowed); `reach` (what the reach layer finds, with `settings`).
    `order`: `catalog` (as loaded), `name`, `shuffled` (by the run's seed) or `listed` (as in `order_names`).
    """

    mode: Literal["all", "names", "reach"] = "all"
    tools: tuple[str, ...] = ()
    order: Literal["catalog", "name", "shuffled", "listed"] = "catalog"
    order_names: tuple[str, ...] = ()
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    pinned: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """One planted fault: calls of tools that fit the glob `tool` end as `kind`.

    `calls` are call numbers from 1 within an attempt (empty: every call); `times` ends the rule after so many faults;
    `probability` draws by the run's seed; `retry_after` in seconds goes with `rate_limited`; `keep` is the number of
    characters that `truncated` leaves; `delay` in seconds passes first.
    """

    tool: str = "*"
    kind: str = "tool_error"
    calls: tuple[int, ...] = ()
    times: int | None = None
    probability: float = 1.0
    retry_after: float | None = None
    message: str = ""
    keep: int = 200
    delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HookConfig:
    """Something done before or after an attempt: a Python function `module:name`, or a command in words (no shell)."""

    function: str = ""
    command: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.function or self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionConfig:
    """How calls are executed.

    `backend`: `recorded`, `python`, `mcp` or `http`; `handlers` is the module of the Python functions (empty: the
    catalog's own); `allow_writes` names tools (globs) that may change something; `isolation` None means the default of
    the backend; `call_timeout` in seconds, None waits for ever.
    """

    backend: str = "recorded"
    handlers: str = ""
    allow_writes: tuple[str, ...] = ()
    isolation: Literal["attempt", "shared"] | None = None
    on_miss: Literal["not_found", "any_args", "stop"] = "not_found"
    recorded_fallback: bool = True
    faults: tuple[FaultRule, ...] = ()
    setup: HookConfig = field(default_factory=HookConfig)
    teardown: HookConfig = field(default_factory=HookConfig)
    call_timeout: float | None = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """How context blocks become a prompt.

    `order` lists block kinds and `request`; kinds that are missing follow in the default order. `template` is a Jinja
    text (empty: the built-in one). `token_budget` None is unlimited; `max_passages` limits retrieval blocks;
    `best_passages` is where the best of them stand; `rerank` sorts passages by their words in common with the request.
    """

    name: str = "default"
    order: tuple[str, ...] = DEFAULT_CONTEXT_ORDER
    template: str = ""
    token_budget: int | None = None
    max_passages: int | None = 5
    best_passages: Literal["first", "middle", "last"] = "first"
    rerank: Literal["none", "lexical"] = "none"
    state_slots: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """Settings of the comparison with a baseline, as `diff` reads them."""

    threshold: float = 0.02
    on_suspect: Literal["fail", "warn"] = "fail"
    fail_under: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionConfig:
    """What is masked beyond the standard rules before anything is written; the fields are those of `Redactor`."""

    enabled: bool = True
    keys: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    personal: bool = False
    salt: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentGrants:
    """What an environment grants to tools, against what they declare to need."""

    name: str = ""
    services: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Everything a run needs to know.

    `catalog` is an absolute path, a module name, an address, or the catalog itself (an `mcpServers` mapping or a list of
    tool definitions); empty when the file names none. `suites` maps names to absolute paths. `attempt_timeout` in
    seconds, None waits for ever; `seed` feeds every random choice. `folder` is where relative paths of the file start.
    """

    source: str = ""
    folder: str = "."
    catalog: Any = ""
    overlay: str = ""
    suites: Mapping[str, str] = field(default_factory=dict)
    agent: AgentConfig = field(default_factory=AgentConfig)
    exposure: ExposureConfig = field(default_factory=ExposureConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    redaction: RedactionConfig = field(default_factory=RedactionConfig)
    environment: EnvironmentGrants | None = None
    repeats: int = 1
    concurrency: int = 4
    attempt_timeout: float | None = 300.0
    seed: int = 0
    archive: str = ".agent-reach/runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """`reach.yaml`, resolved: what belongs to the project and not to one run.

    `baseline` and `runs` are absolute paths, `store` the address of the trace store. `environments` maps names to what
    they grant. `lint`, `map`, `reach` and `gateway` are handed to the parts that own them, which check them.
    """

    source: str = ""
    folder: str = "."
    name: str = ""
    language: str = "en"
    catalog: Any = ""
    overlay: str = ""
    suites: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    baseline: str = ""
    runs: str = ".agent-reach/runs"
    store: str = ""
    gate: GateConfig = field(default_factory=GateConfig)
    redaction: RedactionConfig = field(default_factory=RedactionConfig)
    environments: Mapping[str, EnvironmentGrants] = field(default_factory=dict)
    lint: Mapping[str, Any] = field(default_factory=dict)
    map: Mapping[str, Any] = field(default_factory=dict)
    reach: Mapping[str, Any] = field(default_factory=dict)
    gateway: Mapping[str, Any] = field(default_factory=dict)
