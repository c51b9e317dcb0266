"""The output limit is four times as high, where a call was cut off by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message

TIMES = 4
_AGENTS = ("chat", "anthropic", "local")


def _cut_lengths(situation: Situation) -> Iterator[int]:
    """Output tokens of the messages in which a call was cut; 0 where they were not counted."""
    trace = situation.attempt.trace
    for step in trace.steps if trace is not None else ():
        problems = (*step.problems, *(problem for call in step.calls for problem in call.problems))
        if any(problem.code == "truncated" for problem in problems):
            yield step.output_tokens or 0


def _change(situation: Situation) -> Changed | None:
    config = situation.variant.config
    agent = config.agent
    if situation.own_agent or agent.type not in _AGENTS or situation.suspicion() is None:
        return None
    lengths = list(_cut_lengths(situation))
    limit = agent.max_tokens or max(lengths, default=0)
    if not lengths or not limit:
        return None
    raised = limit * TIMES
    return Changed(
        replace(situation.variant, config=replace(config, agent=replace(agent, max_tokens=raised))),
        Message(f"{raised} output tokens instead of {limit}", f"输出上限 {raised} token，而不是 {limit}"),
    )


INTERVENTION = Intervention(
    name="output_limit_raised",
    removes=("unparsable_call",),
    summary=Message("The output limit that cut a call is raised.", "提高截断了调用的输出上限。"),
    change=_change,
)
