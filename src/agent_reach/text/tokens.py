"""Words of identifiers and of English and Chinese text, for recall, lint and look-alike search."""

from __future__ import annotations

import re

from agent_reach.text.folding import fold

_BOUNDARY = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
)
_RUN = re.compile(r"[a-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W\d_a-z]+", re.UNICODE)


def split_identifier(name: str) -> list[str]:
    """The lower-case words of a snake, camel, kebab or dotted name: `XMLParser2` -> xml, parser, 2."""
    words: list[str] = []
    for part in re.split(r"[^0-9A-Za-z\u0080-\uffff]+", name):
        words.extend(word.lower() for word in _BOUNDARY.split(part) if word)
    return words


def is_cjk(text: str) -> bool:
    """True if the first character is a Han character."""
    return bool(text) and ("\u3400" <= text[0] <= "\u9fff" or "\uf900" <= text[0] <= "\ufaff")


def words(text: str) -> list[str]:
    """Folded words of running text: alphanumeric words, and character bigrams of Chinese runs (a single character alone)."""
    found: list[str] = []
    for run in _RUN.findall(fold(text)):
        if is_cjk(run) and len(run) > 1:
            found.extend(run[index : index + 2] for index in range(len(run) - 1))
        else:
            found.append(run)
    return found


def nearest_names(name: str, known: list[str] | tuple[str, ...], *, limit: int = 5) -> list[str]:
    """The known names that look most like `name`, best first; empty when none is near (similarity under 0.6)."""
    import difflib

    folded = {fold(candidate).replace("-", "_"): candidate for candidate in known}
    hits = difflib.get_close_matches(fold(name).replace("-", "_"), list(folded), n=limit, cutoff=0.6)
    return [folded[hit] for hit in hits]
