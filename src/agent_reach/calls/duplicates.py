"""What happens when one message holds the same call several times.

A run of identical neighbours is executed once; every further id is answered as a duplicate of the first. A different
call between two identical ones opens the window again. Which tools this applies to is the policy.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Literal

from agent_reach.calls.records import ParsedCall

DuplicatePolicy = Literal["unsafe", "all", "none"]


def mark_duplicates(
    calls: Sequence[ParsedCall],
    *,
    policy: DuplicatePolicy = "unsafe",
    is_safe_to_repeat: Callable[[str], bool] = lambda name: False,
) -> tuple[ParsedCall, ...]:
    """The calls with `duplicate_of` set where one repeats its neighbour.

    `unsafe` (default) spares tools known to be safe to repeat, `all` applies to every tool, `none` runs everything.
    """
    marked: list[ParsedCall] = []
    first: ParsedCall | None = None
    for call in calls:
        same = first is not None and _identity(first) is not None and _identity(first) == _identity(call)
        applies = policy == "all" or (policy == "unsafe" and not is_safe_to_repeat(call.name))
        if same and applies and first is not None:
            marked.append(dataclasses.replace(call, duplicate_of=first.call_id))
        else:
            first = call
            marked.append(call)
    return tuple(marked)


def _identity(call: ParsedCall) -> str | None:
    if call.arguments is None:
        return None
    return f"{call.name}\x00{json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, default=str)}"
