"""Tasks that ask almost the same: a join over rare words, so that not all pairs are compared.

Two tasks are alike when they are of one kind, name the same golden tools and share at least four fifths of their words
(Jaccard). A pair can only reach that if it shares one of the rarest words of each (prefix filter, Chaudhuri, Ganti and
Kaushik 2006), so only such pairs are compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agent_reach.records.task import Task
from agent_reach.text.tokens import words

THRESHOLD = 0.8
_LONGEST_LIST = 200
"""A rare word shared by more tasks than this is no longer a reason to compare them."""


def near_duplicates(tasks: Sequence[Task], threshold: float = THRESHOLD) -> list[list[Task]]:
    """Groups of tasks that are alike, each in suite order; a task stands in at most one group."""
    bags = [frozenset(words(_asked(task))) for task in tasks]
    frequency = Counter(word for bag in bags for word in bag)
    parents = list(range(len(tasks)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    index: dict[tuple[object, str], list[int]] = {}
    for position, bag in enumerate(bags):
        if not bag:
            continue
        order = sorted(bag, key=lambda word: (frequency[word], word))
        prefix = order[: len(bag) - math.ceil(threshold * len(bag)) + 1]
        group = _group(tasks[position])
        compared: set[int] = set()
        for word in prefix:
            others = index.setdefault((group, word), [])
            for other in others[-_LONGEST_LIST:]:
                if other not in compared and root(other) != root(position):
                    compared.add(other)
                    if len(bag & bags[other]) >= threshold * len(bag | bags[other]):
                        parents[root(position)] = root(other)
            others.append(position)
    groups: dict[int, list[Task]] = {}
    for position, task in enumerate(tasks):
        groups.setdefault(root(position), []).append(task)
    return [group for group in groups.values() if len(group) > 1]


def _asked(task: Task) -> str:
    return "\n".join([task.query, *(turn.user for turn in task.turns[1:])])


def _group(task: Task) -> object:
    golden = tuple(sorted({call.tool for path in task.paths for call in path.calls}))
    return (task.kind, golden)
