"""Writes one page per lint rule out of the rule and its fixture, and the index; run after changing either.

python docs/lint/build.py          writes the pages
python docs/lint/build.py --check  says which pages are stale (exit 1)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from agent_reach.lint.table import RULES

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "tests" / "lint" / "fixtures"


def _example(rows: list[dict[str, object]], brief: bool) -> str:
    shown = rows[:1] if brief else rows
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in shown)
    return f"{text}\n... {len(rows)} tools" if brief else text


def page(code: str) -> str:
    """The Markdown page of one rule."""
    rule = RULES[code]
    fixture = yaml.safe_load((FIXTURES / f"{code}.yaml").read_text(encoding="utf-8"))
    brief = bool(fixture.get("brief"))
    bad, good = fixture.get("bad") or [], fixture.get("good") or []
    if fixture.get("template"):
        bad, good = [fixture["template"]["bad"]], [fixture["template"]["good"]]
    return "\n".join(
        [
            f"# {code} {rule.name}",
            "",
            f"{rule.summary.en} / {rule.summary.zh}",
            "",
            f"Severity: {rule.severity}. About: {rule.about}.",
            "",
            f"**Why.** {fixture['why']}",
            "",
            f"**What it looks for.** {rule.check.__doc__}",
            "",
            "Bad:",
            "",
            "```json",
            _example(bad, brief),
            "```",
            "",
            "Good:",
            "",
            "```json",
            _example(good, brief),
            "```",
            "",
        ]
    )


def index() -> str:
    """The table of all rules."""
    rows = [
        f"| [{code}]({code}.md) | {rule.name} | {rule.severity} | {rule.summary.en} |"
        for code, rule in RULES.items()
    ]
    return "\n".join(
        ["# Lint rules", "", "| code | name | severity | says |", "|---|---|---|---|", *rows, ""]
    )


def main() -> int:
    """Write or check all pages; the exit code."""
    pages = {HERE / f"{code}.md": page(code) for code in RULES} | {HERE / "README.md": index()}
    stale = [
        path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.name}")
        return int(bool(stale))
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
