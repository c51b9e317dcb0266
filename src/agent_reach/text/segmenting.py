"""Where Chinese words begin and end, for whoever has a segmenter: a dictionary knows what a table of pairs cannot.

Recall reads Chinese as pairs of characters, which needs no dictionary and misses nothing; but of the pairs of a request
about half lie across the border of two words and mean nothing. A segmenter says which. It is optional, it changes what
pairs of a request count and never what is indexed, and it sees one unbroken run of Han characters at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from agent_reach.errors import ConfigError, MissingExtraError
from agent_reach.text.tokens import nearest_names, run_terms

SEGMENTERS = {"rjieba": "agent_reach.text.segmenting:RjiebaSegmenter"}
"""The built-in segmenters: name to class."""
ENTRY_POINTS = "agent_reach.segmenters"
"""The entry-point group in which installed packages name further ones."""
PROBE = "查询订单"
KEPT_RUNS = 8192

SegmentFunction = Callable[[str], Sequence[str]]


@runtime_checkable
class Segmenter(Protocol):
    """A run of Han characters (simplified) to its words, in order. One with `knowing(words)` can be taught."""

    name: str

    def words(self, text: str) -> Sequence[str]:
        """The words of the text, in order."""
        ...


@runtime_checkable
class TeachableSegmenter(Segmenter, Protocol):
    """A segmenter that can be given words of a domain."""

    def knowing(self, words: Iterable[str]) -> Segmenter:
        """A segmenter that also knows these words; this one stays as it is."""
        ...


class FunctionSegmenter:
    """The user's own function of a text that returns its words."""

    def __init__(self, function: SegmentFunction, name: str = "") -> None:
        self._function = function
        self.name = name or f"function:{getattr(function, '__qualname__', type(function).__name__)}"

    def words(self, text: str) -> Sequence[str]:
        """What the function returns, as a list; `ConfigError` where that is no list of texts."""
        found = self._function(text)
        words = list(found) if isinstance(found, Iterable) and not isinstance(found, (str, bytes)) else None
        if words is None or not all(isinstance(word, str) for word in words):
            raise ConfigError(
                f"the segmenter {self.name!r} returned {type(found).__name__} for {text!r}",
                where="segmenter",
                next_step="return the words of the text as a list of texts",
            )
        return words


class RjiebaSegmenter:
    """`rjieba` of the extra `segmenter`: the dictionary and the model for unknown words of jieba, compiled; no network."""

    name = "rjieba"

    def __init__(self, words: Iterable[str] = ()) -> None:
        """Raises `MissingExtraError` where the package is not installed; a dictionary with words of its own takes 25 MB."""
        try:
            module: Any = import_module("rjieba")
        except ModuleNotFoundError as error:
            if error.name != "rjieba":
                raise
            raise MissingExtraError("rjieba", "segmenter") from error
        self._taught = tuple(word for word in dict.fromkeys(words) if word and not module.has_word(word))
        self._jieba: Any = module.Jieba() if self._taught else module
        for word in self._taught:
            self._jieba.add_word(word, None, None)

    def words(self, text: str) -> list[str]:
        """The words of the most likely cut."""
        return list(self._jieba.cut(text))

    def knowing(self, words: Iterable[str]) -> RjiebaSegmenter:
        """One with a dictionary of its own, to which the words that it lacks were added."""
        return RjiebaSegmenter((*self._taught, *words))


def as_segmenter(given: Any) -> Segmenter:
    """A segmenter from what a caller gave: a segmenter, a function of a text, or the name of an installed one.

    It is tried once. Raises `ConfigError` for what is none and `MissingExtraError` for a built-in one whose package is
    not installed.
    """
    from inspect import iscoroutinefunction

    if isinstance(given, str):
        return _named(given)
    segmenter: Segmenter | None = None
    if not isinstance(given, type):
        if isinstance(given, Segmenter):
            segmenter = given
        elif callable(given) and not iscoroutinefunction(given):
            segmenter = FunctionSegmenter(given)
    if segmenter is None:
        raise ConfigError(
            f"{given!r} is no segmenter",
            where="segmenter",
            next_step=f"give {' or '.join(map(repr, SEGMENTERS))}, a function from a text to its words, or an object with"
            " name and words(text)",
        )
    try:
        FunctionSegmenter(segmenter.words, segmenter.name).words(PROBE)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(
            f"the segmenter {segmenter.name!r} failed on {PROBE!r}: {error}",
            where="segmenter",
            next_step="give one that cuts any Chinese text",
        ) from error
    return segmenter


def _named(name: str) -> Segmenter:
    from importlib.metadata import entry_points

    where = SEGMENTERS.get(name)
    if where is not None:
        module, _, attribute = where.partition(":")
        built: Segmenter = getattr(import_module(module), attribute)()
        return built
    others = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name in others:
        return as_segmenter(others[name].load()())
    known = (*SEGMENTERS, *others)
    near = nearest_names(name, known, limit=1)
    raise ConfigError(
        f"no segmenter is named {name!r}",
        where="segmenter",
        next_step=f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}",
    )


class WordBorders:
    """How much each pair of a run counts: 1 within a word, `across` where it lies across a border.

    A run in which no pair lies within a word counts whole, because there the cut tells nothing. A segmenter that fails
    tells nothing either; its first error is kept in `failure`.
    """

    def __init__(self, segmenter: Segmenter, *, across: float = 0.5) -> None:
        self.segmenter = segmenter
        self.across = across
        self.failure: Exception | None = None
        self.shares = lru_cache(maxsize=KEPT_RUNS)(self._shares)

    def _shares(self, run: str) -> tuple[float, ...]:
        """One number for each of the run's terms (`tokens.run_terms`), in their order."""
        count = len(run_terms(run))
        if count < 2:
            return (1.0,) * count
        try:
            within = pairs_within(run, self.segmenter.words(run))
        except Exception as error:  # a broken segmenter must not break recall; the answer reports it
            self.failure = self.failure or error
            return (1.0,) * count
        if not within:
            return (1.0,) * count
        return tuple(1.0 if place in within else self.across for place in range(count))


def pairs_within(run: str, words: Iterable[str]) -> frozenset[int]:
    """The places of the run's pairs that lie within one of the words; overlapping words are read, unknown ones are not.

    A word is looked for behind the one before it, then from the beginning.
    """
    found: set[int] = set()
    end = 0
    for word in words:
        place = run.find(word, end) if word else -1
        if place < 0:
            place = run.find(word) if word else -1
        if place >= 0:
            end = place + len(word)
            found.update(range(place, end - 1))
    return frozenset(found)
