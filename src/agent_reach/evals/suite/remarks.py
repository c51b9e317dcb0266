"""What is odd about a task whatever the catalog is; it did not keep the task from loading."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.task import Task


def task_remarks(task: Task) -> Iterator[Finding]:
    """What is odd about a task whatever the catalog is."""
    if task.now and datetime.fromisoformat(task.now).tzinfo is None:
        yield Finding(
            code="now_without_zone",
            severity="warning",
            message=Message(
                f"the task's clock {task.now!r} has no time zone: 'tomorrow' would depend on the machine",
                f"任务的时钟 {task.now!r} 没有时区：“明天”会随机器而变",
            ),
            subject=task.id,
            pointer="/now",
            source=task.source,
            line=task.line,
            fix=Message(
                "add the zone, as in 2025-12-10T10:00:00+08:00", "补上时区，如 2025-12-10T10:00:00+08:00"
            ),
        )
