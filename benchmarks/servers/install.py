"""Install published MCP servers, each into an environment of its own, and write an `mcpServers` file that starts them.

    python benchmarks/servers/install.py FOLDER [--only NAME ...] [--json FILE]

FOLDER defaults to AGENT_REACH_SERVERS. Python servers get a virtual environment each, Node servers a package prefix
each, because they pin dependencies that exclude one another. What does not install is reported and left out of
`FOLDER/servers.json`; what is already there is kept. Exit code 1 when fewer than ten servers are usable.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Arguments = Callable[[Path], list[str]]


def _none(_: Path) -> list[str]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedServer:
    """One server: `packages` are what pip or npm is asked for, `arguments` its command line given a scratch folder."""

    name: str
    registry: str
    packages: tuple[str, ...]
    command: str
    arguments: Arguments = _none
    env: dict[str, str] = field(default_factory=dict)


def _folder(scratch: Path) -> list[str]:
    return [str(scratch)]


def _repository(scratch: Path) -> list[str]:
    repository = scratch / "repository"
    if not (repository / ".git").exists():
        repository.mkdir(parents=True, exist_ok=True)
        (repository / "README.md").write_text("A repository for trying tools on.\n", encoding="utf-8")
        identity = ["-c", "user.name=Agent-Reach", "-c", "user.email=nobody@example.org"]
        for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Begin"]):
            subprocess.run(["git", *command], cwd=repository, check=True)
    return ["--repository", str(repository)]


SERVERS = (
    PublishedServer(
        name="time",
        registry="pypi",
        packages=("mcp-server-time",),
        command="mcp-server-time",
        arguments=lambda _: ["--local-timezone", "Asia/Shanghai"],
    ),
    PublishedServer(
        name="git",
        registry="pypi",
        packages=("mcp-server-git",),
        command="mcp-server-git",
        arguments=_repository,
    ),
    PublishedServer(
        name="fetch", registry="pypi", packages=("mcp-server-fetch",), command="mcp-server-fetch"
    ),
    PublishedServer(
        name="sqlite",
        registry="pypi",
        packages=("mcp-server-sqlite", "mcp<2"),
        command="mcp-server-sqlite",
        arguments=lambda scratch: ["--db-path", str(scratch / "store.db")],
    ),
    PublishedServer(
        name="calculator",
        registry="pypi",
        packages=("mcp-server-calculator",),
        command="mcp-server-calculator",
    ),
    PublishedServer(
        name="excel",
        registry="pypi",
        packages=("excel-mcp-server",),
        command="excel-mcp-server",
        arguments=lambda _: ["stdio"],
    ),
    PublishedServer(
        name="word", registry="pypi", packages=("office-word-mcp-server",), command="word_mcp_server"
    ),
    PublishedServer(
        name="spreadsheet",
        registry="pypi",
        packages=("mcp-server-spreadsheet",),
        command="mcp-server-spreadsheet",
    ),
    PublishedServer(
        name="everything",
        registry="npm",
        packages=("@modelcontextprotocol/server-everything",),
        command="mcp-server-everything",
    ),
    PublishedServer(
        name="filesystem",
        registry="npm",
        packages=("@modelcontextprotocol/server-filesystem",),
        command="mcp-server-filesystem",
        arguments=_folder,
    ),
    PublishedServer(
        name="memory",
        registry="npm",
        packages=("@modelcontextprotocol/server-memory",),
        command="mcp-server-memory",
        env={"MEMORY_FILE_PATH": "{scratch}/memory.jsonl"},
    ),
    PublishedServer(
        name="sequential-thinking",
        registry="npm",
        packages=("@modelcontextprotocol/server-sequential-thinking",),
        command="mcp-server-sequential-thinking",
    ),
)


def install_python(server: PublishedServer, place: Path) -> Path:
    """A virtual environment with the server in it; returns the command's path."""
    command = place / "bin" / server.command
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        pip = [
            str(place / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *server.packages], check=True)
    return command


def install_node(server: PublishedServer, place: Path) -> Path:
    """A package prefix with the server in it; returns the command's path."""
    command = place / "node_modules" / ".bin" / server.command
    if not command.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("npm is not installed")
        place.mkdir(parents=True, exist_ok=True)
        flags = ["--no-fund", "--no-audit", "--loglevel=error", "--prefix", str(place)]
        subprocess.run([npm, "install", *flags, *server.packages], check=True)
    return command


def install(server: PublishedServer, folder: Path) -> dict[str, object]:
    """Install one server and return its entry of the `mcpServers` file."""
    place = folder / server.name
    command = (install_python if server.registry == "pypi" else install_node)(server, place)
    if not command.exists():
        raise FileNotFoundError(f"{server.packages[0]} brought no command {server.command!r}")
    scratch = folder / "scratch" / server.name
    scratch.mkdir(parents=True, exist_ok=True)
    entry: dict[str, object] = {
        "command": str(command),
        "args": server.arguments(scratch),
        "cwd": str(scratch),
    }
    if server.env:
        entry["env"] = {name: value.replace("{scratch}", str(scratch)) for name, value in server.env.items()}
    return entry


def main() -> int:
    """Install, write `servers.json`, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("AGENT_REACH_SERVERS"))
    parser.add_argument("--only", nargs="*", default=None, metavar="NAME")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    if not options.folder:
        parser.error("name a folder, or set AGENT_REACH_SERVERS")
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "servers.json"
    entries: dict[str, object] = {}
    if target.exists():  # what an earlier run installed stays usable
        entries = json.loads(target.read_text(encoding="utf-8"))["mcpServers"]
    rows: list[dict[str, object]] = []
    for server in SERVERS:
        if options.only is not None and server.name not in options.only:
            continue
        started = time.monotonic()
        try:
            entries[server.name] = install(server, folder)
            state = "ready"
        except (OSError, subprocess.CalledProcessError) as error:
            entries.pop(server.name, None)
            state = f"left out: {error}"
        seconds = round(time.monotonic() - started, 1)
        rows.append({"server": server.name, "seconds": seconds, "state": state})
        print(f"{server.name:22} {seconds:7.1f} s  {state}", flush=True)
    target.write_text(json.dumps({"mcpServers": entries}, indent=2) + "\n", encoding="utf-8")
    print(f"{len(entries)} servers in {target}")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if len(entries) >= 10 or options.only is not None else 1


if __name__ == "__main__":
    sys.exit(main())
