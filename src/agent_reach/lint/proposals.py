"""Findings to an overlay that a person reviews; the source of a tool is never edited.

Only what a machine can know is filled in; where a person has to write, the place is left empty on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent_reach.records.finding import Finding


def overlay_proposal(findings: Iterable[Finding]) -> dict[str, Any]:
    """One overlay document (`{"tools": {...}}`) out of the proposals of the findings; earlier proposals win on a clash."""
    document: dict[str, Any] = {}
    for finding in findings:
        proposal = finding.data.get("proposal")
        if isinstance(proposal, Mapping):
            _merge(document, proposal)
    return document


def _merge(target: dict[str, Any], addition: Mapping[str, Any]) -> None:
    for key, value in addition.items():
        if isinstance(value, Mapping):
            inner = target.setdefault(key, {})
            if isinstance(inner, dict):
                _merge(inner, value)
        else:
            target.setdefault(key, value)
