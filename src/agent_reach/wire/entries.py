"""Fields of one server's entry, read with their variables filled in; what is wrong is collected, not raised."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.redact.redactor import Redactor

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_MILLISECONDS = 1000
_MASK = Redactor.standard()


class EntryReader:
    """One entry while it is read; collects what is wrong with it."""

    def __init__(self, name: str, environment: Mapping[str, str], where: str) -> None:
        self.name = name
        self.environment = environment
        self.where = where
        self.findings: list[Finding] = []

    def complain(
        self, code: str, en: str, zh: str, *, fix: Message | None = None, error: bool = True
    ) -> None:
        self.findings.append(
            Finding(
                code=code,
                severity="error" if error else "warning",
                message=Message(_MASK.text(en), _MASK.text(zh)),
                subject=self.name,
                source=self.where,
                fix=fix,
            )
        )

    def text(self, value: Any, key: str) -> str:
        """A text with its variables filled in."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None:
            return ""
        if not isinstance(value, (str, int, float)):
            self.complain(
                "server_field_type",
                f"{key!r} must be a text, not {type(value).__name__}",
                f"{key!r} 必须是文本，而不是 {type(value).__name__}",
            )
            return ""
        return _VARIABLE.sub(lambda found: self._variable(found, key), str(value))

    def _variable(self, found: re.Match[str], key: str) -> str:
        name, default = found.group(1), found.group(2)
        value = self.environment.get(name)
        if value or (value is not None and default is None):
            return value
        if default is not None:
            return default
        self.complain(
            "variable_not_set",
            f"{key!r} uses ${{{name}}}, which is not set in the environment",
            f"{key!r} 使用了环境中未设置的变量 ${{{name}}}",
            fix=Message(
                f"set {name}, or write ${{{name}:-default}}", f"设置 {name}，或写成 ${{{name}:-默认值}}"
            ),
        )
        return ""

    def texts(self, value: Any, key: str) -> tuple[str, ...]:
        """A list of texts; one text is split like a shell would."""
        if value is None:
            return ()
        if isinstance(value, str):
            self.complain(
                "args_as_text",
                f"{key!r} is one text; it was split at its blanks",
                f"{key!r} 是一整段文本，已按空格拆分",
                fix=Message("write a list of texts", "写成文本列表"),
                error=False,
            )
            try:
                parts = shlex.split(value)
            except ValueError:  # a quote that is never closed
                parts = value.split()
            return tuple(self.text(part, key) for part in parts)
        if not isinstance(value, Sequence):
            self.complain(
                "server_field_type",
                f"{key!r} must be a list, not {type(value).__name__}",
                f"{key!r} 必须是列表，而不是 {type(value).__name__}",
            )
            return ()
        return tuple(self.text(part, f"{key}[{index}]") for index, part in enumerate(value))

    def table(self, value: Any, key: str) -> dict[str, str]:
        """A mapping of texts."""
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.complain(
                "server_field_type",
                f"{key!r} must be a mapping, not {type(value).__name__}",
                f"{key!r} 必须是键值表，而不是 {type(value).__name__}",
            )
            return {}
        return {str(name): self.text(item, f"{key}.{name}") for name, item in value.items()}

    def seconds(self, value: Any, key: str) -> float | None:
        """A time; 1000 and more are read as milliseconds, as some clients write them."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            self.complain(
                "server_field_type",
                f"{key!r} must be a positive number of seconds",
                f"{key!r} 必须是正的秒数",
                error=False,
            )
            return None
        return value / 1000 if value >= _MILLISECONDS else float(value)
