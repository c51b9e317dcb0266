"""Which sources have servers to start: files and mappings with an `mcpServers` table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach.errors import ConfigError, InputError
from agent_reach.wire.servers import ServerConfig, parse_servers


def server_configs(source: Any, environment: Mapping[str, str]) -> tuple[ServerConfig, ...] | None:
    """The servers of a source; None for a source of another kind. Raises `InputError` for a file that is not there."""
    where = ""
    document = source
    if isinstance(source, (str, Path)):
        path = Path(source)
        where = str(path)
        if path.suffix.lower() not in (".json", ".jsonc") or path.is_dir():
            return None
        try:
            document = json.loads(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError as error:
            raise InputError("no such file", where=where, next_step="check the path") from error
        except (OSError, ValueError):
            return None
    if (
        not isinstance(document, Mapping)
        or "tools" in document
        or "openapi" in document
        or "snapshot_version" in document
    ):
        return None
    try:
        return parse_servers(document, environment, where)
    except ConfigError:
        return None
