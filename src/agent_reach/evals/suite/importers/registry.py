"""The table of importers, and the choice of one by what a source looks like."""

from __future__ import annotations

import zipfile
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from agent_reach.config.fields import did_you_mean
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.importers.base import ImportedTasks, ImportOptions, SuiteImporter
from agent_reach.evals.suite.importers.bfcl import BfclImporter
from agent_reach.evals.suite.importers.tau2 import Tau2Importer
from agent_reach.evals.suite.importers.taubench import TauBenchImporter

ENTRY_POINT_GROUP = "agent_reach.suite_importers"

IMPORTERS: dict[str, SuiteImporter] = {
    importer.name: importer for importer in (BfclImporter(), Tau2Importer(), TauBenchImporter())
}


def importers() -> dict[str, SuiteImporter]:
    """Those built in, and those that plug-ins bring (entry points of `agent_reach.suite_importers`)."""
    from importlib.metadata import entry_points

    found = dict(IMPORTERS)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found[point.name] = point.load()()
    return found


def import_tasks(path: str | Path, form: str = "", options: ImportOptions | None = None) -> ImportedTasks:
    """The tasks at `path`, read by the importer named `form`, or by the one that recognizes it."""
    known = importers()
    if form and form not in known:
        raise SuiteError(f"no importer is named {form!r}", next_step=did_you_mean(form, known))
    source = open_source(Path(path))
    importer = known[form] if form else _recognized(source, known, str(path))
    imported = importer.read(source, options or ImportOptions())
    if not imported.tasks:
        raise SuiteError(
            "nothing to import: no task was found", where=str(path), next_step="check path and categories"
        )
    return imported


def open_source(path: Path) -> Traversable:
    """A file or folder, or the inside of a wheel or zip file."""
    if not path.exists():
        raise SuiteError("no such file or folder", where=str(path), next_step="check the path")
    if path.is_file() and zipfile.is_zipfile(path):
        return cast(Traversable, zipfile.Path(path))
    return path


def _recognized(source: Traversable, known: dict[str, SuiteImporter], path: str) -> SuiteImporter:
    for importer in known.values():
        if importer.recognizes(source):
            return importer
    raise SuiteError(
        "this is none of the known forms of task sets",
        where=path,
        next_step=f"name the form with --from {'|'.join(known)}",
    )
