"""What the report of an agent that makes the golden calls has to say."""

from __future__ import annotations

from agent_reach.records.report import Report

_ONES = (
    "tool_reachability",
    "first_choice_rate",
    "param_pass_rate",
    "param_legality",
    "decision_success",
    "execution_success",
    "call_success",
    "may_call_rate",
    "task_pass",
)


def assert_all_right(report: Report) -> None:
    """Every share is 1, nothing was called beside the path, no cause is named and no attempt was lost."""
    assert report.infra_errors == ()
    values = {name: metric.value for name, metric in report.metrics.items()}
    assert {name: values[name] for name in _ONES} == dict.fromkeys(_ONES, 1)
    assert values["over_call_rate"] == values["extra_calls"] == 0
    assert report.causes == ()
