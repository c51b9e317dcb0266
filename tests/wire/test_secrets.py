"""What a server was given never comes back out of what it prints or of what is said about it."""

from __future__ import annotations

import os
import sys

import pytest
from tests.wire.launching import run

from agent_reach.errors import ServerError
from agent_reach.wire.secrets import given_secrets
from agent_reach.wire.servers import OAuthSettings, ServerConfig, parse_servers
from agent_reach.wire.session import ServerSession
from agent_reach.wire.startup import list_servers

GIVEN = "zebra-crossing-nine"


def dying(script: str, **env: str) -> ServerConfig:
    return ServerConfig(
        name="die", command=sys.executable, args=("-c", script), env={"PATH": os.environ["PATH"], **env}
    )


@pytest.mark.parametrize("stream", ["stderr", "stdout"])
@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("API_KEY=diesecret77 password: hunter2pw", "diesecret77"),
        ("API_KEY=diesecret77 password: hunter2pw", "hunter2pw"),
        ("SECRET=hunter2", "hunter2"),
        (f"cannot log in with {GIVEN} at the desk", GIVEN),
    ],
)
def test_last_words_are_masked(stream, said, secret):
    config = dying(f"import sys; print({said!r}, file=sys.{stream}); sys.exit(3)", SERVICE_PHRASE=GIVEN)
    (listing,) = run(list_servers([config]))
    told = repr([listing.findings, str(listing.error)])
    assert secret not in told
    assert "[redacted:" in told
    assert "exit code 3" in told  # the reason itself stays


def test_a_secret_in_a_long_noise_line_is_masked_before_the_line_is_cut():
    words = "x" * 190 + " " + GIVEN
    config = dying(f"print({words!r})", SERVICE_PHRASE=GIVEN)
    (listing,) = run(list_servers([config]))
    assert GIVEN[:8] not in repr([listing.findings, str(listing.error)])


def test_the_tail_of_stderr_is_masked():
    async def tail() -> str:
        session = ServerSession(dying(f"import sys; sys.exit({GIVEN!r})", SERVICE_PHRASE=GIVEN))
        with pytest.raises(ServerError):
            await session.open()
        return session.stderr_tail()

    assert run(tail()).startswith("[redacted:")


def test_given_secrets_are_values_that_are_no_places():
    config = ServerConfig(
        name="s",
        env={
            "HOME": "/home/a",
            "DATA": "/data/files",
            "SITE": "https://example.org",
            "PIN_WORD": "opensesame",
            "API_KEY": "/odd/key",
        },
        args=("--api-key", "argsecret", "--token=argtoken", "--verbose", "yes"),
        headers={"Authorization": "Bearer abcdef123"},
        url="https://user:urlsecret@example.org/mcp?key=querysecret&page=2",
        oauth=OAuthSettings(client_secret="oauthsecret"),
    )
    assert set(given_secrets(config)) == {
        "opensesame",
        "/odd/key",
        "argsecret",
        "argtoken",
        "Bearer abcdef123",
        "abcdef123",
        "urlsecret",
        "querysecret",
        "oauthsecret",
    }


def test_a_bad_entry_is_told_without_its_password():
    (config,) = parse_servers({"mcpServers": {"a": {"url": "ftp://me:hunter2pw@host/x"}}}, {})
    assert config.findings
    assert "hunter2pw" not in repr(config.findings)
