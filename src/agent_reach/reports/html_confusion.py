"""The confusion map of an HTML report, and the look-alike pairs that were predicted beside what was observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agent_reach.records.message import Language, Message
from agent_reach.records.report import Report
from agent_reach.reports.figures import count

HEAT_SIZE = 18


def heat(report: Report, language: Language) -> dict[str, Any] | None:
    """The confusion map: the most confused tools as rows, what was chosen as columns; None without confusions."""
    wrong = [entry for entry in report.confusions if entry.expected != entry.chosen]
    if not wrong:
        return None
    rows = _most(wrong_pairs := [(entry.expected, entry.count) for entry in wrong])
    shown = set(rows)
    columns = _most([(entry.chosen, entry.count) for entry in wrong if entry.expected in shown])
    known = {tool.tool for tool in report.tools}
    cells = {(entry.expected, entry.chosen): entry for entry in report.confusions}
    pairs = {frozenset((pair.left, pair.right)) for pair in report.catalog.similar_pairs}
    reached = {tool.tool: tool.reached for tool in report.tools}
    most = max(entry.count for entry in wrong)
    table = []
    for row in rows:
        line = []
        for column in columns:
            entry = cells.get((row, column))
            number = entry.count if entry is not None else (reached.get(row, 0) if row == column else 0)
            line.append(
                {
                    "count": number,
                    "level": 0 if row == column else _level(number, most),
                    "right": row == column,
                    "predicted": (entry is not None and entry.predicted) or frozenset((row, column)) in pairs,
                }
            )
        table.append({"tool": row, "right": count(reached.get(row, 0)), "cells": line})
    return {
        "columns": [
            {
                "label": name or _no_call(language),
                "invented": bool(name) and name not in known,
                "none": not name,
            }
            for name in columns
        ],
        "rows": table,
        "left_out": len({name for name, _ in wrong_pairs}) - len(rows),
    }


def _level(number: int, most: int) -> int:
    """The shade, 0 to 5: the count itself while counts are small, else its share of the largest."""
    if most <= 5:
        return number
    return min(5, 1 + number * 5 // (most + 1)) if number else 0


def _no_call(language: Language) -> str:
    return Message("no call", "没有调用").text(language)


def _most(pairs: Sequence[tuple[str, int]]) -> list[str]:
    numbers: Counter[str] = Counter()
    for name, number in pairs:
        numbers[name] += number
    ranked = sorted(numbers.items(), key=lambda item: (item[0] == "", -item[1], item[0]))
    return [name for name, _ in ranked[:HEAT_SIZE]]


def similar_pairs(report: Report) -> list[dict[str, Any]]:
    """The look-alike pairs that were predicted, each with how often it was really confused."""
    observed: Counter[frozenset[str]] = Counter()
    for entry in report.confusions:
        if entry.expected != entry.chosen:
            observed[frozenset((entry.expected, entry.chosen))] += entry.count
    found = [
        {
            "left": pair.left,
            "right": pair.right,
            "score": f"{pair.score:.2f}",
            "left_only": ", ".join(pair.left_only[:6]),
            "right_only": ", ".join(pair.right_only[:6]),
            "observed": observed[frozenset((pair.left, pair.right))],
        }
        for pair in report.catalog.similar_pairs
    ]
    return sorted(found, key=lambda entry: (-int(str(entry["observed"])), -float(str(entry["score"]))))[:30]
