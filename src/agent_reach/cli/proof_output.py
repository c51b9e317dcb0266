"""What `explain --prove` and `run --prove` share: the options as records, and how proofs are shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.evals.interventions.prove import (
        ProofCost,
        ProofResult,
        ProvedDecision,
        ProveOptions,
    )


_MOST_ROWS = 20
_ORDER = {"proved": 0, "undecided": 1, "refuted": 2, "": 3}


def proof_lines(result: ProofResult, language: Language) -> list[str]:
    """The finding on each decision: causes with their verdicts, and what each experiment did and showed."""
    lines: list[str] = []
    for decision in result.decisions:
        lines += _decision(decision, language)
    return [*lines, *_totals(result, language)]


def short_proof_lines(result: ProofResult, language: Language, *, place: str) -> list[str]:
    """How many causes were proved, one row for each of the most telling ones, and where the rest stands: `place`, a
    report."""
    from agent_reach.reports.proof_text import proof_word, trial_text
    from agent_reach.reports.wording import cause_word

    lines = _totals(result, language)
    rows = [
        (_ORDER[verdict], decision, cause, verdict, trials)
        for decision in result.decisions
        for cause, verdict in decision.verdicts.items()
        for trials in [[trial for trial in decision.trials.get(cause, ()) if not trial.not_run]]
        if trials
    ]
    rows.sort(key=lambda row: row[0])
    colon, stop = ("：", "；") if language == "zh" else (": ", "; ")
    for _, decision, cause, verdict, trials in rows[:_MOST_ROWS]:
        best = next((trial for trial in trials if trial.verdict == verdict), trials[0])
        found = f"{cause_word(cause, language)} {proof_word(verdict, trials, language)}"
        lines.append(f"  {_place(decision).text(language)}{colon}{found}{stop}{trial_text(best, language)}")
    if result.decisions:
        rest = Message(
            f"the experiments on suspected causes stand in the report; for one task: agent-reach explain {place} TASK",
            f"对被怀疑原因的实验均见报告；查看单个任务：agent-reach explain {place} TASK",
        )
        hidden = len(rows) - _MOST_ROWS
        if hidden > 0:
            more = Message(f"{hidden} more are not shown; ", f"另有 {hidden} 项未显示；")
            rest = Message(more.en + rest.en, more.zh + rest.zh)
        lines.append(rest.text(language))
    return lines


def proof_counts(result: ProofResult) -> dict[str, int]:
    """Causes of decisions by what came of them: proved, refuted, undecided, not_run, untestable."""
    counts = dict.fromkeys(("proved", "refuted", "undecided", "not_run", "untestable"), 0)
    for decision in result.decisions:
        for cause, verdict in decision.verdicts.items():
            idle = bool(verdict) and all(trial.not_run for trial in decision.trials[cause])
            counts["not_run" if idle else verdict or "untestable"] += 1
    return counts


def _totals(result: ProofResult, language: Language) -> list[str]:
    """The verdicts in one line, the cost, and whether the budget ended."""
    from agent_reach.reports.figures import plural

    lines = []
    if result.decisions:
        counts = proof_counts(result)
        en = f"causes: {counts['proved']} proved, {counts['refuted']} refuted, {counts['undecided']} undecided, {counts['not_run']} not run"
        zh = f"原因：已证实 {counts['proved']}，已否定 {counts['refuted']}，未定 {counts['undecided']}，未运行 {counts['not_run']}"
        if counts["untestable"]:
            en += f", {counts['untestable']} without an experiment that fits"
            zh += f"，无适用实验 {counts['untestable']}"
        lines.append(Message(en, zh).text(language))
    else:
        lines.append(
            Message("no lost decision has a cause to prove", "没有需要证实原因的失败决策").text(language)
        )
    total = Message(
        f"{plural(result.spent, 'attempt')} made, kept in {result.kept}",
        f"共进行 {result.spent} 次尝试，保存于 {result.kept}",
    ).text(language)
    lines.append(total)
    if result.lost:
        lines.append(
            Message(
                f"{result.lost} of them were lost to infrastructure and count nowhere",
                f"其中 {result.lost} 次因基础设施失败，不计入",
            ).text(language)
        )
    if result.ended_early:
        lines.append(
            Message(
                "the budget ended before everything was tried; go on with --resume and a larger budget",
                "预算在完成之前用尽；可用 --resume 和更大的预算继续",
            ).text(language)
        )
    return lines


def _place(decision: ProvedDecision) -> Message:
    if decision.step is None:
        tools = ", ".join(decision.unwanted) or "-"
        return Message(
            f"{decision.task_id}, calls that should not have been made ({tools})",
            f"{decision.task_id}，不应有的调用（{tools}）",
        )
    return Message(
        f"{decision.task_id}, decision {decision.step + 1} ({decision.expected_tool})",
        f"{decision.task_id}，决策 {decision.step + 1}（{decision.expected_tool}）",
    )


def _untouched(decision: ProvedDecision) -> Message:
    """How it went without a change; nothing where no attempt was made or all were lost."""
    right, total = decision.untouched
    if not total:
        return Message("", "")
    if decision.step is None:
        return Message(
            f": {right} of {total} untouched attempts went without them",
            f"：未改动的 {total} 次尝试中有 {right} 次没有这类调用",
        )
    return Message(
        f": right in {right} of {total} untouched attempts", f"：未改动的 {total} 次尝试中 {right} 次正确"
    )


def _decision(decision: ProvedDecision, language: Language) -> list[str]:
    from agent_reach.reports.proof_text import proof_word, trial_text
    from agent_reach.reports.wording import cause_word

    lines = [_place(decision).text(language) + _untouched(decision).text(language)]
    for cause, verdict in sorted(decision.verdicts.items(), key=lambda item: _ORDER[item[1]]):
        trials = decision.trials.get(cause, ())
        found = proof_word(verdict, trials, language) if verdict else Message(
            "no intervention removes it here", "此处没有可移除它的干预"
        ).text(language)  # fmt: skip
        colon = "：" if language == "zh" else ": "
        lines.append(f"  {cause_word(cause, language)}{colon}{found}")
        lines += [f"    {trial_text(trial, language)}" for trial in trials]
    tried = [trial for trial in decision.pairs if trial.verdict != "proved"]
    if tried:
        lines.append(
            Message(
                f"  {len(tried)} pairs were tried and did not help", f"  另试了 {len(tried)} 组组合，均无帮助"
            ).text(language)
        )
    return lines


def cost_line(cost: ProofCost, language: Language) -> str:
    """What a dry run says."""
    from agent_reach.reports.figures import plural

    return Message(
        f"{plural(cost.decisions, 'lost decision')}: {plural(cost.singles, 'attempt')}, and at most {cost.pairs} more for pairs where no single change helps",
        f"{cost.decisions} 个失败决策：{cost.singles} 次尝试；若单项均无帮助，组合最多再需 {cost.pairs} 次",
    ).text(language)


def proof_document(result: ProofResult) -> dict[str, Any]:
    """The findings as JSON values."""
    from agent_reach.records.codec import to_json

    return {
        "decisions": [
            {
                "task_id": item.task_id,
                "step": item.step,
                "expected_tool": item.expected_tool,
                "unwanted": list(item.unwanted),
                "suspected": list(item.suspected),
                "verdicts": dict(item.verdicts),
                "untouched": list(item.untouched),
                "trials": {cause: to_json(trials) for cause, trials in item.trials.items()},
                "pairs": to_json(item.pairs),
            }
            for item in result.decisions
        ],
        "attempts": {"made": result.spent, "lost": result.lost},
        "ended_early": result.ended_early,
        "kept": result.kept,
    }


def prove_and_show(
    report: Any,
    settings: Any,
    *,
    suite: Any,
    environment: dict[str, str],
    language: Language,
    tasks: tuple[str, ...] = (),
    attempts: int = 10,
    budget: int | None = None,
    all_causes: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    outputs: tuple[Path, ...] = (),
) -> None:
    """Prove the causes of a report, show all that was found, write the report with its proofs to `outputs`."""
    from agent_reach.cli.output import echo, print_json
    from agent_reach.evals.interventions.prove import ProveOptions, proof_cost
    from agent_reach.evals.runner_setup import RunOptions
    from agent_reach.evals.trials.laboratory import LaboratoryOptions

    options = ProveOptions(attempts=attempts, tasks=tasks, all_causes=all_causes)
    if dry_run:
        laboratory = LaboratoryOptions(resume=resume, run=RunOptions(environment=environment))
        cost = proof_cost(settings, report, suite=suite, options=options, laboratory=laboratory)
        if as_json:
            print_json(
                {"decisions": cost.decisions, "attempts": cost.singles, "at_most_for_pairs": cost.pairs}
            )
        else:
            echo(cost_line(cost, language))
        return
    result = prove_and_write(
        report,
        settings,
        suite=suite,
        environment=environment,
        language=language,
        options=options,
        budget=budget,
        resume=resume,
        quiet=quiet,
        outputs=outputs,
    )
    if as_json:
        print_json(proof_document(result))
    else:
        show_lines(proof_lines(result, language))


def show_lines(lines: list[str], *, err: bool = False) -> None:
    """Write the lines as wide as the terminal is; what goes over stands further in than its line."""
    from agent_reach.cli.output import echo_wrapped

    for line in lines:
        lead = " " * (len(line) - len(line.lstrip(" ")))
        echo_wrapped(line[len(lead) :], first=lead, indent=f"{lead}    ", err=err)


def prove_and_write(
    report: Any,
    settings: Any,
    *,
    suite: Any,
    environment: dict[str, str],
    language: Language,
    options: ProveOptions,
    budget: int | None = None,
    resume: bool = False,
    quiet: bool = False,
    outputs: tuple[Path, ...] = (),
) -> ProofResult:
    """Prove the causes of a report and write the report with its proofs to `outputs`; only progress is shown."""
    from agent_reach.cli.output import echo
    from agent_reach.cli.progress import progress_listener
    from agent_reach.evals.interventions.prove import prove
    from agent_reach.evals.runner_setup import RunOptions
    from agent_reach.evals.trials.laboratory import LaboratoryOptions

    listener = progress_listener(language, quiet=quiet)
    laboratory = LaboratoryOptions(
        budget=budget, resume=resume, run=RunOptions(environment=environment, listeners=(listener,))
    )
    try:
        with listener:
            result = prove(settings, report, suite=suite, options=options, laboratory=laboratory)
    except KeyboardInterrupt:
        hint = Message(
            "stopped; finished attempts are kept, go on with --resume",
            "已停止；已完成的尝试已保存，可用 --resume 继续",
        )
        echo(hint.text(language), err=True)
        raise
    if outputs:
        from agent_reach.reports.json_report import write_report

        for path in outputs:
            write_report(result.report, path)
    return result
