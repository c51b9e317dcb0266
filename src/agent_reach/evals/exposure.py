"""Which tools an attempt offers to the model, in which order, and what a host would cut from them.

Everything kept back is recorded with its reason. The definitions here are those that are sent; what a tool needs is
compared with what the environment grants, never probed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.needs import WORDS, missing_needs
from agent_reach.config.settings import EnvironmentGrants, ExposureConfig
from agent_reach.errors import ConfigError
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CandidateScore, Exposure
from agent_reach.text.counting import count_json_tokens
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedTools:
    """The offered tools, their definitions as sent (chat API form), the record of the exposure, and what each tool lacks.

    `normalize` makes emitted arguments legal where the reach layer stands between model and tools, else None.
    """

    tools: tuple[Tool, ...]
    definitions: tuple[Mapping[str, Any], ...]
    exposure: Exposure
    permissions_missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    candidates: tuple[CandidateScore, ...] = ()
    normalize: Callable[..., Any] | None = None


class Exposer:
    """Exposes tools task by task; the common case (the same tools for every task) is prepared once."""

    def __init__(
        self,
        catalog: Catalog,
        config: ExposureConfig,
        *,
        grants: EnvironmentGrants | None = None,
        seed: int = 0,
        placed_by: str = "provider",
        reach: Any = None,
    ) -> None:
        self._catalog = catalog
        self._config = config
        self._placed_by = placed_by
        self._missing = missing_permissions(catalog.tools, grants)
        self._ordered = _ordered(catalog, config, seed)
        self._listed = _listed(catalog, config)
        self._reach: Any = reach if config.mode == "reach" else None
        if config.mode == "reach" and reach is None:
            self._reach = _build_reach(catalog, config)
        self._views: dict[str, tuple[dict[str, Any], int | None]] = {}
        self._prepared: dict[tuple[str, ...], ExposedTools] = {}

    def expose(self, task: Task, query: str | None = None) -> ExposedTools:
        """The tools offered for that task; `query` are later words of the user, for which the reach layer looks anew."""
        if self._reach is not None:
            return self._through_reach(task.query if query is None else query)
        known = self._prepared.get(task.tools)
        if known is None:
            known = self._prepared[task.tools] = self._plain(task)
        return known

    @property
    def is_dynamic(self) -> bool:
        """The offered tools depend on the user's words."""
        return self._reach is not None

    def _plain(self, task: Task) -> ExposedTools:
        hidden: dict[str, str] = {}
        own = _keys_of(self._catalog, task.tools, f"task {task.id!r}") if task.tools else None
        chosen: list[Tool] = []
        for tool in self._ordered:
            if (own is not None and tool.key not in own) or (
                own is None and self._listed is not None and tool.key not in self._listed
            ):
                hidden[tool.key] = "not_listed"
            elif tool.key in self._missing:
                hidden[tool.key] = "permission"
            else:
                chosen.append(tool)
        return self._finish(chosen, hidden, ())

    def _through_reach(self, query: str) -> ExposedTools:
        """The tools that the reach layer finds for the request, best first; pinned tools are always among them."""
        limit = self._config.surface.max_tools or int(self._config.settings.get("k", 8))
        assert self._reach is not None
        found = self._reach.find(query, limit)
        candidates = tuple(
            CandidateScore(tool=_key(item.tool), score=float(item.score), why=str(getattr(item, "why", "")))
            for item in found
        )
        keys = [item.tool for item in candidates]
        pinned = (
            _keys_of(self._catalog, self._config.pinned, "exposure.pinned") if self._config.pinned else ()
        )
        chosen_keys = dict.fromkeys([*keys, *(tool.key for tool in self._ordered if tool.key in pinned)])
        hidden = {
            tool.key: "permission" if tool.key in self._missing else "not_recalled"
            for tool in self._catalog.tools
            if tool.key not in chosen_keys or tool.key in self._missing
        }
        chosen = [self._catalog.get(key) for key in chosen_keys if key not in self._missing]
        return self._finish(chosen, hidden, candidates, limit=False)

    def _finish(
        self,
        chosen: Sequence[Tool],
        hidden: dict[str, str],
        candidates: tuple[CandidateScore, ...],
        *,
        limit: bool = True,
    ) -> ExposedTools:
        most = self._config.surface.max_tools
        if limit and most is not None and len(chosen) > most:
            chosen, rest = _limited(chosen, most, self._config.pinned)
            hidden.update({tool.key: "limit" for tool in rest})
        for item in self._catalog.quarantined:
            hidden.setdefault(item.key, "quarantined")
        definitions: list[Mapping[str, Any]] = []
        cut: dict[str, int] = {}
        for tool in chosen:
            view, shown = self._view(tool)
            definitions.append({"type": "function", "function": view})
            if shown is not None:
                cut[tool.key] = shown
        exposure = Exposure(
            mode=self._config.mode,
            offered=tuple(tool.key for tool in chosen),
            hidden=hidden,
            cut_descriptions=cut,
            placed_by=self._placed_by,
            tokens=count_json_tokens(definitions) if definitions else 0,
        )
        return ExposedTools(
            tools=tuple(chosen),
            definitions=tuple(definitions),
            exposure=exposure,
            permissions_missing=self._missing,
            candidates=candidates,
            normalize=getattr(self._reach, "normalize", None),
        )

    def _view(self, tool: Tool) -> tuple[dict[str, Any], int | None]:
        """The definition as sent, and the number of characters shown where the description was cut."""
        known = self._views.get(tool.key)
        if known is None:
            limit = self._config.surface.max_description
            whole = self._catalog.model_view(tool)
            view = whole if limit is None else self._catalog.model_view(tool, limit)
            shown = len(str(view.get("description") or ""))
            is_cut = shown < len(str(whole.get("description") or ""))
            known = self._views[tool.key] = (view, shown if is_cut else None)
        return known


def missing_permissions(
    tools: Sequence[Tool], grants: EnvironmentGrants | None
) -> dict[str, tuple[str, ...]]:
    """Tool key -> what it needs and the environment does not grant; empty where no environment is named."""
    if grants is None:
        return {}
    missing: dict[str, tuple[str, ...]] = {}
    for tool in tools:
        lacking = missing_needs(tool.needs, grants)
        if lacking:
            missing[tool.key] = tuple(f"{WORDS[kind]} {name}" for kind, name in lacking)
    return missing


def _ordered(catalog: Catalog, config: ExposureConfig, seed: int) -> list[Tool]:
    tools = list(catalog.tools)
    if config.order == "name":
        return sorted(tools, key=lambda tool: (tool.name, tool.server))
    if config.order == "shuffled":
        random.Random(seed).shuffle(tools)
        return tools
    if config.order == "listed":
        first = _keys_of(catalog, config.order_names, "exposure.order")
        place = {key: index for index, key in enumerate(first)}
        return sorted(tools, key=lambda tool: place.get(tool.key, len(place)))
    return tools


def _listed(catalog: Catalog, config: ExposureConfig) -> frozenset[str] | None:
    if config.mode != "names":
        return None
    return frozenset(_keys_of(catalog, config.tools, "exposure.tools"))


def _keys_of(catalog: Catalog, names: Sequence[str], where: str) -> tuple[str, ...]:
    """Keys of the tools that names or globs mean; a name that means none is refused with the nearest."""
    keys: dict[str, None] = {}
    for name in names:
        if any(mark in name for mark in "*?["):
            found = [
                tool.key
                for tool in catalog.tools
                if fnmatchcase(tool.key, name) or fnmatchcase(tool.name, name)
            ]
        else:
            tool = catalog.resolve(name)
            found = [tool.key] if tool else []
        if not found:
            near = nearest_names(name, [tool.name for tool in catalog.tools], limit=3)
            raise ConfigError(
                f"{name!r} means no tool of the catalog",
                where=where,
                next_step=f"did you mean {', '.join(map(repr, near))}?" if near else "check the name",
            )
        keys.update(dict.fromkeys(found))
    return tuple(keys)


def _limited(chosen: Sequence[Tool], most: int, pinned: Sequence[str]) -> tuple[list[Tool], list[Tool]]:
    """The first tools up to the limit, pinned ones before others; the order stays."""
    first = [tool for tool in chosen if tool.key in pinned or tool.name in pinned][:most]
    kept = {tool.key for tool in first}
    for tool in chosen:
        if len(kept) >= most:
            break
        kept.add(tool.key)
    return [tool for tool in chosen if tool.key in kept], [tool for tool in chosen if tool.key not in kept]


def _build_reach(catalog: Catalog, config: ExposureConfig) -> Any:
    from agent_reach.router.reach import Reach
    from agent_reach.router.reach_config import LAYER, layer_options, refuse_unknown, tool_count

    where = "exposure.reach"
    refuse_unknown(config.settings, (*LAYER, "k"), where)
    tool_count(config.settings, "k", where)
    reach = Reach(catalog, **layer_options(config.settings, where))
    if not reach.wait_for_vectors() and reach.vectors is not None and reach.vectors.failure is not None:
        raise ConfigError(
            f"the embedder failed: {reach.vectors.failure}",
            where="exposure.reach.embedder",
            next_step="mend it, or leave the embedder out: a run must not depend on which half of it had vectors",
        ) from reach.vectors.failure
    return reach


def _key(tool: Any) -> str:
    return tool if isinstance(tool, str) else str(tool.key)
