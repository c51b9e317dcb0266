"""Finding a report by what a person types: a file, a folder that holds one, the id of an archived run or its beginning.

It looks at names of files only; whether a file is a report is said by `json_report`.
"""

from __future__ import annotations

from pathlib import Path

from agent_reach.errors import ReportError
from agent_reach.text.tokens import nearest_names

RUNS = Path(".agent-reach") / "runs"
REPORT_NAME = "report.json"


def locate_report(name: str, runs: Path = RUNS) -> Path:
    """The report file that `name` means; raises `ReportError` with the runs there are.

    A path wins over a run id; a beginning that several runs share is refused with their ids.
    """
    path = Path(name)
    if path.is_file():
        return path
    if path.is_dir() and (path / REPORT_NAME).is_file():
        return path / REPORT_NAME
    archived = _archived(runs)
    if name in archived:
        return archived[name]
    if "/" not in name and "\\" not in name and name:
        begins = [run for run in archived if run.startswith(name)]
        if len(begins) == 1:
            return archived[begins[0]]
        if begins:
            raise ReportError(
                f"{name!r} is the beginning of {len(begins)} runs: {', '.join(begins[-5:])}",
                where=str(runs),
                next_step="write more of the id",
            )
    near = nearest_names(name, list(archived), limit=3)
    if near:
        step = f"did you mean {', '.join(map(repr, near))}?"
    elif archived:
        step = f"the newest run here is {list(archived)[-1]!r}"
    else:
        step = "give the path of a report.json, or write one with `agent-reach run`"
    raise ReportError(f"no report file and no run is named {name!r}", where=str(runs), next_step=step)


def _archived(runs: Path) -> dict[str, Path]:
    """Run id -> report file, oldest first (ids begin with their time)."""
    if not runs.is_dir():
        return {}
    found = {entry.name: entry / REPORT_NAME for entry in runs.iterdir() if (entry / REPORT_NAME).is_file()}
    return dict(sorted(found.items()))
