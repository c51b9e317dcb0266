"""How the context settings of a run become a layout: what stands in the system message, what in the user message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.config.settings import ContextConfig

DEFAULT_HEADINGS: Mapping[str, str] = {
    "constraint": "Constraints:",
    "tools": "Tools:",
    "state_slot": "Known values:",
    "tool_result": "Earlier results:",
    "history": "Earlier in this conversation:",
    "retrieval": "Reference passages:",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where each section stands.

    Instructions and the agent's own `system_prompt` are the system message; everything else is the user message, in the
    configured order with the request first by default. `tools_in_system` puts the tool list at the head of the system
    message, where it is the same for every request and a prompt cache keeps it.
    """

    config: ContextConfig = field(default_factory=ContextConfig)
    system_prompt: str = ""
    tools_in_system: bool = False
    headings: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HEADINGS))

    @property
    def system(self) -> tuple[str, ...]:
        """Sections of the system message."""
        return ("tools", "instruction") if self.tools_in_system else ("instruction",)

    @property
    def user(self) -> tuple[str, ...]:
        """Sections of the user message."""
        return tuple(kind for kind in self.config.order if kind not in self.system)

    @property
    def settings(self) -> dict[str, Any]:
        """The layout as written into a report."""
        return {
            "name": self.config.name,
            "system": list(self.system),
            "user": list(self.user),
            "template": self.config.template,
            "token_budget": self.config.token_budget,
            "max_passages": self.config.max_passages,
            "best_passages": self.config.best_passages,
            "rerank": self.config.rerank,
            "state_slots": self.config.state_slots,
        }
