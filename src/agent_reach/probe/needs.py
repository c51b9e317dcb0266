"""Declared needs of a tool against what is here: variables, files, services, scopes.

A variable is looked up by name and never read further; a service written as host:port or as an address is asked for a TCP
connection; scopes can be decided only against what an environment grants.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from agent_reach.config.settings import EnvironmentGrants
from agent_reach.probe.records import Check
from agent_reach.records.message import Message
from agent_reach.records.tool import Needs

CONNECT_SECONDS = 2.0


async def check_needs(
    needs: Needs, *, environment: Mapping[str, str], grants: EnvironmentGrants | None, folder: Path
) -> tuple[Check, ...]:
    """One check per declared need, in the order services, scopes, variables, files."""
    services = await asyncio.gather(*(_service(name, grants) for name in needs.services))
    return (
        *services,
        *(_scope(name, grants) for name in needs.scopes),
        *(variable(name, environment, grants) for name in needs.env),
        *(_file(name, folder, grants) for name in needs.files),
    )


def variable(name: str, environment: Mapping[str, str], grants: EnvironmentGrants | None = None) -> Check:
    """Whether an environment variable is set and not empty."""
    present = bool(environment.get(name)) or (grants is not None and name in grants.env)
    return Check(
        kind="variable",
        name=name,
        passed=present,
        detail=Message("set", "已设置") if present else Message(f"{name} is not set", f"未设置 {name}"),
        fix=None if present else Message(f"export {name}=...", f"设置环境变量 {name}"),
    )


def _file(name: str, folder: Path, grants: EnvironmentGrants | None) -> Check:
    path = Path(name).expanduser()
    path = path if path.is_absolute() else folder / path
    present = path.exists() or (grants is not None and name in grants.files)
    return Check(
        kind="file",
        name=name,
        passed=present,
        detail=Message("there", "存在") if present else Message(f"{name} does not exist", f"{name} 不存在"),
        fix=None if present else Message(f"create {name} or correct the path", f"创建 {name} 或改正路径"),
    )


def _scope(name: str, grants: EnvironmentGrants | None) -> Check:
    if grants is None:
        return Check(
            kind="scope",
            name=name,
            passed=None,
            detail=Message(f"whether {name} is granted is not known here", f"这里无法得知是否授予 {name}"),
            fix=Message("name an environment: --environment", "用 --environment 指定环境"),
        )
    granted = name in grants.scopes
    return Check(
        kind="scope",
        name=name,
        passed=granted,
        detail=Message("granted", "已授予")
        if granted
        else Message(
            f"{grants.name or 'the environment'} does not grant {name}",
            f"{grants.name or '该环境'} 没有授予 {name}",
        ),
        fix=None
        if granted
        else Message(
            f"grant {name} in reach.yaml: environments", f"在 reach.yaml 的 environments 里授予 {name}"
        ),
    )


async def _service(name: str, grants: EnvironmentGrants | None) -> Check:
    if grants is not None and name in grants.services:
        return Check(kind="service", name=name, passed=True, detail=Message("granted", "已授予"))
    place = _host_and_port(name)
    if place is None:
        known = None if grants is None else False
        return Check(
            kind="service",
            name=name,
            passed=known,
            detail=Message(f"{name} is not granted here", f"这里没有授予 {name}")
            if known is False
            else Message(f"{name} has no address to ask", f"{name} 没有可以询问的地址"),
            fix=Message(
                "write it as host:port, or grant it in an environment", "写成 host:port，或在环境里授予"
            ),
        )
    host, port = place
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_SECONDS)
        writer.close()
        await writer.wait_closed()
    except (OSError, TimeoutError):
        return Check(
            kind="service",
            name=name,
            passed=False,
            detail=Message(f"nothing answers at {host}:{port}", f"{host}:{port} 没有应答"),
            fix=Message("start the service or correct the address", "启动该服务或改正地址"),
        )
    return Check(kind="service", name=name, passed=True, detail=Message("answers", "有应答"))


def _host_and_port(name: str) -> tuple[str, int] | None:
    if "://" in name:
        parts = urlsplit(name)
        port = parts.port or {
            "http": 80,
            "https": 443,
            "postgresql": 5432,
            "postgres": 5432,
            "redis": 6379,
        }.get(parts.scheme)
        return (parts.hostname, port) if parts.hostname and port else None
    match = re.fullmatch(r"([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", name)
    return (match.group(1).strip("[]"), int(match.group(2))) if match else None
