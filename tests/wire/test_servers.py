"""`mcpServers` files in the forms that other clients write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_reach.errors import ConfigError, ServerError
from agent_reach.wire.servers import ServerConfig, parse_servers, token_folder

ENVIRONMENT = {"HOME": "/home/me", "PATH": "/bin", "KEY": "k-1", "SECRET_OF_ANOTHER": "no", "EMPTY": ""}


def one(entry: Any, environment: dict[str, str] | None = None) -> ServerConfig:
    (config,) = parse_servers({"mcpServers": {"s": entry}}, environment or ENVIRONMENT, "mcp.json")
    return config


def codes(config: ServerConfig) -> list[str]:
    return [finding.code for finding in config.findings]


def test_a_plain_entry() -> None:
    config = one({"command": "uvx", "args": ["x", 3], "env": {"A": "b", "N": 1, "T": True}, "cwd": "~/w"})
    assert (config.command, config.args, config.cwd) == ("uvx", ("x", "3"), "/home/me/w")
    assert config.env == {"HOME": "/home/me", "PATH": "/bin", "A": "b", "N": "1", "T": "true"}
    assert config.transport == "stdio"
    assert config.usable


def test_variables_in_every_field() -> None:
    config = one(
        {
            "command": "${HOME}/bin/x",
            "args": ["--key=${env:KEY}", "${MISSING:-none}", "${EMPTY:-full}", "${EMPTY}", "$HOME", "${}"],
            "env": {"TOKEN": "${KEY}"},
        }
    )
    assert config.command == "/home/me/bin/x"
    assert config.args == ("--key=k-1", "none", "full", "", "$HOME", "${}")
    assert config.env["TOKEN"] == "k-1"
    remote = one({"url": "https://${KEY}.example/mcp", "headers": {"Authorization": "Bearer ${KEY}"}})
    assert remote.url == "https://k-1.example/mcp"
    assert remote.headers == {"Authorization": "Bearer k-1"}
    assert "k-1" not in repr(remote).replace(remote.url, "")


def test_a_missing_variable_spoils_only_its_server() -> None:
    configs = parse_servers(
        {"mcpServers": {"bad": {"command": "x", "args": ["${NOPE}"]}, "good": {"command": "y"}}}, ENVIRONMENT
    )
    assert [config.usable for config in configs] == [False, True]
    with pytest.raises(ServerError, match="NOPE"):
        configs[0].check()


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "https://x/mcp"}, "auto"),
        ({"url": "https://x/sse"}, "sse"),
        ({"url": "https://x/sse?key=1"}, "sse"),
        ({"url": "https://x", "type": "sse"}, "sse"),
        ({"url": "https://x", "type": "http"}, "http"),
        ({"url": "https://x", "type": "streamable-http"}, "http"),
        ({"url": "https://x", "transport": "streamableHttp"}, "http"),
        ({"httpUrl": "https://x"}, "http"),
        ({"serverUrl": "https://x"}, "auto"),
        ({"command": "x", "type": "stdio"}, "stdio"),
        ({"command": "x", "url": "https://x"}, "stdio"),
    ],
)
def test_transports(entry: dict[str, Any], transport: str) -> None:
    config = one(entry)
    assert config.transport == transport
    assert config.usable


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({}, "no_command"),
        ("uvx x", "server_entry_type"),
        ({"command": "x", "args": {"a": 1}}, "server_field_type"),
        ({"command": "x", "env": ["A=b"]}, "server_field_type"),
        ({"command": {"a": 1}}, "no_command"),
        ({"url": "ftp://x", "type": "http"}, "no_url"),
        ({"type": "http"}, "no_url"),
        ({"url": "https://x", "type": "carrier-pigeon"}, "unknown_transport"),
    ],
)
def test_bad_entries_carry_their_problem(entry: Any, code: str) -> None:
    config = one(entry)
    assert code in codes(config)
    assert not config.usable


def test_args_as_one_text_are_split_and_told() -> None:
    config = one({"command": "x", "args": "-y 'a b'"})
    assert config.args == ("-y", "a b")
    assert one({"command": "x", "args": "-y 'a b"}).args == ("-y", "'a", "b")
    assert one({"command": ["x", "-y"], "args": 1}).args == ("-y",)
    assert codes(config) == ["args_as_text"]
    assert config.usable


def test_other_clients_forms() -> None:
    entry = {"command": "x"}
    for document in (
        {"mcpServers": {"s": entry}},
        {"servers": {"s": entry}},
        {"mcp": {"servers": {"s": entry}}},
        {"context_servers": {"s": {"command": {"path": "x", "args": []}}}},
        {"s": entry},
        {
            "mcpServers": {
                "s": entry,
                "off": {"command": "y", "disabled": True},
                "no": {"command": "z", "enabled": False},
            }
        },
    ):
        assert [(config.name, config.command) for config in parse_servers(document, ENVIRONMENT)] == [
            ("s", "x")
        ]


@pytest.mark.parametrize("document", [None, [], {}, {"tools": []}, "x", {"mcpServers": []}])
def test_no_table_is_an_error_with_the_file(document: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_servers(document, {}, "some.json")
    assert caught.value.where == "some.json"
    assert caught.value.next_step


def test_times_in_seconds_or_milliseconds() -> None:
    assert one({"command": "x", "timeout": 30}).call_timeout == 30
    assert one({"command": "x", "timeout": 30000}).call_timeout == 30
    assert one({"command": "x", "timeout": -1}).call_timeout is None
    assert one({"command": "x", "startup_timeout_sec": 5}).startup_timeout == 5


def test_oauth_settings() -> None:
    config = one(
        {"url": "https://x", "oauth": {"clientId": "a", "client_secret": "${KEY}", "scopes": ["r", "w"]}}
    )
    assert config.oauth is not None
    assert config.oauth.grant == "client_credentials"
    assert (config.oauth.client_id, config.oauth.client_secret, config.oauth.scope) == ("a", "k-1", "r w")
    assert "k-1" not in repr(config)
    asking = one({"url": "https://x", "oauth": True}).oauth
    assert asking is not None
    assert asking.grant == "authorization_code"


def test_tokens_live_outside_the_project() -> None:
    assert token_folder({"HOME": "/home/me"}) == "/home/me/.local/share/agent-reach/tokens"
    assert token_folder({"HOME": "/home/me", "XDG_DATA_HOME": "/d"}) == "/d/agent-reach/tokens"
    assert token_folder({}) == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["command", "args", "env", "cwd", "url", "headers", "type", "timeout", "oauth", "disabled", "auth"]


@settings(max_examples=400)
@given(st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_any_entry_is_read_or_carries_its_problem(entry: dict[str, Any]) -> None:
    configs = parse_servers({"mcpServers": {"s": entry}}, ENVIRONMENT)
    for config in configs:
        assert not config.usable or config.command or config.url
