"""Arguments proposed from the conversation before the model is asked, each with the words it was read from.

A proposal is shown beside a candidate; the model may take it or write its own. Nothing is sent from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.router.normalize.call import begin
from agent_reach.router.normalize.evidence import Evidence, evidence_for
from agent_reach.router.normalize.rules import NormalizeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """The proposals for one tool: `arguments` by name, `proposals` with their evidence, `missing` what is required and not
    known yet."""

    tool: Tool
    arguments: Mapping[str, Any]
    proposals: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()


def prefill(
    tool: Tool,
    conversation: Any,
    *,
    now: datetime | str | None = None,
    options: NormalizeOptions | None = None,
) -> Prefill:
    """What the conversation says for a tool's parameters.

    Dates, listed values and their noted words, ids, addresses and the only number; a parameter noted with `fill:
    last_user_event` takes the user's last words. Two different values for one parameter propose nothing; `now` None
    leaves relative dates out.
    """
    state = begin(tool, conversation, now, options)
    wanted = dict(tool.parameters)
    proposals = []
    for name, schema in wanted.items():
        found = evidence_for(state, name, schema, wanted)
        if found is not None:
            proposals.append(found)
    arguments = {proposal.parameter: proposal.value for proposal in proposals}
    return Prefill(
        tool=tool,
        arguments=arguments,
        proposals=tuple(proposals),
        missing=tuple(name for name in tool.required if name not in arguments),
    )
