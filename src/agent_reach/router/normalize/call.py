"""One emitted call made legal, or refused with every reason: the stage that the reach layer and the gateway use.

The order is fixed: read the text, take wrappers off, lead values to their types, write dates, fill what is missing and
certain, convert, check. A call that is legal as it stands passes through as the same object, except for dates that a
parameter asks for in another form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from agent_reach.catalog.schema import argument_problems, is_legal, is_nullable, parameter_types
from agent_reach.errors import ConfigError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentChange, ArgumentProblem
from agent_reach.router.normalize.coerce import coerce_members, whole_numbers
from agent_reach.router.normalize.conversation import Conversation, read_conversation
from agent_reach.router.normalize.converters import Converter, apply_converters
from agent_reach.router.normalize.dates.arguments import write_dates
from agent_reach.router.normalize.dates.calendar import Clock, read_now
from agent_reach.router.normalize.enums import match_noted
from agent_reach.router.normalize.evidence import evidence_for
from agent_reach.router.normalize.parse import parse_arguments
from agent_reach.router.normalize.rules import NormalizeOptions
from agent_reach.router.normalize.state import NormalizeState, join_pointer
from agent_reach.router.normalize.unwrap import unwrap
from agent_reach.text.pointers import unescape_pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizedCall:
    """A call as it would be sent.

    `arguments` is None only where the emitted text could not be read; `problems` empty means legal and safe to send;
    `changes` explain every difference to what was emitted; `emitted` is what came in.
    """

    tool: Tool
    arguments: dict[str, Any] | None
    changes: tuple[ArgumentChange, ...] = ()
    problems: tuple[ArgumentProblem, ...] = ()
    findings: tuple[Finding, ...] = ()
    emitted: Any = field(default=None, repr=False)
    legal_before: bool = False

    @property
    def is_legal(self) -> bool:
        """Nothing stands against sending it."""
        return not self.problems and self.arguments is not None


def normalize_call(
    tool: Tool,
    arguments: Any,
    *,
    conversation: Any = None,
    now: datetime | str | None = None,
    options: NormalizeOptions | None = None,
    converters: Iterable[Converter] = (),
    finish_reason: str = "",
) -> NormalizedCall:
    """The arguments that a model emitted for a tool, made legal where that is certain.

    `arguments` is text, a mapping or None; `conversation` messages, texts or one text; `now` a datetime or ISO text that
    relative dates are counted from (none is assumed); `finish_reason` the model's own, `length` marks cut arguments. Never
    raises for bad arguments; `InputError` for a `now` that is no date-time, `ConfigError` for an unknown zone.
    """
    state = begin(tool, conversation, now, options)
    parsed = parse_arguments(state, arguments, finish_reason=finish_reason)
    if parsed is None:
        return _finish(state, arguments, None, legal_before=False)
    given = arguments if isinstance(arguments, dict) else parsed
    legal_before = not state.changes and is_legal(tool, given)
    made = given
    if not is_legal(tool, made):
        made = coerce_members(state, tool.input_schema, unwrap(state, dict(made)), "")
    else:
        made = whole_numbers(state, tool.input_schema, made, "")
    made = _null_words(state, made)
    made = _noted_words(state, made)
    made = write_dates(state, tool.input_schema, made)
    made = apply_converters(state, converters, made)
    made = _fill_missing(state, made)
    return _finish(state, arguments, made, legal_before=legal_before)


def begin(
    tool: Tool, conversation: Any, now: datetime | str | None, options: NormalizeOptions | None
) -> NormalizeState:
    """The state of a new normalisation; also what prefill starts from."""
    options = options or NormalizeOptions()
    moment = read_now(now, read_zone(options.timezone))
    clock = Clock(
        now=moment, week_start=6 if options.week_start == "sunday" else 0, date_order=options.date_order
    )
    talk: Conversation = read_conversation(conversation)
    return NormalizeState(tool, options, clock, talk)


def read_zone(name: str) -> tzinfo | None:
    """A time zone from an IANA name or an offset such as `+08:00`; empty is none."""
    if not name:
        return None
    if name[0] in "+-":
        try:
            hours, _, minutes = name[1:].partition(":")
            offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone(-offset if name[0] == "-" else offset)
        except ValueError as error:
            raise ConfigError(f"{name!r} is no offset", where="timezone", next_step="write +08:00") from error
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(
            f"no time zone is named {name!r}", where="timezone", next_step="write Asia/Shanghai or +08:00"
        ) from error


def _null_words(state: NormalizeState, arguments: dict[str, Any]) -> dict[str, Any]:
    """The text None or null for a text that may be null: legal, and yet never meant."""
    if not state.on("null_text"):
        return arguments
    made = arguments
    for name, value in arguments.items():
        if not isinstance(value, str) or value not in ("None", "null", "NULL"):
            continue
        schema = state.resolve(state.tool.parameters.get(name))
        nullable = "string" in parameter_types(schema, state.root) and is_nullable(schema, state.root)
        if schema and nullable and not schema.get("enum") and state.fits(schema, None):
            state.change("null_text", join_pointer("", name), value, None)
            made = {**made, name: None}
    return made


def _noted_words(state: NormalizeState, arguments: dict[str, Any]) -> dict[str, Any]:
    """An alias that a note declares for a parameter whose schema lists nothing."""
    if state.tool.note is None or not state.tool.note.param_hints or not state.on("enum_alias"):
        return arguments
    made = arguments
    for name, value in arguments.items():
        if not isinstance(value, str) or name not in state.tool.parameters:
            continue
        legal = match_noted(value, state.hint(join_pointer("", name)))
        if legal is not None and state.fits(state.tool.parameters[name], legal):
            state.change("enum_alias", join_pointer("", name), value, legal)
            made = {**made, name: legal}
    return made


def _fill_missing(state: NormalizeState, arguments: dict[str, Any]) -> dict[str, Any]:
    """Required arguments that were left out and that the conversation certainly holds."""
    lacking = {
        name: state.tool.parameters[name]
        for name in state.tool.required
        if name in state.tool.parameters
        and (
            name not in arguments
            or (arguments[name] is None and not state.fits(state.tool.parameters[name], None))
        )
    }
    if not lacking or not state.conversation:
        return arguments
    made = dict(arguments)
    for name, schema in lacking.items():
        found = evidence_for(state, name, schema, lacking)
        rule = (
            "fill_last_user_event"
            if found and found.rule == "fill_last_user_event"
            else "fill_from_conversation"
        )
        if found is None or not found.certain or not state.on(rule):
            continue
        made[name] = found.value
        state.change(
            rule,
            join_pointer("", name),
            arguments.get(name),
            found.value,
            source=found.source,
            span=found.span,
            text=found.text,
        )
    return made if made != arguments else arguments


def _finish(
    state: NormalizeState, emitted: Any, arguments: dict[str, Any] | None, *, legal_before: bool
) -> NormalizedCall:
    told: list[ArgumentProblem] = list(state.problems)
    if arguments is not None:
        checked = argument_problems(state.tool, arguments)
        still_wrong = {problem.pointer for problem in checked}
        # A question that a later stage answered is no problem any more.
        told = [
            p for p in told if p.pointer in still_wrong or (p.code == "ambiguous" and _stands(arguments, p))
        ]
        known = {problem.pointer for problem in told}
        told.extend(problem for problem in checked if problem.pointer not in known)
    return NormalizedCall(
        tool=state.tool,
        arguments=arguments,
        changes=tuple(state.changes),
        problems=tuple(told),
        findings=tuple(state.findings),
        emitted=emitted,
        legal_before=legal_before,
    )


def _stands(arguments: Mapping[str, Any], problem: ArgumentProblem) -> bool:
    """Whether the value that a question was about is still there."""
    value: Any = arguments
    for part in problem.pointer.split("/")[1:]:
        key = unescape_pointer(part)
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False
    return type(value) is type(problem.actual) and bool(value == problem.actual)
