"""`agent-reach map`: what the agent can reach among its tools, what it cannot, and what a change broke."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.output import echo, language_option, print_findings, print_json, write_whole
from agent_reach.cli.targets import check_targets
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants, ProjectConfig
    from agent_reach.graph.build import ToolGraph
    from agent_reach.records.trace import Trace

FORMATS = ("text", "json", "dot", "svg", "mermaid", "graphml", "html")


@click.command(name="map")
@click.argument("source", required=False)
@click.option(
    "--traces",
    "traces",
    multiple=True,
    metavar="FILE|STORE",
    help="What happened: trace files of any known form, or a store.",
)
@click.option(
    "--suite", "suites", multiple=True, help="Task suite (file, or name in reach.yaml): golden paths."
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="REPORT",
    help="Run report (file or run id): was the right tool chosen?",
)
@click.option("--overlay", help="Overlay file: needs, aliases, partitions, edges by hand.")
@click.option("--environment", "environment_name", help="Environment of reach.yaml whose grants count.")
@click.option("--probe", "with_probe", is_flag=True, help="Start the servers here and count what is blocked.")
@click.option(
    "--compare",
    "old",
    metavar="OLD",
    help="Map written as JSON, or an older tool list: say what differs and gate.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Form of the output.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--output", type=click.Path(path_type=Path), help="File to write (default: stdout).")
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@language_option
def command(
    source: str | None,
    traces: tuple[str, ...],
    suites: tuple[str, ...],
    reports: tuple[str, ...],
    overlay: str | None,
    environment_name: str | None,
    with_probe: bool,
    old: str | None,
    form: str,
    as_json: bool,
    output: Path | None,
    config: str | None,
    language: Language,
) -> int:
    """Draw what the agent can reach among the tools of SOURCE (default: the project's), and what it cannot.

    With --compare, exit code 1 says that the release gate does not hold: the reach rate fell, a tool died, a target is more
    than 3 hops away, a cycle appeared, or a permission got narrower; 3 that the two cannot be compared.
    """
    from agent_reach.cli.sources import find_project_config, load_catalog_from
    from agent_reach.graph.analysis import analyse
    from agent_reach.graph.build import ToolGraph
    from agent_reach.graph.options import GraphOptions

    project = find_project_config(config)
    check_targets(
        {"--output": output},
        {
            "tool list": [source, project.catalog if project is not None else None],
            "overlay": [overlay, project.overlay if project is not None else None],
            "project file": [config, project.source if project is not None else None],
            "suite": [*suites, *(project.suites.values() if project is not None else ())],
            "traces": list(traces),
            "report": list(reports),
            "map to compare with": old,
        },
    )
    catalog = load_catalog_from(source, project=project, overlay=overlay)
    options = (
        GraphOptions.from_mapping(project.map) if project is not None and project.map else GraphOptions()
    )
    graph = ToolGraph.build(
        catalog,
        read_traces(traces) if traces else None,
        paths=[task for suite in suites for task in _tasks(suite, project)] or None,
        reports=[_report(name) for name in reports],
        grants=grants_of(environment_name, project),
        physical=_probed(source, project, overlay) if with_probe else None,
        options=options,
    )
    analysis = analyse(graph)
    print_findings(analysis.findings, language)
    if old is not None:
        return _compared(old, graph, "json" if as_json else form, output, language)
    text = _rendered(graph, analysis, "json" if as_json else form, language)
    if output is not None:
        write_whole(output, text)
    else:
        echo(text.rstrip("\n"))
    return 0


def _rendered(graph: ToolGraph, analysis: Any, form: str, language: Language) -> str:
    import json

    if form == "json":
        from agent_reach.graph.document import map_document

        return json.dumps(map_document(graph, analysis), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if form == "html":
        from agent_reach.graph.render.html import render_map_html

        return render_map_html(graph, analysis, language)
    if form == "text":
        from agent_reach.graph.render.text import map_lines

        return "\n".join(map_lines(graph, analysis, language)) + "\n"
    from agent_reach.graph.render.marks import picture
    from agent_reach.graph.render.plain import to_dot, to_graphml, to_mermaid
    from agent_reach.graph.render.svg import to_svg

    if form == "graphml":
        return to_graphml(graph)
    drawn = picture(graph, analysis, language)
    return (
        to_dot(drawn)
        if form == "dot"
        else to_mermaid(drawn)
        if form == "mermaid"
        else to_svg(drawn, language)
    )


def _compared(old: str, graph: ToolGraph, form: str, output: Path | None, language: Language) -> int:
    from agent_reach.graph.compare import compare
    from agent_reach.graph.render.text import comparison_lines
    from agent_reach.records.codec import to_json

    result = compare(_old_side(old, graph), graph)
    if form == "json":
        document = {**to_json(result), "exit_code": result.exit_code}
        if output is not None:
            import json

            write_whole(output, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
        else:
            print_json(document)
    else:
        text = "\n".join(comparison_lines(result, language)) + "\n"
        if output is not None:
            write_whole(output, text)
        else:
            echo(text.rstrip("\n"))
    return result.exit_code


def _old_side(old: str, graph: ToolGraph) -> Any:
    """The older map: a map document, or a tool list mapped with the same settings and no traces."""
    import os

    from agent_reach.catalog.catalog import Catalog
    from agent_reach.errors import InputError
    from agent_reach.graph.build import ToolGraph
    from agent_reach.graph.document import read_map

    try:
        return read_map(old)
    except InputError as error:
        if error.message != "is no map" and (not Path(old).exists() or Path(old).suffix == ".json"):
            raise
        catalog = Catalog.load(old, environment=os.environ)
        return ToolGraph.build(catalog, grants=graph.grants, options=graph.options)


def read_traces(names: tuple[str, ...]) -> list[Trace]:
    """The traces of files and stores, in the order given."""
    from agent_reach.traces.importers.read import import_traces
    from agent_reach.traces.store.base import TraceStore

    found: list[Trace] = []
    for name in names:
        if "://" in name or name.endswith((".db", ".sqlite", ".sqlite3")):
            with TraceStore.open(name, read_only=True) as store:
                found.extend(store.iterate())
        else:
            found.extend(import_traces(name))
    return found


def grants_of(name: str | None, project: ProjectConfig | None) -> EnvironmentGrants | None:
    """The grants of a named environment of the project."""
    from agent_reach.errors import ConfigError
    from agent_reach.text.tokens import nearest_names

    if name is None:
        return None
    known = dict(project.environments) if project is not None else {}
    if name not in known:
        near = nearest_names(name, list(known), limit=1)
        step = (
            f"did you mean {near[0]!r}?"
            if near
            else f"known: {', '.join(known) or 'none; add environments to reach.yaml'}"
        )
        raise ConfigError(f"no environment is named {name!r}", next_step=step)
    return known[name]


def _tasks(name: str, project: ProjectConfig | None) -> Any:
    from agent_reach.evals.suite.load import Suite

    path = project.suites[name] if project is not None and name in project.suites else name
    return Suite.load(path).tasks


def _report(name: str) -> Any:
    from agent_reach.reports.json_report import read_report
    from agent_reach.reports.locate import locate_report

    return read_report(locate_report(name))


def _probed(
    source: str | None, project: ProjectConfig | None, overlay: str | None
) -> dict[str, tuple[str, tuple[str, ...]]]:
    import os

    from agent_reach.probe.probe import ProbeOptions, probe

    chosen: Any = source if source is not None else (project.catalog if project is not None else None)
    result = probe(chosen, ProbeOptions(environment=os.environ), overlay=overlay)
    return {
        tool.tool: (tool.state, tuple(f"{check.kind}:{check.name}" for check in tool.blockers))
        for tool in result.tools
    }
