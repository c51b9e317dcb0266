"""The conversation as a source of evidence: whose words, in which message, at which place.

It reads OpenAI and Anthropic messages, plain texts and lists of texts; it never reads what the model itself said as
evidence of what the user wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Utterance:
    """One text of the conversation; `index` is the message's place, `role` as written."""

    index: int
    role: str
    text: str

    @property
    def source(self) -> str:
        """How a change names it."""
        return f"conversation[{self.index}] {self.role}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """All texts in order."""

    utterances: tuple[Utterance, ...] = ()

    def by_user(self) -> tuple[Utterance, ...]:
        """What the user said, latest first."""
        return tuple(item for item in reversed(self.utterances) if item.role == "user")

    def evidence(self) -> tuple[Utterance, ...]:
        """What the user said and what tools returned, latest first."""
        return tuple(item for item in reversed(self.utterances) if item.role in ("user", "tool", "function"))

    def __bool__(self) -> bool:
        return bool(self.utterances)


def read_conversation(conversation: Any) -> Conversation:
    """A conversation from None, one text, a sequence of texts or messages, or a `Conversation`."""
    if isinstance(conversation, Conversation):
        return conversation
    if conversation is None:
        return Conversation()
    if isinstance(conversation, str):
        return Conversation((Utterance(0, "user", conversation),) if conversation else ())
    if isinstance(conversation, Mapping):
        conversation = conversation.get("messages", [conversation])
    return Conversation(
        tuple(
            utterance
            for index, message in enumerate(
                conversation if isinstance(conversation, Sequence) else list(conversation)
            )
            for utterance in _utterances(index, message)
        )
    )


def _utterances(index: int, message: Any) -> Iterator[Utterance]:
    if isinstance(message, str):
        yield Utterance(index, "user", message)
        return
    if not isinstance(message, Mapping):
        return
    role = str(message.get("role") or "user")
    content = message.get("content")
    if isinstance(content, str):
        if content:
            yield Utterance(index, role, content)
        return
    for part in content if isinstance(content, Sequence) else ():
        if isinstance(part, str):
            yield Utterance(index, role, part)
        elif isinstance(part, Mapping):
            yield from _part(index, role, part)


def _part(index: int, role: str, part: Mapping[str, Any]) -> Iterator[Utterance]:
    if part.get("type") == "tool_result":
        inner = part.get("content")
        pieces = inner if isinstance(inner, list) else [{"text": inner}]
        for piece in pieces:
            text = piece.get("text") if isinstance(piece, Mapping) else None
            if isinstance(text, str):
                yield Utterance(index, "tool", text)
    else:
        own = part.get("text")
        if isinstance(own, str):
            yield Utterance(index, role, own)
