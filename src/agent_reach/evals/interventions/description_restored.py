"""Descriptions are shown whole where a host cut them."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    config = situation.variant.config
    limit = config.exposure.surface.max_description
    cut = situation.exposure.cut_descriptions
    if limit is None or not cut or situation.tool is None or situation.tool.key not in cut:
        return None
    surface = replace(config.exposure.surface, max_description=None)
    changed = replace(config, exposure=replace(config.exposure, surface=surface))
    return Changed(
        replace(situation.variant, config=changed),
        Message(
            f"{len(cut)} descriptions shown whole instead of {limit} characters",
            f"{len(cut)} 个描述完整展示，而不是只展示 {limit} 个字符",
        ),
    )


INTERVENTION = Intervention(
    name="description_restored",
    removes=("description_truncated",),
    summary=Message("Cut descriptions are shown whole.", "完整展示被截断的描述。"),
    change=_change,
)
