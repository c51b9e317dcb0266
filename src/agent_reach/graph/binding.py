"""Which outputs can feed which inputs: named rules over an inverted index of names, entities and meanings.

Every output field and every input field is turned into a few keys; fields that share a key are a candidate, so no pair of
tools is compared that has nothing in common. Strong keys: the same specific name, the same thing and attribute. Weak
keys: a part of the thing, a family of meaning, a word of the description, plain text or plain number. Weak keys whose
lists grow with the square of the catalog are left out (`MAX_WEAK_PAIRS`). What is not seen: values (see `evidence`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_reach.graph.fields import Field
from agent_reach.graph.words.chinese import chinese_words
from agent_reach.graph.words.families import families
from agent_reach.graph.words.fields import (
    ACKNOWLEDGEMENTS,
    AMBIENT_FAMILIES,
    CODE_WORDS,
    GENERIC,
    NAME_WORDS,
    STEERING,
    UNITS,
)
from agent_reach.graph.words.reading import entity_and_attribute, name_words
from agent_reach.text.stopwords import is_function_word

# Whom to write to and where something is are one kind of value under many names; other families are looser.
FAMILY_STRENGTH = {"address": 0.75, "place": 0.7}
MAX_WEAK_PAIRS = 40_000
MAX_STRONG_PAIRS = 4_000_000

# What a shared format or enum adds; formats that only tell the width of a number tell nothing.
AGREED = 1.15
WIDTHS = frozenset({"int32", "int64", "float", "double"})

SAME_NAME = "same_name"
ENTITY = "entity"
ENTITY_LIST = "entity_list"
RESULT_NAME = "result_name"
PART_OF_ENTITY = "part_of_entity"
FAMILY = "family"
DESCRIPTION = "description"
GENERIC_NAME = "generic_name"
PART_OF_NAME = "part_of_name"
AMBIENT_VALUE = "ambient_value"
UNIT = "unit_conversion"
NAMED_IN_TEXT = "named_in_text"
PLAIN_TEXT = "plain_text"
PLAIN_NUMBER = "plain_number"
OPENAPI_LINK = "openapi_link"

Key = tuple[str, ...]
_WORD = re.compile(r"[a-z]{3,}")
_AFTER_OF = re.compile(r" (?:of|to|in|for|from|that|which|at|on|with) ")
_PHRASE = re.compile(r"[a-z][a-z0-9_]*")
_ID_TEXT = re.compile(r"\b(?:id|ids|identifier|uuid|unique)\b", re.I)
_ATTRIBUTE = r"(?P<attribute>ids?|identifiers?|uuid|codes?|symbols?|numbers?|names?)"
_THING_FIRST = re.compile(rf"^(?:the |a |an |list of |unique )*(?P<thing>[a-z]+) {_ATTRIBUTE}\b", re.I)
_THING_LAST = re.compile(
    rf"^(?:the |a |an |list of |unique )*{_ATTRIBUTE} (?:of|for) (?:the |a |an )?(?P<thing>[a-z]+)", re.I
)
_UNIT_TEXT = re.compile(
    r"\bin (?:kilograms?|kg|pounds|meters?|centimeters|feet|inches|miles|kilometers|km|celsius|fahrenheit|liters?|gallons?|minutes|hours|square (?:feet|meters)|acres|decibels)\b",
    re.I,
)
_NUMERIC = frozenset({"integer", "number"})


@dataclass(slots=True)
class Match:
    """One output field that can feed one input field: the rule, its strength 0..1 before context, and where it was said.

    Not frozen, since hundreds of thousands are made and a frozen record takes three times as long; nothing changes one.
    """

    source: Field
    target: Field
    rule: str
    score: float
    reason: str = ""


def _description_words(text: str, limit: int = 16) -> tuple[str, ...]:
    if not text:
        return ()
    if not text.isascii():
        found = list(chinese_words(text[:60]))
        return tuple(dict.fromkeys(word for word in found if word not in GENERIC))
    first = _heading(text.lower())
    first = re.split(
        r"such as|e\.g|for example|\bin the format\b|\[enum\]|options?\b|\(|\.\s", first, maxsplit=1
    )[0]
    words = [part for word in _WORD.findall(first)[:limit] for part in name_words(word)]
    return tuple(dict.fromkeys(word for word in words if word not in GENERIC and not is_function_word(word)))


def _heading(text: str) -> str:
    """The words before the first "of"; where they say only name, code or the like, the words after it."""
    before, found, after = text.partition(" of ")
    if not found:
        return text
    meant = [part for word in _WORD.findall(before) for part in name_words(word)]
    dull = not meant or meant[-1] in GENERIC or meant[-1] in CODE_WORDS or meant[-1] in NAME_WORDS
    return f"{before} {_AFTER_OF.split(after, maxsplit=1)[0]}" if dull else before


def _described_things(text: str) -> Iterable[tuple[tuple[str, ...], str]]:
    """The thing and attribute that a description names at its start: `User ID of the receiver` is a user's id."""
    start = text[:80]
    for match in (_THING_FIRST.search(start), _THING_LAST.search(start)):
        if match is None:
            continue
        thing, attribute = match.group("thing"), match.group("attribute")
        owner = tuple(word for word in name_words(thing) if not is_function_word(word))
        kind = entity_and_attribute(name_words(attribute))[1]
        if owner and kind and not all(word in GENERIC for word in owner):
            yield owner, kind
            return


def _phrases(text: str) -> Iterable[tuple[str, ...]]:
    """Runs of two to four words of a description, singular: the names of what other tools give may stand there."""
    words = [part for word in _PHRASE.findall(text.lower())[:40] for part in name_words(word)]
    for size in (2, 3, 4):
        for start in range(len(words) - size + 1):
            yield tuple(words[start : start + size])


def output_keys(
    field: Field, head: tuple[str, ...], verbs: frozenset[str]
) -> Iterable[tuple[Key, float, str]]:
    """The keys under which an output is found, with strength and rule."""
    words = field.words
    if field.alone:
        yield from _root_keys(field, head)
        return
    if field.origin == "converter":
        yield ("u",), 1.0, UNIT
        return
    if field.origin == "login":
        yield ("n", *words), 1.0, RESULT_NAME
        return
    acknowledges = field.depth <= 1 and len(words) == 1 and words[0] in ACKNOWLEDGEMENTS
    entity, attribute = entity_and_attribute(words)
    owners = [entity] if entity else list(field.entity[:3])
    generic = not words or all(word in GENERIC for word in words)
    if words and not generic:
        yield ("n", *words), 1.0, SAME_NAME
    elif words and not acknowledges:
        yield ("g", *words), 0.5, GENERIC_NAME
    for place, owner in enumerate(owners):
        if not owner:
            continue
        strength = (1.0, 0.85, 0.7)[place]
        if attribute:
            yield ("e", attribute, *owner), strength, ENTITY
            yield from _parts(owner, attribute, strength)
    if not attribute and words:
        listed = field.is_key or field.path.endswith("[]")
        yield ("e", "", *words), 0.9 if not generic else 0.4, ENTITY
        if listed and not generic and field.types <= {"string", "integer"}:
            for attr, strength in (("id", 0.9), ("name", 0.75), ("code", 0.75)):
                yield ("e", attr, *words), strength, ENTITY_LIST
                yield from _parts(words, attr, strength * 0.9)
    elif not words and (field.is_list or field.is_key or field.path == "<root>"):
        yield from _root_keys(field, head)
    if len(words) > 1:
        for start in range(1, len(words)):
            rest = words[start:]
            if attribute and start == len(words) - 1:
                break
            dull = all(word in GENERIC for word in rest)
            yield ("g" if dull else "n", *rest), (0.8 if dull else 0.65), PART_OF_NAME
    if words and not acknowledges:
        yield from _weak_keys(field, words)


def _root_keys(field: Field, head: tuple[str, ...]) -> Iterable[tuple[Key, float, str]]:
    """Keys of a scalar result, or a list of scalars, named by the tool: `find_user_id_by_email -> str` is a user's id."""
    if not head:
        return
    sure = field.sure
    entity, attribute = entity_and_attribute(head)
    if field.ambient:
        yield ("n", *head), 0.95, AMBIENT_VALUE
        for group, words in AMBIENT_FAMILIES.items():
            if head[-1] in words:
                yield ("a", group), 0.95, AMBIENT_VALUE
    if len(field.full_head) > 1:
        yield ("p", *field.full_head), 0.9, NAMED_IN_TEXT
    if not all(word in GENERIC for word in head):
        yield ("n", *head), sure, RESULT_NAME
        for start in range(1, len(head)):
            rest = head[start:]
            if not all(word in GENERIC for word in rest):
                yield ("n", *rest), sure * (0.85 if start == 1 else 0.7), RESULT_NAME
    if attribute and entity:
        yield ("e", attribute, *entity), sure, RESULT_NAME
        yield from _parts(entity, attribute, sure)
    else:
        yield ("e", "", *head), sure, RESULT_NAME
        if field.types <= {"string", "integer"}:
            for attr, strength in (("id", 0.6), ("name", 0.8), ("code", 0.7)):
                yield ("e", attr, *head), strength * sure, RESULT_NAME
                yield from _parts(head, attr, strength * sure * (0.7 if field.alone else 0.9))
    yield from _weak_keys(field, head)


def _parts(owner: tuple[str, ...], attribute: str, strength: float) -> Iterable[tuple[Key, float, str]]:
    if len(owner) > 1:
        for place, word in enumerate(owner):
            if word not in GENERIC:
                last = place == len(owner) - 1
                yield ("h", attribute, word), strength * (0.85 if last else 0.6), PART_OF_ENTITY
    else:
        yield ("h", attribute, owner[0]), strength * 0.85, PART_OF_ENTITY
    if attribute == "id":
        for family in families(owner[-1]):
            yield ("t", family), strength * 0.8, FAMILY


def _weak_keys(field: Field, words: tuple[str, ...]) -> Iterable[tuple[Key, float, str]]:
    """Keys of meaning: families, words for descriptions to meet, plain text and plain numbers."""
    if not words:
        return
    _, attribute = entity_and_attribute(words)
    last = words[-1] if attribute == "" or len(words) == 1 else words[-2]
    if attribute in ("", "name"):
        for family in families(last):
            yield ("f", family), FAMILY_STRENGTH.get(family, 0.6), FAMILY
    if field.alone:
        if words[-1] not in GENERIC:
            yield ("wo", words[-1]), 0.45 * field.sure, DESCRIPTION
        return
    if field.path.startswith("<"):
        if field.path == "<root>":
            yield ("wo", words[-1]), 0.7, DESCRIPTION
        return
    single = field.path == "<root>" or field.is_list or field.is_key or field.depth <= 1
    for word in dict.fromkeys(words):
        if word not in GENERIC:
            yield ("wo", word), 0.7 if single else 0.5, DESCRIPTION
    for word in _description_words(field.description):
        yield ("wi", word), 0.7 if single else 0.5, DESCRIPTION
    if field.types & _NUMERIC and attribute == "":
        yield ("k", "number"), 0.5, PLAIN_NUMBER
    if ("string" in field.types or not field.types) and any("text" in families(word) for word in words[-1:]):
        yield ("k", "text"), 0.5, PLAIN_TEXT


def input_keys(field: Field, head: tuple[str, ...]) -> Iterable[tuple[Key, float, str]]:
    """The keys by which an input looks for outputs."""
    yield from _named_input_keys(field, field.words, head, 1.0)
    for name in field.names:
        yield from _named_input_keys(field, name_words(name), head, 0.9)
    for owner, attribute in _described_things(field.description):
        yield ("e", attribute, *owner), 0.85, DESCRIPTION
    described = _description_words(field.description)
    for word in described:
        if word not in field.words:
            yield ("wo", word), 0.75, DESCRIPTION
    for phrase in _phrases(field.description):
        yield ("p", *phrase), 0.9, NAMED_IN_TEXT
    numeric = bool(field.types & _NUMERIC) or not field.types
    if numeric and (UNITS & set(field.words[1:]) or _UNIT_TEXT.search(field.description)):
        yield ("u",), 0.6, UNIT
    if not field.description.isascii():
        entity, attribute = entity_and_attribute(chinese_words(field.description[:12])[:3])
        if entity and attribute:
            yield ("e", attribute, *entity), 0.9, DESCRIPTION
            yield from _parts(entity, attribute, 0.9)


def _named_input_keys(
    field: Field, words: tuple[str, ...], head: tuple[str, ...], sure: float
) -> Iterable[tuple[Key, float, str]]:
    if not words:
        return
    generic = all(word in GENERIC for word in words)
    stripped = (
        words[1:] if len(words) > 1 and words[0] in ("new", "old", "target", "current", "given") else words
    )
    for form, strength in dict.fromkeys(((words, sure), (stripped, sure * 0.9))):
        if not generic:
            yield ("n", *form), strength, SAME_NAME
        else:
            yield ("g", *form), 0.5 * strength, GENERIC_NAME
    entity, attribute = entity_and_attribute(stripped)
    owners: list[tuple[tuple[str, ...], float]] = []
    if entity:
        owners.append((entity, 1.0))
    else:
        owners.extend((owner, 0.9) for owner in field.entity[:2])
        if head:
            owners.append((head, 0.85))
    if attribute:
        for owner, strength in owners:
            yield ("e", attribute, *owner), strength * sure, ENTITY
            yield from _parts(owner, attribute, strength * sure)
            if attribute != "id":
                yield ("e", "", *owner), 0.6 * strength * sure, ENTITY
    elif not generic:
        yield ("e", "", *stripped), sure, ENTITY
        known = "id" if _ID_TEXT.search(field.description) else ""
        yield ("e", "id", *stripped), (0.8 if known else 0.45) * sure, ENTITY
        yield ("e", "name", *stripped), 0.7 * sure, ENTITY
        for attr in ("id", "name"):
            yield ("h", attr, stripped[-1]), 0.6 * sure, PART_OF_ENTITY
    last = stripped[-1] if attribute == "" or len(stripped) == 1 else stripped[-2]
    if attribute in ("", "name"):
        for family in families(last):
            yield ("f", family), FAMILY_STRENGTH.get(family, 0.6) * sure, FAMILY
    if field.depth == 0 and attribute == "":
        for group, meant in AMBIENT_FAMILIES.items():
            if last in meant:
                yield ("a", group), 0.75 * sure, AMBIENT_VALUE
    for word in dict.fromkeys(stripped):
        if word not in GENERIC:
            yield ("wi", word), 0.75 * sure, DESCRIPTION
    if field.types & _NUMERIC and attribute == "":
        yield ("k", "number"), 0.5, PLAIN_NUMBER
    if ("string" in field.types or not field.types) and any(
        "text" in families(word) for word in stripped[-1:]
    ):
        yield ("k", "text"), 0.5, PLAIN_TEXT


def type_factor(source: Field, target: Field, rule: str) -> float:
    """How well the types go together: 0 is a veto, above 1 an agreement of formats or enums that supports the binding."""
    given, taken = source.types, target.types
    if not given or not taken:
        return 0.95
    if given & taken:
        if (given & taken) == {"boolean"}:
            return 0.2
        factor = 1.0
    elif given & _NUMERIC and taken & _NUMERIC:
        factor = 1.0
    elif given <= {"boolean"} or taken <= {"boolean"} or given <= {"object"} or taken <= {"object"}:
        return 0.0
    elif "string" in taken and given & _NUMERIC:
        factor = 0.7 if rule in (SAME_NAME, ENTITY, RESULT_NAME, ENTITY_LIST) else 0.5
    elif "string" in given and taken & _NUMERIC:
        factor = 0.6 if rule in (SAME_NAME, ENTITY, RESULT_NAME, ENTITY_LIST) else 0.2
    else:
        factor = 0.5
    if source.format and target.format:
        if source.format != target.format:
            factor *= 0.4
        elif source.format not in WIDTHS:
            factor *= AGREED
    if target.values is not None:
        if source.values is None:
            factor *= 0.5
        else:
            given_values, taken_values = set(map(str, source.values)), set(map(str, target.values))
            same = given_values == taken_values and len(taken_values) > 1
            factor *= AGREED if same else 0.9 if given_values & taken_values else 0.0
    elif source.values is not None:
        factor *= 0.6
    return factor


def matches(
    outputs: Sequence[tuple[Field, tuple[str, ...], frozenset[str]]],
    inputs: Sequence[tuple[Field, tuple[str, ...]]],
) -> Iterable[list[Match]]:
    """All candidate bindings, those of one input at a time; the strongest rule per pair of fields only."""
    by_key = _outputs_by_key(outputs)
    wanted: dict[Key, int] = defaultdict(int)
    keyed_inputs = []
    for field, head in inputs:
        best: dict[Key, tuple[float, str]] = {}
        if (
            not (
                field.words
                and field.words[-1] in STEERING
                and all(word in GENERIC or word in STEERING for word in field.words)
            )
            and "_".join(field.words) not in STEERING
            and field.types != {"boolean"}
        ):
            for key, strength, rule in input_keys(field, head):
                if strength > best.get(key, (0.0, ""))[0]:
                    best[key] = (strength, rule)
        keyed_inputs.append(best)
        for key in best:
            if key in by_key:
                wanted[key] += 1
    for key, count in wanted.items():
        if count * len(by_key[key]) > (MAX_STRONG_PAIRS if key[0] in "ne" else MAX_WEAK_PAIRS):
            del by_key[key]
    for (target, _), keys in zip(inputs, keyed_inputs, strict=True):
        found: dict[int, tuple[float, str]] = {}
        for key, (strength, rule) in keys.items():
            for place, given, named in by_key.get(key, ()):
                score = strength * given
                known = found.get(place)
                if known is None or score > known[0]:
                    found[place] = (score, named or rule)
        group = []
        for place, (score, rule) in found.items():
            source = outputs[place][0]
            factor = type_factor(source, target, rule)
            if factor > 0:
                group.append(Match(source, target, rule, min(score * factor, 1.0)))
        if group:
            yield group


def _outputs_by_key(
    outputs: Sequence[tuple[Field, tuple[str, ...], frozenset[str]]],
) -> dict[Key, list[tuple[int, float, str]]]:
    """Under each key the places of its outputs, their strength, and the rule where the output's own one tells more."""
    by_key: dict[Key, list[tuple[int, float, str]]] = {}
    for place, (field, head, verbs) in enumerate(outputs):
        best: dict[Key, tuple[float, str]] = {}
        for key, strength, rule in output_keys(field, head, verbs):
            if strength > best.get(key, (0.0, ""))[0]:
                best[key] = (strength, rule)
        for key, (strength, rule) in best.items():
            tells = rule in (RESULT_NAME, ENTITY_LIST) and key[0] in "ne"
            by_key.setdefault(key, []).append((place, strength, rule if tells else ""))
    return by_key
