"""Docstrings in the three styles that people use (Google, NumPy, reST), read into their parts.

It reads text only: no signature, no types but those written down.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field


@dataclass(slots=True)
class ParsedDocstring:
    """What a docstring says: the running text before any section, a text and a written type per parameter, the result."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    return_type: str = ""


_PARAMETERS = frozenset(
    {
        "args",
        "arguments",
        "parameters",
        "params",
        "other parameters",
        "keyword args",
        "keyword arguments",
        "参数",
    }
)
_RETURNS = frozenset({"returns", "return", "yields", "yield", "返回", "返回值"})
_OTHER = frozenset(
    {
        "raises", "examples", "example", "note", "notes", "warning", "warnings", "see also", "references",
        "attributes", "todo", "warns", "methods", "异常", "示例",
    }
)  # fmt: skip
_HEADER = re.compile(r"^([A-Za-z\u4e00-\u9fff][A-Za-z \u4e00-\u9fff]*)\s*[:：]\s*$")
_GOOGLE_ITEM = re.compile(r"^\*{0,2}(\w+)\s*(?:\(([^)]*(?:\([^)]*\)[^)]*)*)\))?\s*[:：]\s*(.*)$", re.DOTALL)
_NUMPY_ITEM = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")
_REST_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]+))?:\s*(.*)$")
_OPTIONAL = re.compile(r"(?:,\s*)?\boptional\b|(?:,\s*)?\bdefaults?\b.*$", re.IGNORECASE)


def parse_docstring(text: str | None) -> ParsedDocstring:
    """The parts of a docstring; an unknown layout is all description."""
    parsed = ParsedDocstring()
    lines = inspect.cleandoc(text or "").splitlines()
    body: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        numpy = _numpy_header(lines, index)
        google = _HEADER.match(line)
        field_match = _REST_FIELD.match(line.strip())
        if numpy:
            index = _read_section(parsed, numpy, lines, index + 2, numpy_style=True)
        elif google and google.group(1).strip().casefold() in _PARAMETERS | _RETURNS | _OTHER:
            index = _read_section(
                parsed, google.group(1).strip().casefold(), lines, index + 1, numpy_style=False
            )
        elif field_match and _is_field(field_match.group(1)):
            index = _read_field(parsed, field_match, lines, index + 1)
        else:
            body.append(line)
            index += 1
    parsed.description = "\n".join(body).strip()
    return parsed


def _numpy_header(lines: list[str], index: int) -> str:
    if index + 1 >= len(lines) or not re.match(r"^-{3,}\s*$", lines[index + 1]):
        return ""
    name = lines[index].strip().casefold()
    return name if name in _PARAMETERS | _RETURNS | _OTHER else ""


def _read_section(
    parsed: ParsedDocstring, name: str, lines: list[str], index: int, *, numpy_style: bool
) -> int:
    block: list[str] = []
    while index < len(lines):
        line = lines[index]
        if numpy_style and _numpy_header(lines, index):
            break
        if not numpy_style and line.strip() and not line.startswith((" ", "\t")):
            break
        block.append(line)
        index += 1
    items = _items(block)
    if name in _PARAMETERS:
        for item in items:
            (_numpy_parameter if numpy_style else _google_parameter)(parsed, item)
    elif name in _RETURNS:
        _result(parsed, block, numpy_style=numpy_style)
    return index


def _items(block: list[str]) -> list[list[str]]:
    """The entries of a section: a line at the section's own indentation starts one."""
    filled = [line for line in block if line.strip()]
    if not filled:
        return []
    indent = min(len(line) - len(line.lstrip()) for line in filled)
    items: list[list[str]] = []
    for line in filled:
        if len(line) - len(line.lstrip()) == indent or not items:
            items.append([line.strip()])
        else:
            items[-1].append(line.strip())
    return items


def _google_parameter(parsed: ParsedDocstring, item: list[str]) -> None:
    match = _GOOGLE_ITEM.match(item[0])
    if match is None:
        return
    name, written, text = match.groups()
    parsed.parameters[name] = " ".join([text, *item[1:]]).strip()
    _note_type(parsed, name, written)


def _numpy_parameter(parsed: ParsedDocstring, item: list[str]) -> None:
    match = _NUMPY_ITEM.match(item[0])
    if match is None:
        return
    for name in match.group(1).split(","):
        plain = name.strip().lstrip("*")
        parsed.parameters[plain] = " ".join(item[1:]).strip()
        _note_type(parsed, plain, match.group(2))


def _note_type(parsed: ParsedDocstring, name: str, written: str | None) -> None:
    word = _OPTIONAL.sub("", written or "").strip().strip(",").strip("`")
    if word:
        parsed.types[name] = word


def _result(parsed: ParsedDocstring, block: list[str], *, numpy_style: bool) -> None:
    lines = [line.strip() for line in block if line.strip()]
    if not lines:
        return
    if numpy_style:
        head = lines[0]
        parsed.return_type = head.split(":", 1)[1].strip() if ":" in head else head
        parsed.returns = " ".join(lines[1:])
        return
    match = re.match(r"^([\w.\[\], |]+?)\s*:\s+(.*)$", lines[0])
    if match is not None and " " not in match.group(1).replace(", ", ",").replace(" | ", "|"):
        parsed.return_type = match.group(1)
        lines[0] = match.group(2)
    parsed.returns = " ".join(lines)


def _is_field(word: str) -> bool:
    return word in {"param", "parameter", "arg", "argument", "key", "keyword", "type", "return", "returns", "rtype", "raises", "raise", "yield", "yields"}  # fmt: skip


def _read_field(parsed: ParsedDocstring, match: re.Match[str], lines: list[str], index: int) -> int:
    kind, subject, text = match.group(1), (match.group(2) or "").strip(), match.group(3)
    parts = [text]
    while index < len(lines) and lines[index].startswith((" ", "\t")) and lines[index].strip():
        parts.append(lines[index].strip())
        index += 1
    whole = " ".join(part for part in parts if part).strip()
    if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and subject:
        *written, name = subject.split()
        parsed.parameters[name.lstrip("*")] = whole
        _note_type(parsed, name.lstrip("*"), " ".join(written))
    elif kind == "type" and subject:
        _note_type(parsed, subject, whole)
    elif kind in ("return", "returns", "yield", "yields"):
        parsed.returns = whole
    elif kind == "rtype":
        parsed.return_type = whole
    return index
