"""One way of running one task, and the name of what its attempts mean.

Two variants with the same key show the agent the same thing and answer its calls in the same way, so that an attempt
made for one counts for the other. The key covers what is sent and what answers, never how a configuration words it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent_reach.backends.base import Backend
from agent_reach.config.run import public_settings
from agent_reach.config.settings import RunConfig
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.runner_setup import Prepared, code_hash
from agent_reach.evals.suite.writing import dump_task
from agent_reach.records.codec import content_hash, to_json
from agent_reach.records.report import SCORER_VERSION
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True)
class BackendWrapper:
    """Something that stands between the agent's calls and their execution; `name` says all that it does."""

    name: str
    wrap: Callable[[Backend, Task], Backend]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Settings, tools and task of an attempt; `wrappers` stand around the backend, the last one outermost."""

    config: RunConfig
    catalog: Catalog
    task: Task
    wrappers: tuple[BackendWrapper, ...] = ()

    def with_tools(self, changed: Mapping[str, Tool]) -> Variant:
        """The variant with some tools replaced (key -> tool); their order stays."""
        return replace(self, catalog=replaced_tools(self.catalog, changed))


def replaced_tools(catalog: Catalog, changed: Mapping[str, Tool]) -> Catalog:
    """The catalog with some of its tools replaced; the order stays."""
    from agent_reach.catalog.catalog import Catalog as Made

    return Made(
        (changed.get(tool.key, tool) for tool in catalog.tools),
        quarantined=catalog.quarantined,
        findings=catalog.findings,
        provenance=catalog.provenance,
        overlay=catalog.overlay,
    )


def with_added_tool(catalog: Catalog, tool: Tool) -> Catalog:
    """The catalog with one more tool at its end, in place of an unusable definition of the same name."""
    from agent_reach.catalog.catalog import Catalog as Made

    return Made(
        (*catalog.tools, tool),
        quarantined=(item for item in catalog.quarantined if item.key != tool.key),
        findings=catalog.findings,
        provenance=catalog.provenance,
        overlay=catalog.overlay,
    )


_NOT_MEANT = (
    "repeats", "concurrency", "archive", "gate", "source", "suites", "folder", "catalog", "overlay", "exposure",
    "context", "environment", "redaction",
)  # fmt: skip
_NOT_OF_AGENT = ("request_timeout", "max_retries")


def trial_key(prepared: Prepared, variant: Variant) -> str:
    """The hash of everything that an attempt of this variant depends on.

    Tools that are not offered count only where the offered ones change during an attempt (the reach layer over several
    turns).
    """
    task, config = variant.task, variant.config
    exposed = prepared.exposer.expose(task)
    settings = public_settings(config)
    for name in _NOT_MEANT:
        settings.pop(name, None)
    for name in _NOT_OF_AGENT:
        settings.get("agent", {}).pop(name, None)
    moving = prepared.exposer.is_dynamic and len(task.turns) > 1
    tools = prepared.catalog.tools if moving else exposed.tools
    context = config.context
    conversation = Conversation(task, prepared.layout, tools_text="", slots=task.state_slots)
    return content_hash(
        {
            "settings": settings,
            "code": code_hash(config),
            "scorer": SCORER_VERSION,
            "task": {key: value for key, value in dump_task(task).items() if key not in ("tags", "context")},
            "messages": conversation.messages(0),
            "blocks": [block.id for block in conversation.blocks],
            "later": [context.token_budget, context.state_slots, context.template],
            "order": list(context.order) if prepared.agent.info.own_tools_text or task.state_slots else [],
            "definitions": exposed.definitions,
            "tools": [_meaning(tool) for tool in tools],
            "mode": "reach" if prepared.exposer.is_dynamic else "listed",
            "reach": dict(config.exposure.settings) if moving else {},
            "missing": {key: list(value) for key, value in exposed.permissions_missing.items()},
            "wrappers": [wrapper.name for wrapper in variant.wrappers],
        }
    )


def _meaning(tool: Tool) -> Any:
    value = to_json(tool)
    for name in ("original", "partitions"):
        value.pop(name, None)
    return value


class WrappedBackends:
    """The backends of a run with wrappers around each of them."""

    def __init__(self, inner: Any, wrappers: tuple[BackendWrapper, ...]) -> None:
        self._inner = inner
        self._wrappers = wrappers

    @property
    def is_repeatable(self) -> bool:
        """The same calls get the same answers on every run."""
        return bool(self._inner.is_repeatable)

    @property
    def has_own_limit(self) -> bool:
        """The backend keeps the time limit of calls itself."""
        return bool(self._inner.has_own_limit)

    @asynccontextmanager
    async def attempt(self, task: Task, index: int) -> AsyncIterator[Backend]:
        """The backend of one attempt."""
        async with self._inner.attempt(task, index) as backend:
            for wrapper in self._wrappers:
                backend = wrapper.wrap(backend, task)
            yield backend

    async def aclose(self) -> None:
        """Close what attempts shared."""
        await self._inner.aclose()
