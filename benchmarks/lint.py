"""Lint: what 10,000 tools cost, and what the rules say of real tool lists.

    python benchmarks/lint.py [--tools 10000] [--sample 40] [--json FILE]

The 10,000 tools are the real ones repeated under other names. `--sample` prints findings drawn at random (seeded) with the
definition they are about, to be judged by hand. Real lists: AGENT_REACH_DATA, else `../shared/data`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import time
from dataclasses import replace
from pathlib import Path

from agent_reach import Catalog
from agent_reach.lint.catalog import lint_catalog
from agent_reach.lint.engine import LintOptions

DATA = Path(os.environ.get("AGENT_REACH_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def real_catalog() -> Catalog:
    """All real MCP tool lists as one catalog, a server per file."""
    tools = []
    for path in sorted((DATA / "mcp_servers").glob("*.json")):
        tools.extend(Catalog.load(path, server=path.stem).tools)
    return Catalog.from_tools(tools)


def at(schema, pointer: str):
    """What a pointer of a finding points at."""
    value = schema
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    real = real_catalog()
    result = lint_catalog(real)
    print(f"{len(real)} real tools: {len(result.findings)} findings")
    print("| rule | findings |\n|---|---:|")
    for code, count in sorted(result.counts.items()):
        print(f"| {code} | {count} |")
    many = [
        replace(tool, name=f"{tool.name}_{number}")
        for number in range(wanted.tools // len(real) + 1)
        for tool in real.tools
    ][: wanted.tools]
    catalog = Catalog.from_tools(many)
    begun = time.process_time()
    found = lint_catalog(catalog, options=LintOptions(ignore=("AR301",)))
    cpu = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n{len(catalog)} tools without look-alike pairs: {cpu:.2f} s CPU, peak {peak:.0f} MB, {len(found.findings)} findings"
    )
    tools = {tool.key: tool for tool in real.tools}
    chance = random.Random(wanted.seed)
    for finding in chance.sample(result.findings, min(wanted.sample, len(result.findings))):
        tool = tools.get(finding.subject)
        shown = ""
        if tool is not None:
            shown = (
                at(tool.input_schema, finding.pointer)
                if finding.pointer.startswith("/properties")
                else tool.description[:160]
            )
        print(
            f"\n{finding.code} {finding.subject} {finding.pointer}\n  {finding.message.en}\n  {json.dumps(shown, ensure_ascii=False)[:220]}"
        )
    if wanted.json:
        wanted.json.write_text(
            json.dumps({"counts": result.counts, "cpu_s": cpu, "peak_mb": peak}, indent=2), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
