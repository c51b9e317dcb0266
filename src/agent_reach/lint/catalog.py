"""Lints a loaded catalog: tools, what loading found, quarantined tools and look-alike pairs in one call."""

from __future__ import annotations

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.lint.base import TemplateFacts
from agent_reach.lint.engine import LintOptions, LintResult, lint
from agent_reach.records.report import SimilarPair


def lint_catalog(
    catalog: Catalog, *, options: LintOptions | None = None, template: TemplateFacts | None = None
) -> LintResult:
    """All findings about a catalog, those of loading included, so that no quarantined tool is silently missing."""
    return lint(
        catalog.tools,
        catalog_findings=catalog.findings,
        options=options,
        similar_pairs=lambda: look_alikes(catalog),
        template=template,
    )


def look_alikes(catalog: Catalog) -> tuple[SimilarPair, ...]:
    """The look-alike pairs of a catalog as records."""
    return tuple(
        SimilarPair(
            left=pair.first,
            right=pair.second,
            score=pair.score,
            left_only=pair.first_only,
            right_only=pair.second_only,
        )
        for pair in similar_pairs(catalog)
    )
