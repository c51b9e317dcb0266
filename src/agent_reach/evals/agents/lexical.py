"""The `lexical` agent: no model, only words. The floor that every model should clear.

It calls the tool whose name and description share the most telling words with the request, once, with arguments found by
simple patterns, and says nothing useful. It reads neither results nor context blocks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig
from agent_reach.evals.agents.base import Agent, AgentInfo, AgentSetup
from agent_reach.evals.agents.session import AttemptSession
from agent_reach.records.tool import Tool
from agent_reach.text.folding import fold
from agent_reach.text.stopwords import is_function_word
from agent_reach.text.tokens import split_identifier, words

MINIMUM_SHARE = 0.15
_IDENTIFIER = re.compile(r"[A-Za-z]{1,10}(?:[-_][A-Za-z0-9]+)+|[A-Za-z]{1,5}\d{2,}")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PATH = re.compile(r"(?<![\w:/.])(?:~|\.{1,2})?/[\w./-]*[\w-]|\b[A-Za-z]:\\[\w.\\-]+")
_QUOTED = re.compile(r"[\"“「『']([^\"”」』']{1,200})[\"”」』']")


class LexicalIndex:
    """Words of tools with their rarity; a name's words count double."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)
        self._words = [Counter(_tool_words(tool)) for tool in self._tools]
        document_count = Counter(word for counted in self._words for word in counted)
        size = len(self._tools)
        self._rarity = {
            word: math.log(1 + (size - count + 0.5) / (count + 0.5)) for word, count in document_count.items()
        }

    def best(self, query: str) -> tuple[Tool, float] | None:
        """The tool that shares most, and the share of the request's known weight it holds; None when nothing is shared."""
        wanted = {word for word in words(query) if not is_function_word(word)}
        total = sum(self._rarity.get(word, 1.0) for word in wanted) or 1.0
        best: tuple[float, int] | None = None
        for index, counted in enumerate(self._words):
            score = sum(
                self._rarity[word] * counted[word] / (counted[word] + 1.0) * 2
                for word in wanted
                if word in counted
            )
            if score > 0 and (best is None or score > best[0]):
                best = (score, index)
        return (self._tools[best[1]], best[0] / total) if best else None


def _tool_words(tool: Tool) -> list[str]:
    name = split_identifier(tool.name)
    text = [word for word in words(f"{tool.title} {tool.description}") if not is_function_word(word)]
    return [*name, *name, *text]


def fill_arguments(tool: Tool, query: str) -> dict[str, Any]:
    """Arguments that simple patterns find in the request, each text used once; required ones without a match are left out."""
    used: set[str] = set()
    arguments: dict[str, Any] = {}
    for name in (*tool.required, *(name for name in tool.parameters if name not in tool.required)):
        schema = tool.parameters.get(name)
        if isinstance(schema, Mapping):
            found = _value(name, schema, query, used, required=name in tool.required)
            if found is not None:
                arguments[name] = found
    return arguments


def _value(name: str, schema: Mapping[str, Any], query: str, used: set[str], *, required: bool) -> Any:
    options = schema.get("enum")
    if isinstance(options, list):
        return next((option for option in options if fold(str(option)) in fold(query)), None)
    kind = schema.get("type")
    kind = next((item for item in kind if item != "null"), None) if isinstance(kind, list) else kind
    parts = split_identifier(name)
    if kind in ("integer", "number"):
        text = _first(_NUMBER, query, used)
        if text is None:
            return None
        return float(text) if "." in text and kind == "number" else int(float(text))
    if kind == "boolean":
        return None
    if kind not in ("string", None):
        return None
    if "date" in parts or schema.get("format") == "date":
        return _first(_DATE, query, used)
    if "email" in parts or schema.get("format") == "email":
        return _first(_EMAIL, query, used)
    if parts and parts[-1] in ("id", "code", "no", "number", "sku"):
        return _best_identifier(parts, query, used)
    if parts and parts[-1] in (
        "path",
        "paths",
        "file",
        "dir",
        "directory",
        "folder",
        "source",
        "destination",
    ):
        found = _first(_PATH, query, used)
        if found is not None:
            return found
    quoted = _first(_QUOTED, query, used)
    if quoted is not None:
        return quoted
    return (
        query if required and parts and parts[-1] in ("query", "question", "keyword", "text", "q") else None
    )


def _best_identifier(parts: Sequence[str], query: str, used: set[str]) -> str | None:
    """The identifier whose letters fit the parameter's name best (`WH-1` for `warehouse_id`), else the first one."""
    candidates = [match.group() for match in _IDENTIFIER.finditer(query) if match.group() not in used]
    if not candidates:
        return None
    entity = "".join(parts[:-1])

    def fits(candidate: str) -> bool:
        prefix = re.match(r"[A-Za-z]+", candidate)
        letters = iter(entity)
        return prefix is not None and all(letter in letters for letter in prefix.group().lower())

    chosen = next((candidate for candidate in candidates if fits(candidate)), candidates[0])
    used.add(chosen)
    return chosen


def _first(pattern: re.Pattern[str], query: str, used: set[str]) -> str | None:
    for match in pattern.finditer(query):
        text = match.group(1) if pattern.groups else match.group()
        if text not in used:
            used.add(text)
            return text
    return None


class LexicalAgent:
    """One call for the best match; none when too little matches (`options: {minimum_share: 0.15}`)."""

    def __init__(self, config: AgentConfig) -> None:
        self._config = config
        self._minimum = float(config.options.get("minimum_share", MINIMUM_SHARE))
        self._indexes: dict[tuple[str, ...], LexicalIndex] = {}

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(
            name=self._config.name or "lexical",
            settings=public_settings(self._config),
            deterministic=True,
            placed_by="agent",
        )

    async def run(self, session: AttemptSession) -> None:
        while True:
            key = tuple(tool.key for tool in session.tools)
            index = self._indexes.setdefault(key, LexicalIndex(session.tools))
            best = index.best(session.query)
            if best is None or best[1] < self._minimum:
                session.say("No tool matches the request.")
            else:
                await session.call(session.wire_name(best[0].key), fill_arguments(best[0], session.query))
            if session.next_turn() is None:
                return

    async def aclose(self) -> None:
        self._indexes.clear()


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `lexical` agent of a run."""
    return LexicalAgent(config)
