"""A prediction as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.evals.sweep.predict import Prediction
from agent_reach.records.message import Language, Message

_SHOWN = 10


def prediction_lines(found: Prediction, language: Language) -> list[str]:
    """Tools and tokens, new look-alikes, expected confusions, and how far the calibration holds."""
    return [message.text(language) for message in _lines(found)]


def _lines(found: Prediction) -> Iterator[Message]:
    before, after = found.tools
    weight = found.tokens
    yield Message(
        f"{before} tools become {after}; the list grows from about {weight[0]} to {weight[1]} tokens",
        f"{before} 个工具变为 {after} 个；列表从约 {weight[0]} token 增至 {weight[1]} token",
    )
    if found.same:
        yield Message(f"{len(found.same)} are there already", f"其中 {len(found.same)} 个已经存在")
    yield Message(f"{len(found.pairs)} new look-alike pairs", f"新增 {len(found.pairs)} 对相似工具")
    for pair in found.pairs[:_SHOWN]:
        yield Message(
            f"  {pair.score:.2f}  {pair.left} / {pair.right}",
            f"  {pair.score:.2f}  {pair.left} / {pair.right}",
        )
    if found.confusions is None:
        yield Message(
            "expected confusions: give --report of a run on this catalog to calibrate on",
            "预期混淆：请用 --report 给出该目录上的一次运行报告用于校准",
        )
        return
    yield Message(
        f"expected: {found.confusions:.1f} of {found.decisions} decisions newly lost to added tools",
        f"预期：{found.decisions} 个决策中有 {found.confusions:.1f} 个因新增工具而失败",
    )
    for risk in found.risks[:_SHOWN]:
        yield Message(
            f"  {risk.tool}: {risk.lost:.1f} of {risk.decisions} right ones, to tools like {risk.rival}",
            f"  {risk.tool}：{risk.decisions} 个正确决策中的 {risk.lost:.1f} 个，输给 {risk.rival} 这类工具",
        )
    yield Message(
        "calibration (share of the request covered by the best other tool less the right one: decisions, confused, rate used)",
        "校准（最接近的其他工具与正确工具对请求的覆盖差：决策数、混淆数、所用比率）",
    )
    for band in found.bands:
        line = f"  >= {band.low:+.2f}: {band.decisions}, {band.confused}, {band.rate:.1%}"
        yield Message(line, line)
    if found.check is not None:
        yield Message(
            f"checked on tasks left out: {found.check.expected:.1f} confusions expected, {found.check.seen} seen",
            f"在留出的任务上检验：预期 {found.check.expected:.1f} 次混淆，实际 {found.check.seen} 次",
        )
