"""The curves as a picture: plain SVG, no script, no font file, readable in light and dark surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from agent_reach.evals.sweep.sweep import REACH, SweepPoint, SweepResult
from agent_reach.evals.sweep.writing import AXIS_WORDS
from agent_reach.records.message import Language, Message

WIDTH, PANEL_HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 140, 44, 48
_COLOURS = {"all": "#b4431f", "reach": "#1f6f8b"}
_INK, _GRID = "#3a3a3a", "#d9d9d9"
_WORDS = {"all": Message("all tools", "全部工具"), "reach": Message("reach layer", "触达层")}


def draw(result: SweepResult, language: Language = "en") -> str:
    """One panel per axis that was swept: reach in percent with its interval, one line per exposure."""
    axes = [axis for axis in AXIS_WORDS if any(point.axis == axis for point in result.points)]
    height = PANEL_HEIGHT * max(1, len(axes))
    title = Message("Tool reachability", "工具触达率").text(language)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for number, axis in enumerate(axes):
        points = [point for point in result.points if point.axis == axis]
        heading = f"{title}: {AXIS_WORDS[axis].text(language)}"
        parts += _panel(
            points, number * PANEL_HEIGHT, heading, language, result.target if axis == "tools" else None
        )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _panel(
    points: Sequence[SweepPoint], top: int, heading: str, language: Language, target: float | None
) -> list[str]:
    low, high = top + _TOP, top + PANEL_HEIGHT - _BOTTOM
    parts = [
        f'<text x="{_LEFT}" y="{top + 24}" font-size="14" font-weight="600" fill="{_INK}">{escape(heading)}</text>'
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share, low, high)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_GRID}"/>')
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{_INK}">{share:.0%}</text>'
        )
    values = sorted({point.value for point in points})
    last = -1000.0
    for value in values:
        x = _x(value, values)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{high}" y2="{high + 4}" stroke="{_INK}"/>')
        if x - last >= 26:
            parts.append(
                f'<text x="{x:.1f}" y="{high + 18}" text-anchor="middle" fill="{_INK}">{value:g}</text>'
            )
            last = x
    if target is not None:
        y = _y(target, low, high)
        parts.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_INK}" stroke-dasharray="4 4"/>'
        )
        words = Message(f"target {target:.0%}", f"目标 {target:.0%}").text(language)
        parts.append(f'<text x="{WIDTH - _RIGHT + 8}" y="{y + 4:.1f}" fill="{_INK}">{words}</text>')
    for number, exposure in enumerate(dict.fromkeys(point.exposure for point in points)):
        curve = sorted(
            (point for point in points if point.exposure == exposure), key=lambda point: point.value
        )
        parts += _curve(curve, values, low, high, _COLOURS[exposure])
        y = (low + 14 if target is None or target < 0.6 else high - 40) + number * 18
        parts.append(
            f'<rect x="{WIDTH - _RIGHT + 8}" y="{y - 9}" width="12" height="12" fill="{_COLOURS[exposure]}"/>'
        )
        parts.append(
            f'<text x="{WIDTH - _RIGHT + 26}" y="{y + 1}" fill="{_INK}">{_WORDS[exposure].text(language)}</text>'
        )
    return parts


def _curve(
    curve: Sequence[SweepPoint], values: Sequence[float], low: int, high: int, colour: str
) -> list[str]:
    known = [(point, point.metrics[REACH]) for point in curve if point.metrics[REACH].value is not None]
    if not known:
        return []
    upper = [(p.value, m.interval.high if m.interval else m.value or 0.0) for p, m in known]
    lower = [(p.value, m.interval.low if m.interval else m.value or 0.0) for p, m in known]
    around = " ".join(f"{_x(x, values):.1f},{_y(y, low, high):.1f}" for x, y in [*upper, *reversed(lower)])
    line = " ".join(f"{_x(p.value, values):.1f},{_y(m.value or 0.0, low, high):.1f}" for p, m in known)
    parts = [
        f'<polygon points="{around}" fill="{colour}" fill-opacity="0.15"/>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
    ]
    for point, metric in known:
        x, y = _x(point.value, values), _y(metric.value or 0.0, low, high)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">'
            f"<title>{point.value:g}: {(metric.value or 0.0):.1%}</title></circle>"
        )
        if len(known) == 1 and metric.interval is not None:
            top, bottom = _y(metric.interval.high, low, high), _y(metric.interval.low, low, high)
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>'
            )
    return parts


def _x(value: float, values: Sequence[float]) -> float:
    """Where a value stands: linear; a single value in the middle."""
    first, last = values[0], values[-1]
    width = WIDTH - _LEFT - _RIGHT
    share = (value - first) / (last - first) if last > first else 0.5
    return _LEFT + share * width


def _y(share: float, low: int, high: int) -> float:
    return high - share * (high - low)
