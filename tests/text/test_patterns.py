"""Patterns from outside: what they find, and that none of them hangs."""

from __future__ import annotations

import pytest

from agent_reach.text.patterns import pattern_search


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^PDT-\d+$", "PDT-1001", True),
        (r"^PDT-\d+$", "PDT-１００１", False),
        (r"b", "abc", True),
        (r"\Aabc\Z", "abc", True),
        (r"\Aabc\Z", "xabc", False),
        (r"\\A", "\\A", True),
        (r"(a)\1", "xaa", True),
        (r"^(?!no)", "now", False),
        (r"[\u4e00-\u9fff]+", "上海", True),
        (r"a", "\ud800a", True),
    ],
)
def test_what_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    search = pattern_search(pattern)
    assert search is not None
    assert search(text) is found


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"^(a|a)*$", r"^(.*a){20}$", r"(a*)*\1$x", r"^(?=(a+)+$)"])
def test_no_pattern_hangs(pattern: str) -> None:
    search = pattern_search(pattern)
    assert search is not None
    assert search("a" * 60 + "!") is False


def test_case_is_ignored_on_request() -> None:
    search = pattern_search("^abc$", ignore_case=True)
    assert search is not None
    assert search("ABC")


@pytest.mark.parametrize("pattern", ["(", "[a", r"\N{DASH}", "a{,3}"])
def test_what_cannot_be_compiled_is_told(pattern: str) -> None:
    assert pattern_search(pattern) is None
