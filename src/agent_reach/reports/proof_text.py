"""One experiment on a cause in words: what was changed, how often it then went right, the gain, what a verdict still costs."""

from __future__ import annotations

from agent_reach.records.message import Language, Message
from agent_reach.records.score import Cause, ProofTrial
from agent_reach.reports.figures import plural


def trial_text(trial: ProofTrial, language: Language) -> str:
    """`not offered: x -> 9/10, +80 [+45, +93] (untouched 1/10)`; gains in points."""
    right, total = trial.changed
    before, tries = trial.untouched
    text = f"{trial.change.text(language)} -> {right}/{total}" if total else trial.change.text(language)
    if trial.interval is not None:
        low, high = trial.interval.low * 100, trial.interval.high * 100
        text += f", {trial.gain * 100:+.0f} [{low:+.0f}, {high:+.0f}]"
    text += Message(f" (untouched {before}/{tries})", f"（未改动 {before}/{tries}）").text(language)
    if trial.verdict == "undecided":
        text += Message(
            f"; {trial.more} more attempts a side would decide"
            if trial.more
            else "; no number of attempts in reach decides",
            f"；每侧再做 {trial.more} 次可判定" if trial.more else "；在可行的次数内无法判定",
        ).text(language)
    return text


def proof_lines(cause: Cause, language: Language) -> list[str]:
    """The experiments on a cause, and what they cost in attempts."""
    if not cause.trials:
        return []
    spent = sum(trial.spent for trial in cause.trials)
    cost = Message(f"{plural(spent, 'attempt')} for these proofs", f"这些验证共用 {spent} 次尝试").text(
        language
    )
    return [*(trial_text(trial, language) for trial in cause.trials), cost]
