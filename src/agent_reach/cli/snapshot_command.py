"""`agent-reach snapshot`: freeze the tool list in a lock file, or say whether it moved since."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_UNDECIDED
from agent_reach.cli.output import echo, echo_wrapped, language_option, print_findings, print_json
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.catalog.diff import CatalogDiff

LOCK_FILE = "catalog.lock.json"


@click.command()
@click.argument("source", required=False)
@click.option(
    "--check",
    is_flag=True,
    help="Compare with the lock file: exit 1 if the tools moved, 3 if a server failed.",
)
@click.option(
    "--approve",
    "approved",
    multiple=True,
    metavar="TOOL",
    help="Take this tool's present definition into the lock file, showing what changed; `all` takes every one.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help=f"The lock file (default: {LOCK_FILE} in the project)."
)
@click.option(
    "--overlay", type=click.Path(path_type=Path), help="Overlay file with notes, needs, effects, aliases."
)
@click.option("--server", help="Name of the server, where the source does not say it.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds each server has to start.",
)
@click.option("--force", is_flag=True, help="Write what was found although a server gave no answer.")
@click.option("--strict", is_flag=True, help="Fail on quarantined tools and error findings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@language_option
def command(
    source: str | None,
    check: bool,
    approved: tuple[str, ...],
    output: Path | None,
    overlay: Path | None,
    server: str | None,
    timeout: float,
    force: bool,
    strict: bool,
    as_json: bool,
    language: Language,
) -> int:
    """Freeze the tools of SOURCE in a lock file, with their hash.

    SOURCE is an mcpServers file, a saved tool list, an OpenAPI file, a Python module or file, or a snapshot; without it,
    the catalog that reach.yaml names. When a server gives no answer the lock file stays as it is and the exit code is 3.
    Example: agent-reach snapshot mcp.json --output catalog.lock.json
    """
    from agent_reach.catalog.snapshot import git_commit, load_snapshot, stamped, write_snapshot
    from agent_reach.cli.targets import check_targets

    given, laid_over, folder = chosen_source(source, overlay)
    target = output or folder / LOCK_FILE
    check_targets({"--output": target}, {"tool list": given, "overlay": laid_over})
    locked = load_snapshot(target) if check or approved else None
    catalog = load_source(given, laid_over, server=server, timeout=timeout, strict=strict)
    if locked is not None and approved:
        failed = failed_servers(catalog)
        if (
            failed
            and not force
            and ("all" in approved or any(catalog.resolve(name) is None for name in approved))
        ):
            return _refuse(catalog, failed, target, as_json, language)
        return _approve(locked, catalog, target, approved, as_json, language)
    if locked is not None:
        return _report_check(locked, catalog, target, as_json, language)
    failed = failed_servers(catalog)
    if failed and not force:
        return _refuse(catalog, failed, target, as_json, language)
    catalog = stamped(catalog, created_at=round(time.time(), 3), git_commit=git_commit(folder))
    write_snapshot(catalog, target)
    if as_json:
        print_json(_summary(catalog, str(target)))
    else:
        print_findings(catalog.findings, language)
        echo_wrapped(_written(catalog, target).text(language))
    return 0


def chosen_source(source: str | None, overlay: Path | None) -> tuple[Any, Any, Path]:
    """Source, overlay and folder: as given, else from the project that the current folder is in."""
    if source is not None:
        return source, overlay, Path(".")
    from agent_reach.config.project import find_project, load_project
    from agent_reach.errors import InputError

    file = find_project()
    if file is None:
        raise InputError(
            "no SOURCE is given and there is no reach.yaml here", next_step="agent-reach snapshot mcp.json"
        )
    project = load_project(file, os.environ)
    if not project.catalog:
        raise InputError(
            "the project names no catalog", where=str(file), next_step="add `catalog: mcp.json` to it"
        )
    return project.catalog, overlay or project.overlay or None, Path(project.folder)


def load_source(
    source: Any, overlay: Any, *, server: str | None, timeout: float, strict: bool = False
) -> Catalog:
    """The catalog of a source, with the environment of this process for `${VAR}`."""
    from agent_reach.catalog.catalog import Catalog

    return Catalog.load(
        source, overlay=overlay, server=server, environment=os.environ, timeout=timeout, strict=strict
    )


def failed_servers(catalog: Catalog) -> list[str]:
    """Names of the servers that gave no answer: what they offer is unknown, which is not the same as nothing."""
    return sorted({finding.subject for finding in catalog.findings if finding.code == "server_failed"})


def _refuse(catalog: Catalog, failed: list[str], target: Path, as_json: bool, language: Language) -> int:
    """A part of the tools is unknown: say so and leave the lock file alone."""
    names = ", ".join(failed)
    kept = target.exists()
    if as_json:
        print_json({**_summary(catalog, str(target)), "written": False, "failed_servers": failed})
    else:
        print_findings(catalog.findings, language)
    message = Message(
        f"{target}: {'left as it was' if kept else 'not written'}, for {names} gave no answer;"
        " mend the server, or write what was found with --force",
        f"{target}：{'保持不变' if kept else '未写入'}，因为 {names} 没有应答；请修好服务器，或用 --force 写入已得到的部分",
    )
    echo_wrapped(message.text(language), err=True)
    return EXIT_UNDECIDED


def _summary(catalog: Catalog, path: str) -> dict[str, Any]:
    from agent_reach.records.codec import to_json

    return {
        "path": path,
        "hash": catalog.hash,
        "tools": len(catalog.tools),
        "quarantined": [item.key for item in catalog.quarantined],
        "findings": to_json(catalog.findings),
    }


def _written(catalog: Catalog, path: Path) -> Message:
    bad = len(catalog.quarantined)
    english = f"{path}: {len(catalog.tools)} tools, {bad} quarantined, {catalog.hash}"
    return Message(english, f"{path}：{len(catalog.tools)} 个工具，{bad} 个被隔离，{catalog.hash}")


def _report_check(locked: Catalog, catalog: Catalog, path: Path, as_json: bool, language: Language) -> int:
    from agent_reach.catalog.diff import diff_catalogs

    difference = diff_catalogs(locked, catalog)
    failed = failed_servers(catalog)
    if as_json:
        print_json({**difference.document(), "failed_servers": failed})
    else:
        print_difference(difference, language)
    if failed:
        names = ", ".join(failed)
        message = Message(f"not decidable: no answer from {names}", f"无法判定：{names} 没有应答")
        echo_wrapped(message.text(language), err=True)
        return EXIT_UNDECIDED
    if not difference.drift and not as_json:
        echo(Message(f"{path}: no drift", f"{path}：没有漂移").text(language))
    return 1 if difference.drift else 0


def _approve(
    locked: Catalog, catalog: Catalog, path: Path, names: tuple[str, ...], as_json: bool, language: Language
) -> int:
    """Show the difference, then take the named tools into the lock file."""
    from agent_reach.catalog.diff import diff_catalogs
    from agent_reach.gateway.pinned import approve

    difference = diff_catalogs(locked, catalog)
    if not as_json:
        print_difference(difference, language)
    taken = approve(path, catalog, names, created_at=round(time.time(), 3))
    if as_json:
        print_json({**difference.document(), "approved": list(taken)})
    else:
        listed = ", ".join(taken) or "-"
        echo(Message(f"{path}: approved {listed}", f"{path}：已批准 {listed}").text(language))
    return 0


_KIND_WORDS = {
    "wider": Message("WIDER", "扩权"),
    "breaking": Message("BREAKING", "破坏"),
    "compatible": Message("compatible", "兼容"),
    "wording": Message("wording", "措辞"),
}


def print_difference(difference: CatalogDiff, language: Language) -> None:
    """Write a catalog difference, one entry a change."""
    for rename in difference.renamed:
        sure = (
            Message("", "")
            if rename.exact
            else Message(f" ({rename.score:.0%} alike)", f"（相似 {rename.score:.0%}）")
        )
        echo_wrapped(f"~ {rename.old} -> {rename.new}{sure.text(language)}")
    marks = (
        ("+", difference.added, Message("added", "新增")),
        ("-", difference.removed, Message("removed", "删除")),
        ("x", difference.quarantined, Message("quarantined", "被隔离")),
        ("+", difference.released, Message("usable again", "恢复可用")),
    )
    for mark, keys, word in marks:
        for key in keys:
            note = Message(" (writes)", "（会写入）").text(language) if key in difference.added_writes else ""
            echo_wrapped(f"{mark} {key} {word.text(language)}{note}")
    for tool in difference.changed:
        echo_wrapped(f"* {tool.key}")
        for change in tool.changes:
            kind = _KIND_WORDS[change.kind].text(language)
            text = f"{change.field}{change.pointer}: {change.message.text(language)}"
            echo_wrapped(text, first=f"    {kind:<10} ", indent="      ")
            if change.kind == "wording" and isinstance(change.before, str) and isinstance(change.after, str):
                echo_wrapped(_line(change.before), first="      - ", indent="        ")
                echo_wrapped(_line(change.after), first="      + ", indent="        ")
    if difference.old_hash != difference.new_hash:
        echo(f"{difference.old_hash}\n-> {difference.new_hash}")


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 160 else flat[:157] + "..."
