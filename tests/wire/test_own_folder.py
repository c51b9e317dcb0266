"""A server whose entry names `{attempt_folder}`: opened by a run or by a session alone, it has a folder that ends with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.wire.launching import raw_server, run

from agent_reach.errors import ServerError
from agent_reach.wire.own_folder import FOLDER, asks_for_folder, settled_in
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import list_server

QUICK = SessionOptions(startup_timeout=20, probe_timeout=5, list_retries=(), close_grace=0.3)


def surroundings(config: ServerConfig) -> tuple[dict[str, str], bool]:
    """What the server sees, and whether its folder is left when the session ended."""

    async def main() -> dict[str, str]:
        async with ServerSession(config, QUICK) as session:
            names = ["PLACE", "TMPDIR", "AGENT_REACH_FOLDER"]
            result = await session.call_tool("env", {"names": names})
            seen: dict[str, str] = json.loads(result["content"][0]["text"])
            assert os.path.isdir(seen["cwd"])
            return seen

    seen = run(main())
    return seen, os.path.exists(seen["cwd"])


def with_place(place: str) -> ServerConfig:
    server = raw_server()
    return ServerConfig(
        name="raw", command=server.command, args=server.args, env={**server.env, "PLACE": place}
    )


def test_a_session_alone_makes_the_folder_and_takes_it_away() -> None:
    seen, left = surroundings(with_place(f"{FOLDER}/memory.jsonl"))
    assert seen["PLACE"] == f"{seen['cwd']}/memory.jsonl"
    assert seen["TMPDIR"] == seen["AGENT_REACH_FOLDER"] == seen["cwd"] != os.getcwd()
    assert not left


def test_a_server_that_asks_for_none_starts_where_it_always_did() -> None:
    seen, left = surroundings(with_place("elsewhere"))
    assert (seen["cwd"], seen["PLACE"], seen["AGENT_REACH_FOLDER"]) == (os.getcwd(), "elsewhere", None)
    assert left


def test_two_sessions_have_two_folders() -> None:
    places = {surroundings(with_place(FOLDER))[0]["cwd"] for _ in range(2)}
    assert len(places) == 2


def test_a_listing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    listing = run(list_server(with_place(FOLDER), QUICK))
    assert listing.error is None
    assert listing.tools
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_start_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    server = ServerConfig(name="gone", command="/no/such/program", args=(FOLDER,))
    with pytest.raises(ServerError):
        run(ServerSession(server, QUICK).open())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("server", "asks"),
    [
        (ServerConfig(name="a", command="x", args=("--db", f"{FOLDER}/a.db")), True),
        (ServerConfig(name="b", command="x", env={"FILE": f"{FOLDER}/b"}), True),
        (ServerConfig(name="c", command="x", cwd=FOLDER), True),
        (ServerConfig(name="d", command="x", args=("{folder}",)), False),
        (ServerConfig(name="e", transport="http", url="http://127.0.0.1/{attempt_folder}"), False),
    ],
)
def test_who_asks_for_a_folder(server: ServerConfig, asks: bool) -> None:
    assert asks_for_folder(server) is asks


def test_a_settled_entry_asks_no_more_and_keeps_its_own_cwd() -> None:
    server = ServerConfig(name="a", command="x", args=(f"{FOLDER}/a", f"--x={FOLDER}"), cwd="/srv")
    settled = settled_in(server, "/scratch")
    assert settled.args == ("/scratch/a", "--x=/scratch")
    assert settled.cwd == "/srv"
    assert not asks_for_folder(settled)
