"""The result of a tuning as an overlay file, as lines, as JSON, and as a text for a pull request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach.config.documents import parse_yaml
from agent_reach.errors import CatalogError
from agent_reach.evals.tune.proposals import merged
from agent_reach.evals.tune.tune import Gain, Tried, TuneResult
from agent_reach.records.codec import to_json
from agent_reach.records.message import Language, Message

FATES: dict[str, Message] = {
    "kept": Message("kept", "保留"),
    "removed": Message("no longer needed", "不再需要"),
    "not_confirmed": Message("held-back half disagrees", "留出部分不支持"),
    "by_chance": Message("held-back gain may be chance", "留出部分的收益可能出于偶然"),
    "unconfirmed": Message("helps, but no held-back task asks", "有收益，但无留出任务可验证"),
    "no_gain": Message("no gain", "无收益"),
    "not_tried": Message("not tried, the budget ended", "预算用完，未尝试"),
}


def tuned_overlay(result: TuneResult, existing: str) -> dict[str, Any]:
    """The overlay that the run had (a path, or empty) with the kept pieces in it."""
    document: Any = {}
    if existing:
        path = Path(existing)
        document = parse_yaml(path.read_text("utf-8"), str(path), error=CatalogError).value or {}
    return merged([document if isinstance(document, Mapping) else {}, result.overlay])


def overlay_text(result: TuneResult, existing: str) -> str:
    """The overlay file as YAML, with what it was tried on at its head."""
    import yaml

    head = (
        f"# Kept by `agent-reach tune`: {len(result.kept)} of {len(result.tried)} proposals, agent {result.agent}"
        f"{' ' + result.model if result.model else ''}, suite {result.suite}.\n"
    )
    if existing:
        head += f"# Holds everything of {Path(existing).name}.\n"
    body = yaml.safe_dump(tuned_overlay(result, existing), allow_unicode=True, sort_keys=False, width=110)
    return head + str(body)


def settings_changes(result: TuneResult) -> dict[str, Any]:
    """What belongs into the run configuration instead of the overlay: hidden tools, number of candidates."""
    hidden = sorted({key for proposal in result.kept for key in proposal.hide})
    counts = [proposal.candidates for proposal in result.kept if proposal.candidates is not None]
    found: dict[str, Any] = {}
    if hidden:
        found["hide"] = hidden
    if counts:
        found["candidates"] = counts[-1]
    return found


def tune_document(result: TuneResult) -> dict[str, Any]:
    """Everything as JSON values."""
    document: dict[str, Any] = {
        "schema_version": 1,
        **to_json(result),
        "settings_changes": settings_changes(result),
    }
    return document


def gain_text(gain: Gain | None) -> str:
    """`+12.5 [+3.0, +22.0]` in points, or `-`."""
    if gain is None or not gain.tasks:
        return "-"
    text = f"{gain.mean * 100:+.1f}"
    if gain.interval is not None:
        text += f" [{gain.interval.low * 100:+.1f}, {gain.interval.high * 100:+.1f}]"
    return text


def tune_lines(result: TuneResult, language: Language) -> list[str]:
    """What was tried, won and lost."""
    lines = [
        Message(
            f"{len(result.tried)} proposals on {result.tuning_tasks} tuning and {result.held_back_tasks} held-back tasks",
            f"{len(result.tried)} 个提案，{result.tuning_tasks} 个调优任务，{result.held_back_tasks} 个留出任务",
        ).text(language)
    ]
    for item in result.tried:
        harm = len(
            (*(item.tuning.worse if item.tuning else ()), *(item.held_back.worse if item.held_back else ()))
        )
        harmed = Message(f"; {harm} tasks worse", f"；{harm} 个任务变差").text(language) if harm else ""
        lines.append(
            f"  {FATES[item.fate].text(language):34} {item.proposal.name}: "
            + Message(
                f"tuning {gain_text(item.tuning)}, held back {gain_text(item.held_back)}{harmed}",
                f"调优 {gain_text(item.tuning)}，留出 {gain_text(item.held_back)}{harmed}",
            ).text(language)
        )
    lines += [message.text(language) for message in _totals(result)]
    return lines


def _totals(result: TuneResult) -> list[Message]:
    before, after = result.before, result.after
    found = [
        Message(
            f"standing: tuning {before[0]:.1%} -> {after[0]:.1%}, held back {before[1]:.1%} -> {after[1]:.1%}",
            f"得分：调优 {before[0]:.1%} -> {after[0]:.1%}，留出 {before[1]:.1%} -> {after[1]:.1%}",
        )
    ]
    if result.whole is not None:
        found.append(
            Message(
                f"all that was kept, on the held-back half: {gain_text(result.whole)} points; better {len(result.whole.better)}, "
                f"worse {len(result.whole.worse)} tasks",
                f"全部保留项在留出部分：{gain_text(result.whole)} 个百分点；变好 {len(result.whole.better)} 个，变差 {len(result.whole.worse)} 个任务",
            )
        )
    found.append(
        Message(
            f"tool-list tokens {result.tokens[0]} -> {result.tokens[1]}; {result.spent} attempts made, kept in {result.log}",
            f"工具列表 token {result.tokens[0]} -> {result.tokens[1]}；进行 {result.spent} 次尝试，保存于 {result.log}",
        )
    )
    for name, value in settings_changes(result).items():
        if name == "hide":
            found.append(
                Message(f"hide in the configuration: {', '.join(value)}", f"在配置中隐藏：{'、'.join(value)}")
            )
        else:
            found.append(Message(f"candidates of the reach layer: {value}", f"触达层候选数：{value}"))
    if result.ended_early:
        found.append(Message("the budget ended; go on with --resume", "预算已用完；可用 --resume 继续"))
    if result.lost:
        found.append(
            Message(
                f"{result.lost} attempts were lost to infrastructure", f"{result.lost} 次尝试因基础设施失败"
            )
        )
    return found


def pull_request_text(result: TuneResult, language: Language) -> str:
    """Markdown for a pull request: what is changed, why, and what was measured."""
    title = Message("Tune the notes around the tools", "优化工具备注").text(language)
    lines = [f"## {title}", ""]
    lines += [message.text(language) for message in _totals(result)[:2]]
    lines.append("")
    heads = Message(
        "| change | why | tuning half | held-back half | worse |",
        "| 变更 | 原因 | 调优部分 | 留出部分 | 变差 |",
    ).text(language)
    for words, fates in (
        (Message("### Kept", "### 保留"), ("kept",)),
        (
            Message("### Tried and left out", "### 尝试后未采用"),
            ("unconfirmed", "removed", "by_chance", "not_confirmed", "no_gain"),
        ),
    ):
        rows = [item for item in result.tried if item.fate in fates]
        if rows:
            lines += [words.text(language), "", heads, "| --- | --- | --- | --- | --- |"]
            lines += [_row(item, language) for item in rows]
            lines.append("")
    waiting = sum(item.fate == "not_tried" for item in result.tried)
    if waiting:
        said = Message(
            f"{waiting} more proposals were not tried: the budget ended.",
            f"另有 {waiting} 个提案未尝试：预算已用完。",
        )
        lines += [said.text(language), ""]
    changes = settings_changes(result)
    if changes:
        lines += [Message("### Settings of the run", "### 运行设置").text(language), ""]
        lines += [f"- `{name}`: {value}" for name, value in changes.items()]
        lines.append("")
    lines.append(
        Message(
            f"Agent {' '.join(filter(None, (result.agent, result.model)))}, suite {result.suite}; {result.spent} attempts. Gains are points of the mean "
            "standing (share of right decisions, less over-calls) with 95% intervals by task.",
            f"代理 {' '.join(filter(None, (result.agent, result.model)))}，任务集 {result.suite}；{result.spent} 次尝试。收益为平均得分（正确决策比例减过度调用）的百分点，附按任务的 95% 区间。",
        ).text(language)
    )
    return "\n".join(lines) + "\n"


def _row(item: Tried, language: Language) -> str:
    worse = [*(item.tuning.worse if item.tuning else ()), *(item.held_back.worse if item.held_back else ())]
    cells = [
        f"{item.proposal.name}"
        if item.fate == "kept"
        else f"{item.proposal.name} ({FATES[item.fate].text(language)})",
        item.proposal.why.text(language),
        gain_text(item.tuning),
        gain_text(item.held_back),
        ", ".join(worse) or "-",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
