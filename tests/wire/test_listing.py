"""Paging: every end of a walk, whatever the server answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.wire.failures import RequestTimedOut
from agent_reach.wire.listing import Listed, walk_pages


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def walk(pages: list[Any], *, max_pages: int = 50) -> tuple[Listed, int]:
    asked: list[str | None] = []

    async def fetch(cursor: str | None) -> Any:
        asked.append(cursor)
        answer = pages[min(len(asked), len(pages)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return asyncio.run(walk_pages(fetch, max_pages=max_pages)), len(asked)


def names(listed: Listed) -> list[str]:
    return [item["name"] for item in listed.items]


def codes(listed: Listed) -> list[str]:
    return [finding.code for finding in listed.findings]


def test_all_pages_in_order() -> None:
    listed, asked = walk([{"tools": tools("a"), "nextCursor": "1"}, {"tools": tools("b")}])
    assert (names(listed), listed.pages, asked, codes(listed)) == (["a", "b"], 2, 2, [])


@pytest.mark.parametrize(
    ("pages", "expected", "code", "requests"),
    [
        ([{"tools": tools("a"), "nextCursor": ""}], ["a"], "cursor_empty", 1),
        ([{"tools": tools("a"), "nextCursor": 7}], ["a"], "cursor_malformed", 1),
        ([{"tools": tools("a"), "nextCursor": "s"}], ["a"], "cursor_repeated", 2),
        (
            [
                {"tools": tools("a"), "nextCursor": "1"},
                {"tools": tools("b"), "nextCursor": "2"},
                {"tools": tools("c"), "nextCursor": "1"},
            ],
            ["a", "b", "c"],
            "cursor_repeated",
            3,
        ),
        (
            [{"tools": tools("a"), "nextCursor": "1"}]
            + [{"tools": tools("a"), "nextCursor": f"n{number}"} for number in range(9)],
            ["a"],
            "cursor_stalled",
            4,
        ),
        ([{"tools": tools("a"), "nextCursor": "1"}, {"tools": None}], ["a"], "list_malformed", 2),
        ([{"tools": [{"name": "a"}, "b", None]}], ["a"], "list_entry_malformed", 1),
        (
            [{"tools": tools("a"), "nextCursor": "1"}, RequestTimedOut("tools/list", 1, 1)],
            ["a"],
            "list_page_failed",
            2,
        ),
        (["nonsense"], [], "list_malformed", 1),
        ([{"tools": tools("a", "b", "a")}], ["a", "b"], "list_entry_repeated", 1),
    ],
)
def test_each_way_to_page_badly(pages: list[Any], expected: list[str], code: str, requests: int) -> None:
    listed, asked = walk(pages)
    assert names(listed) == expected
    assert code in codes(listed)
    assert asked == requests


def test_one_empty_page_does_not_end_the_walk() -> None:
    pages = [
        {"tools": tools("a"), "nextCursor": "1"},
        {"tools": [], "nextCursor": "2"},
        {"tools": tools("b")},
    ]
    listed, _ = walk(pages)
    assert (names(listed), codes(listed)) == (["a", "b"], [])


def test_two_definitions_of_one_name_are_both_kept() -> None:
    listed, _ = walk([{"tools": [{"name": "a"}, {"name": "a", "description": "other"}]}])
    assert len(listed.items) == 2


def test_a_failing_first_page_is_raised() -> None:
    with pytest.raises(RequestTimedOut):
        walk([RequestTimedOut("tools/list", 1, 1)])


def test_the_cap_ends_a_list_without_end() -> None:
    async def fetch(cursor: str | None) -> Any:
        number = int(cursor or 0)
        return {"tools": tools(f"t{number}"), "nextCursor": str(number + 1)}

    listed = asyncio.run(walk_pages(fetch, max_pages=12))
    assert listed.pages == 12
    assert codes(listed) == ["page_cap"]


answers = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.lists(st.dictionaries(st.just("name"), st.sampled_from("abc")))
        | st.none()
        | st.integers(),
        "nextCursor": st.sampled_from(["", "x", "y", "z", 3, None, [], {}]),
    },
)


@given(st.lists(answers | st.none() | st.text(max_size=3), min_size=1, max_size=8))
def test_any_walk_ends(pages: list[Any]) -> None:
    listed, asked = walk(pages, max_pages=20)
    assert asked <= 20
    assert listed.pages == asked
