"""The `agent` part of a run configuration: which agent, and what that kind of agent needs to be told."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from agent_reach.config.documents import read_text
from agent_reach.config.fields import Section
from agent_reach.config.places import existing_path, is_address
from agent_reach.config.settings import AgentConfig, StartConfig

_FUNCTION = re.compile(r"(?:[\w./\\-]+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_SYNONYMS = {
    "api_base": "base_url",
    "url": "base_url",
    "endpoint": "base_url",
    "api_key": "api_key_env",
    "key_env": "api_key_env",
    "kind": "type",
    "provider": "type",
    "timeout": "request_timeout",
    "retries": "max_retries",
    "prompt": "system",
    "module": "function",
    "path": "model_file",
}
_TYPE_SYNONYMS = {"openai": "chat", "claude": "anthropic", "mcp": "mcp-client", "mcp_client": "mcp-client"}


def read_agent(
    section: Section,
    folder: Path,
    environment: Mapping[str, str],
    *,
    secrets: bool,
    types: Collection[str],
) -> AgentConfig:
    """The agent's settings; a bare word is its type, an absent part the lexical floor."""
    value = section.raw("agent")
    inner = section.child("agent", {"type": value} if isinstance(value, str) else value, synonyms=_SYNONYMS)
    kind = inner.choice("type", tuple(types), "", _TYPE_SYNONYMS)
    if not kind and inner.raw("type") is None:
        if inner.values:
            inner.refuse("type", "is missing", f"add `type: {' | '.join(types)}`")
        kind = "lexical"
    config = AgentConfig(
        type=kind,
        name=inner.text("name"),
        model=inner.text("model"),
        base_url=_base_url(inner),
        api_key_env=inner.text("api_key_env"),
        api_key=_api_key(inner, environment, secrets),
        headers=inner.text_mapping("headers"),
        extra_body=inner.mapping("extra_body"),
        proxy=inner.text("proxy"),
        ca_file=_file(inner, "ca_file", folder, "certificate file"),
        stream=_stream(inner),
        temperature=inner.number("temperature", None, minimum=0, maximum=10, allow_null=True),
        max_tokens=inner.whole("max_tokens", None, minimum=1, allow_null=True),
        seed=inner.whole("seed", None, allow_null=True),
        tool_choice=inner.text("tool_choice", "auto"),
        parallel_calls=inner.flag("parallel_calls", True)
        if inner.raw("parallel_calls") is not None
        else None,
        system=_system(inner, folder),
        max_steps=inner.whole("max_steps", 20, minimum=1),
        request_timeout=inner.number("request_timeout", 120.0, above=0),
        max_retries=inner.whole("max_retries", 5, minimum=0),
        function=_function(inner),
        start=_start(inner, folder),
        traces=_file(inner, "traces", folder, "trace file"),
        traces_format=inner.text("traces_format"),
        model_file=_file(inner, "model_file", folder, "model file"),
        context_tokens=inner.whole("context_tokens", 8192, minimum=256),
        threads=inner.whole("threads", None, minimum=1, allow_null=True),
        options=inner.mapping("options"),
    )
    inner.finish()
    _check_needs(inner, config)
    return config


_NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "chat": (("base_url", "base_url: http://localhost:8000/v1"), ("model", "model: name-of-the-model")),
    "anthropic": (("model", "model: name-of-the-model"),),
    "python": (("function", "function: 'package.module:run'"),),
    "recorded": (("traces", "traces: path/to/traces.jsonl"),),
    "mcp-client": (("start", "start: {command: [program, argument]} or {http: http://...}"),),
}


def _check_needs(inner: Section, config: AgentConfig) -> None:
    for key, example in _NEEDS.get(config.type, ()):
        if inner.raw(key) in (None, "", {}):
            inner.refuse(key, f"is missing: an agent of type {config.type!r} needs it", f"add `{example}`")


def _base_url(inner: Section) -> str:
    text = inner.text("base_url")
    if text and not re.match(r"https?://[^/\s]+", text):
        inner.refuse(
            "base_url", f"must be an http or https address, not {text!r}", "http://localhost:8000/v1"
        )
    return text.rstrip("/")


def _api_key(inner: Section, environment: Mapping[str, str], secrets: bool) -> str:
    name = inner.raw("api_key_env")
    if not isinstance(name, str) or not name:
        return ""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # a key pasted here must not be repeated in a message
        inner.refuse(
            "api_key_env",
            "must be the name of an environment variable, not the key itself",
            "api_key_env: MY_KEY",
        )
        return ""
    value = environment.get(name, "")
    if not value and secrets:
        inner.refuse("api_key_env", f"the environment variable {name!r} is not set", f"export {name}=...")
    return value


def _stream(inner: Section) -> Any:
    value = inner.raw("stream")
    if isinstance(value, bool):
        return "always" if value else "never"
    return cast(Any, inner.choice("stream", ("auto", "always", "never"), "auto"))


def _file(inner: Section, key: str, folder: Path, what: str) -> str:
    text = inner.text(key)
    return existing_path(inner, key, text, folder, what) if text else ""


def _system(inner: Section, folder: Path) -> str:
    file = _file(inner, "system_file", folder, "prompt file")
    text = inner.raw("system")
    if file and text:
        inner.refuse("system_file", "stands beside `system`", "keep one of the two")
    if file and Path(file).is_file():
        return read_text(Path(file), what="prompt file")
    if text is not None and not isinstance(text, str):
        inner.refuse("system", "must be text", "put it in quotes")
        return ""
    return text or ""


def _function(inner: Section) -> str:
    text = inner.text("function")
    if text and not _FUNCTION.fullmatch(text):
        inner.refuse(
            "function", f"must be 'package.module:function', not {text!r}", "function: 'my_agent:run'"
        )
    return text


def _start(inner: Section, folder: Path) -> StartConfig:
    start = inner.section("start", synonyms={"url": "http", "env": "environment", "cwd": "folder"})
    command = words_of(start, "command")
    http = start.text("http")
    if http and not is_address(http):
        start.refuse(
            "http", f"must be an http or https address, not {http!r}", "http: http://localhost:9000/run"
        )
    if command and http:
        start.refuse("http", "stands beside `command`", "keep one of the two")
    where = start.text("folder")
    config = StartConfig(
        command=command,
        http=http,
        environment=start.text_mapping("environment"),
        folder=existing_path(start, "folder", where, folder, "folder") if where else str(folder),
    )
    start.finish()
    return config if command or http else StartConfig()


def words_of(section: Section, key: str) -> tuple[str, ...]:
    """A command as words: a list, or one text split as a shell would split it (no shell is started)."""
    import shlex

    value = section.raw(key)
    if not isinstance(value, str):
        return section.texts(key, numbers=True)
    try:
        return tuple(shlex.split(section.text(key)))
    except ValueError as error:
        section.refuse(key, f"cannot be split into words: {error}", "write it as a list: [program, argument]")
        return ()
