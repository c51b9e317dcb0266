"""One assistant message in the form of the chat API, read into calls and text.

Structured calls win; calls written as text count only where tools were offered and no structured call stands beside
them. Text is never lost to a call and a call never to text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.identifiers import unique_id
from agent_reach.calls.json_text import stopped_at_limit
from agent_reach.calls.records import ParsedCall, ParsedReply
from agent_reach.calls.text_forms import FORMS
from agent_reach.calls.written import WrittenCall
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import ArgumentProblem

_THINK = re.compile(r"<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.I)


def parse_message(
    message: Mapping[str, Any],
    *,
    tools_offered: bool = True,
    is_known: Callable[[str], bool] = lambda name: False,
    finish_reason: str = "",
    used_ids: set[str] | None = None,
) -> ParsedReply:
    """Read an assistant message: `content`, `tool_calls`, `function_call` and reasoning fields.

    `used_ids` are the call ids of the conversation so far and is added to; `is_known` says whether a name means a tool.
    Without offered tools there are no calls in the text, and the text stays as it is.
    """
    used = used_ids if used_ids is not None else set()
    text = text_of_content(message.get("content"))
    reasoning = next(
        (
            str(message[key])
            for key in ("reasoning_content", "reasoning")
            if isinstance(message.get(key), str)
        ),
        "",
    )
    emitted = _structured_calls(message)
    if emitted:
        calls, findings = _read_calls(emitted, used, finish_reason)
        return ParsedReply(text=text, reasoning=reasoning, calls=calls, findings=findings)
    if not tools_offered or not text:
        return ParsedReply(text=text, reasoning=reasoning)
    return parse_text(
        text, is_known=is_known, finish_reason=finish_reason, used_ids=used, reasoning=reasoning
    )


def parse_text(
    text: str,
    *,
    is_known: Callable[[str], bool] = lambda name: False,
    finish_reason: str = "",
    used_ids: set[str] | None = None,
    reasoning: str = "",
) -> ParsedReply:
    """Calls that a model wrote into its text; what is thought aloud in `<think>` is reasoning, never a call."""
    used = used_ids if used_ids is not None else set()
    thoughts = [match.group(2).strip() for match in _THINK.finditer(text)]
    spoken = _THINK.sub("", text)
    found = _find_written(spoken, is_known)
    joined = "\n".join(part for part in (reasoning, *thoughts) if part)
    if not found:
        return ParsedReply(text=spoken.strip() if thoughts else text, reasoning=joined)
    calls: list[ParsedCall] = []
    problems: list[ArgumentProblem] = []
    for index, item in enumerate(found):
        if item.error:
            code = "truncated" if item.cut or stopped_at_limit(finish_reason) else "unparsable"
            problems.append(
                ArgumentProblem(code=code, message=item.error, actual=spoken[item.start : item.end][:200])
            )
            continue
        last = index == len(found) - 1 and item.end >= len(spoken.rstrip())
        calls.extend(_written_call(item, used, finish_reason if last else ""))
    return ParsedReply(
        text=_remove_spans(spoken, found).strip(),
        reasoning=joined,
        calls=tuple(calls),
        problems=tuple(problems),
    )


def _find_written(text: str, is_known: Callable[[str], bool]) -> list[WrittenCall]:
    quoted = [match.span() for match in re.finditer(r"(?<!`)`[^`\n]+`(?!`)", text)]
    for form in FORMS.values():
        found = [
            call
            for call in form(text, is_known)
            if not any(start < call.start and call.end < end for start, end in quoted)
        ]
        if found:
            return sorted(found, key=lambda call: call.start)
    return []


def _written_call(item: WrittenCall, used: set[str], finish_reason: str) -> list[ParsedCall]:
    raw = (
        item.arguments if isinstance(item.arguments, str) else json.dumps(item.arguments, ensure_ascii=False)
    )
    read = read_arguments(item.arguments, finish_reason=finish_reason)
    return [
        ParsedCall(
            call_id=unique_id("", used),
            name=item.name,
            arguments=read.values,
            raw_arguments=raw if item.arguments is not None else "",
            problems=read.problems,
            repairs=(*read.repairs, "written_as_text"),
            origin=f"text:{item.form}",
        )
    ]


def _remove_spans(text: str, found: Sequence[WrittenCall]) -> str:
    kept: list[str] = []
    position = 0
    for call in found:
        if call.start >= position:
            kept.append(text[position : call.start])
        position = max(position, call.end)
    return "".join([*kept, text[position:]])


def text_of_content(content: Any) -> str:
    """The words of a `content` field: a text, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [
            part if isinstance(part, str) else str(part.get("text") or part.get("refusal") or "")
            for part in content
            if isinstance(part, (str, Mapping))
        ]
        return "\n".join(part for part in parts if part)
    return ""


def _structured_calls(message: Mapping[str, Any]) -> list[tuple[str, str, Any, str]]:
    """(id, name, arguments, origin) of each call as emitted."""
    emitted: list[tuple[str, str, Any, str]] = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ():
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        custom = call.get("custom")
        if isinstance(function, Mapping):
            name, arguments = function.get("name"), function.get("arguments")
        elif isinstance(custom, Mapping):
            name, arguments = custom.get("name"), custom.get("input")
        else:
            name, arguments = call.get("name"), call.get("arguments", call.get("args"))
        emitted.append((str(call.get("id") or ""), str(name or ""), arguments, "tool_calls"))
    legacy = message.get("function_call")
    if not emitted and isinstance(legacy, Mapping) and legacy.get("name"):
        emitted.append(("", str(legacy["name"]), legacy.get("arguments"), "function_call"))
    return emitted


def _read_calls(
    emitted: Sequence[tuple[str, str, Any, str]], used: set[str], finish_reason: str
) -> tuple[tuple[ParsedCall, ...], tuple[Finding, ...]]:
    calls: list[ParsedCall] = []
    findings: list[Finding] = []
    for position, (identifier, name, arguments, origin) in enumerate(emitted):
        is_last = position == len(emitted) - 1
        read = read_arguments(arguments, finish_reason=finish_reason if is_last else "")
        raw = arguments if isinstance(arguments, str) else _dumped(arguments)
        texts = [raw] if not read.rest else [raw[: len(raw) - _rest_length(raw, read.rest)], *read.rest]
        base = _unglued(name, len(texts))
        for number, text in enumerate(texts):
            part = read if number == 0 else read_arguments(text)
            call_id = unique_id(identifier, used)
            if identifier and call_id != identifier:
                findings.append(_renamed(identifier, call_id))
            calls.append(
                ParsedCall(
                    call_id=call_id,
                    name=base,
                    arguments=part.values,
                    raw_arguments=text.strip(),
                    problems=part.problems,
                    repairs=(*part.repairs, *(("split_objects",) if read.rest else ())),
                    emitted_id=identifier,
                    origin=origin,
                )
            )
    return tuple(calls), tuple(findings)


def _rest_length(raw: str, rest: Sequence[str]) -> int:
    return len(raw) - raw.find(rest[0], 1) if raw.find(rest[0], 1) > 0 else sum(map(len, rest))


def _unglued(name: str, count: int) -> str:
    """A name that was glued together once per object: `searchsearch` with two objects is `search`."""
    size = len(name) // count if count else 0
    return name[:size] if count > 1 and size and name[:size] * count == name else name


def _dumped(arguments: Any) -> str:
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)


def _renamed(identifier: str, new: str) -> Finding:
    return Finding(
        code="duplicate_call_id",
        severity="warning",
        subject=identifier,
        message=Message(
            f"the id {identifier!r} was already used in this conversation; this call is {new!r}",
            f"编号 {identifier!r} 在本次会话中已用过；此调用记为 {new!r}",
        ),
        data={"call_id": new},
    )
