"""What a run says: the report that is written, compared, promoted and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.score import Metric, TaskScore

REPORT_SCHEMA_VERSION = 1
SCORER_VERSION = "2"

METRIC_NAMES: tuple[str, ...] = (
    "tool_reachability",
    "first_choice_rate",
    "param_hit_rate",
    "param_pass_rate",
    "param_legality",
    "param_legality_sent",
    "optional_unused_rate",
    "context_utilization",
    "state_slot_use",
    "over_call_rate",
    "may_call_rate",
    "extra_calls",
    "decision_success",
    "execution_success",
    "call_success",
    "task_pass",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What was run: everything that may explain a movement between two reports."""

    id: str
    time: str
    agent: str = ""
    model: str = ""
    model_settings: Mapping[str, Any] = field(default_factory=dict)
    prompt_hash: str = ""
    template: Mapping[str, Any] = field(default_factory=dict)
    exposure: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, Any] = field(default_factory=dict)
    suites: Mapping[str, str] = field(default_factory=dict)
    git_commit: str = ""
    scorer_version: str = SCORER_VERSION
    package_version: str = ""
    deterministic: bool = False
    repeats: int = 1
    seed: int | None = None
    placed_by: str = ""
    duration_s: float | None = None
    degraded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarPair:
    """Two tools that look alike (`left` < `right` by key): score 0..1 and its parts, the shared and the separating words."""

    left: str
    right: str
    score: float
    left_only: tuple[str, ...] = ()
    right_only: tuple[str, ...] = ()
    name_score: float = 0.0
    description_score: float = 0.0
    parameter_score: float = 0.0
    shared_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTools:
    """How many tools attempts were offered at their start, of those that count: fewest, most and mean; `tokens` is their mean
    weight, estimated as the catalog's is (descriptions whole; what an attempt was really sent stands in its trace)."""

    least: int
    most: int
    mean: float
    tokens: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogInfo:
    """The catalog of the run. `snapshot` is the frozen tool list itself; `tokens` estimates the weight of all of it in a
    prompt; `offered` is what the agent was shown of it (None: not recorded)."""

    hash: str
    tool_count: int
    similar_pairs: tuple[SimilarPair, ...] = ()
    tokens: int = 0
    token_estimator: str = ""
    quarantined: tuple[str, ...] = ()
    snapshot: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    offered: OfferedTools | None = None

    @property
    def shows_part(self) -> bool:
        """Some attempt was offered other than the whole catalog."""
        return self.offered is not None and (self.offered.least, self.offered.most) != (self.tool_count,) * 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSummary:
    """One cause over the whole run: lost decisions, the tasks, and the first fix."""

    name: str
    layer: str
    lost: int
    share: float
    tasks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    fix: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """One tool over the whole run: how often it was right, chosen, chosen wrongly, executed; tokens of its definition."""

    tool: str
    required: int = 0
    reached: int = 0
    first_choice: int = 0
    called: int = 0
    over_called: int = 0
    instead_of: int = 0
    param_hit_rate: float | None = None
    executed: int = 0
    executed_ok: int = 0
    tokens: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often `chosen` (a tool key, a hallucinated name, or empty for no call) stood in for `expected`; `predicted` says
    that the two are a look-alike pair."""

    expected: str
    chosen: str
    count: int
    predicted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """The metrics of a part of the run: `by` is `tag`, `kind`, `language` or `suite`."""

    by: str
    name: str
    tasks: int
    metrics: Mapping[str, Metric] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run report; `docs/report.md` describes the JSON form."""

    run: RunInfo
    catalog: CatalogInfo
    metrics: Mapping[str, Metric]
    headline: Message
    causes: tuple[CauseSummary, ...] = ()
    tools: tuple[ToolSummary, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    hallucinated: Mapping[str, int] = field(default_factory=dict)
    argument_errors: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    groups: tuple[GroupFigures, ...] = ()
    blocks: Mapping[str, Metric] = field(default_factory=dict)
    pass_hat: Mapping[str, float] = field(default_factory=dict)
    order_modes: Mapping[str, int] = field(default_factory=dict)
    infra_errors: tuple[str, ...] = ()
    sufficient: bool = True
    findings: tuple[Finding, ...] = ()
    tasks: tuple[TaskScore, ...] = ()
    schema_version: int = REPORT_SCHEMA_VERSION
    pass_at: Mapping[str, float] = field(default_factory=dict)
    flaky: tuple[str, ...] = ()
    infra_share: float = 0.0
    attempts: int = 0
