"""`agent-reach sweep`: reach against tool count, position, passages and context load; or a prediction without a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GOOD, EXIT_UNDECIDED
from agent_reach.cli.output import echo, language_option, print_json, write_whole
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.evals.sweep.points import SweepOptions

_FILE = click.Path(path_type=Path, dir_okay=False)
_OWN_DISTRACTORS = ("catalog", "near")


@click.command("sweep", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--suite", help="Name of a suite of the configuration, or a suite file.")
@click.option("--config", default="config.yaml", show_default=True, help="The run configuration.")
@click.option("--tools", default="", metavar="N,N,...", help="Tool counts: 10,20,50,100,200.")
@click.option(
    "--position", default="", metavar="X,X,...", help="Places of the right tool: 0 (first) to 1 (last)."
)
@click.option("--passages", default="", metavar="N,N,...", help="Numbers of retrieved passages: 0,2,5,10.")
@click.option("--tokens", default="", metavar="N,N,...", help="Tokens of context load: 0,1000,4000.")
@click.option("--exposure", default="all", show_default=True, help="all, reach, or both: all,reach.")
@click.option(
    "--distractors",
    default="catalog",
    show_default=True,
    help="Where further tools come from: catalog, near (most alike first), or the file of another catalog.",
)
@click.option(
    "--at-tools", type=click.IntRange(min=1), help="Tools in the list on the other axes (default: all)."
)
@click.option(
    "--target",
    default=0.8,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Reach that the capacity keeps.",
)
@click.option(
    "--repeats", default=1, show_default=True, type=click.IntRange(min=1), help="Attempts per task and point."
)
@click.option("--seed", default=0, show_default=True, help="Of the draw of distractors.")
@click.option("--budget", type=click.IntRange(min=0), help="Most attempts.")
@click.option("--dry-run", is_flag=True, help="Say how many attempts it would make.")
@click.option("--resume", is_flag=True, help="Go on with the attempts that were kept.")
@click.option("--csv", "csv_file", type=_FILE, help="Write the points as CSV.")
@click.option("--json-file", type=_FILE, help="Write everything as JSON.")
@click.option("--svg", type=_FILE, help="Write the picture.")
@click.option("--html", type=_FILE, help="Write a page with picture and figures.")
@click.option(
    "--predict", metavar="CATALOG", help="Say what adding this catalog would do; no model is asked."
)
@click.option(
    "--report", "report_file", type=_FILE, help="With --predict: a run on this catalog to calibrate on."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
@language_option
def command(
    suite: str | None,
    config: str,
    budget: int | None,
    dry_run: bool,
    resume: bool,
    csv_file: Path | None,
    json_file: Path | None,
    svg: Path | None,
    html: Path | None,
    predict: str | None,
    report_file: Path | None,
    as_json: bool,
    quiet: bool,
    language: Language,
    **axes: Any,
) -> int:
    """Measure reach against tool count, position of the right tool, passages and context load.

    Lists are nested: 20 tools hold the 10. Attempts in which nothing differs are made once. Exit code 3 when more than 5% of
    the attempts were lost.
    """
    from agent_reach.cli.targets import files_of_run
    from agent_reach.evals.runner_setup import RunOptions, resolve_config
    from agent_reach.evals.trials.laboratory import LaboratoryOptions

    environment = dict(os.environ)
    settings = resolve_config(config, environment)
    places = {"csv": csv_file, "json": json_file, "svg": svg, "html": html}
    given = {"distractors": axes["distractors"], "catalog of --predict": predict, "report": report_file}
    _check_given(places, given, axes["target"], files_of_run(settings, config=config, suite=suite))
    if predict is not None:
        _predict(settings, predict, report_file, environment, as_json=as_json, language=language)
        return EXIT_GOOD
    from agent_reach.cli.progress import progress_listener
    from agent_reach.evals.sweep.sweep import sweep, sweep_cost
    from agent_reach.evals.sweep.writing import sweep_document, sweep_lines

    options = _options(axes, environment)
    listener = progress_listener(language, quiet=quiet)
    laboratory = LaboratoryOptions(
        budget=budget,
        resume=resume,
        run=RunOptions(environment=environment, listeners=() if dry_run else (listener,)),
    )
    if dry_run:
        cost = sweep_cost(settings, options, suite=suite, laboratory=laboratory)
        if as_json:
            print_json({"points": cost.points, "asked": cost.asked, "needed": cost.needed})
        else:
            _say_cost(cost, language)
        return EXIT_GOOD
    with listener:
        result = sweep(settings, options, suite=suite, laboratory=laboratory)
    _write(result, places, language)
    if as_json:
        print_json(sweep_document(result))
    else:
        for line in sweep_lines(result, language):
            echo(line)
    total = result.lost + sum(point.attempts for point in result.points)
    return EXIT_UNDECIDED if total and result.lost / total > 0.05 else EXIT_GOOD


def _check_given(
    places: dict[str, Path | None], given: dict[str, Any], target: float, read: dict[str, Any]
) -> None:
    """Refuse what no sweep can be asked for, before anything is loaded or run."""
    from agent_reach.cli.targets import check_targets
    from agent_reach.errors import InputError

    if target != target:  # only NaN; a range of numbers lets it pass
        raise InputError("nan is no share", where="--target", next_step="give a number from 0 to 1")
    flags = {"csv": "--csv", "json": "--json-file", "svg": "--svg", "html": "--html"}
    if given["distractors"] in _OWN_DISTRACTORS:
        given = {**given, "distractors": None}
    check_targets({flags[name]: place for name, place in places.items()}, {**read, **given})


def _say_cost(cost: Any, language: Language) -> None:
    from agent_reach.records.message import Message

    said = Message(
        f"{cost.points} points, {cost.asked} attempts, {cost.needed} to be made when equal ones are shared",
        f"{cost.points} 个点，{cost.asked} 次尝试；相同的尝试共享后需要 {cost.needed} 次",
    )
    echo(said.text(language))


def _options(axes: dict[str, Any], environment: dict[str, str]) -> SweepOptions:
    from agent_reach.errors import InputError
    from agent_reach.evals.sweep.points import SweepOptions

    exposure = tuple(dict.fromkeys(word.strip() for word in axes["exposure"].split(",") if word.strip()))
    if not exposure or any(word not in ("all", "reach") for word in exposure):
        raise InputError(
            f"{axes['exposure']!r} is no exposure", where="--exposure", next_step="all, reach, or all,reach"
        )
    named = axes["distractors"]
    other = None
    if named not in _OWN_DISTRACTORS:
        from agent_reach.catalog.catalog import Catalog

        other = Catalog.load(named, environment=environment)
    return SweepOptions(
        tools=_whole(axes["tools"], "--tools"),
        position=_numbers(axes["position"], "--position"),
        passages=_whole(axes["passages"], "--passages"),
        tokens=_whole(axes["tokens"], "--tokens"),
        exposure=exposure,
        distractors="near" if named == "near" else "catalog",
        other=other,
        at_tools=axes["at_tools"],
        repeats=axes["repeats"],
        target=axes["target"],
        seed=axes["seed"],
    )


def _numbers(text: str, where: str) -> tuple[float, ...]:
    from agent_reach.errors import InputError

    try:
        found = tuple(float(word) for word in text.replace(" ", "").split(",") if word)
    except ValueError:
        found = (-1.0,)
    if any(value < 0 or value != value or value == float("inf") for value in found):
        raise InputError(f"{text!r} is no list of numbers", where=where, next_step="write 10,20,50")
    return found


def _whole(text: str, where: str) -> tuple[int, ...]:
    from agent_reach.errors import InputError

    found = _numbers(text, where)
    if any(value != int(value) for value in found):
        raise InputError(f"{text!r} is no list of whole numbers", where=where, next_step="write 10,20,50")
    return tuple(int(value) for value in found)


def _write(result: Any, places: dict[str, Path | None], language: Language) -> None:
    import json

    from agent_reach.evals.sweep.drawing import draw
    from agent_reach.evals.sweep.page import render_page
    from agent_reach.evals.sweep.writing import sweep_csv, sweep_document

    makers = {
        "csv": lambda: sweep_csv(result),
        "json": lambda: json.dumps(sweep_document(result), ensure_ascii=False, indent=1) + "\n",
        "svg": lambda: draw(result, language),
        "html": lambda: render_page(result, language),
    }
    for name, place in places.items():
        if place is not None:
            write_whole(place, makers[name]())


def _predict(
    settings: Any,
    added: str,
    report_file: Path | None,
    environment: dict[str, str],
    *,
    as_json: bool,
    language: Language,
) -> None:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.evals.runner_setup import load_catalog
    from agent_reach.evals.sweep.predict import predict
    from agent_reach.evals.sweep.prediction_text import prediction_lines
    from agent_reach.records.codec import to_json

    report = None
    if report_file is not None:
        from agent_reach.reports.json_report import read_report

        report = read_report(report_file)
    catalog = load_catalog(settings, environment)
    found = predict(catalog, Catalog.load(added, environment=environment), report)
    if as_json:
        print_json(to_json(found))
        return
    for line in prediction_lines(found, language):
        echo(line)
