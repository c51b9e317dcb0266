"""What the conversation says for a parameter: values with the place they were read from.

`certain` evidence is the only one of its kind in the user's words and fits only this parameter's kind; the rest is a
proposal that a model may take or leave. Free text is never made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.schema import parameter_types
from agent_reach.router.normalize.conversation import Utterance
from agent_reach.router.normalize.dates.arguments import forms_of, side_of, string_branch, write_edge
from agent_reach.router.normalize.dates.ranges import find_dates
from agent_reach.router.normalize.dates.writing import write
from agent_reach.router.normalize.enums import listed_values
from agent_reach.router.normalize.identifiers import conversation_tokens
from agent_reach.router.normalize.numbers import read_number
from agent_reach.router.normalize.state import NormalizeState, join_pointer
from agent_reach.text.tokens import split_identifier

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_URL = re.compile(r"https?://[^\s\"'<>，。；、）)\u4e00-\u9fff]*[^\s\"'<>，。；、）).,;:!?\u4e00-\u9fff]")
_NUMBER = re.compile(
    r"(?<![\w.\-/:])(?P<number>[$¥￥€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[$¥￥€£]?\d+(?:\.\d+)?)(?P<unit>\s?(?:%|万|千|亿|k\b)?\s?[a-z\u4e00-\u9fff]{0,2})(?![\w\-/:]*\d)"
)

_ID_WORDS = frozenset({"id", "ids", "code", "number", "no", "sku", "ref", "reference"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """A value for a parameter: the rule that found it, whose words (`source`, `message_index`), at which offsets (`span`),
    the words themselves, and whether nothing else can be meant."""

    parameter: str
    value: Any
    rule: str
    source: str
    message_index: int
    span: tuple[int, int]
    text: str
    certain: bool


def evidence_for(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    """The best evidence for one parameter; `wanted` are all parameters that still lack a value (name -> schema).

    Only the latest message of the user that holds such evidence counts. Two different values are no evidence.
    """
    resolved = string_branch(state, schema)
    hint = state.hint(join_pointer("", name))
    if hint is not None and hint.fill == "last_user_event":
        return _last_words(state, name)
    for look in (_listed, _dated, _addressed, _identified, _counted):
        found = look(state, name, resolved, wanted)
        if found is not None:
            return found
    return None


def _last_words(state: NormalizeState, name: str) -> Evidence | None:
    for utterance in state.conversation.by_user():
        return Evidence(
            name, utterance.text, "fill_last_user_event", utterance.source, utterance.index,
            (0, len(utterance.text)), utterance.text, True,
        )  # fmt: skip
    return None


def _found(
    name: str, value: Any, rule: str, utterance: Utterance, span: tuple[int, int], certain: bool
) -> Evidence:
    return Evidence(
        name, value, rule, utterance.source, utterance.index, span, utterance.text[span[0] : span[1]], certain
    )


def _listed(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    """The one listed value, or noted word for it, that the user said."""
    hint = state.hint(join_pointer("", name))
    listed = listed_values(schema)
    words: dict[str, Any] = {
        str(value): value for value in listed if isinstance(value, str) and len(value) > 1
    }
    for legal, names in (hint.values if hint else {}).items():
        if not listed or legal in listed:
            words[legal] = legal
            words.update(dict.fromkeys(names, legal))
    if not words:
        return None
    for utterance in state.conversation.by_user():
        hits = list(_word_hits(utterance.text, words))
        values = {repr(value) for value, _ in hits}
        if len(values) == 1:
            shared = any(
                other != name
                and set(map(str, listed)) & set(map(str, listed_values(string_branch(state, part))))
                for other, part in wanted.items()
            )
            # An earlier word of the user for another value makes this one a proposal only.
            said = {
                repr(value)
                for other in state.conversation.by_user()
                for value, _ in _word_hits(other.text, words)
            }
            return _found(
                name, hits[0][0], "enum_alias", utterance, hits[0][1], not shared and len(said) == 1
            )
        if values:
            return None
    return None


def _word_hits(text: str, words: Mapping[str, Any]) -> Iterator[tuple[Any, tuple[int, int]]]:
    taken: list[tuple[int, int]] = []
    for word in sorted(words, key=len, reverse=True):
        edge = r"(?<![A-Za-z0-9])" if word[:1].isascii() else ""
        close = r"(?![A-Za-z0-9])" if word[-1:].isascii() else ""
        for hit in re.finditer(edge + re.escape(word).replace("_", "[_ -]") + close, text, re.I):
            if not any(start <= hit.start() < end for start, end in taken):
                taken.append(hit.span())
                yield words[word], hit.span()


def _dated(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    forms = forms_of(state, schema, name, join_pointer("", name))
    if not forms or state.clock.now is None:
        return None
    rivals = sum(
        1
        for other, part in wanted.items()
        if other != name
        and forms_of(state, string_branch(state, part), other, join_pointer("", other))
        and not (side_of(other) and side_of(name) and side_of(other) != side_of(name))
    )
    for utterance in state.conversation.by_user():
        found = find_dates(utterance.text, state.clock)
        if not found:
            continue
        if len({(reading.span.first, reading.span.last, reading.span.time) for reading in found}) != 1:
            return None
        reading = found[0]
        if reading.ambiguous:
            return None
        for form in forms:
            side = side_of(name)
            text = write(form, reading.span, state.clock)
            if text is None and side and not reading.span.is_single_day:
                text = write_edge(state, form, reading.span, side)
            if text is not None and state.fits(schema, text):
                certain = rivals == 0 and not (side and reading.span.is_single_day) and _said_once(state)
                return _found(name, text, "date", utterance, (reading.start, reading.end), certain)
        return None
    return None


def _said_once(state: NormalizeState) -> bool:
    """Whether the user spoke of one date only, in all messages."""
    spans = {
        (reading.span.first, reading.span.last, reading.span.time)
        for utterance in state.conversation.by_user()
        for reading in find_dates(utterance.text, state.clock)
    }
    return len(spans) == 1


def _addressed(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    words = set(split_identifier(name))
    if schema.get("format") == "email" or words & {"email", "mail", "邮箱"}:
        pattern, kind = _EMAIL, {"email", "mail", "邮箱"}
    elif schema.get("format") in ("uri", "url") or words & {"url", "uri", "link", "链接"}:
        pattern, kind = _URL, {"url", "uri", "link", "链接"}
    else:
        return None
    if "array" in parameter_types(schema, state.root):
        return None
    rivals = [other for other in wanted if other != name and set(split_identifier(other)) & kind]
    for utterance in state.conversation.by_user():
        hits = list(pattern.finditer(utterance.text))
        if hits:
            if len({hit[0] for hit in hits}) > 1 or not state.fits(schema, hits[0][0]):
                return None
            return _found(name, hits[0][0], "identifier", utterance, hits[0].span(), not rivals)
    return None


def _identified(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    """The one word of the conversation in the shape of the parameter's pattern or of its noted example."""
    if parameter_types(schema, state.root) - {"string"}:
        return None
    shape = _shape_of(state, name, schema)
    if shape is None:
        return None
    rivals = any(
        other != name
        and (other_shape := _shape_of(state, other, string_branch(state, part))) is not None
        and other_shape.pattern == shape.pattern
        for other, part in wanted.items()
    )
    found: dict[str, tuple[Utterance, tuple[int, int]]] = {}
    for utterance, token, span in conversation_tokens(state.conversation):
        if shape.fullmatch(token) and state.fits(schema, token):
            found.setdefault(token, (utterance, span))
    if len(found) != 1:
        return None
    token, (utterance, span) = next(iter(found.items()))
    return _found(name, token, "identifier", utterance, span, not rivals)


def _shape_of(state: NormalizeState, name: str, schema: Mapping[str, Any]) -> re.Pattern[str] | None:
    """A pattern that only such ids have: fixed letters in front, or the groups of a UUID."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not listed_values(schema):
        fixed = re.sub(r"\[[^\]]*\]|\{[^}]*\}|\\.", "", pattern)
        if re.search(r"[A-Za-z]{2,}[-_]?", fixed) or pattern.count("{4}-") >= 3:
            try:
                return re.compile(pattern.removeprefix("^").removesuffix("$"))
            except re.error:
                return None
        return None
    hint = state.hint(join_pointer("", name))
    examples = [hint.example if hint else None, schema.get("example"), *(schema.get("examples") or [])]
    if set(split_identifier(name)) & _ID_WORDS or name.endswith(("编号", "单号", "号码")):
        examples += re.findall(
            r"(?<![\w#])[A-Z]{2,}[-_]?\d{2,}(?![\w-])", str(schema.get("description") or "")
        )
    for example in examples:
        if isinstance(example, str) and re.fullmatch(
            r"[A-Za-z]+[-_][A-Za-z0-9\-_]*\d+|[A-Za-z]{2,}\d{2,}", example
        ):
            letters = re.match(r"[A-Za-z]+[-_]?", example)
            if letters is not None:
                return re.compile(re.escape(letters[0]) + r"[A-Za-z0-9\-_]*\d[A-Za-z0-9\-_]*")
    return None


def _counted(
    state: NormalizeState, name: str, schema: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Evidence | None:
    """The only number of the user's words for the only number that is wanted; never certain enough to be sent unseen."""
    types = parameter_types(schema, state.root)
    if not types or not types <= {"integer", "number"} or listed_values(schema):
        return None
    rivals = [
        other
        for other, part in wanted.items()
        if other != name and parameter_types(part, state.root) & {"integer", "number"}
    ]
    if rivals:
        return None
    for utterance in state.conversation.by_user():
        dates = [(reading.start, reading.end) for reading in find_dates(utterance.text, state.clock)]
        hits = [
            hit
            for hit in _NUMBER.finditer(utterance.text)
            if not any(start < hit.end() and hit.start() < end for start, end in dates)
        ]
        if not hits:
            continue
        readings = [
            read_number((hit["number"] + hit["unit"]).strip(), name, schema)
            or read_number(hit["number"], name, schema)
            for hit in hits
        ]
        if len(readings) != 1 or readings[0] is None or readings[0].value is None:
            return None
        value = readings[0].value
        number: int | float = int(value) if value.denominator == 1 else float(value)
        return (
            _found(name, number, readings[0].rule, utterance, hits[0].span("number"), False)
            if state.fits(schema, number)
            else None
        )
    return None
