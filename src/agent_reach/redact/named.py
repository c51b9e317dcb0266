"""Values behind a secret name inside a text: `"badge": "77"`, `badge=77`, `\\"badge\\": {...}` in JSON within JSON, `<badge>77<`.

Models emit arguments as text, servers answer with JSON as text: what is masked under a key of a value has to be masked
there too. A bracket that is never closed (a cut text) is masked to the end. It does not see a value that stands away from
its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from agent_reach.text.tokens import split_identifier

PLACEHOLDER = re.compile(r"\[redacted(?::[0-9a-f]{8})?\]")
"""What stands in the place of a masked value."""

_JSON_KEY = re.compile(r"(?<![\w-])(?P<name>[\w-]{1,64})(?P<quote>\\*[\"'])\s*:\s*(?=[\\\"'\[{])")
_QUOTE = re.compile(r"(\\*)([\"'])")
_BARE = re.compile(r"[^\s\"',;&{}()\[\]<>，。；、\\]+")
_OPEN, _CLOSE = "{[", "}]"


def key_pattern(keys: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that ends where the value behind one of these names begins (compared by their words, in any case and
    spelling); None without names."""
    names = []
    for key in keys:
        words = [re.escape(word) for word in split_identifier(key)]
        if words:
            names.append(r"[_\s-]?".join(words))
    if not names:
        return None
    name = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(
        rf"(?i)(?:<(?:{name})>|(?<![a-z0-9_-])(?:{name})(?P<quote>\\*[\"'])?\s*(?:[:=：]|是|为))\s*"
    )


def mask_named(text: str, pattern: re.Pattern[str], placeholder: Callable[[str], str]) -> str:
    """The text with the values behind the names masked."""
    return _masked(text, pattern, lambda match: True, placeholder)


def mask_json_keys(text: str, is_secret: Callable[[str], bool], placeholder: Callable[[str], str]) -> str:
    """The text with quoted values and whole objects masked that stand behind a secret JSON key."""
    return _masked(text, _JSON_KEY, lambda match: is_secret(match["name"]), placeholder)


def _masked(
    text: str,
    pattern: re.Pattern[str],
    is_meant: Callable[[re.Match[str]], bool],
    placeholder: Callable[[str], str],
) -> str:
    parts: list[str] = []
    done = position = 0
    while (match := pattern.search(text, position)) is not None:
        position = match.end()
        if not is_meant(match):
            continue
        start, end = _extent(text, position)
        secret = text[start:end]
        position = max(position, end)
        if not secret.strip() or PLACEHOLDER.fullmatch(secret):
            continue
        mask = placeholder(secret)
        quote = match.groupdict().get("quote") or ""
        parts += [text[done:start], f"{quote}{mask}{quote}" if secret[0] in _OPEN else mask]
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _extent(text: str, start: int) -> tuple[int, int]:
    """Where the value that begins here starts and ends, without its quotes."""
    known = PLACEHOLDER.match(text, start)
    if known is not None:
        return start, known.end()
    quoted = _QUOTE.match(text, start)
    if quoted is not None:
        begin = quoted.end()
        return begin, _end_of_string(text, begin, len(quoted[1]), quoted[2])
    if text[start : start + 1] in _OPEN and start < len(text):
        return start, _end_of_brackets(text, start)
    bare = _BARE.match(text, start)
    return (start, bare.end()) if bare is not None else (start, start)


def _end_of_string(text: str, start: int, slashes: int, sign: str) -> int:
    """Where a string ends whose quotes stand behind so many backslashes; the end of the text where it is not closed."""
    for match in re.compile(rf"(\\*){re.escape(sign)}").finditer(text, start):
        if len(match[1]) == slashes or (slashes == 0 and len(match[1]) % 2 == 0):
            return match.start() if slashes else match.end() - 1
    return len(text)


def _end_of_brackets(text: str, start: int) -> int:
    """Behind the bracket that closes the one here; brackets in strings do not count."""
    depth, position = 0, start
    while position < len(text):
        sign = text[position]
        quoted = _QUOTE.match(text, position) if sign in "\"'\\" else None
        if quoted is not None:
            position = _end_of_string(text, quoted.end(), len(quoted[1]), quoted[2])
            position += len(quoted[0])
            continue
        depth += (sign in _OPEN) - (sign in _CLOSE)
        position += 1
        if not depth:
            return position
    return len(text)
