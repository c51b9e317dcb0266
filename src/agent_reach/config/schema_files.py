"""The JSON Schemas that are shipped with the package, for editors and for checks of one's own.

They state the written form; the loaders say more (files that must exist, environment variables, ids used twice).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

SCHEMAS: dict[str, tuple[str, str]] = {
    "suite": ("agent_reach.evals.suite", "suite.schema.json"),
    "run": ("agent_reach.config", "schemas/run.schema.json"),
    "project": ("agent_reach.config", "schemas/project.schema.json"),
    "overlay": ("agent_reach.config", "schemas/overlay.schema.json"),
}


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema of that name (`suite`, `run`, `project`, `overlay`); raises `KeyError` for another."""
    package, path = SCHEMAS[name]
    root = files(package.split(".")[0])
    place = root.joinpath(*package.split(".")[1:], *path.split("/"))
    schema: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return schema
