"""How many damaged calls the normaliser brings back, how many of them equal the gold, and what it must refuse.

Gold arguments of acebench (zh, en), toolalpaca and sealtools, taken where the gold itself fits its schema, are damaged one
by one by every kind of damage below that applies to them (a fixed seed chooses places). *Repairable* damage leaves the
meaning whole: the call has to come back legal and equal to gold. *Losing* damage does not: it has to be refused. Undamaged
golds have to pass through without any change. Conversation and reference date are given as the data has them.

    python benchmarks/normalise.py [--data DIR] [--json FILE] [--show KIND]
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import is_legal, parameter_types
from agent_reach.records.tool import Tool
from agent_reach.router.normalize import normalize_call
from agent_reach.router.normalize.dates.form import date_forms
from agent_reach.router.normalize.dates.writing import conforms

SETS = ("acebench_zh", "acebench_en", "toolalpaca", "sealtools")
Damage = Callable[[Tool, dict[str, Any], random.Random], Any]


def leaves(schema: Any, value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Every value below with its schema and path, containers included."""
    if path:
        yield path, schema, value
    if not isinstance(schema, dict):
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves((schema.get("properties") or {}).get(key), item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(schema.get("items"), item, (*path, index))


def put(arguments: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with one value replaced."""
    made = copy.deepcopy(arguments)
    holder: Any = made
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return made


def one(
    tool: Tool,
    arguments: dict[str, Any],
    rng: random.Random,
    fits: Callable[[Any, Any, tuple[Any, ...]], bool],
    change: Callable[[Any, Any], Any],
) -> Any:
    """The arguments with one suitable value changed; None where none is suitable."""
    places = [
        (path, schema, value)
        for path, schema, value in leaves(tool.input_schema, arguments)
        if fits(schema, value, path)
    ]
    if not places:
        return None
    path, schema, value = rng.choice(places)
    changed = change(schema, value)
    return None if changed is None else put(arguments, path, changed)


def of(kind: str, value_type: type) -> Callable[[Any, Any, tuple[Any, ...]], bool]:
    """Values of that type where the schema takes only that kind."""
    return lambda schema, value, path: (
        isinstance(schema, dict)
        and type(value) is value_type
        and parameter_types(schema) == {kind}
        and not schema.get("enum")
    )


def number(schema: Any, value: Any, path: tuple[Any, ...]) -> bool:
    return (
        isinstance(schema, dict)
        and type(value) in (int, float)
        and bool(parameter_types(schema))
        and parameter_types(schema) <= {"integer", "number"}
        and not schema.get("enum")
    )


def enum_text(schema: Any, value: Any, path: tuple[Any, ...]) -> bool:
    return isinstance(schema, dict) and isinstance(value, str) and bool(schema.get("enum"))


def stated_date(schema: Any, value: Any, path: tuple[Any, ...]) -> bool:
    if not (
        isinstance(schema, dict) and isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value)
    ) or schema.get("enum"):
        return False
    return any(
        form.kind == "date" and form.template == "%Y-%m-%d" and conforms(form, value)
        for form in date_forms(str(path[-1]), schema)
    )


CHINESE_DIGITS = "零一二三四五六七八九"


def chinese(value: int) -> str:
    """A number under ten thousand in Chinese."""
    if value < 10:
        return CHINESE_DIGITS[value]
    out, zero = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, unit)
        if digit:
            out += ("零" if zero and out else "") + CHINESE_DIGITS[digit] + name
            zero = False
        else:
            zero = bool(out)
    return out.removeprefix("一") if out.startswith("一十") else out


def snake_or_camel(name: str) -> str | None:
    if "_" in name.strip("_"):
        head, *rest = name.split("_")
        made = head + "".join(part[:1].upper() + part[1:] for part in rest)
    else:
        made = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)
    return made if made != name else None


def renamed(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
    made = {snake_or_camel(key) or key: value for key, value in arguments.items()}
    return made if made != arguments and not set(made) & (set(tool.parameters) - set(arguments)) else None


def unused(tool: Tool, arguments: dict[str, Any], text: bool) -> list[str]:
    def takes(schema: Any) -> bool:
        types = parameter_types(schema)
        if not types or not isinstance(schema, dict):
            return False
        return "null" not in types and (not text or "string" not in types or bool(schema.get("enum")))

    return [
        name
        for name, schema in tool.parameters.items()
        if name not in arguments and name not in tool.required and takes(schema)
    ]


def padded(value: Any) -> Damage:
    def damage(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
        names = unused(tool, arguments, value == "")
        return {**arguments, **dict.fromkeys(names, value)} if names else None

    return damage


def month_words(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day:%B} {day.day}, {day.year}"


def without_one(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
    names = [name for name in tool.required if name in arguments]
    if not names:
        return None
    gone = rng.choice(names)
    return {key: value for key, value in arguments.items() if key != gone}


def cut(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
    text = json.dumps(arguments, ensure_ascii=False)
    return text[: rng.randrange(2, len(text) - 1)] if len(text) > 6 else None


def bad_escape(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
    text = json.dumps(arguments, ensure_ascii=False)
    places = [found.end() for found in re.finditer(r': "', text)]
    if not places:
        return None
    place = rng.choice(places)
    return text[:place] + rng.choice(["\\q", "\\u7x", "\\ud800"]) + text[place:]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


REPAIRABLE: dict[str, Damage] = {
    "arguments as JSON text": lambda t, a, r: dumps(a),
    "text with \\u escapes": lambda t, a, r: json.dumps(a) if not dumps(a).isascii() else None,
    "Markdown fence": lambda t, a, r: f"```json\n{json.dumps(a, indent=2, ensure_ascii=False)}\n```",
    "JSON text of JSON text": lambda t, a, r: dumps(dumps(a)),
    "Python literal": lambda t, a, r: repr(a),
    "trailing commas": lambda t, a, r: re.sub(r"\}$", ",}", dumps(a)) if a else None,
    "words around the object": lambda t, a, r: f"Here are the arguments: {dumps(a)}</tool_call>",
    "wrapped object": lambda t, a, r: {"arguments": a} if a else None,
    "wrapped as text, twice": lambda t, a, r: {"arguments": dumps({"input": dumps(a)})} if a else None,
    "list or object as text": lambda t, a, r: one(t, a, r, lambda s, v, p: isinstance(v, (list, dict)) and bool(v) and isinstance(s, dict) and parameter_types(s) <= {"object", "array"} and bool(parameter_types(s)), lambda s, v: r.choice([dumps, repr])(v)),
    "list of one as single value": lambda t, a, r: one(t, a, r, lambda s, v, p: isinstance(v, list) and len(v) == 1 and isinstance(s, dict) and parameter_types(s) == {"array"} and not (isinstance(v[0], str) and re.search(r"[,，、;；\n|]", v[0])), lambda s, v: v[0]),
    "single value as list of one": lambda t, a, r: one(t, a, r, lambda s, v, p: isinstance(s, dict) and type(v) in (int, float, str, bool) and bool(parameter_types(s)) and not parameter_types(s) & {"array"}, lambda s, v: [v]),
    "number as text": lambda t, a, r: one(t, a, r, number, lambda s, v: str(v)),
    "number with separators": lambda t, a, r: one(t, a, r, lambda s, v, p: number(s, v, p) and abs(v) >= 1000 and type(v) is int, lambda s, v: f"{v:,}"),
    "number in Chinese": lambda t, a, r: one(t, a, r, lambda s, v, p: number(s, v, p) and type(v) is int and 0 < v < 10000, lambda s, v: chinese(v)),
    "number with count word": lambda t, a, r: one(t, a, r, lambda s, v, p: of("integer", int)(s, v, p), lambda s, v: f"{v}个"),
    "integer as float": lambda t, a, r: one(t, a, r, of("integer", int), lambda s, v: float(v)),
    "number for text": lambda t, a, r: one(t, a, r, lambda s, v, p: of("string", str)(s, v, p) and re.fullmatch(r"[1-9]\d{0,14}", v) is not None, lambda s, v: int(v)),
    "boolean as text": lambda t, a, r: one(t, a, r, of("boolean", bool), lambda s, v: r.choice([str(v), str(v).lower(), str(v).upper()])),
    "enum in other case": lambda t, a, r: one(t, a, r, lambda s, v, p: enum_text(s, v, p) and v.upper() != v.lower(), lambda s, v: r.choice([w for w in (v.upper(), v.lower(), v.title()) if w != v])),
    "enum with other separators": lambda t, a, r: one(t, a, r, lambda s, v, p: enum_text(s, v, p) and re.search(r"\w[ _-]\w", v) is not None, lambda s, v: re.sub(r"[ _-]", lambda f: {" ": "_", "_": " ", "-": "_"}[f[0]], v)),
    "blanks around enum": lambda t, a, r: one(t, a, r, enum_text, lambda s, v: f" {v}\n"),
    "snake for camel, camel for snake": renamed,
    "null for what is optional": padded(None),
    "empty text for what is optional": padded(""),
    "the word null for what is optional": lambda t, a, r: ({**a, **dict.fromkeys(unused(t, a, True), "null")} if unused(t, a, True) else None),
    "date as March 5, 2024": lambda t, a, r: one(t, a, r, stated_date, lambda s, v: month_words(v)),
    "date as 2024年3月5日": lambda t, a, r: one(t, a, r, stated_date, lambda s, v: "{}年{}月{}日".format(*map(int, v.split("-")))),
    "date as 2024/03/05": lambda t, a, r: one(t, a, r, stated_date, lambda s, v: v.replace("-", "/")),
}  # fmt: skip


def several(tool: Tool, arguments: dict[str, Any], rng: random.Random) -> Any:
    """Two kinds of damage to values and then one to the text or the wrapping, as they come together in practice."""
    kinds = list(REPAIRABLE)
    of_values = kinds[kinds.index("list or object as text") :]
    of_text = kinds[: kinds.index("list or object as text")]
    emitted: Any = arguments
    for kind in rng.sample(of_values, 6)[:2]:
        changed = REPAIRABLE[kind](tool, copy.deepcopy(emitted), rng)
        emitted = changed if isinstance(changed, dict) else emitted
    changed = REPAIRABLE[rng.choice(of_text)](tool, emitted, rng)
    emitted = emitted if changed is None else changed
    return None if emitted == arguments else emitted


TOGETHER: dict[str, Damage] = {
    "several at once (1)": several,
    "several at once (2)": several,
    "several at once (3)": several,
}

LOSING: dict[str, Damage] = {
    "cut in the middle": cut,
    "bad escape or half a surrogate": bad_escape,
    "arguments of several calls": lambda t, a, r: dumps(a) + dumps(a) if a else None,
    "enum of another word": lambda t, a, r: one(t, a, r, enum_text, lambda s, v: "zzz-" + v),
    "maybe for a boolean": lambda t, a, r: one(t, a, r, of("boolean", bool), lambda s, v: r.choice(["maybe", "nope", "2"])),
    "about a number": lambda t, a, r: one(t, a, r, number, lambda s, v: r.choice([f"about {v}", f"{v}+", f"{v}-{v + 3}"])),
    "fraction for an integer": lambda t, a, r: one(t, a, r, of("integer", int), lambda s, v: v + 0.5),
    "date with unstated order": lambda t, a, r: one(t, a, r, lambda s, v, p: stated_date(s, v, p) and s.get("format") == "date", lambda s, v: "{2}/{1}/{0}".format(*v.split("-"))),
    "required left out, no conversation": without_one,
}  # fmt: skip


def golds(folder: Path) -> Iterator[tuple[Tool | None, dict[str, Any], dict[str, Any]]]:
    """Every gold call of a set: its tool (None: not found), arguments and query."""
    pool = {
        tool.name: tool
        for tool in Catalog.load(
            [json.loads(line) for line in (folder / "tools.jsonl").open(encoding="utf-8")]
        ).tools
    }
    for line in (folder / "queries.jsonl").open(encoding="utf-8"):
        query = json.loads(line)
        overrides = query.get("tool_overrides") or {}
        entries = list(overrides.values()) if isinstance(overrides, dict) else overrides
        own = {tool.name: tool for tool in Catalog.load(entries).tools} if entries else {}
        for call in query.get("gold_args") or ():
            if isinstance(call.get("arguments"), dict):
                yield own.get(call["name"]) or pool.get(call["name"]), call["arguments"], query


def reference(query: dict[str, Any]) -> str | None:
    found = re.search(r"(\d{4})年(\d{1,2})月(\d{1,2})日", query.get("time") or "")
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}T10:00:00" if found else None


def conversation(query: dict[str, Any]) -> list[dict[str, str]]:
    turns = []
    for line in (query.get("query") or "").splitlines():
        role, _, text = line.partition(": ")
        turns.append(
            {
                "role": "assistant" if role == "system" else "user",
                "content": text if role in ("user", "system") else line,
            }
        )
    return turns


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        default=os.environ.get("AGENT_REACH_DATA")
        or str(Path(__file__).resolve().parents[2] / "shared" / "data"),
    )
    parser.add_argument("--json")
    parser.add_argument("--show", help="print what went wrong under this kind of damage")
    parser.add_argument("--seed", type=int, default=20251210)
    options = parser.parse_args()
    root = Path(options.data) / "retrieval"
    if not root.is_dir():
        print(f"no data at {root}; set AGENT_REACH_DATA", file=sys.stderr)
        return 2
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    sets: dict[str, Counter[str]] = defaultdict(Counter)
    started = time.process_time()
    for name in SETS:
        run_set(root / name, name, rows, sets, options)
    report(rows, sets, time.process_time() - started, options)
    return 0


def run_set(
    folder: Path, name: str, rows: dict[str, Counter[str]], sets: dict[str, Counter[str]], options: Any
) -> None:
    for index, (tool, gold, query) in enumerate(golds(folder)):
        count = sets[name]
        count["golds"] += 1
        if tool is None or not is_legal(tool, gold):
            count["broken"] += 1
            continue
        talk, now = conversation(query), reference(query)
        through = normalize_call(tool, copy.deepcopy(gold), conversation=talk, now=now)
        count["undamaged"] += 1
        if (
            through.changes
            or through.problems
            or through.arguments != gold
            or dumps(through.arguments) != dumps(gold)
        ):
            count["undamaged changed"] += 1
            if options.show == "undamaged":
                print(tool.name, [(c.rule, c.before, c.after) for c in through.changes], through.problems)
        for lacking in tool.required:
            if lacking in gold:
                told = normalize_call(
                    tool, {k: v for k, v in gold.items() if k != lacking}, conversation=talk, now=now
                )
                filled = (told.arguments or {}).get(lacking)
                count["left out"] += 1
                count["filled"] += filled is not None
                count["filled right"] += filled is not None and filled == gold[lacking]
        for kind, damage in (REPAIRABLE | TOGETHER | LOSING).items():
            rng = random.Random(f"{options.seed}/{name}/{index}/{kind}")
            emitted = damage(tool, copy.deepcopy(gold), rng)
            if emitted is None or (emitted == gold and dumps(emitted) == dumps(gold)):
                continue
            losing = kind in LOSING
            if losing and isinstance(emitted, dict) and is_legal(tool, emitted):
                continue
            done = normalize_call(
                tool, copy.deepcopy(emitted), conversation=None if losing else talk, now=now
            )
            legal = not done.problems and done.arguments is not None and is_legal(tool, done.arguments)
            equal = legal and done.arguments == gold
            tally(
                rows[kind],
                sets[name],
                losing,
                legal,
                equal,
                not isinstance(emitted, str) and is_legal(tool, emitted),
            )
            if options.show == kind and not (not legal if losing else equal):
                print(
                    tool.name,
                    dumps(emitted)[:300],
                    "->",
                    dumps(done.arguments)[:300],
                    "gold",
                    dumps(gold)[:200],
                    [p.message for p in done.problems],
                )


def tally(
    row: Counter[str], count: Counter[str], losing: bool, legal: bool, equal: bool, legal_before: bool
) -> None:
    row["calls"] += 1
    prefix = "losing" if losing else "repairable"
    count[prefix] += 1
    row["legal before"] += legal_before
    if losing:
        row["refused"] += not legal
        count["refused"] += not legal
    else:
        row["legal"] += legal
        row["equal"] += equal
        count["legal"] += legal
        count["equal"] += equal
        count["legal before"] += legal_before


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:6.2f}%" if whole else "     -"


def report(
    rows: dict[str, Counter[str]], sets: dict[str, Counter[str]], seconds: float, options: Any
) -> None:
    print(
        f"{'damage that leaves the meaning whole':40} {'calls':>6} {'legal before':>13} {'legal after':>12} {'equal to gold':>14}"
    )
    for kind in REPAIRABLE | TOGETHER:
        row = rows[kind]
        print(
            f"{kind:40} {row['calls']:6} {share(row['legal before'], row['calls']):>13} {share(row['legal'], row['calls']):>12} {share(row['equal'], row['calls']):>14}"
        )
    print(f"\n{'damage that loses information':40} {'calls':>6} {'refused':>13}")
    for kind in LOSING:
        row = rows[kind]
        print(f"{kind:40} {row['calls']:6} {share(row['refused'], row['calls']):>13}")
    print(
        f"\n{'set':14} {'golds':>6} {'broken gold':>12} {'undamaged':>10} {'changed':>8} {'damaged':>8} {'legal':>8} {'equal':>8} {'losing':>7} {'refused':>8}"
    )
    total: Counter[str] = Counter()
    for name in SETS:
        total.update(sets[name])
    for name, count in [*((name, sets[name]) for name in SETS), ("all", total)]:
        print(
            f"{name:14} {count['golds']:6} {count['broken']:12} {count['undamaged']:10} {count['undamaged changed']:8} {count['repairable']:8} "
            f"{share(count['legal'], count['repairable']):>8} {share(count['equal'], count['repairable']):>8} {count['losing']:7} {share(count['refused'], count['losing']):>8}"
        )
    print(
        f"\nrequired arguments left out with the conversation given: {total['left out']}, filled from it {total['filled']}, "
        f"of those right {total['filled right']}; the rest is asked for"
    )
    calls = total["left out"] + total["undamaged"] + total["repairable"] + total["losing"]
    print(
        f"\n{1e6 * seconds / max(1, calls):.0f} µs CPU per call with loading and damaging (shared machine, one core: read as an order of size)"
    )
    if options.json:
        document = {
            "damage": {kind: dict(row) for kind, row in rows.items()},
            "sets": {name: dict(count) for name, count in sets.items()},
            "all": dict(total),
            "seed": options.seed,
        }
        Path(options.json).write_text(
            json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    sys.exit(main())
