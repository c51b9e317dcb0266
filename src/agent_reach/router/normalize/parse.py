"""From what a model emitted as arguments to a mapping, or to a problem with a position.

Text that was cut off is `truncated` and never becomes an empty object. Guessing repairs are for read-only tools alone,
and marked.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from agent_reach.calls.json_text import inside_fence, outer_brackets, stopped_at_limit
from agent_reach.router.normalize.relaxed_json import ParseTrouble, relaxed_json, strict_json
from agent_reach.router.normalize.state import NormalizeState

_CONTROL = re.compile(
    r"(?:<\|[^|<>]*\|>|</?(?:tool_call|function_call|arguments|parameters|s)>|\[/?TOOL_CALLS?\]|;|\s)+"
)
_CALL = re.compile(r"^\s*(?P<name>[A-Za-z_][\w.\-/]*)\s*\((?P<body>.*)\)\s*;?\s*$", re.S)
_ADVICE = "the arguments were cut off: send less, or in smaller calls"
_MAX_TEXTS = 5
_DEEPEST_KEYS = 32


def parse_arguments(state: NormalizeState, raw: Any, *, finish_reason: str = "") -> dict[str, Any] | None:
    """The arguments as a mapping; None with a problem in `state` where there is none to be had."""
    if stopped_at_limit(finish_reason):
        state.problem("truncated", "", f"{_ADVICE} (the model stopped at its output limit)", actual=raw)
        return None
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        if state.on("blank_arguments"):
            if raw is not None and raw != "":
                state.change("blank_arguments", "", raw, {})
            return {}
        state.problem("unparsable", "", "no arguments were given", expected="object", actual=raw)
        return None
    value: Any = raw
    if isinstance(raw, (str, bytes)):
        try:
            value = _from_text(state, raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw)
        except ParseTrouble as trouble:
            message = f"{trouble.message}; {_ADVICE}" if trouble.code == "truncated" else trouble.message
            state.problem(trouble.code, "", message, actual=raw)
            return None
    if (
        isinstance(value, list)
        and len(value) == 1
        and isinstance(value[0], Mapping)
        and state.on("single_item_list")
    ):
        state.change("single_item_list", "", value, value[0])
        value = value[0]
    if value is None and state.on("blank_arguments"):
        state.change("blank_arguments", "", raw, {})
        return {}
    if isinstance(value, Mapping):
        odd = _odd_key(value)
        if odd is None:
            return dict(value)
        message = f"the key {odd[0]!r} is {type(odd[0]).__name__}, not text"
        state.problem("wrong_shape", "", message, expected="object", actual=repr(value)[:200])
        return None
    state.problem(
        "wrong_shape",
        "",
        f"arguments are {type(value).__name__}, not an object",
        expected="object",
        actual=value,
    )
    return None


def _odd_key(value: Any, depth: int = 0) -> tuple[Any] | None:
    """A key that is no text, anywhere inside: JSON has none, and no schema can judge it."""
    if depth > _DEEPEST_KEYS:
        return None
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                return (key,)
            if isinstance(item, (Mapping, list)) and (found := _odd_key(item, depth + 1)):
                return found
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, (Mapping, list)) and (found := _odd_key(item, depth + 1)):
                return found
    return None


def _from_text(state: NormalizeState, text: str) -> Any:
    """The value of a text, through several layers of JSON text where they are there."""
    value: Any = text
    for _ in range(_MAX_TEXTS):
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        inner = read_text(state, value, "")
        if isinstance(inner, str) and state.on("json_text"):
            state.change("json_text", "", value, inner)
        value = inner
    raise ParseTrouble("unparsable", "JSON text within JSON text, too many layers", 0)


def read_text(state: NormalizeState, text: str, pointer: str) -> Any:
    """The value that a text holds: JSON, or almost JSON of certain meaning; raises `ParseTrouble`."""
    try:
        return strict_json(text)
    except ValueError:
        pass
    stripped = text.strip().lstrip("\ufeff")
    inner = inside_fence(stripped)
    if inner is not None and state.on("code_fence"):
        state.change("code_fence", pointer, text, inner)
        return read_text(state, inner, pointer)
    call = _call_arguments(state, stripped, pointer) if pointer == "" else None
    if call is not None:
        return call
    return _almost_json(state, text, stripped, pointer)


def _almost_json(state: NormalizeState, text: str, stripped: str, pointer: str) -> Any:
    start = 0
    if stripped[:1] not in tuple("{[(\"'“"):
        start = stripped.find("{")
        if start < 0 or not state.on("surrounding_text") or pointer:
            raise ParseTrouble("unparsable", f"{stripped[:40]!r} is no JSON object", 0)
    body = stripped[start:]
    try:
        value, end = relaxed_json(body)
    except ParseTrouble as trouble:
        return _by_guess(state, text, body, trouble, pointer)
    rest = body[end:].strip()
    if rest and not _CONTROL.fullmatch(rest):
        if not start and not re.fullmatch(r"[^{}\[\]]*", rest):
            raise ParseTrouble(
                "unparsable", f"more text follows the arguments at character {start + end}", start + end
            )
        if re.search(r"[{}\[\]]", rest):
            raise ParseTrouble("unparsable", "several values stand in one text", start + end)
        if not state.on("surrounding_text"):
            raise ParseTrouble(
                "unparsable", f"more text follows the arguments at character {start + end}", start + end
            )
    if start or rest:
        state.change("surrounding_text", pointer, text, body[:end])
    if not _is_strict(body[:end]):
        if not state.on("relaxed_json"):
            raise ParseTrouble("unparsable", "the arguments are no standard JSON", start)
        state.change("relaxed_json", pointer, text, value)
    return value


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _call_arguments(state: NormalizeState, text: str, pointer: str) -> dict[str, Any] | None:
    """`name(city="Paris", days=3)` with literal values only; the name must be the tool's."""
    found = _CALL.match(text)
    if found is None or not state.on("call_text"):
        return None
    if found["name"] not in (state.tool.name, state.tool.key, state.tool.name.rsplit(".", 1)[-1]):
        return None
    try:
        tree = ast.parse(f"call({found['body']})", mode="eval").body
        if not isinstance(tree, ast.Call) or tree.args or any(word.arg is None for word in tree.keywords):
            return None
        made = {word.arg: ast.literal_eval(word.value) for word in tree.keywords if word.arg is not None}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    try:
        plain: dict[str, Any] = json.loads(json.dumps(made))
    except (TypeError, ValueError):
        return None
    state.change("call_text", pointer, text, plain)
    return plain


def _by_guess(state: NormalizeState, text: str, body: str, trouble: ParseTrouble, pointer: str) -> Any:
    """Repairs that may lose something: never for a tool that may write, never inside an unfinished string."""
    refuse = (
        trouble.code not in ("truncated", "unparsable")
        or "escape" in trouble.message
        or "surrogate" in trouble.message
    )
    if refuse or not state.tool.is_read_only or "deeply" in trouble.message:
        raise trouble
    if trouble.code == "truncated":
        if "string" in trouble.message or not state.on("closed_truncated_json"):
            raise trouble
        closed = _closed(body)
        if closed is None:
            raise trouble
        state.change("closed_truncated_json", pointer, text, closed, text="repaired: the end was missing")
        state.finding(
            "repaired_truncated_arguments",
            pointer,
            "the arguments were cut off; missing brackets were added because the tool only reads",
            "参数被截断；因工具只读，已补上缺失的括号",
        )
        return closed
    if not state.on("json_repair"):
        raise trouble
    import json_repair

    value = json_repair.loads(body)
    if not isinstance(value, (dict, list)) or not value:
        raise trouble
    state.change("json_repair", pointer, text, value, text="repaired by guess")
    state.finding(
        "repaired_arguments",
        pointer,
        "the arguments were broken JSON and were repaired by guess because the tool only reads",
        "参数是损坏的 JSON；因工具只读，已猜测修复",
    )
    return value


def _closed(body: str) -> Any:
    """The value once the open brackets are closed, where the text ends between two values; None otherwise."""
    brackets, in_string = outer_brackets(body)
    closing: list[str] = []
    for bracket in brackets:
        if bracket in "{[":
            closing.append("}" if bracket == "{" else "]")
        elif closing:
            closing.pop()
    # A number or word at the very end may itself be cut.
    if in_string or not closing or not re.search(r"[\"'}\]]\s*$", body):
        return None
    try:
        return relaxed_json(body + "".join(reversed(closing)))[0]
    except ParseTrouble:
        return None
