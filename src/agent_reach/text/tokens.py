"""Words of identifiers and of English and Chinese text, for recall, lint and look-alike search.

`words` and `split_identifier` give words as a reader would write them; `index_terms` gives what an index holds and a
query is turned into: stems, the joined form of camel-case words, and character bigrams of Chinese.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from agent_reach.text.folding import fold, simplify
from agent_reach.text.stemming import stem

_BOUNDARY = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
)
_RUN = re.compile(r"[a-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W\d_a-z]+", re.UNICODE)
_RAW_RUN = re.compile(
    r"[A-Za-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W_A-Za-z0-9\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_POSSESSIVE = re.compile(r"(?<=[A-Za-z])['’](?:s|t|re|ve|ll|d|m)\b")


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


def runs(text: str) -> list[str]:
    """The unbroken runs of letters and digits, and of Han characters, of a text; case is kept, because it marks words."""
    text = simplify(text)
    if "'" in text or "’" in text:
        text = _POSSESSIVE.sub(" ", text)
    return _RAW_RUN.findall(text)


@lru_cache(maxsize=65536)
def run_terms(run: str) -> tuple[str, ...]:
    """The index terms of one run: stems of its camel-case words, joined neighbours and the whole; bigrams of Chinese."""
    if is_cjk(run):
        if len(run) == 1:
            return (run,)
        return tuple(run[index : index + 2] for index in range(len(run) - 1))
    parts = [part.lower() for part in _BOUNDARY.split(run) if part]
    if len(parts) == 1:
        return (stem(parts[0]),)
    found = [stem(part) for part in parts]
    found.extend(left + right for left, right in pairwise(parts))
    if len(parts) > 2:
        found.append("".join(parts))
    return tuple(found)


def index_terms(text: str) -> list[str]:
    """The terms under which a text is indexed and searched; index and query must both be made by this function."""
    found: list[str] = []
    for run in runs(text):
        found.extend(run_terms(run))
    return found


def nearest_names(name: str, known: list[str] | tuple[str, ...], *, limit: int = 5) -> list[str]:
    """The known names that look most like `name`, best first; empty when none is near (similarity under 0.6)."""
    import difflib

    folded = {fold(candidate).replace("-", "_"): candidate for candidate in known}
    hits = difflib.get_close_matches(fold(name).replace("-", "_"), list(folded), n=limit, cutoff=0.6)
    return [folded[hit] for hit in hits]
