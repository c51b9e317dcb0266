"""From what a model emitted to a legal call: every change has a rule, a place and a reason."""

from agent_reach.router.normalize.call import NormalizedCall, normalize_call
from agent_reach.router.normalize.converters import Converter, tool_converter
from agent_reach.router.normalize.rules import RULES, NormalizeOptions, Rule

__all__ = [
    "RULES",
    "Converter",
    "NormalizeOptions",
    "NormalizedCall",
    "Rule",
    "normalize_call",
    "tool_converter",
]
