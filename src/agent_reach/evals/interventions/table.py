"""All interventions by name: one file each. The one place to read or extend."""

from __future__ import annotations

from agent_reach.evals.interventions import (
    alias_added,
    blocks_reordered,
    call_form_stated,
    description_first_line,
    description_restored,
    earlier_result_given,
    entities_narrowed,
    enum_aliases,
    faults_off,
    few_tools,
    format_and_example,
    names_added,
    order_stated,
    output_limit_raised,
    passages_five,
    passages_none,
    permission_granted,
    reach_candidates,
    recorded_result,
    repeat_remarked,
    reply_constrained,
    request_as_trigger,
    request_excluded,
    required_marked,
    rival_hidden,
    told_not_to_repeat,
    told_to_call,
    told_to_hold_back,
    tool_offered,
    tool_stood_in,
    tools_before_retrieval,
    unasked_hidden,
    unwanted_hidden,
    value_in_slot,
    value_place_named,
    window_widened,
)
from agent_reach.evals.interventions.base import Intervention

INTERVENTIONS: dict[str, Intervention] = {
    module.INTERVENTION.name: module.INTERVENTION
    for module in (
        rival_hidden,
        few_tools,
        reach_candidates,
        description_restored,
        description_first_line,
        request_as_trigger,
        format_and_example,
        enum_aliases,
        value_in_slot,
        entities_narrowed,
        window_widened,
        passages_five,
        passages_none,
        blocks_reordered,
        tools_before_retrieval,
        faults_off,
        recorded_result,
        permission_granted,
        tool_offered,
        alias_added,
        names_added,
        required_marked,
        earlier_result_given,
        told_to_call,
        order_stated,
        unwanted_hidden,
        told_to_hold_back,
        request_excluded,
        tool_stood_in,
        call_form_stated,
        reply_constrained,
        output_limit_raised,
        repeat_remarked,
        told_not_to_repeat,
        value_place_named,
        unasked_hidden,
    )
}


def interventions_for(cause: str) -> tuple[Intervention, ...]:
    """The interventions that remove that cause."""
    return tuple(item for item in INTERVENTIONS.values() if cause in item.removes)


REMOVABLE: frozenset[str] = frozenset(cause for item in INTERVENTIONS.values() for cause in item.removes)
