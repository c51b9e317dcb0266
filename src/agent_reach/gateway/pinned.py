"""The pinned catalog: tools that are not as the snapshot says are withheld until a person approves them.

The snapshot is read again when its file changes, so that an approval works without a restart.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.diff import CatalogDiff, diff_catalogs
from agent_reach.catalog.identity import tool_hash
from agent_reach.catalog.snapshot import load_snapshot, stamped, write_snapshot
from agent_reach.errors import CatalogError

CHANGED = "changed since the snapshot; compare and approve it with `agent-reach snapshot --approve`"
NEW = "not in the snapshot; approve it with `agent-reach snapshot --approve`"


class Lock:
    """A snapshot that decides which tools may be used."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stamp: tuple[int, int] | None = None
        self._catalog = Catalog()
        self._hashes: dict[str, str] = {}
        self.read()

    def read(self) -> bool:
        """Read the file if it has changed; whether it had. Raises `CatalogError` where there is none."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise CatalogError(
                f"the snapshot cannot be read: {error.strerror}",
                where=str(self.path),
                next_step="write it with `agent-reach snapshot`",
            ) from error
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._stamp:
            return False
        self._catalog = load_snapshot(self.path)
        self._hashes = {tool.key: tool_hash(tool) for tool in self._catalog.tools}
        self._stamp = stamp
        return True

    def withheld(self, catalog: Catalog) -> dict[str, str]:
        """The tools that may not be used, and why."""
        found = {}
        for tool in catalog.tools:
            known = self._hashes.get(tool.key)
            if known is None:
                found[tool.key] = NEW
            elif known != tool_hash(tool):
                found[tool.key] = CHANGED
        return found

    def difference(self, catalog: Catalog) -> CatalogDiff:
        """Everything that is not as the snapshot says, field by field."""
        return diff_catalogs(self._catalog, catalog)


def approve(path: str | Path, live: Catalog, names: Iterable[str], *, created_at: float) -> tuple[str, ...]:
    """Take the live definitions of these tools (`all`: of every tool) into the snapshot; the keys that were taken.

    With `all`, tools that are gone leave the snapshot too. Raises `UnknownToolError` for a name that is in neither.
    """
    locked = load_snapshot(path)
    wanted = list(names)
    if "all" in wanted:
        write_snapshot(stamped(live, created_at=created_at), path)
        difference = diff_catalogs(locked, live)
        renamed = [name for rename in difference.renamed for name in (rename.old, rename.new)]
        changed = [change.key for change in difference.changed]
        return tuple(sorted({*difference.added, *difference.removed, *renamed, *changed, *difference.quarantined, *difference.released}))  # fmt: skip
    tools = {tool.key: tool for tool in locked.tools}
    taken = []
    for name in wanted:
        found = live.resolve(name)
        key = found.key if found is not None else locked.get(name).key
        if found is None:
            tools.pop(key)
        else:
            tools[key] = found
        taken.append(key)
    merged = Catalog(
        tools.values(),
        quarantined=locked.quarantined,
        findings=locked.findings,
        provenance=locked.provenance,
    )
    write_snapshot(stamped(merged, created_at=created_at), path)
    return tuple(taken)
