"""Traces that a command line names: by id from a store, or all of a file in any known form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_reach.records.trace import Trace

DEFAULT_STORE = ".agent-reach/traces.db"


def read_traces(ids: Sequence[str], files: Sequence[str], store_url: str | None) -> list[Trace]:
    """Traces of the store by id (or its beginning), then those of the files; none where nothing is named."""
    found: list[Trace] = []
    if ids:
        from agent_reach.cli.sources import find_project_config
        from agent_reach.traces.store.base import TraceStore

        if store_url is None:
            project = find_project_config()
            store_url = project.store if project is not None and project.store else DEFAULT_STORE
        with TraceStore.open(store_url, read_only=True) as store:
            found += [store.get(name) for name in ids]
    for file in files:
        from agent_reach.traces.importers.read import import_traces

        found += list(import_traces(file))
    return found
