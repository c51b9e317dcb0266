"""The error of the offline token estimate against real vocabularies.

    python benchmarks/token_estimate.py [--json FILE]

Real vocabularies come from packages, none is fetched by hand: `bpe-openai` (cl100k, o200k), and `dashscope` with `tiktoken`
(Qwen's own file). Texts: tool definitions as sent (compact JSON) and requests of the retrieval sets in AGENT_REACH_DATA or
../shared/data, English and Chinese apart. For each: estimate over truth of the whole, and the error of single texts.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import statistics
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from agent_reach.text.counting import ESTIMATOR_NAME, count_tokens

DATA = Path(os.environ.get("AGENT_REACH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "retrieval"
QWEN_PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
Count = Callable[[str], int]


def vocabularies() -> dict[str, Count]:
    """The vocabularies that are installed."""
    found: dict[str, Count] = {}
    if find_spec("bpe_openai") is not None:
        import bpe_openai

        for name in ("cl100k_base", "o200k_base"):
            encoding = bpe_openai.get_encoding(name)
            found[name] = lambda text, encoding=encoding: len(encoding.encode(text))
    spec = find_spec("dashscope")
    if spec is not None and spec.origin and find_spec("tiktoken") is not None:
        import tiktoken

        lines = (Path(spec.origin).parent / "resources" / "qwen.tiktoken").read_bytes().splitlines()
        ranks = {
            base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)
        }
        qwen = tiktoken.Encoding("qwen", pat_str=QWEN_PATTERN, mergeable_ranks=ranks, special_tokens={})
        found["qwen"] = lambda text: len(qwen.encode_ordinary(text))
    return found


def corpora(limit: int = 400) -> dict[str, list[str]]:
    generator = random.Random(5)

    def rows(name: str, file: str) -> list[dict[str, object]]:
        lines = (DATA / name / file).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in generator.sample(lines, min(limit, len(lines)))]

    def compact(tools: list[dict[str, object]]) -> list[str]:
        return [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools]

    found = {}
    for name in ("sealtools", "stabletoolbench", "acebench_en", "acebench_zh", "toolalpaca"):
        found[f"tools, {name}"] = compact(rows(name, "tools.jsonl"))
    for name in ("metatool", "sealtools", "acebench_zh"):
        found[f"requests, {name}"] = [str(row["query"]) for row in rows(name, "queries.jsonl")]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"no data at {DATA}: set AGENT_REACH_DATA")
    counts = vocabularies()
    if not counts:
        sys.exit(
            "no vocabulary is installed: pip install bpe-openai tiktoken dashscope (in an environment of its own)"
        )
    print(
        f"{ESTIMATOR_NAME}; whole = estimate / truth; single texts: median and 95th percentile of |error| / truth\n"
    )
    print("| texts |" + "|".join(f"{name} whole | median | p95" for name in counts) + "|")
    print("|---|" + "---:|" * (3 * len(counts)))
    figures: dict[str, dict[str, float]] = {}
    for label, texts in corpora().items():
        row: dict[str, float] = {}
        estimates = [count_tokens(text) for text in texts]
        for name, count in counts.items():
            truth = [count(text) for text in texts]
            errors = sorted(
                abs(one - other) / other for one, other in zip(estimates, truth, strict=True) if other
            )
            row[f"{name} whole"] = round(sum(estimates) / sum(truth), 3)
            row[f"{name} median"] = round(statistics.median(errors), 3)
            row[f"{name} p95"] = round(errors[int(0.95 * len(errors))], 3)
        figures[label] = row
        print(f"|{label}|" + "|".join(f"{value:.3f}" for value in row.values()) + "|")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
