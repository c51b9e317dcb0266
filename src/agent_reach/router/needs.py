"""A request cut into the separate things it asks for.

"Convert 200 dollars to euros. Then book a table for two" needs two tools; "I am planning a party. It is on Friday. Find a
cake" needs one. A part is a need of its own when it asks for something (a question, a wish, a command); what only
tells more is counted to the need before it.
"""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?;。！？；\n])\s*")
_JOINT = re.compile(
    r",?\s+(?:and then|then|and also|additionally|also|finally|lastly|furthermore|moreover|besides|as well as|"
    r"after that|plus|along with)\b,?|,\s+and\s+|[，,]?(?:然后|另外|此外|同时|并且|以及|还有|接着|最后|顺便|还想|还要|也想)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z']+")
_ASKING_WORDS = """
    please can could would will need want wish help tell give show get find fetch retrieve search provide suggest recommend
    check calculate compute create generate list analyze analyse compare convert translate send book schedule update delete
    add share look looking interested curious include what which who whose where when why how let's i'd
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_ASKING_CHINESE = re.compile(r"[?？请帮查想吗]|需要|希望|能否|可以|多少|什么|怎么|哪|给我")


def split_needs(text: str, limit: int = 12) -> tuple[list[str], list[str]]:
    """The needs of a request in order, and what was said before the first of them; at most `limit` needs."""
    needs: list[str] = []
    before: list[str] = []
    for sentence in _SENTENCE.split(text):
        for part in _JOINT.split(sentence):
            if not part or part.isspace():
                continue
            if asks(part) and len(needs) < limit:
                needs.append(part)
            elif needs:
                needs[-1] += " " + part
            else:
                before.append(part)
    return needs, before


def asks(part: str) -> bool:
    """True for a part of a request that asks for something rather than tells something."""
    if _ASKING_CHINESE.search(part):
        return True
    return not _ASKING.isdisjoint(_WORD.findall(part.lower()))
