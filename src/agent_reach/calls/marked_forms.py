"""Forms with marks of their own (`<tool_call>`, `[TOOL_CALLS]`, `<|channel|>`): they count whatever they name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agent_reach.calls.written import NAME, IsKnown, WrittenCall, calls_in_payload, python_calls


def tags(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<tool_call>...</tool_call>` and its kin, closed or running to the end of the text."""
    pattern = re.compile(
        r"<(tool_call|toolcall|tool_use|function_call|functioncall)>(.*?)(?:</\1>|(?=<\1>)|\Z)",
        re.DOTALL | re.I,
    )
    for match in pattern.finditer(text):
        body = match.group(2)
        form = f"<{match.group(1).lower()}>"
        inner = list(function_tags(body, is_known)) or list(_argument_tags(body))
        if inner:
            for call in inner:
                yield WrittenCall(
                    start=match.start(),
                    end=match.end(),
                    form=form,
                    name=call.name,
                    arguments=call.arguments,
                    error=call.error,
                    cut=call.cut,
                )
        else:
            yield from calls_in_payload(_unfenced(body), match.start(), match.end(), form)


def _unfenced(body: str) -> str:
    match = re.match(r"\s*```\w*\s*(.*?)\s*(?:```\s*)?\Z", body, re.DOTALL)
    return match.group(1) if match else body


def _argument_tags(body: str) -> Iterator[WrittenCall]:
    """`name <arg_key>k</arg_key><arg_value>v</arg_value>` inside a tag."""
    head = re.match(rf"\s*({NAME})\s*(?=<arg_key>)", body)
    if not head:
        return
    pairs = re.findall(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", body, re.DOTALL)
    arguments = {key.strip(): _loose_value(value) for key, value in pairs}
    yield WrittenCall(start=0, end=len(body), form="", name=head.group(1), arguments=arguments)


def function_tags(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<function=name>{...}</function>`, `<function=name><parameter=key>value</parameter></function>`, `<invoke name=...>`."""
    pattern = re.compile(
        rf"<(function|invoke)(?:=|\s+name=)[\"']?({NAME})[\"']?\s*>(.*?)(</\1>|(?=<(?:function|invoke)[=\s])|\Z)",
        re.DOTALL,
    )
    for match in pattern.finditer(text):
        name, body, closing = match.group(2), match.group(3), match.group(4)
        pairs = re.findall(
            r"<parameter(?:=|\s+name=)[\"']?([^\"'>]+)[\"']?[^>]*>\n?(.*?)\n?</parameter>", body, re.DOTALL
        )
        if pairs:
            arguments: Any = {key.strip(): _loose_value(value) for key, value in pairs}
        else:
            arguments = body.strip()
        opened = len(re.findall(r"<parameter[=\s]", body))
        cut = not closing and opened != len(pairs)
        yield WrittenCall(
            start=match.start(),
            end=match.end(),
            form=f"<{match.group(1)}>",
            name=name,
            arguments=arguments,
            error="the call is cut off" if cut else "",
            cut=cut,
        )


def _loose_value(text: str) -> Any:
    """A parameter's text: JSON objects, arrays, booleans, numbers and null as such, anything else stays text."""
    stripped = text.strip()
    if stripped in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[stripped]
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return text.strip("\n")
    return text if isinstance(value, float) and value in (float("inf"), float("-inf")) else value


def bracket_mark(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`[TOOL_CALLS][{...}]` and `[TOOL_CALLS]name[ARGS]{...}`."""
    marks = list(re.finditer(r"\[TOOL_CALLS\]", text))
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        body = text[mark.end() : end]
        named = re.match(rf"\s*({NAME})\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(\{{.*)", body, re.DOTALL)
        if named:
            yield WrittenCall(
                start=mark.start(),
                end=end,
                form="[TOOL_CALLS]",
                name=named.group(1),
                arguments=named.group(2).strip(),
            )
            continue
        length = _value_length(body)
        yield from calls_in_payload(body[:length], mark.start(), mark.end() + length, "[TOOL_CALLS]")


def _value_length(body: str) -> int:
    start = len(body) - len(body.lstrip())
    try:
        return json.JSONDecoder().raw_decode(body, start)[1]
    except (ValueError, RecursionError):
        return len(body)


def channel(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<|channel|>commentary to=functions.name ...<|message|>{...}<|call|>`."""
    pattern = re.compile(
        rf"(?:<\|start\|>assistant)?(?:<\|channel\|>\w+)?\s*to=(?:functions\.)?({NAME})(?:<\|channel\|>\w+)?[^<{{]*"
        r"(?:<\|constrain\|>\w+)?<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|\Z)",
        re.DOTALL,
    )
    for match in pattern.finditer(text):
        yield WrittenCall(
            start=match.start(),
            end=match.end(),
            form="<|channel|>",
            name=match.group(1),
            arguments=match.group(2).strip(),
        )


def begin_marks(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """Begin and end marks around `name:0` or `function<sep>name` and a JSON object, in ASCII or full-width bars."""
    bar = r"[|\uff5c]"
    gap = r"[_\u2581]"
    pattern = re.compile(
        rf"<{bar}tool{gap}call{gap}begin{bar}>(.*?)<{bar}tool{gap}(?:sep|call{gap}argument{gap}begin){bar}>"
        rf"(.*?)(?:<{bar}tool{gap}call{gap}end{bar}>|\Z)",
        re.DOTALL,
    )
    for match in pattern.finditer(text):
        head, body = match.group(1).strip(), match.group(2)
        named = re.match(rf"\s*({NAME})\s*```(?:json)?\s*(.*?)\s*(?:```|\Z)", body, re.DOTALL)
        if named:
            name, arguments = named.group(1), named.group(2)
        else:
            name, arguments = re.sub(r":\d+$", "", head.removeprefix("functions.")), _unfenced(body).strip()
        yield WrittenCall(
            start=match.start(), end=match.end(), form="<|tool_call_begin|>", name=name, arguments=arguments
        )


def python_tag(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<|python_tag|>` before a JSON object or a Python call."""
    mark = text.find("<|python_tag|>")
    if mark < 0:
        return
    body = text[mark + len("<|python_tag|>") :]
    body = re.sub(r"<\|e(?:om|ot)_id\|>\s*$", "", body).strip()
    written = python_calls(body)
    if written:
        for name, arguments in written:
            yield WrittenCall(
                start=mark,
                end=len(text),
                form="<|python_tag|>",
                name=name.removesuffix(".call"),
                arguments=arguments,
            )
    else:
        yield from calls_in_payload(body, mark, len(text), "<|python_tag|>")
