"""Paths, modules and addresses in a configuration: relative paths start at the folder of the file.

It looks whether files exist, and reads none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach.config.fields import Section, shown
from agent_reach.errors import ConfigError

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_FILE_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".yaml",
    ".yml",
    ".py",
    ".toml",
    ".txt",
    ".j2",
    ".gguf",
    ".pem",
)


def is_address(text: str) -> bool:
    """`http://...` and the like."""
    return _ADDRESS.match(text) is not None


def existing_path(section: Section, key: str, text: str, folder: Path, what: str, *more: str | int) -> str:
    """The absolute path of a file that must be there; what is not is refused with the nearest names."""
    path = (folder / Path(text).expanduser()).resolve()
    if not path.exists():
        section.refuse(key, f"no such {what}: {str(path)!r}", near_files(path), *more)
    return str(path)


def near_files(path: Path) -> str:
    """A sentence with the files that may have been meant."""
    from agent_reach.text.tokens import nearest_names

    try:
        names = sorted(item.name for item in path.parent.iterdir())
    except OSError:
        return f"the folder {str(path.parent)!r} does not exist"
    near = nearest_names(path.name, names, limit=3)
    if near:
        return f"did you mean {', '.join(map(repr, near))}?"
    return "check the path (relative paths start at the folder of this file)"


def catalog_source(section: Section, key: str, folder: Path) -> Any:
    """A catalog as written: a path, a module, an address, or the catalog itself as a mapping or a list."""
    value = section.raw(key)
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, str) for item in value):
            return [_one_catalog(section, key, item, folder, index) for index, item in enumerate(value)]
        return list(value)
    text = section.text(key)
    return _one_catalog(section, key, text, folder) if text else ""


def _one_catalog(section: Section, key: str, text: str, folder: Path, *more: str | int) -> str:
    if is_address(text):
        return text
    path = (folder / Path(text).expanduser()).resolve()
    if path.exists():
        return str(path)
    looks_like_path = "/" in text or "\\" in text or text.lower().endswith(_FILE_SUFFIXES)
    if not looks_like_path and _MODULE.fullmatch(text):
        return text
    return existing_path(section, key, text, folder, "catalog file or module", *more)


def suite_paths(section: Section, folder: Path) -> dict[str, str]:
    """Names of suites to absolute paths; whether a file exists is asked when the suite is used.

    A list of files stands for their names without suffix; a single text for a single file.
    """
    value = section.raw("suites")
    if value is None:
        return {}
    if isinstance(value, (str, list, tuple)):
        files = section.texts("suites")
        return {Path(text).stem: str((folder / Path(text).expanduser()).resolve()) for text in files}
    if not isinstance(value, Mapping):
        section.refuse(
            "suites", f"must map names to files, not {shown(value)}", "suites: {core: suites/core.yaml}"
        )
        return {}
    texts = section.text_mapping("suites")
    for name, text in texts.items():
        if not text:
            section.refuse("suites", "names no file", "give the path of a .yaml or .jsonl file", name)
    return {name: str((folder / Path(text).expanduser()).resolve()) for name, text in texts.items()}


def find_suite(name: str, suites: Mapping[str, str], *, where: str = "") -> Path:
    """The file of a suite given by name, or by path; raises `ConfigError` with the names there are."""
    from agent_reach.config.fields import did_you_mean

    if name in suites:
        path = Path(suites[name])
        if not path.exists():
            raise ConfigError(
                f"suites.{name}: no such file: {str(path)!r}", where=where, next_step=near_files(path)
            )
        return path
    path = Path(name)
    if path.exists():
        return path
    if "/" in name or path.suffix:
        raise ConfigError(f"no such suite file: {name!r}", where=where, next_step=near_files(path.resolve()))
    raise ConfigError(
        f"no suite is named {name!r}",
        where=where,
        next_step=did_you_mean(name, suites) or "add it under `suites` in config.yaml, or give a file",
    )
