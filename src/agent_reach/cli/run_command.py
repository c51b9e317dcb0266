"""`agent-reach run`: run a suite against the configured agent, write a report, say what it says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD, EXIT_UNDECIDED
from agent_reach.cli.output import echo, language_option, print_json, write_whole
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.config.settings import RunConfig
    from agent_reach.evals.runner_limits import Limit


@click.command("run", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--suite", help="Name of a suite of the configuration, or a suite file.")
@click.option("--config", default="config.yaml", show_default=True, help="The run configuration.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write report.json here.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the HTML report here.")
@click.option(
    "--markdown", type=click.Path(path_type=Path, dir_okay=False), help="Write the Markdown report here."
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML here.")
@click.option("--repeats", type=click.IntRange(min=1), help="Attempts per task.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Attempts at a time.")
@click.option(
    "--resume", is_flag=True, help="Go on with the newest run of the same suite, catalog and settings."
)
@click.option("--tag", "tags", multiple=True, help="Only tasks with this tag (`!tag`: without it).")
@click.option("--task", "patterns", multiple=True, help="Only tasks whose id fits this glob.")
@click.option("--kind", "kinds", multiple=True, help="Only tasks of this kind: must, may, forbid.")
@click.option(
    "--confirm",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="BASELINE",
    help="Compare with this report and repeat only the tasks that moved until the verdict is clear.",
)
@click.option("--confirm-budget", default=200, show_default=True, help="Most further attempts of --confirm.")
@click.option(
    "--threshold", type=float, help="Drop that --confirm asks about (default: the configuration's)."
)
@click.option(
    "--fail-under",
    metavar="[METRIC=]SHARE",
    help="Exit 1 when the metric (tool_reachability unless named) is below this share.",
)
@click.option(
    "--fail-over",
    metavar="METRIC=SHARE",
    multiple=True,
    help="Exit 1 when the metric, one where less is better (over_call_rate), is above this share; repeatable.",
)
@click.option(
    "--prove", is_flag=True, help="Put the causes of all lost decisions to the proof after the run."
)
@click.option(
    "--prove-attempts",
    default=10,
    show_default=True,
    type=click.IntRange(min=1),
    help="Attempts a side of --prove.",
)
@click.option("--prove-budget", type=click.IntRange(min=0), help="Most attempts of --prove.")
@click.option("--prove-all-causes", is_flag=True, help="With --prove: try every intervention that applies.")
@click.option("--json", "as_json", is_flag=True, help="Print run, catalog, metrics and causes as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
@language_option
def command(
    suite: str | None,
    config: str,
    report: Path | None,
    html: Path | None,
    markdown: Path | None,
    junit: Path | None,
    repeats: int | None,
    concurrency: int | None,
    resume: bool,
    tags: tuple[str, ...],
    patterns: tuple[str, ...],
    kinds: tuple[str, ...],
    confirm: Path | None,
    confirm_budget: int,
    threshold: float | None,
    fail_under: str | None,
    fail_over: tuple[str, ...],
    prove: bool,
    prove_attempts: int,
    prove_budget: int | None,
    prove_all_causes: bool,
    as_json: bool,
    quiet: bool,
    language: Language,
) -> int:
    """Run a suite and write its report.

    Exit code 0 when the run finished; 1 with --fail-under, --fail-over or --confirm without a pass; 3 when more than
    5% of the attempts were lost to model, servers or network.
    """
    from agent_reach.cli.idle_flags import refuse_idle_flags
    from agent_reach.cli.progress import progress_listener
    from agent_reach.evals.runner import run
    from agent_reach.evals.runner_limits import parse_limit
    from agent_reach.evals.runner_setup import RunOptions, resolve_config

    if not prove:
        refuse_idle_flags("--prove", "prove_attempts", "prove_budget", "prove_all_causes")
    environment = dict(os.environ)
    settings = resolve_config(config, environment)
    if prove:
        from agent_reach.evals.interventions.prove import refuse_recorded

        refuse_recorded(settings)
    given = fail_under if fail_under is not None else settings.gate.fail_under
    limit = parse_limit(given) if given is not None else None
    limits = [] if limit is None else [limit]
    limits += [parse_limit(text, most=True) for text in fail_over]
    outputs = {"--report": report, "--html": html, "--markdown": markdown, "--junit": junit}
    _refuse_inputs_as_outputs(outputs, settings, config=config, suite=suite, confirm=confirm)
    filters = {"tags": tags, "patterns": patterns, "kinds": kinds}
    listener = progress_listener(language, quiet=quiet)
    options = RunOptions(
        repeats=repeats,
        concurrency=concurrency,
        resume=resume,
        listeners=(listener,),
        environment=environment,
        select={name: values for name, values in filters.items() if values},
    )
    gate: Any = None
    try:
        with listener:
            if confirm is None:
                result = run(settings, suite=suite, report=report, options=options)
            else:
                from agent_reach.evals.runner_confirm import confirm_run

                result, gate = confirm_run(
                    settings,
                    confirm,
                    suite=suite,
                    report=report,
                    options=options,
                    budget=confirm_budget,
                    threshold=settings.gate.threshold if threshold is None else threshold,
                )
    except KeyboardInterrupt:
        hint = Message(
            "stopped; finished attempts are kept, go on with --resume",
            "已停止；已完成的尝试已保存，可用 --resume 继续",
        )
        echo(hint.text(language), err=True)
        raise
    proofs: Any = None
    if prove:
        from agent_reach.cli.proof_output import prove_and_write
        from agent_reach.evals.interventions.prove import ProveOptions

        archived = Path(settings.archive) / result.run.id / "report.json"
        proofs = prove_and_write(
            result,
            settings,
            suite=suite,
            environment=environment,
            language=language,
            options=ProveOptions(attempts=prove_attempts, all_causes=prove_all_causes),
            budget=prove_budget,
            resume=resume,
            quiet=quiet,
            outputs=(archived, report) if report else (archived,),
        )
        result = proofs.report
    _write_forms(result, {"html": html, "markdown": markdown, "junit": junit}, language)
    _show(result, language, as_json=as_json)
    if proofs is not None:
        from agent_reach.cli.proof_output import short_proof_lines, show_lines

        place = str(report) if report else result.run.id
        show_lines(["", *short_proof_lines(proofs, language, place=place)], err=as_json)
    if not result.sufficient:
        return EXIT_UNDECIDED
    if gate is not None:
        return _gate_exit(gate, settings.gate.on_suspect, language)
    return _limits_exit(result, limits, language)


def _refuse_inputs_as_outputs(
    outputs: dict[str, Path | None],
    settings: RunConfig,
    *,
    config: str,
    suite: str | None,
    confirm: Path | None,
) -> None:
    from agent_reach.cli.targets import check_targets, files_of_run

    read = files_of_run(settings, config=config, suite=suite)
    check_targets(outputs, {**read, "baseline of --confirm": confirm})


def _show(report: Any, language: Language, *, as_json: bool) -> None:
    if as_json:
        from agent_reach.reports.json_report import summary_document

        print_json(summary_document(report))
    else:
        from agent_reach.reports.terminal import summary_lines

        for line in summary_lines(report, language):
            echo(line)


def _write_forms(report: Any, places: dict[str, Path | None], language: Language) -> None:
    for name, place in places.items():
        if place is not None:
            from agent_reach.reports.base import load_format

            write_whole(place, load_format(name).render(report, language))


def _gate_exit(gate: Any, on_suspect: str, language: Language) -> int:
    echo(gate.headline.text(language), err=True)
    if gate.verdict == "regression" or (gate.verdict == "suspect" and on_suspect == "fail"):
        return EXIT_GATE
    return EXIT_UNDECIDED if gate.verdict in ("incomparable", "insufficient") else EXIT_GOOD


def _limits_exit(report: Any, limits: list[Limit], language: Language) -> int:
    """Every limit is looked at and told; a limit that is broken counts more than one that could not be judged."""
    codes = [_limit_exit(report, limit, language) for limit in limits]
    return EXIT_GATE if EXIT_GATE in codes else max(codes, default=EXIT_GOOD)


def _limit_exit(report: Any, limit: Limit, language: Language) -> int:
    name = limit.metric
    value = report.metrics[name].value if name in report.metrics else None
    if value is None:
        words = Message(f"{name} was not evaluated", f"{name} 未评估")
        echo(words.text(language), err=True)
        return EXIT_UNDECIDED
    if limit.holds(value):
        return EXIT_GOOD
    from agent_reach.evals.figures import NOT_A_SHARE

    side = Message("above", "高于") if limit.most else Message("below", "低于")
    found, wanted = (
        f"{number:.2f}" if name in NOT_A_SHARE else f"{number:.1%}" for number in (value, limit.share)
    )
    words = Message(f"{name} {found} is {side.en} {wanted}", f"{name} 为 {found}，{side.zh} {wanted}")
    echo(words.text(language), err=True)
    return EXIT_GATE
