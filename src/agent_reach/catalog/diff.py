"""What changed between two catalogs, tool by tool and field by field, and what each change means to callers.

Four kinds: `wording` (text a model reads), `compatible` (every legal call stays legal), `breaking` (a legal call may
become illegal, or a result may lack what it had), `wider` (the tool may do more than before: a new permission, a new
destructive effect). It compares definitions, not behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.identity import hashed_definition, tool_hash
from agent_reach.catalog.schema_diff import FieldChange, schema_changes
from agent_reach.catalog.similar import similarity
from agent_reach.records.codec import content_hash, to_json
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool

ChangeKind = Literal["wording", "compatible", "breaking", "wider"]
KINDS: tuple[ChangeKind, ...] = ("wider", "breaking", "compatible", "wording")
RENAME_THRESHOLD = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """One tool that is in both catalogs and differs: its changes and its hashes."""

    key: str
    changes: tuple[FieldChange, ...]
    old_hash: str = ""
    new_hash: str = ""

    @property
    def kind(self) -> ChangeKind:
        """The gravest kind among the changes."""
        kinds = {change.kind for change in self.changes}
        return next(kind for kind in KINDS if kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """A tool that probably has a new name: everything else is equal (`exact`) or nearly so (`score`)."""

    old: str
    new: str
    exact: bool
    score: float
    changes: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogDiff:
    """The difference of two catalogs. `added` and `removed` leave suspected renames out; `quarantined` are tools that
    have become unusable, `released` those that are usable again."""

    old_hash: str
    new_hash: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    changed: tuple[ToolChange, ...] = ()
    quarantined: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    added_writes: tuple[str, ...] = ()

    @property
    def drift(self) -> bool:
        """Anything is different."""
        return self.old_hash != self.new_hash or bool(
            self.added or self.removed or self.renamed or self.changed or self.quarantined or self.released
        )

    @property
    def kinds(self) -> tuple[ChangeKind, ...]:
        """The kinds of change that occur, gravest first."""
        found = {change.kind for tool in self.changed for change in tool.changes}
        if self.removed or self.renamed or self.quarantined:
            found.add("breaking")
        if self.added_writes:
            found.add("wider")
        if self.added or self.released:
            found.add("compatible")
        return tuple(kind for kind in KINDS if kind in found)

    def document(self) -> dict[str, Any]:
        """The difference as JSON."""
        data: dict[str, Any] = to_json(self)
        data["drift"] = self.drift
        data["kinds"] = list(self.kinds)
        return data


def diff_catalogs(old: Catalog, new: Catalog) -> CatalogDiff:
    """What is different in `new`."""
    before = {tool.key: tool for tool in old.tools}
    after = {tool.key: tool for tool in new.tools}
    gone = [key for key in before if key not in after]
    come = [key for key in after if key not in before]
    bad_before = {item.key for item in old.quarantined}
    bad_after = {item.key for item in new.quarantined}
    quarantined = [key for key in gone if key in bad_after]
    quarantined += sorted(key for key in bad_after - bad_before if key not in before and key not in after)
    released = [key for key in come if key in bad_before]
    gone = [key for key in gone if key not in bad_after]
    come = [key for key in come if key not in bad_before]
    renamed = _renames([before[key] for key in gone], [after[key] for key in come])
    old_names = {rename.old for rename in renamed}
    new_names = {rename.new for rename in renamed}
    added = [key for key in come if key not in new_names]
    changed = []
    for key, tool in after.items():
        if key in before:
            changes = tool_changes(before[key], tool)
            if changes:
                changed.append(
                    ToolChange(
                        key=key,
                        changes=tuple(changes),
                        old_hash=tool_hash(before[key]),
                        new_hash=tool_hash(tool),
                    )
                )
    return CatalogDiff(
        old_hash=old.hash,
        new_hash=new.hash,
        added=tuple(sorted(added)),
        removed=tuple(sorted(key for key in gone if key not in old_names)),
        renamed=tuple(renamed),
        changed=tuple(sorted(changed, key=lambda change: change.key)),
        quarantined=tuple(sorted(quarantined)),
        released=tuple(sorted(released)),
        added_writes=tuple(sorted(key for key in added if after[key].effects & {"write", "destructive"})),
    )


def _renames(gone: list[Tool], come: list[Tool]) -> list[Rename]:
    """Pairs of a removed and an added tool that are the same but for the name; each tool at most once."""
    found: list[Rename] = []
    by_body: dict[str, list[Tool]] = {}
    for tool in come:
        by_body.setdefault(_body_hash(tool), []).append(tool)
    rest: list[Tool] = []
    for tool in gone:
        same = by_body.get(_body_hash(tool))
        if same and (tool.description or tool.parameters):
            other = same.pop(0)
            found.append(Rename(old=tool.key, new=other.key, exact=True, score=1.0))
        else:
            rest.append(tool)
    taken = {rename.new for rename in found}
    open_tools = [tool for tool in come if tool.key not in taken]
    scored = _scored(rest, open_tools)
    used: set[str] = set()
    for score, old, new in scored:
        if old.key in used or new.key in used:
            continue
        used.update((old.key, new.key))
        found.append(
            Rename(old=old.key, new=new.key, exact=False, score=score, changes=tuple(tool_changes(old, new)))
        )
    return sorted(found, key=lambda rename: rename.old)


def _scored(gone: list[Tool], come: list[Tool]) -> list[tuple[float, Tool, Tool]]:
    """Likely pairs, best first; only tools of one server are compared, and those with some word or parameter shared."""
    if len(gone) * len(come) > 250_000:
        return []
    scored = []
    for old in gone:
        for new in come:
            if old.server == new.server and (set(old.parameters) & set(new.parameters) or not old.parameters):
                score = similarity(old, new)
                if score >= RENAME_THRESHOLD:
                    scored.append((score, old, new))
    scored.sort(key=lambda item: (-item[0], item[1].key, item[2].key))
    return scored


def _body_hash(tool: Tool) -> str:
    definition = {
        key: value for key, value in hashed_definition(tool).items() if key not in ("name", "title")
    }
    from agent_reach.catalog.bounded import bounded_copy

    return content_hash(bounded_copy(definition)[0])


# -- one tool ----------------------------------------------------------------------------------------------


def tool_changes(old: Tool, new: Tool) -> list[FieldChange]:
    """The changes of one tool, field by field."""
    changes: list[FieldChange] = []
    for name in ("title", "description"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            changes.append(_change(name, "wording", before, after))
    changes.extend(schema_changes(old.input_schema, new.input_schema, field="input_schema"))
    changes.extend(_output_changes(old, new))
    changes.extend(_annotation_changes(old.annotations, new.annotations))
    changes.extend(_effect_changes(old.effects, new.effects))
    changes.extend(_needs_changes(old, new))
    if old.note != new.note:
        changes.append(_change("note", "wording", to_json(old.note), to_json(new.note)))
    lost = [alias for alias in old.aliases if alias not in new.aliases]
    won = [alias for alias in new.aliases if alias not in old.aliases]
    if lost or won:
        changes.append(
            _change("aliases", "breaking" if lost else "compatible", list(old.aliases), list(new.aliases))
        )
    if old.actor != new.actor:
        changes.append(_change("actor", "breaking", old.actor, new.actor))
    if old.partitions != new.partitions:
        changes.append(_change("partitions", "compatible", list(old.partitions), list(new.partitions)))
    if not changes and tool_hash(old) != tool_hash(new):
        changes.append(
            _change(
                "definition",
                "compatible",
                tool_hash(old),
                tool_hash(new),
                "written differently, same meaning",
                "写法不同，含义相同",
            )
        )
    return changes


def _change(
    field: str, kind: ChangeKind, before: Any, after: Any, english: str = "", chinese: str = ""
) -> FieldChange:
    return FieldChange(
        field=field,
        pointer="",
        kind=kind,
        before=before,
        after=after,
        message=Message(english or f"{field} changed", chinese or f"{field} 有变化"),
    )


def _output_changes(old: Tool, new: Tool) -> list[FieldChange]:
    if old.output_schema == new.output_schema:
        return []
    if old.output_schema is None:
        return [
            _change(
                "output_schema",
                "compatible",
                None,
                new.output_schema,
                "an output schema is declared now",
                "新增了输出模式",
            )
        ]
    if new.output_schema is None:
        return [
            _change(
                "output_schema",
                "breaking",
                old.output_schema,
                None,
                "the output schema is gone",
                "输出模式没有了",
            )
        ]
    return schema_changes(old.output_schema, new.output_schema, field="output_schema", output=True)


_WIDER_HINTS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def _annotation_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[FieldChange]:
    changes = []
    for name in sorted(set(old) | set(new)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        kind: ChangeKind = "wording" if name == "title" else "compatible"
        lost_promise = name in ("readOnlyHint", "idempotentHint") and before is True
        if (name in _WIDER_HINTS and after is _WIDER_HINTS[name]) or lost_promise:
            kind = "wider"
        changes.append(_change(f"annotations.{name}", kind, before, after))
    return changes


def _effect_changes(old: Iterable[str], new: Iterable[str]) -> list[FieldChange]:
    before, after = set(old), set(new)
    if before == after:
        return []
    wider = (after - before) & {"write", "destructive"} or (before - after) & {"read", "idempotent"}
    kind: ChangeKind = "wider" if wider and before else "compatible"
    if "destructive" in after - before:
        kind = "wider"
    return [_change("effects", kind, sorted(before), sorted(after))]


def _needs_changes(old: Tool, new: Tool) -> list[FieldChange]:
    changes = []
    for name in ("services", "scopes", "env", "files"):
        before, after = getattr(old.needs, name), getattr(new.needs, name)
        if set(before) != set(after):
            more = [item for item in after if item not in before]
            english = f"needs {name}: {', '.join(more)} as well" if more else f"needs fewer {name}"
            chinese = f"还需要 {name}：{'、'.join(more)}" if more else f"需要的 {name} 减少"
            kind: ChangeKind = "wider" if more else "compatible"
            changes.append(_change(f"needs.{name}", kind, list(before), list(after), english, chinese))
    return changes
