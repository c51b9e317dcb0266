"""The folder that a server's entry may ask for by writing `{attempt_folder}`.

Whoever has such a folder (a run, for each attempt) settles the entry in it; a session that is opened with the words
still there makes one that lasts as long as the session. What a server keeps elsewhere is not seen.
"""

from __future__ import annotations

from dataclasses import replace

from agent_reach.wire.servers import ServerConfig

FOLDER = "{attempt_folder}"
"""Written in a server's arguments, environment or `cwd`, it becomes the attempt's own folder."""


def asks_for_folder(server: ServerConfig) -> bool:
    """Whether the entry of a server that is started here names the folder."""
    return server.transport == "stdio" and any(
        FOLDER in written for written in (*server.args, *server.env.values(), server.cwd)
    )


def settled_in(server: ServerConfig, folder: str) -> ServerConfig:
    """The server as it is started in that folder: its TMPDIR, its `cwd` unless it names another, and every mention."""
    env = {name: value.replace(FOLDER, folder) for name, value in server.env.items()}
    return replace(
        server,
        args=tuple(argument.replace(FOLDER, folder) for argument in server.args),
        env={**env, "TMPDIR": folder, "AGENT_REACH_FOLDER": folder},
        cwd=server.cwd.replace(FOLDER, folder) or folder,
    )
