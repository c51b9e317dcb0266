"""What `traces replay` does with the traces it was given: settings, replay or static check, and what is printed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD
from agent_reach.cli.output import echo, print_json
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.records.trace import Trace


def replay_and_show(
    traces: Sequence[Trace],
    *,
    config: str,
    catalog: str,
    overlay: str,
    exposure: Any,
    mode: Any,
    step: int,
    static: bool,
    as_json: bool,
    language: Language,
) -> int:
    """Replay or check, print, and say whether everything was the same."""
    from agent_reach.errors import InputError
    from agent_reach.evals.runner_setup import RunOptions, load_catalog, resolve_config

    if not traces:
        raise InputError("no trace is named", next_step="give ids of stored traces, or --traces FILE")
    environment = dict(os.environ)
    settings = resolve_config(config, environment)
    changes: dict[str, Any] = {}
    if exposure is not None:
        changes["exposure"] = replace(settings.exposure, mode=exposure)
    if catalog:
        changes |= {"catalog": catalog, "overlay": overlay}
    elif overlay:
        changes["overlay"] = overlay
    settings = replace(settings, **changes)
    loaded = load_catalog(settings, environment)
    if static:
        return _static(traces, settings, loaded, as_json=as_json, language=language)
    from agent_reach.evals.replay.replay import ReplayOptions, replay
    from agent_reach.evals.replay.text import replay_document, replay_lines
    from agent_reach.evals.trials.laboratory import LaboratoryOptions

    laboratory = LaboratoryOptions(run=RunOptions(environment=environment, catalog=loaded))
    results = replay(traces, settings, options=ReplayOptions(mode=mode, until=step), laboratory=laboratory)
    if as_json:
        print_json([replay_document(result) for result in results])
    else:
        for result in results:
            for line in replay_lines(result, language):
                echo(line)
    return EXIT_GOOD if all(result.is_same for result in results) else EXIT_GATE


def _static(traces: Sequence[Trace], settings: Any, loaded: Any, *, as_json: bool, language: Language) -> int:
    from agent_reach.evals.replay.compare import check_walk
    from agent_reach.evals.replay.text import check_lines
    from agent_reach.records.codec import to_json

    router = None
    if settings.exposure.mode == "reach":
        from agent_reach.router.reach import Reach

        options = {name: value for name, value in settings.exposure.settings.items() if name != "k"}
        router = Reach(loaded, **options)
    k = int(settings.exposure.settings.get("k", 8))
    found = [(trace, check_walk(trace, loaded, router, k=k)) for trace in traces]
    if as_json:
        print_json([{"trace_id": trace.trace_id, "calls": to_json(checks)} for trace, checks in found])
    else:
        for trace, checks in found:
            echo(f"{trace.trace_id}: {trace.query[:160]}")
            for line in check_lines(checks, language, routed=router is not None):
                echo(line)
    fine = all(
        check.tool is not None and not check.problems and (router is None or check.place is not None)
        for _, checks in found
        for check in checks
    )
    return EXIT_GOOD if fine else EXIT_GATE
