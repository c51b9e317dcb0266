"""Texts in which golden values are looked for, and what counts as found there.

Text is compared after folding, without blanks and punctuation, so that `555-123-2002` is found in `5551232002`, and may
be put together from words and numbers that are given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.catalog.schema import allowed_values, resolved_schema
from agent_reach.evals.suite.reading import message_text
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.text.folding import fold
from agent_reach.text.tokens import words

_SMALL_NUMBER = 100
"""Whole numbers below this are counted, computed or said in words too often to be doubted."""
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{4}-\d{2}|\d{1,2}:\d{2}(:\d{2})?")
_RELATIVE = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|now|this|next|last|past|previous|coming|ago|week|weekend|month|quarter|year|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\d{1,4}[/.]\d{1,2}|今|明|昨|后天|前天|本[周月季年]|上[周月个季]|下[周月个季]|去年|前年|周|星期|月|季度|最近|近|过去|未来|年初|年底",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[a-z]+|\d+")
_OWN_WORDS = 0.5
"""Free text is taken for supplied when at least this share of its words stands somewhere."""


def compact(text: str) -> str:
    """Folded text without blanks and punctuation."""
    return re.sub(r"[\W_]+", "", fold(text))


def texts_in(value: Any) -> Iterator[str]:
    """Every scalar and key inside a JSON value, as text; a JSON text counts for its content."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value
        if value[:1] in "{[":
            try:
                yield from texts_in(json.loads(value))
            except (ValueError, RecursionError):
                return
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def given_text(task: Task) -> list[str]:
    """What the agent is told in words: request, conversation, turns, blocks, slots, clock."""
    texts = [task.query, task.now, *(turn.user for turn in task.turns)]
    for message in task.messages:
        texts.append(message_text(message))
        texts += texts_in({key: item for key, item in message.items() if key not in ("role", "content")})
    for block in task.context:
        texts += [block.text, *block.facts, *texts_in(block.value)]
    for slot in task.state_slots:
        texts += texts_in(slot.value)
    texts += texts_in(task.environment)
    return [text for text in texts if text]


def schema_text(tool: Tool, name: str) -> list[str]:
    """What tool and parameter say themselves: enum, default, examples, descriptions, notes."""
    schema = resolved_schema(tool.parameters.get(name), tool.input_schema)
    texts = [tool.name, tool.description]
    if isinstance(schema, Mapping):
        texts += texts_in(allowed_values(schema, tool.input_schema) or ())
        for key in ("default", "examples", "example", "description", "title", "pattern"):
            texts += texts_in(schema.get(key))
        texts += texts_in(schema.get("properties")) if "properties" in schema else []
        texts += texts_in(schema.get("items")) if "items" in schema else []
    hint = tool.note.param_hints.get(name) if tool.note is not None else None
    if hint is not None:
        texts += [
            hint.format,
            *map(str, hint.values),
            *(word for said in hint.values.values() for word in said),
        ]
        texts += texts_in(hint.example)
    return texts


class Corpus:
    """Texts to look values up in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.plain = "\n".join(texts)
        self.compact = compact(self.plain)
        self.words = set(words(self.plain))
        self.pieces = set(_PIECE.findall(fold(self.plain)))
        self.numbers = {_number(found) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", self.plain)}

    def holds(self, value: Any) -> bool:
        """The value stands in the texts, can be put together from them, or needs no source."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, (int, float)):
            return float(abs(value)) in self.numbers or (
                float(value).is_integer() and abs(value) < _SMALL_NUMBER
            )
        text = str(value)
        squeezed = compact(text)
        if not squeezed or squeezed in self.compact:
            return True
        if self.pieces.issuperset(_PIECE.findall(fold(text))) and _PIECE.search(fold(text)):
            return True  # put together from words and numbers that are given ("P followed by 12345678")
        if ISO_DATE.fullmatch(text.strip()) and (_RELATIVE.search(self.plain) or text[:10] in self.plain):
            return True
        own = words(text)
        if len(own) < 3 and not any(character.isspace() for character in text.strip()):
            return False
        return sum(word in self.words for word in own) / max(1, len(own)) >= _OWN_WORDS


class Corpora:
    """The texts of the task, and those of one parameter."""

    def __init__(self, task: Corpus, parameter: Corpus) -> None:
        self._parts = (task, parameter)

    def holds(self, value: Any) -> bool:
        """One of the two holds the value."""
        return any(part.holds(value) for part in self._parts)


def _number(text: str) -> float:
    return float(text.replace(",", ""))
