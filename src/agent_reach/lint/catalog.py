"""Lints a loaded catalog: tools, what loading found, quarantined tools and look-alike pairs in one call."""

from __future__ import annotations

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.lint.base import TemplateFacts
from agent_reach.lint.engine import LintOptions, LintResult, lint
from agent_reach.records.report import SimilarPair


def lint_catalog(
    catalog: Catalog,
    *,
    options: LintOptions | None = None,
    template: TemplateFacts | None = None,
    pairs: tuple[SimilarPair, ...] | None = None,
) -> LintResult:
    """All findings about a catalog, those of loading included, so that no quarantined tool is silently missing.

    `pairs` are its look-alike pairs where the caller has them already; finding them is most of the work on a large catalog.
    """
    return lint(
        catalog.tools,
        catalog_findings=catalog.findings,
        options=options,
        similar_pairs=lambda: similar_pairs(catalog) if pairs is None else pairs,
        template=template,
    )
