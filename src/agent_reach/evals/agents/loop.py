"""The loop that model agents share: send the conversation, read the reply, execute its calls, until it only talks.

What differs between endpoints is the one function handed in. It decides nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_reach.calls.identifiers import map_ids
from agent_reach.calls.records import ParsedCall
from agent_reach.evals.agents.base import ModelReply
from agent_reach.evals.agents.session import AttemptSession

Complete = Callable[[AttemptSession, Sequence[Mapping[str, Any]]], Awaitable[ModelReply]]
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


async def converse(
    session: AttemptSession, complete: Complete, *, max_steps: int, results_as: str = "tool"
) -> None:
    """Drive one attempt: at most `max_steps` model messages, over all turns of the user."""
    for _ in range(max_steps):
        reply = await complete(session, session.messages())
        calls = await session.take_reply(reply, results_as=results_as)
        if session.stopped:
            return
        if not calls and not reply.parsed.problems and session.next_turn() is None:
            return


def echoed_message(
    message: Mapping[str, Any], calls: Sequence[ParsedCall], *, wire_name: Callable[[str], str]
) -> dict[str, Any]:
    """The model's message as it goes into the next request.

    Calls carry their unique ids, a name and arguments that an endpoint accepts (unreadable ones as `{}`; the answer says
    what was wrong); fields an endpoint added to a call stay where they are.
    """
    echoed = {key: value for key, value in message.items() if key not in ("tool_calls", "function_call")}
    echoed.setdefault("role", "assistant")
    if not calls:
        echoed["content"] = echoed.get("content") or ""
        return echoed
    emitted = message.get("tool_calls")
    originals = list(emitted) if isinstance(emitted, Sequence) and not isinstance(emitted, str) else []
    echoed["tool_calls"] = [
        {
            **(_extras(originals[index]) if len(originals) == len(calls) else {}),
            "id": call.call_id,
            "type": "function",
            "function": {"name": _sendable(wire_name(call.name)), "arguments": _arguments(call)},
        }
        for index, call in enumerate(calls)
    ]
    return echoed


def _extras(call: Any) -> dict[str, Any]:
    if not isinstance(call, Mapping):
        return {}
    return {key: value for key, value in call.items() if key not in ("id", "type", "function", "index")}


def _sendable(name: str) -> str:
    return _NAME.sub("_", name)[:64] or "unnamed"


def _arguments(call: ParsedCall) -> str:
    if call.arguments is None:
        return "{}"
    if not call.repairs and call.raw_arguments.strip().startswith("{"):
        return call.raw_arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def with_mapped_ids(messages: Sequence[Mapping[str, Any]], rule: str) -> list[dict[str, Any]]:
    """Messages whose call ids fit an endpoint's rule, the same on a call and on its result."""
    ids = [
        str(call.get("id") or "")
        for message in messages
        for call in message.get("tool_calls") or ()
        if isinstance(call, Mapping)
    ]
    ids += [str(message["tool_call_id"]) for message in messages if message.get("tool_call_id")]
    mapping = map_ids(ids, rule)
    mapped: list[dict[str, Any]] = []
    for message in messages:
        copy = dict(message)
        if copy.get("tool_call_id"):
            copy["tool_call_id"] = mapping[str(copy["tool_call_id"])]
        if copy.get("tool_calls"):
            copy["tool_calls"] = [
                {**call, "id": mapping[str(call.get("id") or "")]} for call in copy["tool_calls"]
            ]
        mapped.append(copy)
    return mapped
