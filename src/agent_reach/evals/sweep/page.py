"""A sweep as one HTML page that works from a disk: the picture and the figures, no script, nothing loaded from outside."""

from __future__ import annotations

import base64
from html import escape

from agent_reach.evals.sweep.drawing import draw
from agent_reach.evals.sweep.sweep import REACH, SweepResult
from agent_reach.evals.sweep.writing import AXIS_WORDS, capacity_lines, figure
from agent_reach.records.message import Language, Message

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "img{max-width:100%}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid #ddd;"
    "text-align:right}td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}"
)


def render_page(result: SweepResult, language: Language = "en") -> str:
    """The page in that language."""
    title = Message("Sweep: where reach ends", "扫描：触达的极限").text(language)
    picture = base64.b64encode(draw(result, language).encode()).decode("ascii")
    run = Message(
        f"agent {result.agent} {result.model}, suite {result.suite}, {result.tasks} tasks, {result.spent} attempts made",
        f"代理 {result.agent} {result.model}，任务集 {result.suite}，{result.tasks} 个任务，进行 {result.spent} 次尝试",
    ).text(language)
    heads = [
        Message("axis", "轴"), Message("exposure", "暴露方式"), Message("value", "取值"), Message("reach", "触达率"),
        Message("decision success", "决策成功率"), Message("over-calls", "过度调用率"), Message("tools offered", "提供工具数"),
        Message("tool-list tokens", "工具列表 token"), Message("attempts", "尝试次数"),
    ]  # fmt: skip
    rows = [
        [
            AXIS_WORDS[point.axis].text(language), point.exposure, f"{point.value:g}", figure(point.metrics[REACH]),
            figure(point.metrics["decision_success"]), figure(point.metrics["over_call_rate"]), f"{point.tools:g}",
            f"{point.tokens:g}", str(point.attempts),
        ]
        for point in result.points
    ]  # fmt: skip
    table = "".join(f"<th>{escape(head.text(language))}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    notes = "".join(f"<p>{escape(line)}</p>" for line in capacity_lines(result, language))
    tongue = "zh-CN" if language == "zh" else "en"
    return (
        f'<!doctype html><html lang="{tongue}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1><p>{escape(run)}</p>"
        f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{picture}">{notes}'
        f'<div class="wide"><table><thead><tr>{table}</tr></thead><tbody>{body}</tbody></table></div></body></html>\n'
    )
