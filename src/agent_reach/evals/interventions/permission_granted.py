"""What the right tool lacks is granted: the environment is taken to give it. Live writes stay guarded."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    config, tool = situation.variant.config, situation.tool
    grants = config.environment
    if tool is None or grants is None:
        return None
    needs = tool.needs
    given = replace(
        grants,
        services=(*grants.services, *(name for name in needs.services if name not in grants.services)),
        scopes=(*grants.scopes, *(name for name in needs.scopes if name not in grants.scopes)),
        env=(*grants.env, *(name for name in needs.env if name not in grants.env)),
        files=(*grants.files, *(name for name in needs.files if name not in grants.files)),
    )
    if given == grants or situation.exposure.hidden.get(tool.key) not in (None, "permission"):
        return None
    lacked = [*needs.services, *needs.scopes, *needs.env, *needs.files]
    return Changed(
        replace(situation.variant, config=replace(config, environment=given)),
        Message(f"granted for {tool.key}: {', '.join(lacked)}", f"为 {tool.key} 授予：{'、'.join(lacked)}"),
    )


INTERVENTION = Intervention(
    name="permission_granted",
    removes=("permission_denied",),
    summary=Message("The missing permission is granted.", "授予缺少的权限。"),
    change=_change,
)
