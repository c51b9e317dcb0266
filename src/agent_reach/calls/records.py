"""The plain results of reading a model's message, shared by all readers of this part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.trace import ArgumentProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArguments:
    """The arguments of one call: `values` is None when they could not be read, and `problems` says why.

    `repairs` names what had to be mended (`code_fence`, `python_literal`, `double_encoded`, ...); `rest` holds further
    complete objects that stood behind the first one.
    """

    values: Mapping[str, Any] | None
    problems: tuple[ArgumentProblem, ...] = ()
    repairs: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCall:
    """One call as a model emitted it.

    `call_id` is unique in the conversation, `emitted_id` what the model wrote; `origin` is `tool_calls`, `function_call`,
    `content_block` or `text:<form>`; `duplicate_of` the id of the identical call before it in the same message.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any] | None = field(default_factory=dict)
    raw_arguments: str = ""
    problems: tuple[ArgumentProblem, ...] = ()
    repairs: tuple[str, ...] = ()
    emitted_id: str = ""
    origin: str = "tool_calls"
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """One message of a model: the words that remain for a person, the calls, and calls that could not be read at all."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ParsedCall, ...] = ()
    problems: tuple[ArgumentProblem, ...] = ()
    findings: tuple[Finding, ...] = ()
