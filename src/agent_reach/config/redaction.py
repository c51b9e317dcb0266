"""The `redaction` part of project and run: what is masked beyond the standard rules, and the redactor it makes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from agent_reach.config.fields import Section
from agent_reach.config.settings import RedactionConfig
from agent_reach.redact.places import ACTIONS
from agent_reach.redact.redactor import Redactor


def read_redaction(section: Section) -> RedactionConfig:
    """The `redaction` part: true, false, or rules."""
    value: Any = section.raw("redaction")
    inner = section.child("redaction", {"enabled": value} if isinstance(value, bool) else value)
    config = RedactionConfig(
        enabled=inner.flag("enabled", True),
        keys=inner.texts("keys"),
        keep=inner.texts("keep"),
        patterns=inner.texts("patterns"),
        fields=_fields(inner),
        personal=inner.flag("personal", False),
        salt=inner.text("salt"),
    )
    for index, pattern in enumerate(config.patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            inner.refuse("patterns", f"not a regular expression: {error}", "mend the pattern", index)
    inner.finish()
    return config


def _fields(section: Section) -> dict[str, str]:
    inner = section.section("fields")
    return {str(place): inner.choice(place, ACTIONS, "mask") for place in inner.values}


def redactor_of(config: RedactionConfig, *, known: Iterable[str] = ()) -> Redactor:
    """The redactor of these rules; `known` are literal secrets beside them."""
    return Redactor(
        keys=config.keys,
        keep=config.keep,
        patterns=config.patterns,
        fields=config.fields,
        known=known,
        personal=config.personal,
        enabled=config.enabled,
        **({"salt": config.salt} if config.salt else {}),
    )
