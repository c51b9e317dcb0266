"""One experiment on a cause in words: what was changed, how often it then went right, the gain, what a verdict still costs."""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.records.message import Language, Message
from agent_reach.records.score import Cause, ProofTrial
from agent_reach.reports.figures import plural
from agent_reach.reports.wording import PROOFS, word


def trial_text(trial: ProofTrial, language: Language) -> str:
    """`not offered: x -> 9/10, +80 [+45, +93] (untouched 1/10)`; gains in points."""
    if trial.not_run:
        return trial.change.text(language) + _not_run(trial).text(language)
    right, total = trial.changed
    before, tries = trial.untouched
    text = f"{trial.change.text(language)} -> {right}/{total}" if total else trial.change.text(language)
    if trial.interval is not None:
        low, high = trial.interval.low * 100, trial.interval.high * 100
        text += f", {trial.gain * 100:+.0f} [{low:+.0f}, {high:+.0f}]"
    text += Message(f" (untouched {before}/{tries})", f"（未改动 {before}/{tries}）").text(language)
    if trial.verdict == "undecided":
        text += _still_needed(trial).text(language)
    return text


def _not_run(trial: ProofTrial) -> Message:
    if not trial.more:
        return Message(" (not run: the budget ended)", "（未运行：预算已用完）")
    return Message(
        f" (not run: the budget ended; it needs {plural(trial.more, 'attempt')} a side)",
        f"（未运行：预算已用完；每侧需要 {trial.more} 次尝试）",
    )


def _still_needed(trial: ProofTrial) -> Message:
    """What would decide an undecided experiment."""
    if trial.more:
        return Message(
            f"; {plural(trial.more, 'more attempt')} a side would decide", f"；每侧再做 {trial.more} 次可判定"
        )
    if not trial.changed[1] or not trial.untouched[1]:
        return Message(
            "; every attempt of a side was lost to infrastructure", "；有一侧的尝试全部因基础设施失败"
        )
    return Message("; no number of attempts in reach decides", "；在可行的次数内无法判定")


def proof_word(proof: str, trials: Sequence[ProofTrial], language: Language) -> str:
    """The verdict on a cause in a word; where nothing was run there is none."""
    if trials and all(trial.not_run for trial in trials):
        return Message("not run", "未运行").text(language)
    return word(PROOFS, proof, language)


def proof_lines(cause: Cause, language: Language) -> list[str]:
    """The experiments on a cause, and what they cost in attempts."""
    if not cause.trials:
        return []
    spent = sum(trial.spent for trial in cause.trials)
    lines = [trial_text(trial, language) for trial in cause.trials]
    made = [trial for trial in cause.trials if not trial.not_run]
    if not made:
        return lines
    untouched = max(trial.untouched[1] for trial in made)
    cost = Message(
        f"cost: {plural(spent, 'attempt')} with a change, against {untouched} untouched",
        f"花费：改动后 {spent} 次尝试，对照未改动 {untouched} 次",
    ).text(language)
    return [*lines, cost]
