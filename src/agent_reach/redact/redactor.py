"""Masks secrets in text and in JSON values, on by default wherever something is written.

Three kinds of evidence: the name of the key a value stands under (`apiKey`, `X-Api-Key`, `password`), the form of the
value itself (provider keys, bearer tokens, private keys, JSON web tokens, credentials in addresses), and values that the
caller named (`known`). A masked value becomes `[redacted:xxxxxxxx]`: eight hex digits of a keyed hash, so that equal
secrets stay equal for comparing and replaying while the secret cannot be read back. Personal data (emails, phone and id
numbers) is masked only where it is asked for. It does not see secrets that look like ordinary words under ordinary names.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

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
_PLACEHOLDER = re.compile(r"\[redacted:[0-9a-f]{8}\]")


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
    further regular expressions (a group named `secret` masks only that group); `known` are literal secrets (from the
    environment of servers, say); `personal` masks emails, phone, card and id numbers too; `salt` keys the hash.
    """

    def __init__(
        self,
        *,
        keys: Iterable[str] = (),
        keep: Iterable[str] = (),
        patterns: Iterable[str] = (),
        known: Iterable[str] = (),
        personal: bool = False,
        enabled: bool = True,
        salt: str = "agent-reach",
    ) -> None:
        self._enabled = enabled
        self._salt = salt.encode()
        self._keys = frozenset("_".join(split_identifier(key)) for key in keys)
        self._keep = frozenset("_".join(split_identifier(key)) for key in keep)
        own = tuple(re.compile(pattern) for pattern in patterns)
        self._patterns = own + (_PERSONAL_PATTERNS if personal else ())
        literals = sorted({text for text in known if len(text) >= 6}, key=len, reverse=True)
        self._always = bool(self._keys or self._patterns or literals)
        self._known = re.compile("|".join(map(re.escape, literals))) if literals else None

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

    def text(self, text: str) -> str:
        """The text with secret values masked; a text without any comes back as it is."""
        if not self._enabled or not text:
            return text
        if self._known is not None:
            text = self._known.sub(lambda match: self.placeholder(match.group()), text)
        if _has_hint(text):
            for pattern in _VALUE_PATTERNS:
                text = pattern.sub(self._mask, text)
        for pattern in self._patterns:
            text = pattern.sub(self._mask, text)
        return text

    def json_text(self, value: Any, dump: Callable[[Any], str]) -> str:
        """A JSON value written by `dump`, masked. One look at the whole text spares most values the walk through their parts;
        only values that may hold a secret are masked and written again."""
        text = dump(value)
        if not self._enabled or (not self._always and not _has_hint(text)):
            return text
        return dump(self.value(value))

    def value(self, value: Any, *, key: str = "") -> Any:
        """A JSON value with secrets masked at every depth, by key name and by form. Iterative at the top, so that a deep
        value costs no more stack than its own depth; tuples become lists."""
        if not self._enabled:
            return value
        if isinstance(value, str):
            if key and self._is_secret_key(key):
                return value if not value or _PLACEHOLDER.fullmatch(value) else self.placeholder(value)
            return self.text(value)
        if isinstance(value, Mapping):
            if key and self._is_secret_key(key):
                return {str(name): self._masked_leaves(item) for name, item in value.items()}
            return {self.text(str(name)): self.value(item, key=str(name)) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item, key=key) for item in value]
        if (
            key
            and isinstance(value, (int, float))
            and not isinstance(value, bool)
            and self._is_secret_key(key)
        ):
            return self.placeholder(str(value))
        return value

    def _masked_leaves(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): self._masked_leaves(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._masked_leaves(item) for item in value]
        if value is None or isinstance(value, bool):
            return value
        return self.placeholder(str(value))

    def _is_secret_key(self, key: str) -> bool:
        if not self._keys and not self._keep:
            return is_secret_name(key)
        words = "_".join(split_identifier(key))
        if words in self._keep:
            return False
        return words in self._keys or is_secret_name(key)

    def _mask(self, match: re.Match[str]) -> str:
        if "secret" not in match.re.groupindex:
            return self.placeholder(match.group())
        secret = match.group("secret")
        bare = secret.strip("\"' ")
        if not bare or _PLACEHOLDER.fullmatch(bare):
            return match.group()
        start, end = match.span("secret")
        offset = match.start()
        whole = match.group()
        masked = secret.replace(bare, self.placeholder(bare))
        return whole[: start - offset] + masked + whole[end - offset :]
