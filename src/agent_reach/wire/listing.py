"""A whole list, page by page, from a server that may page badly.

The walk ends when the server says so, when its cursor comes back or is no text, when a page fails or nothing new comes,
and at a cap; each but the first is a finding, and what was read until then is kept. It judges no tool: entries are
passed on as they came.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.wire.failures import RequestFailure

MAX_PAGES = 500
MAX_STALLED = 3
"""Pages in a row without anything new: one may be a filter of the server, three are a walk on the spot."""
Fetch = Callable[[str | None], Awaitable[Any]]
"""From a cursor (None for the first page) to the result of one list request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a walk brought: the entries in order, the number of pages, and what was wrong."""

    items: tuple[dict[str, Any], ...]
    pages: int
    findings: tuple[Finding, ...] = ()


async def walk_pages(
    fetch: Fetch, *, key: str = "tools", subject: str = "", source: str = "", max_pages: int = MAX_PAGES
) -> Listed:
    """All pages of a list; a failure of the first page is raised, later ones end the walk."""
    walk = _Walk(key, subject, source)
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        try:
            result = await fetch(cursor)
        except RequestFailure as error:
            if walk.pages == 0:
                raise
            walk.finding(
                "list_page_failed",
                "error",
                f"page {walk.pages + 1} of the list failed ({error.message}); the pages before it are kept",
                f"列表第 {walk.pages + 1} 页读取失败（{error.message}），已保留之前的页",
            )
            return walk.listed()
        walk.add(result)
        following = result.get("nextCursor") if isinstance(result, Mapping) else None
        if following is None:
            return walk.listed()
        if walk.ends_at(following, seen, max_pages):
            return walk.listed()
        seen.add(following)
        cursor = following


class _Walk:
    """The state of one walk."""

    def __init__(self, key: str, subject: str, source: str) -> None:
        self._key = key
        self._subject = subject
        self._source = source
        self._items: list[dict[str, Any]] = []
        self._known: set[str] = set()
        self._repeated = 0
        self._stalled = 0
        self._findings: list[Finding] = []
        self.pages = 0

    def listed(self) -> Listed:
        """What was read, with a word on repeated entries."""
        if self._repeated:
            self.finding(
                "list_entry_repeated",
                "warning",
                f"{self._repeated} entries came more than once in the list and are kept once",
                f"列表中有 {self._repeated} 个条目重复出现，只保留一份",
            )
        return Listed(items=tuple(self._items), pages=self.pages, findings=tuple(self._findings))

    def add(self, result: Any) -> None:
        """Take the entries of one page."""
        self.pages += 1
        items = result.get(self._key) if isinstance(result, Mapping) else None
        if not isinstance(items, list):
            self.finding(
                "list_malformed",
                "error",
                f"page {self.pages} has no list of {self._key}, but {type(items).__name__}",
                f"第 {self.pages} 页没有 {self._key} 列表，而是 {type(items).__name__}",
            )
            self._stalled += 1
            return
        before = len(self._items)
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                self.finding(
                    "list_entry_malformed",
                    "error",
                    f"entry {index} of page {self.pages} is {type(item).__name__}, not an object; left out",
                    f"第 {self.pages} 页的第 {index} 项是 {type(item).__name__} 而不是对象，已略去",
                )
                continue
            form = json.dumps(item, sort_keys=True)
            if form in self._known:
                self._repeated += 1
                continue
            self._known.add(form)
            self._items.append(item)
        self._stalled = 0 if len(self._items) > before else self._stalled + 1

    def ends_at(self, cursor: Any, seen: set[str], max_pages: int) -> bool:
        """Whether the walk must end before following that cursor, with the finding that says why."""
        if not isinstance(cursor, str):
            self.finding(
                "cursor_malformed",
                "warning",
                f"the cursor after page {self.pages} is {type(cursor).__name__}, not a text; the walk ends there",
                f"第 {self.pages} 页之后的游标是 {type(cursor).__name__} 而不是文本，列表到此为止",
            )
        elif not cursor:
            self.finding(
                "cursor_empty",
                "info",
                f"the cursor after page {self.pages} is an empty text, read as the end",
                f"第 {self.pages} 页之后的游标是空文本，按结束处理",
            )
        elif cursor in seen:
            self.finding(
                "cursor_repeated",
                "warning",
                f"non-advancing cursor: {cursor!r:.80} came again after page {self.pages}; the walk ends there",
                f"游标没有前进：第 {self.pages} 页之后再次出现 {cursor!r:.80}，列表到此为止",
            )
        elif self._stalled >= MAX_STALLED:
            self.finding(
                "cursor_stalled",
                "warning",
                f"{self._stalled} pages in a row brought nothing new although more was announced; the walk ends there",
                f"连续 {self._stalled} 页没有任何新内容却仍声称有后续，列表到此为止",
            )
        elif self.pages >= max_pages:
            self.finding(
                "page_cap",
                "error",
                f"the list has more than {max_pages} pages; the rest was not read",
                f"列表超过 {max_pages} 页，其余未读取",
            )
        else:
            return False
        return True

    def finding(self, code: str, severity: Severity, en: str, zh: str) -> None:
        """Note one oddity."""
        self._findings.append(
            Finding(
                code=code,
                severity=severity,
                message=Message(en, zh),
                subject=self._subject,
                source=self._source,
                data={"page": self.pages},
            )
        )
