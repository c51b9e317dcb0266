"""`select`: of the tools an agent loop holds, those that the conversation needs now, exactly as they were given.

Whatever cannot be read is kept; a tool that the conversation has used is kept; when there is nothing to search by, all
tools pass as far as the limit allows. Nothing is left out without being listed.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.router.reach_find import Finder
from agent_reach.router.reach_messages import request_of, used_names
from agent_reach.router.reach_shapes import name_of, read_shape
from agent_reach.router.stages import Selection

KEPT_FINDERS = 8


class Selector:
    """Selects among tools in any shape. `make_finder` builds a `Finder` over tools; the last few are kept by content, so a
    changed text is searched at once. `known` resolves a name to the catalog's tool, for its note."""

    def __init__(
        self,
        make_finder: Callable[[Sequence[Tool]], Finder],
        known: Callable[[str], Tool | None],
        hidden: Mapping[str, str],
    ) -> None:
        self._make_finder = make_finder
        self._known = known
        self._hidden = hidden
        self._finders: OrderedDict[str, Finder] = OrderedDict()

    def __call__(
        self,
        messages: Any,
        tools: Iterable[Any],
        *,
        k: int,
        pins: Iterable[str] = (),
        limit: int | None = None,
    ) -> Selection:
        """The `k` tools that fit (pins, used and unreadable ones on top), at most `limit` in all, best first."""
        given = list(tools)
        findings: list[Finding] = []
        read = [read_shape(one) for one in given]
        unreadable = [place for place, tool in enumerate(read) if tool is None]
        if unreadable:
            findings.append(_unreadable_finding([given[place] for place in unreadable]))
        places, barred = self._allowed(read)
        always = self._always(read, places, pins, messages)
        query = request_of(messages)
        if not query.strip():
            chosen = list(dict.fromkeys([*always, *unreadable, *self._by_name(read, places)]))
            findings.append(_finding("no_request", "the conversation holds no words of a user: tools pass unranked", "对话中没有用户的话：工具未经排序直接通过"))  # fmt: skip
        else:
            ranked = self._ranked(read, places, query, k, findings)
            chosen = list(dict.fromkeys([*ranked, *always, *unreadable]))
        kept = _within(chosen, [*always, *unreadable], limit)
        left_out = sorted(name_of(given[place]) for place in range(len(given)) if place not in set(kept))
        if len(kept) < len(chosen) or (not query.strip() and left_out):
            findings.append(_limit_finding(len(given), len(kept), limit, left_out))
        if barred:
            findings.append(_barred_finding(barred))
        return Selection((given[place] for place in kept), findings=findings, left_out=left_out)

    def _allowed(self, read: Sequence[Tool | None]) -> tuple[list[int], list[str]]:
        """The places of readable tools that may be offered, and the names of those that may not."""
        places: list[int] = []
        barred: list[str] = []
        for place, tool in enumerate(read):
            if tool is None:
                continue
            known = self._resolve(tool)
            if known is not None and known.key in self._hidden:
                barred.append(tool.name)
            else:
                places.append(place)
        return places, barred

    def _resolve(self, tool: Tool) -> Tool | None:
        return self._known(tool.key) or self._known(tool.name)

    def _always(
        self, read: Sequence[Tool | None], places: Iterable[int], pins: Iterable[str], messages: Any
    ) -> list[int]:
        wanted = {*pins, *used_names(messages)}
        found = []
        for place in places:
            tool = read[place]
            if tool is None:
                continue
            known = self._resolve(tool)
            names = {tool.name, tool.key} | ({known.name, known.key} if known is not None else set())
            if names & wanted:
                found.append(place)
        return found

    @staticmethod
    def _by_name(read: Sequence[Tool | None], places: Iterable[int]) -> list[int]:
        named = [(tool.key, place) for place, tool in enumerate(read) if tool is not None]
        allowed = set(places)
        return [place for _, place in sorted(named) if place in allowed]

    def _ranked(
        self, read: Sequence[Tool | None], places: list[int], query: str, k: int, findings: list[Finding]
    ) -> list[int]:
        """The places of what fits, best first. Two tools of one name are told apart by their place."""
        place_of: dict[str, int] = {}
        tools: list[Tool] = []
        for place in places:
            tool = read[place]
            if tool is None:
                continue
            known = self._resolve(tool)
            if known is not None:
                tool = replace(
                    tool,
                    server=known.server,
                    name=known.name,
                    note=known.note,
                    aliases=(*known.aliases, tool.name),
                )
            if tool.key in place_of:
                tool = replace(tool, server=f"{tool.server}#{place}")
            place_of[tool.key] = place
            tools.append(tool)
        found = self._finder(tools)(query, k)
        findings.extend(found.findings)
        if not found:
            findings.append(_finding("nothing_fits", "no tool fits the request", "没有适合该请求的工具"))
        return [place_of[candidate.tool.key] for candidate in found]

    def _finder(self, tools: list[Tool]) -> Finder:
        digest = hashlib.sha256()
        for tool in sorted(tools, key=lambda one: one.key):
            digest.update(repr((tool.key, tool.title, tool.description, tool.input_schema, tool.note)).encode("utf-8", "replace"))  # fmt: skip
        content = digest.hexdigest()
        finder = self._finders.get(content)
        if finder is None:
            finder = self._finders[content] = self._make_finder(tools)
            while len(self._finders) > KEPT_FINDERS:
                self._finders.popitem(last=False)
        self._finders.move_to_end(content)
        return finder


def _within(chosen: list[int], always: list[int], limit: int | None) -> list[int]:
    """The first `limit` of the chosen; what must stay takes its seats first, the order stays."""
    if limit is None or len(chosen) <= limit:
        return chosen
    fixed = list(dict.fromkeys(always))[:limit]
    others = [place for place in chosen if place not in set(fixed)][: limit - len(fixed)]
    kept = {*fixed, *others}
    return [place for place in chosen if place in kept]


def _finding(code: str, english: str, chinese: str, **data: Any) -> Finding:
    return Finding(code=code, severity="info", message=Message(english, chinese), data=data)


def _unreadable_finding(given: Sequence[Any]) -> Finding:
    kinds = sorted({name_of(one) or type(one).__name__ for one in given})
    return Finding(
        code="tool_shape_unknown",
        severity="warning",
        message=Message(
            f"{len(given)} of the tools have a shape without a readable name ({', '.join(kinds)}): passed through unranked",
            f"有 {len(given)} 个工具的形态读不出名称（{', '.join(kinds)}）：未经排序直接通过",
        ),
        data={"kinds": kinds},
    )


def _limit_finding(total: int, kept: int, limit: int | None, left_out: Sequence[str]) -> Finding:
    return Finding(
        code="tool_limit",
        severity="warning",
        message=Message(
            f"{total} tools, limit {limit}: {kept} kept, {len(left_out)} left out",
            f"共 {total} 个工具，上限 {limit}：保留 {kept} 个，舍去 {len(left_out)} 个",
        ),
        data={"total": total, "limit": limit, "kept": kept, "left_out": list(left_out)},
    )


def _barred_finding(barred: Sequence[str]) -> Finding:
    return Finding(
        code="tools_not_allowed",
        severity="info",
        message=Message(
            f"{len(barred)} tools are not allowed here: {', '.join(sorted(barred)[:10])}",
            f"有 {len(barred)} 个工具在此不被允许：{'、'.join(sorted(barred)[:10])}",
        ),
        data={"tools": sorted(barred)},
    )
