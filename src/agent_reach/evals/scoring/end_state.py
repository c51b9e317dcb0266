"""End-state matching: a task passes when the world ends up as it should, whichever way was taken.

The end state is told by the trace (`metadata.end_state_equal`, or `metadata.end_state` to compare with the task's
`environment.end_state`); how it is read off a backend is the business of the runner.
"""

from __future__ import annotations

from agent_reach.evals.scoring.values import compile_value
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.trace import Trace


def end_state_equal(task: Task, trace: Trace) -> bool | None:
    """True or False where the end state is known, else None."""
    told = trace.metadata.get("end_state_equal")
    if isinstance(told, bool):
        return told
    expected = task.environment.get("end_state", task.metadata.get("end_state"))
    if expected is None or "end_state" not in trace.metadata:
        return None
    return compile_value(expected, None, {}, task.match)(trace.metadata["end_state"], None)


def end_state_findings(task: Task, equal: bool | None, path_passed: bool | None) -> tuple[Finding, ...]:
    """What to know beside the verdict: the end state is unknown, or it disagrees with the calls."""
    if equal is None:
        return (
            Finding(
                code="end_state_unknown",
                severity="warning",
                subject=task.id,
                message=Message(
                    "the task is judged by its end state, which the trace does not tell",
                    "该任务按最终状态评判，但轨迹没有给出最终状态",
                ),
            ),
        )
    if path_passed is not None and equal != path_passed:
        return (
            Finding(
                code="criteria_disagree",
                severity="info",
                subject=task.id,
                message=Message(
                    f"the end state is {'right' if equal else 'wrong'}, the calls are "
                    f"{'right' if path_passed else 'not those of the path'}",
                    f"最终状态{'正确' if equal else '错误'}，而调用{'正确' if path_passed else '与路径不符'}",
                ),
            ),
        )
    return ()
