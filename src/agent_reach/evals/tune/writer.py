"""A model that words proposals: it is asked for one line at a time, and what lint would not take is left out.

Any agent will do: it is given a request without tools, and its last words are read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_reach.config.settings import ContextConfig
from agent_reach.evals.agents.base import Agent
from agent_reach.evals.agents.session import AttemptSession, SessionSettings
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.context.options import Layout
from agent_reach.evals.exposure import ExposedTools
from agent_reach.evals.runner_backend import Nowhere
from agent_reach.evals.tune.proposals import Proposal, note_patch
from agent_reach.evals.tune.wording import language_of_tool
from agent_reach.lint.base import Thresholds
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.trace import Exposure
from agent_reach.text.counting import count_tokens

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

Writer = Callable[[str], Awaitable[str]]


def agent_writer(agent: Agent, catalog: Catalog) -> Writer:
    """A writer that asks this agent, without offering it any tool."""

    async def write(prompt: str) -> str:
        task = Task(id="wording", kind="may", query=prompt)
        layout = Layout(config=ContextConfig(), system_prompt="")
        session = AttemptSession(
            task=task,
            attempt=0,
            trace_id="wording",
            catalog=catalog,
            exposed=ExposedTools(tools=(), definitions=(), exposure=Exposure()),
            conversation=Conversation(task, layout),
            backend=Nowhere(),
            settings=SessionSettings(),
        )
        await agent.run(session)
        return session.trace().final_text

    return write


async def written_proposals(
    writer: Writer, proposals: Sequence[Proposal], catalog: Catalog
) -> list[Proposal]:
    """First lines and borders in the model's words, one for each proposal made by rule; refused lines are left out."""
    found = []
    for proposal in proposals:
        if proposal.kind == "summary":
            tool = catalog.get(proposal.tools[0])
            rule_made = proposal.patch["tools"][tool.key]["note"]["summary"]
            line = accepted_line(await writer(_ask_line(tool, rule_made, language_of_tool(tool))))
            if line and line != rule_made:
                found.append(_worded(proposal, note_patch(tool, summary=line)))
        elif proposal.kind == "conflicts":
            first, second = (catalog.get(key) for key in proposal.tools)
            line = accepted_line(await writer(_ask_border(first, second, language_of_tool(first))))
            if line:
                patch = note_patch(first, conflicts={second.key: line})
                found.append(_worded(proposal, {"tools": {**proposal.patch["tools"], **patch["tools"]}}))
    return found


def _worded(proposal: Proposal, patch: Any) -> Proposal:
    why = Message(f"{proposal.why.en}; worded by the model", f"{proposal.why.zh}；由模型措辞")
    return replace(proposal, name=f"{proposal.name} (worded)", why=why, patch=patch)


def accepted_line(text: str) -> str:
    """The line if lint would take it (one line, not too long, not too many commas), else empty."""
    lines = [line.strip(" \"'`*-") for line in text.strip().splitlines() if line.strip()]
    limits = Thresholds()
    if len(lines) != 1 or count_tokens(lines[0]) > limits.first_line_tokens:
        return ""
    return lines[0] if sum(lines[0].count(mark) for mark in ",，、") <= limits.first_line_commas else ""


def _ask_line(tool: Any, rule_made: str, language: str) -> str:
    said = "in Chinese" if language == "zh" else "in English"
    return (
        f"Write one line, {said}, of at most 30 words that tells an assistant what the tool {tool.name} does and when to use "
        f"it. No lists, no quotation marks.\nThe tool says: {tool.description[:600]}\nA draft: {rule_made}\nOnly the line:"
    )


def _ask_border(tool: Any, rival: Any, language: str) -> str:
    said = "in Chinese" if language == "zh" else "in English"
    return (
        f"Write one line, {said}, of at most 20 words that tells an assistant when to use {rival.name} rather than {tool.name}."
        f"\n{tool.name}: {tool.description[:300]}\n{rival.name}: {rival.description[:300]}\nOnly the line:"
    )
