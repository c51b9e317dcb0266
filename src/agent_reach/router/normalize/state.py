"""What one normalisation carries from stage to stage: the tool, the rules, and the record of every change.

It decides nothing; it makes sure that no value changes without an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.schema import is_legal, resolved_schema
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.tool import ParameterHint, Tool
from agent_reach.records.trace import ArgumentChange, ArgumentProblem
from agent_reach.router.normalize.conversation import Conversation
from agent_reach.router.normalize.dates.calendar import Clock
from agent_reach.router.normalize.rules import NormalizeOptions
from agent_reach.text.pointers import escape_pointer


class _Dropped:
    """Stands for a value that is left out."""

    def __repr__(self) -> str:
        return "DROPPED"


DROPPED = _Dropped()


@dataclass(slots=True)
class NormalizeState:
    """One normalisation in progress."""

    tool: Tool
    options: NormalizeOptions = field(default_factory=NormalizeOptions)
    clock: Clock = field(default_factory=Clock)
    conversation: Conversation = field(default_factory=Conversation)
    changes: list[ArgumentChange] = field(default_factory=list)
    problems: list[ArgumentProblem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def on(self, rule: str) -> bool:
        """Whether a rule may work on this tool."""
        return self.options.is_on(rule, self.tool.key)

    def change(
        self,
        rule: str,
        pointer: str,
        before: Any,
        after: Any,
        *,
        source: str = "argument",
        span: tuple[int, int] | None = None,
        text: str = "",
    ) -> None:
        """Record one change."""
        if after is DROPPED:
            after = None
            text = text or "left out"
        self.changes.append(
            ArgumentChange(
                rule=rule, pointer=pointer, before=before, after=after, source=source, span=span, text=text
            )
        )

    def problem(
        self, code: str, pointer: str, message: str, *, expected: Any = None, actual: Any = None
    ) -> None:
        """Record one problem that a person or the model has to solve."""
        self.problems.append(
            ArgumentProblem(code=code, pointer=pointer, message=message, expected=expected, actual=actual)
        )

    def finding(self, code: str, pointer: str, en: str, zh: str) -> None:
        """Record something worth knowing that stops nothing."""
        self.findings.append(
            Finding(
                code=code, severity="warning", message=Message(en, zh), subject=self.tool.key, pointer=pointer
            )
        )

    @property
    def root(self) -> Mapping[str, Any]:
        """The tool's whole input schema, which references point into."""
        return self.tool.input_schema

    def resolve(self, schema: Any) -> Mapping[str, Any]:
        """A schema with its reference followed; a boolean or broken one is empty."""
        resolved = resolved_schema(schema, self.root)
        return resolved if isinstance(resolved, Mapping) else {}

    def hint(self, pointer: str) -> ParameterHint | None:
        """What the tool's note says of the parameter at that place: by its path (`a.b`) or its name."""
        if self.tool.note is None:
            return None
        path = [part for part in pointer.split("/")[1:] if not part.isdigit()]
        hints = self.tool.note.param_hints
        return hints.get(".".join(path)) or (hints.get(path[-1]) if path else None)

    def fits(self, schema: Any, value: Any) -> bool:
        """Whether a value fits one schema of this tool."""
        return fits(schema, value, self.root)


_WRAPPED: dict[int, tuple[Any, Tool]] = {}


def fits(schema: Any, value: Any, root: Mapping[str, Any]) -> bool:
    """Whether a value fits a schema (part) whose references point into `root`; the check is compiled once per part."""
    if isinstance(schema, bool):
        return schema
    if not schema:
        return True
    known = _WRAPPED.get(id(schema))
    if known is None or known[0] is not schema:
        whole: dict[str, Any] = {"type": "object", "properties": {"value": schema}}
        for key in ("$defs", "definitions"):
            if key in root:
                whole[key] = root[key]
        known = (schema, Tool(name="value", input_schema=whole))
        if len(_WRAPPED) > 20_000:
            _WRAPPED.clear()
        _WRAPPED[id(schema)] = known
    return is_legal(known[1], {"value": value})


def join_pointer(pointer: str, key: str | int) -> str:
    """The pointer of a member."""
    return f"{pointer}/{escape_pointer(key)}"
