"""Lints a loaded catalog: tools, what loading found, quarantined tools and look-alike pairs in one call."""

from __future__ import annotations

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.lint.base import TemplateFacts
from agent_reach.lint.engine import LintOptions, LintResult, lint


def lint_catalog(
    catalog: Catalog, *, options: LintOptions | None = None, template: TemplateFacts | None = None
) -> LintResult:
    """All findings about a catalog, those of loading included, so that no quarantined tool is silently missing."""
    return lint(
        catalog.tools,
        catalog_findings=catalog.findings,
        options=options,
        similar_pairs=lambda: similar_pairs(catalog),
        template=template,
    )
