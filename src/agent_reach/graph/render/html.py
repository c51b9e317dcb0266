"""The map as one HTML page: picture, search with the neighbourhood of any tool, and the tables beside it.

Nothing is fetched: style and script are inside, the page says so by its content policy. Up to the options' `drawn` tools are
drawn; above that servers and cycles are folded and the search opens single tools.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from agent_reach.graph.analysis import GraphAnalysis
from agent_reach.graph.dead import DeadTool
from agent_reach.graph.render.marks import DEAD_WORDS, edge_kind, picture
from agent_reach.graph.render.svg import to_svg
from agent_reach.graph.render.words import BROKEN, KINDS, STATES, share, word
from agent_reach.graph.traffic import WalkedHop
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

MOST_EDGES = 30_000
MOST_ROWS = 500


def render_map_html(
    graph: ToolGraph, analysis: GraphAnalysis, language: Language = "en", *, title: str = ""
) -> str:
    """The page in that language."""
    style, script = _asset("map.css"), _asset("map.js")
    data = json.dumps(_data(graph, analysis, language), ensure_ascii=False, separators=(",", ":"))
    for sign, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        data = data.replace(sign, code)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    heading = title or word("title", language)
    svg = to_svg(picture(graph, analysis, language), language, graphviz=False)
    options = "".join(
        f'<option value="{escape(tool.key, quote=True)}">' for tool in graph.catalog.tools[:5000]
    )
    return (
        (
            f'<!doctype html><html lang="{"zh-CN" if language == "zh" else "en"}"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><meta http-equiv="Content-Security-Policy" '
            f"content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:\">"
            f"<title>{escape(heading)}</title><style>{style}</style></head><body><main><h1>{escape(heading)}</h1>"
            f'<p class="sub">{escape(_headline(graph, analysis, language))}</p>{_cards(graph, analysis, language)}'
            f'<div class="tools"><label for="find">{escape(word("search", language))}</label>'
            f'<input type="search" id="find" list="all" autocomplete="off" placeholder="{escape(word("search_hint", language), quote=True)}">'
            f'<datalist id="all">{options}</datalist></div><section class="near" id="near" hidden aria-live="polite"></section>'
            f'<div class="picture" tabindex="0">{svg}</div><p class="sub">{escape(word("legend", language))}</p>'
            f'{_tables(graph, analysis, language)}</main><script type="application/json" id="data">{data}</script>'
            f"<script>{script}</script></body></html>"
        )
        .encode("utf-8", "replace")
        .decode()
    )


def _asset(name: str) -> str:
    return files("agent_reach.graph.render").joinpath(name).read_text(encoding="utf-8")


def _data(graph: ToolGraph, analysis: GraphAnalysis, language: Language) -> dict[str, Any]:
    table = graph.table
    dead = {item.tool: item.kind for item in analysis.dead}
    nodes = []
    for name in table.nodes:
        row: dict[str, Any] = {"id": name}
        reasons = analysis.reach.blocked.get(name)
        if reasons:
            row.update(m=", ".join(reasons), b=1)
        elif name in dead:
            row["m"] = DEAD_WORDS[dead[name]].text(language)
        if name in graph.catalog and graph.catalog.resolve(name) is not None:
            row["d"] = graph.catalog.get(name).description.split("\n", 1)[0][:200]
        nodes.append(row)
    places = [
        place for place in range(len(table)) if table.trusted[place] and table.origin[place] != "assumed"
    ]
    places = sorted(places, key=lambda place: -table.score[place])[:MOST_EDGES]
    return {
        "nodes": nodes,
        "edges": [
            {
                "s": table.nodes[table.source[place]], "t": table.nodes[table.target[place]], "v": round(table.score[place], 3),
                "k": KINDS[edge_kind(graph, place)].text(language), "w": _why(graph, place),
            }
            for place in places
        ],
        "words": {name: word(name, language) for name in ("into", "out", "none", "nothing")},
    }  # fmt: skip


def _why(graph: ToolGraph, place: int) -> str:
    candidate = graph.table.candidate[place]
    counts = graph.table.counts.get(place)
    parts = [
        f"{item.source_field} → {item.target_field}" for item in (candidate.bindings[:2] if candidate else ())
    ]
    if counts is not None and counts.taken:
        parts.append(f"×{counts.taken}")
        if counts.failures:
            parts.append(", ".join(f"{reason} {times}" for reason, times in counts.failures.most_common(2)))
    return "; ".join(parts)


def _headline(graph: ToolGraph, analysis: GraphAnalysis, language: Language) -> str:
    reach = analysis.reach
    if reach.masked is not reach.union:
        return word("headline_masked", language).format(
            tools=reach.union.total,
            rate=share(reach.union.rate),
            masked=share(reach.masked.rate),
            blocked=len(reach.blocked),
        )
    key = "headline_assumed" if reach.assumed_offered else "headline"
    return word(key, language).format(tools=reach.union.total, rate=share(reach.union.rate))


def _cards(graph: ToolGraph, analysis: GraphAnalysis, language: Language) -> str:
    skew = analysis.skew
    rows: list[tuple[str, str]] = [
        (share(analysis.reach.masked.rate), "reach_rate"), (str(len(_told_dead(graph, analysis))), "dead"),
        (str(len(analysis.reach.blocked)), "blocked"), (str(graph.table.trusted_count), "trusted_edges"),
        (str(len(analysis.structure.cycles)), "cycles"), (str(len(analysis.unresolved)), "unresolved"),
    ]  # fmt: skip
    if analysis.traffic is not None:
        rows.append((str(analysis.traffic.hops), "hops"))
    if skew.gini is not None:
        rows.append((f"{skew.gini:.2f}", "gini"))
    if skew.total_variation is not None:
        rows.append((f"{skew.total_variation:.2f}", "skew"))
    cards = "".join(
        f'<div class="card"><b>{escape(value)}</b><span>{escape(word(name, language))}</span></div>'
        for value, name in rows
    )
    return f'<div class="cards">{cards}</div>'


def _told_dead(graph: ToolGraph, analysis: GraphAnalysis) -> list[DeadTool]:
    """Dead tools; without traces only those that are known to be."""
    return [item for item in analysis.dead if graph.evidence is not None or item.kind != "unknown"]


def _tables(graph: ToolGraph, analysis: GraphAnalysis, language: Language) -> str:
    costs = analysis.reach.costs
    changes = {change.tool: change.message.text(language) for change in analysis.changes}
    parts = [
        _table(
            "tools", ("tool", "physical", "semantic", "execution", "first_broken", "hops_to", "cost", "called", "reason"),
            [
                (
                    state.tool, _State(state.physical), _State(state.semantic), _State(state.execution),
                    BROKEN[state.first_broken].text(language), costs[state.tool].hops if state.tool in costs else None,
                    round(costs[state.tool].cost, 2) if state.tool in costs else None, analysis.skew.called.get(state.tool, 0),
                    ", ".join(state.reasons) or changes.get(state.tool, ""),
                )
                for state in analysis.states
            ], language, is_open=True,
        ),
        _table("dead", ("tool", "kind", "tokens", "reason"), [
            (item.tool, DEAD_WORDS[item.kind].text(language), item.tokens, ", ".join(item.reasons))
            for item in _told_dead(graph, analysis)
        ], language),
        _table("changes", ("tool", "change"), [(item.tool, item.message.text(language)) for item in analysis.changes], language),
        _table("unresolved", ("tool", "input", "best"), [(item.tool, item.path, round(item.best, 2)) for item in analysis.unresolved], language),
        _table("cycles", ("members", "entries"), [
            (", ".join(item.members[:30]) + (" …" if len(item.members) > 30 else ""), ", ".join(item.entries[:10])) for item in analysis.structure.cycles
        ], language),
        _table("bottlenecks", ("tool", "cuts_off", "betweenness", "reason"), [
            (item.tool, ", ".join(item.cuts_off[:12]), item.betweenness, ", ".join(item.blocked)) for item in analysis.structure.bottlenecks
        ], language),
        _table("orphans", ("tool",), [(name,) for name in analysis.structure.orphans], language),
    ]  # fmt: skip
    if analysis.traffic is not None:
        for name, rows in (
            ("not_in_graph", analysis.traffic.not_in_graph),
            ("failing", analysis.traffic.failing),
            ("slow", analysis.traffic.slow),
        ):
            parts.append(
                _table(
                    name,
                    ("hop", "taken", "worked", "failures", "seconds"),
                    [_hop_row(item) for item in rows],
                    language,
                )
            )
        parts.append(
            _table("never_walked", ("source", "target"), list(analysis.traffic.never_walked), language)
        )
    parts.append(_table("partitions", ("tool", "partition", "recalled", "share"), [
        (item.tool, item.name, item.recalled, share(item.share)) for item in analysis.partitions
    ], language))  # fmt: skip
    parts.append(_table("hallucinated", ("name", "count", "nearest"), [
        (item.name, item.count, ", ".join(item.nearest)) for item in analysis.hallucinated
    ], language))  # fmt: skip
    parts.append(
        _table(
            "findings",
            ("subject", "message"),
            [(item.subject, item.message.text(language)) for item in analysis.findings],
            language,
        )
    )
    return "".join(parts)


def _hop_row(hop: WalkedHop) -> tuple[Any, ...]:
    failures = ", ".join(f"{reason} {count}" for reason, count in hop.failures.items())
    return f"{hop.source} → {hop.target}", hop.taken, hop.worked, failures, round(hop.seconds, 1) or None


class _State(str):
    """A state word that is shown with a mark and a colour."""


def _table(
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    language: Language,
    *,
    is_open: bool = False,
) -> str:
    if not rows:
        return ""
    head = "".join(
        f"<th{_numeric(rows, place)}>{escape(word(column, language))}</th>"
        for place, column in enumerate(columns)
    )
    body = "".join(
        "<tr>" + "".join(_cell(value, place, rows, language) for place, value in enumerate(row)) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f'<p class="none">… {len(rows) - MOST_ROWS}</p>' if len(rows) > MOST_ROWS else ""
    return (
        f"<details{' open' if is_open or len(rows) <= 12 else ''}><summary>{escape(word(name, language))} ({len(rows)})</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}</details>'
    )


def _numeric(rows: Sequence[Sequence[Any]], place: int) -> str:
    return (
        ' class="num"'
        if all(row[place] is None or isinstance(row[place], (int, float)) for row in rows[:50])
        else ""
    )


def _cell(value: Any, place: int, rows: Sequence[Sequence[Any]], language: Language) -> str:
    if isinstance(value, _State):
        mark = {"good": "✓", "broken": "✗", "unknown": "?"}[value]
        return f'<td class="{value}">{mark} {escape(STATES[value].text(language))}</td>'
    text = "–" if value is None else str(value)
    return f"<td{_numeric(rows, place) or ' class=t'}>{escape(text)}</td>"
