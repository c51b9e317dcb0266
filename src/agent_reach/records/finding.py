"""A finding: something wrong or worth knowing about one part of an input, while the rest goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.message import Message

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact about one place.

    `code` is stable and machine-readable (`reference_cycle`, `AR101`); `subject` is the tool key, server, task id
    or trace id it is about; `pointer` a JSON pointer inside the subject; `source` the file or address.
    """

    code: str
    severity: Severity
    message: Message
    subject: str = ""
    pointer: str = ""
    source: str = ""
    line: int | None = None
    fix: Message | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
