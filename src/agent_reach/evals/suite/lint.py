"""Checks a suite against the catalog it will be run with, before anything is run.

Every finding has a stable code, the task with its line, a pointer to the field, the offending value and a fix. An
`error` means that the task cannot be scored or that nobody can pass it; a `warning` that a figure will say less than it
seems; an `info` that a person may want to look. The codes are listed in docs/suite.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.evals.suite.checks.balance import SuiteFigures, check_balance, suite_figures
from agent_reach.evals.suite.checks.context import check_context
from agent_reach.evals.suite.checks.golds import check_golds
from agent_reach.evals.suite.checks.sources import check_sources
from agent_reach.evals.suite.load import Suite
from agent_reach.records.finding import Finding
from agent_reach.records.report import SimilarPair

_RANK = {"error": 0, "warning": 1, "info": 2}


def lint_suite(
    suite: Suite, catalog: Catalog, *, pairs: Sequence[SimilarPair] | None = None
) -> tuple[Finding, ...]:
    """All findings, errors first, then in suite order; empty means that nothing is wrong.

    `pairs` are the look-alike tools of the catalog, found here when they are not given.
    """
    alike = look_alikes(catalog) if pairs is None else pairs
    findings = list(suite.findings)
    for task in suite.tasks:
        findings += check_golds(task, catalog)
        findings += check_sources(task, catalog)
        findings += check_context(task, catalog)
    findings += check_balance(suite, suite_figures(suite, catalog, alike), alike)
    return tuple(sorted(findings, key=lambda finding: _RANK[finding.severity]))


def look_alikes(catalog: Catalog) -> tuple[SimilarPair, ...]:
    """The look-alike pairs of the catalog."""
    return similar_pairs(catalog)


def examine(suite: Suite, catalog: Catalog) -> tuple[tuple[Finding, ...], SuiteFigures]:
    """The findings of a suite and the counts that stand beside them."""
    pairs = look_alikes(catalog)
    return lint_suite(suite, catalog, pairs=pairs), suite_figures(suite, catalog, pairs)


def reaches(findings: Sequence[Finding], severity: str) -> bool:
    """Some finding is at least that severe (`never`: none is)."""
    limit = _RANK.get(severity, -1)
    return any(_RANK[finding.severity] <= limit for finding in findings)
