"""How many tokens a text weighs in a prompt, estimated offline.

An estimator, not a tokenizer: no vocabulary is shipped or fetched. `benchmarks/token_estimate.py` states its error.
"""

from __future__ import annotations

import json
import re
from typing import Any

ESTIMATOR_NAME = "agent-reach-estimate-1"

_PIECE = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[\u3040-\u30ff\uac00-\ud7af]|[A-Za-z]+|\d+|\s+|[^\w\s]+|_+|."
)


def count_tokens(text: str) -> int:
    """Estimated number of tokens of `text` in the vocabularies that current models use."""
    total = 0.0
    for piece in _PIECE.findall(text):
        first = piece[0]
        if first.isspace():
            total += 0.0 if piece == " " else 0.5
        elif first.isascii() and first.isalpha():
            total += 1.0 if len(piece) <= 7 else 1.0 + (len(piece) - 7) / 5.0
        elif first.isdigit():
            total += (len(piece) + 2) // 3
        elif "\u3400" <= first <= "\u9fff" or "\uf900" <= first <= "\ufaff":
            total += 0.75
        elif not first.isascii():
            total += 0.9
        else:
            total += 0.6 + 0.3 * (len(piece) - 1)
    return max(1, round(total)) if text else 0


def count_json_tokens(value: Any) -> int:
    """Estimated tokens of a JSON value written compactly, as tool lists are sent."""
    return count_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
