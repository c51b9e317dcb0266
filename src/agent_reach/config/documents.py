"""Files as plain JSON values together with the line of every part, so that each error can say where.

YAML (1.2), JSON and JSON Lines; it knows nothing of what a file means.
"""

from __future__ import annotations

from pathlib import Path

from agent_reach.config.json_form import parse_json, parse_json_lines
from agent_reach.config.located import Document, Steps
from agent_reach.config.yaml_form import parse_yaml, yaml_scalar
from agent_reach.errors import ConfigError, InputError

__all__ = [
    "Document",
    "Steps",
    "parse_json",
    "parse_json_lines",
    "parse_yaml",
    "read_document",
    "read_text",
    "yaml_scalar",
]


def read_text(path: Path, *, error: type[InputError] = ConfigError, what: str = "file") -> str:
    """The text of a file in UTF-8 (or UTF-16 with a byte order mark), without the mark; errors name the line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as cause:
        raise error(f"no such {what}", where=str(path), next_step=_files_near(path)) from cause
    except OSError as cause:
        raise error(f"cannot read the {what}: {cause.strerror}", where=str(path)) from cause
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as cause:
        line = data[: cause.start].count(b"\n") + 1
        raise error(
            f"the {what} is not UTF-8: byte {data[cause.start : cause.start + 1]!r}",
            where=f"{path}:{line}",
            next_step="save it as UTF-8",
        ) from cause


def _files_near(path: Path) -> str:
    from agent_reach.text.tokens import nearest_names

    try:
        names = sorted(item.name for item in path.parent.iterdir())
    except OSError:
        return f"the folder {str(path.parent)!r} does not exist either"
    near = nearest_names(path.name, names, limit=3)
    return f"did you mean {', '.join(map(repr, near))}?" if near else "check the path"


def read_document(
    path: Path, *, error: type[InputError] = ConfigError, what: str = "file", source: str = ""
) -> Document:
    """The document in a JSON file (`.json`) or a YAML file (anything else)."""
    text = read_text(path, error=error, what=what)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    return parse(text, source or str(path), error=error)
