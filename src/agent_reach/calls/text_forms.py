"""Calls that a model wrote into its text, form by form.

Each form is one function in `FORMS`: text -> found spans. The table is tried in order and a later form sees only what
earlier forms left. Forms with marks of their own (`<tool_call>`, `[TOOL_CALLS]`) count whatever they name; loose forms
(a JSON fence in prose, `name(...)`) count only when they name a known tool, because a sentence may look like them.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

IsKnown = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call found in text: `arguments` as text or mapping; `error` says why the span could not be read as a call."""

    start: int
    end: int
    form: str
    name: str = ""
    arguments: Any = None
    error: str = ""
    cut: bool = False


Form = Callable[[str, IsKnown], Iterator[WrittenCall]]

_NAME_KEYS = ("name", "tool_name", "tool", "function_name", "function", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "tool_input", "kwargs")
_NAME = r"[\w][\w./:-]*"


def call_of_object(value: Any) -> tuple[str, Any] | None:
    """(name, arguments) of a JSON object that describes a call; None when it does not."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return call_of_object(inner)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    present = [key for key in _ARGUMENT_KEYS if key in value]
    if not name or not present:
        return None
    arguments = value[present[0]]
    if not (arguments is None or isinstance(arguments, (Mapping, str))):
        return None
    return name, arguments


def calls_of_value(value: Any) -> list[tuple[str, Any]] | None:
    """The calls of an object, a list of objects or `{"tool_calls": [...]}`; None when any part is no call."""
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    if isinstance(value, list):
        found = [call_of_object(item) for item in value]
        return [call for call in found if call] if found and all(found) else None
    single = call_of_object(value)
    return [single] if single else None


def _from_payload(payload: str, start: int, end: int, form: str) -> Iterator[WrittenCall]:
    """Calls of a marked span whose content should be one or more JSON objects."""
    values, error, cut = read_values(payload)
    calls: list[tuple[str, Any]] = []
    for value in values:
        found = calls_of_value(value)
        if found is None:
            error = error or "the object names no tool"
            continue
        calls.extend(found)
    for name, arguments in calls:
        yield WrittenCall(start=start, end=end, form=form, name=name, arguments=arguments)
    if error and not (calls and not cut):
        yield WrittenCall(start=start, end=end, form=form, error=error, cut=cut)


def read_values(payload: str) -> tuple[list[Any], str, bool]:
    """(values, error, whether the text was cut) of JSON values written one behind the other."""
    from agent_reach.calls.arguments import read_arguments
    from agent_reach.calls.json_text import is_cut

    text = payload.strip()
    values: list[Any] = []
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text):
        if text[position] in " \t\r\n,;":
            position += 1
            continue
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            rest = text[position:]
            loose = read_arguments(rest)
            if loose.values is not None and loose.values:
                values.append(loose.values)
                return values, "", False
            cut = is_cut(rest)
            detail = "the call is cut off" if cut else "the call is not JSON"
            return values, f"{detail}: {rest[:80]!r}", cut
        values.append(value)
    return values, "" if values else "the call is empty", False


def _tagged(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<tool_call>...</tool_call>` and its kin, closed or running to the end of the text."""
    pattern = re.compile(
        r"<(tool_call|toolcall|tool_use|function_call|functioncall)>(.*?)(?:</\1>|(?=<\1>)|\Z)",
        re.DOTALL | re.I,
    )
    for match in pattern.finditer(text):
        body = match.group(2)
        form = f"<{match.group(1).lower()}>"
        inner = list(_function_tags(body, is_known)) or list(_argument_tags(body))
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
            yield from _from_payload(_unfenced(body), match.start(), match.end(), form)


def _unfenced(body: str) -> str:
    match = re.match(r"\s*```\w*\s*(.*?)\s*(?:```\s*)?\Z", body, re.DOTALL)
    return match.group(1) if match else body


def _argument_tags(body: str) -> Iterator[WrittenCall]:
    """`name <arg_key>k</arg_key><arg_value>v</arg_value>` inside a tag."""
    head = re.match(rf"\s*({_NAME})\s*(?=<arg_key>)", body)
    if not head:
        return
    pairs = re.findall(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", body, re.DOTALL)
    arguments = {key.strip(): _loose_value(value) for key, value in pairs}
    yield WrittenCall(start=0, end=len(body), form="", name=head.group(1), arguments=arguments)


def _function_tags(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<function=name>{...}</function>`, `<function=name><parameter=key>value</parameter></function>`, `<invoke name=...>`."""
    pattern = re.compile(
        rf"<(function|invoke)(?:=|\s+name=)[\"']?({_NAME})[\"']?\s*>(.*?)(</\1>|(?=<(?:function|invoke)[=\s])|\Z)",
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


def _mistral(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`[TOOL_CALLS][{...}]` and `[TOOL_CALLS]name[ARGS]{...}`."""
    marks = list(re.finditer(r"\[TOOL_CALLS\]", text))
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        body = text[mark.end() : end]
        named = re.match(rf"\s*({_NAME})\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(\{{.*)", body, re.DOTALL)
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
        yield from _from_payload(body[:length], mark.start(), mark.end() + length, "[TOOL_CALLS]")


def _value_length(body: str) -> int:
    start = len(body) - len(body.lstrip())
    try:
        return json.JSONDecoder().raw_decode(body, start)[1]
    except (ValueError, RecursionError):
        return len(body)


def _channel(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`<|channel|>commentary to=functions.name ...<|message|>{...}<|call|>`."""
    pattern = re.compile(
        rf"(?:<\|start\|>assistant)?(?:<\|channel\|>\w+)?\s*to=(?:functions\.)?({_NAME})(?:<\|channel\|>\w+)?[^<{{]*"
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


def _begin_marks(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
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
        named = re.match(rf"\s*({_NAME})\s*```(?:json)?\s*(.*?)\s*(?:```|\Z)", body, re.DOTALL)
        if named:
            name, arguments = named.group(1), named.group(2)
        else:
            name, arguments = re.sub(r":\d+$", "", head.removeprefix("functions.")), _unfenced(body).strip()
        yield WrittenCall(
            start=match.start(), end=match.end(), form="<|tool_call_begin|>", name=name, arguments=arguments
        )


def _python_tag(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
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
        yield from _from_payload(body, mark, len(text), "<|python_tag|>")


def _fences(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """Code fences that hold a call: alone in the message, or naming a known tool."""
    for match in re.finditer(r"```([\w+-]*)[ \t]*\n?(.*?)(?:```|\Z)", text, re.DOTALL):
        language, body = match.group(1).lower(), match.group(2).strip()
        alone = not (text[: match.start()] + text[match.end() :]).strip()
        if language in ("python", "py", "tool_code", "tool_call", ""):
            written = python_calls(body)
            if written and all(is_known(name) for name, _ in written):
                for name, arguments in written:
                    yield _loose(match, "python fence", name, arguments)
                continue
        values, _, cut = read_values(body)
        calls = [call for value in values for call in calls_of_value(value) or ()]
        if calls and (alone or language == "tool_call" or all(is_known(name) for name, _ in calls)):
            for name, arguments in calls:
                yield _loose(match, "json fence", name, arguments)
        elif alone and cut and names_a_call(body):
            yield WrittenCall(
                start=match.start(), end=match.end(), form="json fence", error="the call is cut off", cut=True
            )


def _loose(match: re.Match[str], form: str, name: str, arguments: Any) -> WrittenCall:
    return WrittenCall(start=match.start(), end=match.end(), form=form, name=name, arguments=arguments)


def names_a_call(text: str) -> bool:
    """True if a cut object had already named a tool and begun its arguments."""
    keys = "|".join(_NAME_KEYS)
    arguments = "|".join(_ARGUMENT_KEYS)
    return bool(
        re.search(rf'"(?:{keys})"\s*:\s*"[^"]+"', text) and re.search(rf'"(?:{arguments})"\s*:', text)
    )


def _bare_object(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """JSON objects or lists that are the whole message, or stand in prose and name a known tool."""
    whole = text.strip()
    offset = text.find(whole)
    if whole.startswith(("{", "[")):
        values, _, cut = read_values(whole)
        calls = [call for value in values for call in calls_of_value(value) or ()]
        if calls and not cut and all(calls_of_value(value) for value in values):
            for name, arguments in calls:
                yield WrittenCall(
                    start=offset, end=offset + len(whole), form="bare object", name=name, arguments=arguments
                )
            return
        if cut and names_a_call(whole):
            yield WrittenCall(
                start=offset,
                end=offset + len(whole),
                form="bare object",
                error="the call is cut off",
                cut=True,
            )
            return
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        calls_here = calls_of_value(value)
        if calls_here and all(is_known(name) for name, _ in calls_here):
            for name, arguments in calls_here:
                yield WrittenCall(start=position, end=end, form="bare object", name=name, arguments=arguments)
        position = text.find("{", end)


def _named_action(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`Action: name` and `Action Input: {...}` on lines of their own."""
    pattern = re.compile(
        rf"^[ \t]*Action[ \t]*:[ \t]*`?({_NAME})`?[ \t]*\n+[ \t]*Action Input[ \t]*:[ \t]*(.*?)(?=^[ \t]*(?:Observation|Thought|Action)[ \t]*:|\Z)",
        re.DOTALL | re.MULTILINE,
    )
    for match in pattern.finditer(text):
        if is_known(match.group(1)) or match.group(2).strip().startswith("{"):
            yield WrittenCall(
                start=match.start(),
                end=match.end(),
                form="action lines",
                name=match.group(1),
                arguments=match.group(2).strip(),
            )


def _python_list(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`[name(key=value), ...]` as the whole message, or a single `name(...)` of a known tool."""
    whole = text.strip()
    written = python_calls(whole)
    if not written:
        return
    if whole.startswith("[") or all(is_known(name) for name, _ in written):
        offset = text.find(whole)
        for name, arguments in written:
            yield WrittenCall(
                start=offset, end=offset + len(whole), form="python list", name=name, arguments=arguments
            )


def python_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls with literal keyword arguments written in Python; empty when the text is anything else."""
    if "(" not in text or len(text) > 200_000:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text.strip())
        found: list[tuple[str, dict[str, Any]]] = []
        for statement in tree.body:
            if not isinstance(statement, (ast.Expr, ast.Assign)):
                return []
            value = statement.value
            items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
            found.extend(_python_call(item) for item in items)
    except (
        SyntaxError,
        SyntaxWarning,
        DeprecationWarning,
        ValueError,
        TypeError,
        MemoryError,
        RecursionError,
    ):
        return []
    return found


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and node.args
    ):
        node = node.args[0]
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError("not a call with keyword arguments")
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("arguments are unpacked")
        value = ast.literal_eval(keyword.value)
        json.dumps(value, allow_nan=False)
        arguments[keyword.arg] = value
    return ast.unparse(node.func), arguments


FORMS: dict[str, Form] = {
    "tags": _tagged,
    "function tags": _function_tags,
    "[TOOL_CALLS]": _mistral,
    "<|channel|>": _channel,
    "<|tool_call_begin|>": _begin_marks,
    "<|python_tag|>": _python_tag,
    "action lines": _named_action,
    "fences": _fences,
    "python list": _python_list,
    "bare object": _bare_object,
}
