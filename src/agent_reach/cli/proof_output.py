"""What `explain --prove` and `run --prove` share: the options as records, and how proofs are shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.evals.interventions.prove import ProofCost, ProofResult, ProvedDecision


def proof_lines(result: ProofResult, language: Language) -> list[str]:
    """The finding on each decision: causes with their verdicts, and what each experiment did and showed."""
    from agent_reach.reports.figures import plural

    lines: list[str] = []
    for decision in result.decisions:
        lines += _decision(decision, language)
    if not result.decisions:
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


def _decision(decision: ProvedDecision, language: Language) -> list[str]:
    from agent_reach.reports.proof_text import trial_text
    from agent_reach.reports.wording import PROOFS, cause_word

    right, total = decision.untouched
    if decision.step is None:
        tools = ", ".join(decision.unwanted) or "-"
        head = Message(
            f"{decision.task_id}, calls that should not have been made ({tools}): none in {right} of {total} untouched attempts",
            f"{decision.task_id}，不应有的调用（{tools}）：未改动时 {total} 次中 {right} 次没有出现",
        )
    else:
        head = Message(
            f"{decision.task_id}, decision {decision.step + 1} ({decision.expected_tool}): right in {right} of {total} untouched attempts",
            f"{decision.task_id}，决策 {decision.step + 1}（{decision.expected_tool}）：未改动时 {total} 次中 {right} 次正确",
        )
    lines = [head.text(language)]
    order = {"proved": 0, "undecided": 1, "refuted": 2, "": 3}
    for cause, verdict in sorted(decision.verdicts.items(), key=lambda item: order[item[1]]):
        word = PROOFS[verdict].text(language) if verdict else Message(
            "no intervention removes it here", "此处没有可移除它的干预"
        ).text(language)  # fmt: skip
        colon = "：" if language == "zh" else ": "
        lines.append(f"  {cause_word(cause, language)}{colon}{word}")
        lines += [f"    {trial_text(trial, language)}" for trial in decision.trials.get(cause, ())]
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
    to_stderr: bool = False,
    outputs: tuple[Path, ...] = (),
) -> Any:
    """Prove the causes of a report, show what was found, write the report with its proofs to `outputs`."""
    from agent_reach.cli.output import echo, print_json
    from agent_reach.cli.progress import progress_listener
    from agent_reach.evals.interventions.prove import ProveOptions, proof_cost, prove
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
        return report
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
    if as_json:
        print_json(proof_document(result))
    else:
        for line in proof_lines(result, language):
            echo(line, err=to_stderr)
    return result.report
