"""Texts that a pattern or format describes: their blanks, width and case, and ids that the conversation holds in full."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.router.normalize.conversation import Conversation, Utterance
from agent_reach.router.normalize.state import NormalizeState

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-:/#@+]*[A-Za-z0-9]|[A-Za-z0-9]")


def repair_text(state: NormalizeState, schema: Mapping[str, Any], value: str, pointer: str) -> str | None:
    """A text that fits in another form of itself, or the one id of the conversation that it is a part of."""
    if state.on("text_form"):
        fitting = {form for form in _forms(value) if state.fits(schema, form)}
        trimmed = value.strip()
        if trimmed in fitting:
            fitting = {trimmed}
        if len(fitting) == 1:
            chosen = fitting.pop()
            state.change("text_form", pointer, value, chosen)
            return chosen
    if state.on("identifier") and "pattern" in schema:
        core = _core(value)
        found = {
            token: (utterance, span)
            for utterance, token, span in conversation_tokens(state.conversation)
            if len(core) >= 2 and core in _core(token) and state.fits(schema, token)
        }
        if len(found) == 1:
            token, (utterance, span) = next(iter(found.items()))
            state.change("identifier", pointer, value, token, source=utterance.source, span=span, text=token)
            return token
    return None


def conversation_tokens(conversation: Conversation) -> Iterator[tuple[Utterance, str, tuple[int, int]]]:
    """Every id-like word of what the user said and tools returned, latest message first."""
    for utterance in conversation.evidence():
        for found in _TOKEN.finditer(utterance.text):
            yield utterance, found[0], found.span()


def _core(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", unicodedata.normalize("NFKC", text).casefold())


def _forms(value: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", value).strip()
    for base in (value.strip(), folded, folded.strip("\"'`<>")):
        yield base
        yield base.upper()
        yield base.lower()
    squeezed = re.sub(r"\s+", "", folded)
    yield squeezed
    yield re.sub(r"\s+", "-", folded)
    yield re.sub(r"\s+", "_", folded)
    yield squeezed.upper()
    yield re.sub(r"\s+", "-", folded).upper()
    if folded.casefold().startswith("mailto:"):
        yield folded[7:]
