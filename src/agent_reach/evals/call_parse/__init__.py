"""Moved to `agent_reach.calls` (importers and the normaliser read emitted calls too); import from there."""

from agent_reach import calls as _calls

__path__ = _calls.__path__
