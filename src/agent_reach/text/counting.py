"""How many tokens a text weighs in a prompt, estimated offline.

An estimator, not a tokenizer: no vocabulary is shipped or fetched. Its few numbers were fitted by least squares to the
vocabularies of current models on tool definitions and requests in English and Chinese; `benchmarks/token_estimate.py`
states the error.
"""

from __future__ import annotations

import json
import re
from typing import Any

ESTIMATOR_NAME = "agent-reach-estimate-2"

_PIECE = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[\u3040-\u30ff\uac00-\ud7af]|[A-Za-z]+|\d+|\s+|[^\w\s]+|_+|."
)
_CAMEL = re.compile(r"[a-z][A-Z]")
WORD, LONG, VERY_LONG = 1.0, 0.055, 0.3  # a word; each letter beyond 7; each letter beyond 16 (names, hashes)
CAMEL_BORDER = 0.94
DIGIT_GROUP = 1.65  # three digits
HAN, OTHER_LETTER = 0.66, 1.05
PUNCTUATION, MORE_PUNCTUATION = 0.78, 0.14  # a run of marks; each further mark of it
UNDERSCORE, WHITE_SPACE = 0.3, 0.8  # white space other than one blank


def count_tokens(text: str) -> int:
    """Estimated number of tokens of `text` in the vocabularies that current models use."""
    total = 0.0
    for piece in _PIECE.findall(text):
        first = piece[0]
        if first.isspace():
            total += 0.0 if piece == " " else WHITE_SPACE
        elif first.isascii() and first.isalpha():
            total += _word(piece)
        elif first.isdigit():
            total += (len(piece) + 2) // 3 * DIGIT_GROUP
        elif "\u3400" <= first <= "\u9fff" or "\uf900" <= first <= "\ufaff":
            total += HAN
        elif not first.isascii():
            total += OTHER_LETTER
        elif first == "_":
            total += UNDERSCORE
        else:
            total += PUNCTUATION + MORE_PUNCTUATION * (len(piece) - 1)
    return max(1, round(total)) if text else 0


def _word(word: str) -> float:
    length = len(word)
    total = WORD + LONG * (min(length, 16) - 7 if length > 7 else 0) + VERY_LONG * max(0, length - 16)
    return total + CAMEL_BORDER * len(_CAMEL.findall(word)) if not word.islower() else total


def count_json_tokens(value: Any) -> int:
    """Estimated tokens of a JSON value written compactly, as tool lists are sent."""
    return count_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
