"""Masks secrets in text and in JSON values, on by default wherever something is written.

Four kinds of evidence: the name of the key a value stands under (`apiKey`, `X-Api-Key`, `password`), in values and in JSON
within texts; the form of the value itself (provider keys, bearer tokens, private keys, JSON web tokens, credentials in
addresses); the place of a field (`fields`); and values that the caller named (`known`). A masked value becomes
`[redacted:xxxxxxxx]`: eight hex digits of a keyed hash, so that equal secrets stay equal for comparing, joining and
replaying. Who has the key (`salt`) can find out short secrets by trying them all. Personal data (emails, phone and id numbers) is
masked only where it is asked for. It does not see secrets that look like ordinary words under ordinary names.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agent_reach.redact.named import PLACEHOLDER, key_pattern, mask_json_keys, mask_named
from agent_reach.redact.places import FieldRules, Place
from agent_reach.text.tokens import split_identifier

_SECRET_WORDS = frozenset(
    {"password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "pwd"}
)
_SECRET_PHRASES = (
    ("api", "key"),
    ("apikey",),
    ("access", "key"),
    ("access", "token"),
    ("auth", "token"),
    ("refresh", "token"),
    ("id", "token"),
    ("bearer", "token"),
    ("session", "token"),
    ("client", "secret"),
    ("private", "key"),
    ("secret", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("master", "key"),
    ("set", "cookie"),
    ("proxy", "authorization"),
)
_SECRET_NAMES = frozenset(
    {"token", "authorization", "cookie", "auth", "jwt", "bearer", "otp", "密码", "口令", "密钥", "令牌"}
)
_PUBLIC_TAILS = frozenset(
    {"count", "counts", "limit", "budget", "usage", "length", "type", "name", "url", "uri", "expires"}
)

_VALUE_PATTERNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(
        r"\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken)\s+"
        r"(?P<secret>(?=\S*(?:\d|[A-Z]\S*[A-Z]|[._+/=]\w))[A-Za-z0-9._~+/=-]{6,})"
    ),
    re.compile(r"\b(?P<secret>eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*)"),
    re.compile(r"\b(?P<secret>(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{12,})"),
    re.compile(
        r"\b(?P<secret>gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{12,})"
    ),
    re.compile(r"\b(?P<secret>xox[abeoprs]-[A-Za-z0-9-]{8,})"),
    re.compile(r"\b(?P<secret>(?:AKIA|ASIA|LTAI)[A-Za-z0-9]{12,})"),
    re.compile(r"\b(?P<secret>AIza[A-Za-z0-9_-]{30,})"),
    re.compile(r"\b(?P<secret>hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{20,})"),
    re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@\"']+:(?P<secret>[^\s/@\"']+)@"),
    re.compile(
        r"(?i)(?:api[_ -]?key|access[_-]?key|secret[_ -]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key"
        r"|(?:access|auth|refresh|session|bearer|client|github|gitlab|slack|bot|api|id)[_-]?token|passphrase|password|passwd"
        r"|(?<![a-z])pwd|secret|db[_-]?pass)(?:[_-]?(?:\d{1,3}|id|prod|production|dev|test|live|staging))?"
        r"[\"']?\s*(?:=|:)\s*"
        r"(?P<secret>\"[^\"\n]{3,}\"|'[^'\n]{3,}'|(?!\[redacted:)[^\s\"',;&{}()\[\]]{3,})"
    ),
    re.compile(  # `token` and `auth` are ordinary words: only as an assignment to something with a digit or long
        r"(?i)(?<![a-z])(?:[a-z0-9]{1,20}[_-])?(?:token|jwt|auth|cookie|pat|pass|credentials?)[\"']?=[\"']?"
        r"(?P<secret>(?!\[redacted:)(?=[^\s\"',;&]*\d|[^\s\"',;&]{16})[^\s\"',;&{}()\[\]]{6,})"
    ),
    re.compile(
        r"(?i)(?<!\S)--?(?:[a-z0-9]{1,20}-){0,3}(?:(?<=[a-z]-)key|token|password|passwd|secret|passphrase)[ =]"
        r"(?P<secret>(?!-)[^\s\"']{6,})"
    ),
    re.compile(r"(?P<secret>(?<=密码[是为:：])\s*[^\s，。,;；]{4,}|(?<=密钥[是为:：])\s*[^\s，。,;；]{4,})"),
)
_PERSONAL_PATTERNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"\b(?P<secret>[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)\b"),
    re.compile(r"(?<!\d)(?P<secret>1[3-9]\d{9})(?!\d)"),
    re.compile(
        r"(?<!\d)(?P<secret>[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx])(?!\d)"
    ),
    re.compile(r"(?<![\w+])(?P<secret>\+\d{1,3}[ -]?(?:\d[ -]?){7,12}\d)(?!\d)"),
    re.compile(r"(?<!\d)(?P<secret>(?:\d[ -]?){13,18}\d)(?!\d)"),
)
_HINTS = (
    "-----begin", "bearer", "basic", "token", "eyj", "sk-", "pk-", "rk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat", "glpat", "xox", "akia", "asia", "ltai", "aiza", "hf_", "npm_", "pypi-", "://", "key", "pass", "pwd",
    "secret", "credential", "auth", "cookie", "jwt", "otp", "密码", "口令", "密钥", "令牌",
)  # fmt: skip
REMOVED = "[redacted]"
"""What stands for a value of which nothing may be left."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """True if a value under that key is a secret by its name: `apiKey`, `X-Api-Key`, `db_password`, but not `author`,
    `max_tokens` or `token_count`."""
    words = split_identifier(name)
    if not words or words[-1] in _PUBLIC_TAILS:
        return False
    if any(word in _SECRET_WORDS for word in words):
        return True
    joined = "_".join(words)
    if joined in _SECRET_NAMES or words[-1] in {"token", "apikey", "authorization", "cookie", "jwt"}:
        return True
    return any(
        tuple(words[start : start + len(phrase)]) == phrase
        for phrase in _SECRET_PHRASES
        for start in range(len(words) - len(phrase) + 1)
    )


def _has_hint(text: str) -> bool:
    """A cheap look that every secret name and form passes; most texts do not, and need no further look."""
    lower = text.lower()
    return any(hint in lower for hint in _HINTS)


class Redactor:
    """Masks secrets in text and JSON values.

    `keys` are further key names to mask and `keep` key names never to mask (both compared by their words); `patterns` are
    further regular expressions (a group named `secret` masks only that group); `fields` maps places to `mask`, `remove` or
    `keep` (see `FieldRules`); `known` are literal secrets (from the environment of servers, say); `personal` masks emails,
    phone, card and id numbers too; `salt` keys the hash.
    """

    def __init__(
        self,
        *,
        keys: Iterable[str] = (),
        keep: Iterable[str] = (),
        patterns: Iterable[str] = (),
        fields: Mapping[str, str] | None = None,
        known: Iterable[str] = (),
        personal: bool = False,
        enabled: bool = True,
        salt: str = "agent-reach",
    ) -> None:
        keys = tuple(keys)
        self._enabled = enabled
        self._salt = salt.encode()
        self._keys = frozenset("_".join(split_identifier(key)) for key in keys)
        self._keep = frozenset("_".join(split_identifier(key)) for key in keep)
        self._named = key_pattern(keys)
        own = tuple(re.compile(pattern) for pattern in patterns)
        self._patterns = own + (_PERSONAL_PATTERNS if personal else ())
        self._fields = FieldRules(fields) if fields else None
        literals = sorted({text for text in known if len(text) >= 6}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, literals))) if literals else None
        escaped = any(json.dumps(text, ensure_ascii=False) != f'"{text}"' for text in literals)
        self._always = bool(self._keys or self._patterns or self._fields or escaped)

    @classmethod
    def standard(cls, *, known: Iterable[str] = ()) -> Redactor:
        """The redactor that is on where nothing else is said: secrets, no personal data."""
        return cls(known=known)

    @classmethod
    def off(cls) -> Redactor:
        """A redactor that changes nothing."""
        return cls(enabled=False)

    def placeholder(self, secret: str) -> str:
        """What stands for that secret: the same for equal secrets."""
        digest = hmac.new(self._salt, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return f"[redacted:{digest[:8]}]"

    def may_hold(self, json_text: str) -> bool:
        """Whether a value that was written as this JSON may hold something to mask: a cheap look that spares most values the
        walk through their parts."""
        if not self._enabled:
            return False
        if self._always or _has_hint(json_text):
            return True
        return self._known is not None and self._known.search(json_text) is not None

    def text(self, text: str) -> str:
        """The text with secret values masked; a text without any comes back as it is."""
        if not self._enabled or not text:
            return text
        if self._known is not None:
            text = self._known.sub(lambda match: self.placeholder(match.group()), text)
        if self._named is not None:
            text = mask_named(text, self._named, self.placeholder)
        if _has_hint(text):
            text = mask_json_keys(text, self.is_secret_key, self.placeholder)
            for pattern in _VALUE_PATTERNS:
                text = pattern.sub(self._mask, text)
        for pattern in self._patterns:
            text = pattern.sub(self._mask, text)
        return text

    def value(self, value: Any, *, key: str = "", place: Place = ()) -> Any:
        """A JSON value with secrets masked at every depth, by key name, by form and by place (`place` is where the value itself
        stands); tuples become lists."""
        if not self._enabled:
            return value
        action = self._fields.action(place) if self._fields is not None and place else ""
        if action == "keep":
            return value
        if action or (key and self.is_secret_key(key)):
            return self.masked(value, remove=action == "remove")
        if isinstance(value, str):
            return self._text_at(value, place)
        if isinstance(value, Mapping):
            if self._fields is None:
                return {self.text(str(name)): self.value(item, key=str(name)) for name, item in value.items()}
            return {
                self.text(str(name)): self.value(item, key=str(name), place=(*place, str(name)))
                for name, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.value(item, place=place) for item in value]
        return value

    def masked(self, value: Any, *, remove: bool = False) -> Any:
        """A JSON value that is a secret as a whole: every text and number in it masked, under masked names."""
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.masked(item, remove=remove) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.masked(item, remove=remove) for item in value]
        if value is None or isinstance(value, bool) or value == "":
            return value
        if isinstance(value, str) and PLACEHOLDER.fullmatch(value):
            return value
        return REMOVED if remove else self.placeholder(str(value))

    def is_secret_key(self, key: str) -> bool:
        """Whether a value under that key is masked for its name."""
        if not self._enabled:
            return False
        if not self._keys and not self._keep:
            return is_secret_name(key)
        words = "_".join(split_identifier(key))
        if words in self._keep:
            return False
        return words in self._keys or is_secret_name(key)

    def _text_at(self, text: str, place: Place) -> str:
        """A text at a place; one that is JSON itself is masked field by field where there are rules for fields."""
        if self._fields is not None and place and text.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text)
            masked = self.value(inner, place=place)
            if masked != inner:
                return json.dumps(masked, ensure_ascii=False)
        return self.text(text)

    def _mask(self, match: re.Match[str]) -> str:
        if "secret" not in match.re.groupindex:
            return match.group() if PLACEHOLDER.fullmatch(match.group()) else self.placeholder(match.group())
        secret = match.group("secret") or ""
        bare = secret.strip("\"' ")
        if not bare or PLACEHOLDER.fullmatch(bare):
            return match.group()
        start, end = match.span("secret")
        offset = match.start()
        whole = match.group()
        masked = secret.replace(bare, self.placeholder(bare))
        return whole[: start - offset] + masked + whole[end - offset :]
