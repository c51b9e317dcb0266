"""All attempts of one task together: pass rate, pass^k and pass@k, flaky or not, and the hash of what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from agent_reach.records.codec import content_hash, to_json
from agent_reach.records.score import AttemptScore, TaskScore
from agent_reach.records.task import Task
from agent_reach.text.tokens import is_cjk

_WHERE_AND_LABELS = ("source", "line", "tags", "review", "language")


def task_score(
    task: Task, attempts: Sequence[AttemptScore], *, state_reason: str = "", content: str = ""
) -> TaskScore:
    """The score of a task from its attempts.

    A `must` task without a golden path is not evaluated; nor is a task without an attempt that could be scored.
    `state_reason` overrides with a reason of its own.
    """
    reason = state_reason
    if not reason and task.kind == "must" and not any(path.stages for path in task.paths):
        reason = "no gold calls in the task"
    if not reason and not attempts:
        reason = "no trace for the task"
    passes = [attempt.passed for attempt in attempts if attempt.passed is not None]
    count, good = len(passes), sum(passes)
    return TaskScore(
        task_id=task.id,
        kind=task.kind,
        query=task.query,
        tags=task.tags,
        language=task.language or language_of(task.query),
        content_hash=content or task_content_hash(task),
        state="not_evaluated" if reason else "evaluated",
        reason=reason,
        attempts=tuple(attempts),
        pass_hat={str(k): comb(good, k) / comb(count, k) for k in range(1, count + 1)},
        pass_at={str(k): 1.0 - comb(count - good, k) / comb(count, k) for k in range(1, count + 1)},
        pass_rate=good / count if count else None,
        flaky=0 < good < count,
        has_forbid=bool(task.forbid),
        order=task.order,
        mode=task.match.mode,
    )


def language_of(text: str) -> str:
    """`zh` for a text with a Han character, else `en`."""
    return "zh" if any(is_cjk(character) for character in text) else "en"


def task_content_hash(task: Task) -> str:
    """The hash of everything that is asked and would be right; where it was written and its labels are left out."""
    document: Mapping[str, Any] = to_json(task)
    try:
        return content_hash({key: value for key, value in document.items() if key not in _WHERE_AND_LABELS})
    except (TypeError, ValueError):
        return content_hash(repr(document))
