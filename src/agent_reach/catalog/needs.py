"""What a tool needs against what an environment grants: one rule for map, routing, gateway and runs.

A grant is a name or a shell pattern (`repo:*`). A tool that declares no needs lacks nothing; whether it works is for a probe
to say.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants
    from agent_reach.records.tool import Needs

KINDS = ("services", "scopes", "env", "files")
WORDS = {"services": "service", "scopes": "scope", "env": "variable", "files": "file"}


def granting(need: str, grants: Iterable[str]) -> list[str]:
    """The grants that cover a need."""
    return [given for given in grants if given == need or fnmatch.fnmatchcase(need, given)]


def missing_needs(needs: Needs, grants: EnvironmentGrants) -> tuple[tuple[str, str], ...]:
    """What is needed and not granted, as (kind, name); `WORDS` has a kind's word for one name."""
    return tuple(
        (kind, need)
        for kind in KINDS
        for need in getattr(needs, kind)
        if not granting(need, getattr(grants, kind))
    )
