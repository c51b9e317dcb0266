"""Text that loads a context and says nothing about the task: passages of other tasks, then plain prose.

Nested by construction: more filler begins with the filler there was.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from agent_reach.records.context import ContextBlock
from agent_reach.records.task import Task
from agent_reach.text.counting import count_tokens

PASSAGE_TOKENS = 120
_SENTENCES = {
    "en": (
        "The meeting room on the second floor is painted once a year.",
        "Most visitors arrive in the morning and leave before the evening.",
        "The garden behind the building has three old trees and a bench.",
        "Coffee is served on every floor, tea only on the first one.",
        "A new carpet was laid in the corridor after the summer.",
        "The bus stops in front of the main entrance every quarter of an hour.",
        "Umbrellas that were left behind are kept at the front desk.",
        "The windows to the north are cleaned less often than the others.",
        "Lunch is cheaper on days when the canteen has soup.",
        "The choir of the house rehearses in the hall on the ground floor.",
    ),
    "zh": (
        "二楼的会议室每年重新粉刷一次。",
        "大多数访客上午到达，傍晚之前离开。",
        "楼后的花园里有三棵老树和一张长椅。",
        "每层楼都有咖啡，只有一楼提供茶。",
        "夏天过后走廊里铺了新地毯。",
        "班车每隔一刻钟在正门前停靠。",
        "遗忘的雨伞由前台保管。",
        "朝北的窗户清洁得不如其他窗户频繁。",
        "食堂有汤的日子午餐更便宜。",
        "合唱团在一层大厅排练。",
    ),
}


def filler_text(tokens: int, language: str, seed: str) -> str:
    """Prose of about so many estimated tokens."""
    sentences = _SENTENCES["zh" if language == "zh" else "en"]
    draw = random.Random(seed)
    joiner = "" if language == "zh" else " "
    parts: list[str] = []
    weight = 0
    while weight < tokens:
        part = draw.choice(sentences)
        parts.append(part)
        weight += count_tokens(part)
    return joiner.join(parts)


def filler_passages(task: Task, tasks: Sequence[Task], count: int, seed: int) -> list[ContextBlock]:
    """So many passages that do not belong to the task: those of other tasks first, then prose."""
    draw = random.Random(f"{seed} {task.id} passages")
    own = {block.text for block in task.context}
    others = list(
        dict.fromkeys(
            block.text
            for other in tasks
            if other.id != task.id
            for block in other.context
            if block.kind == "retrieval" and block.text not in own
        )
    )
    draw.shuffle(others)
    texts = others[:count]
    while len(texts) < count:
        number = len(texts)
        texts.append(filler_text(PASSAGE_TOKENS, task.language, f"{seed} {task.id} {number}"))
    return [
        ContextBlock(id=f"filler_{number}", kind="retrieval", text=text, score=-1.0 - number)
        for number, text in enumerate(texts)
    ]
