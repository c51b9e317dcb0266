"""What clients are shown: pages, modes, profiles, permissions, changes, kept lists, the pinned catalog."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway.launching import LEGACY, MODERN, call, caller, entry, gateway, run, said, servers

from agent_reach.catalog.snapshot import load_snapshot, write_snapshot
from agent_reach.errors import ConfigError
from agent_reach.gateway.answers import GatewayError
from agent_reach.gateway.paging import StaleCursorError, page
from agent_reach.gateway.pinned import approve
from agent_reach.gateway.settings import ClientRule


async def _list(built: Any, who: Any = None, endpoint: str = "", **params: Any) -> dict[str, Any]:
    return await built.handle("tools/list", params, who or caller(), endpoint)


async def _names(built: Any, who: Any = None, endpoint: str = "") -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    while True:
        listed = await _list(built, who, endpoint, **({"cursor": cursor} if cursor else {}))
        names += [tool["name"] for tool in listed["tools"]]
        cursor = listed.get("nextCursor")
        if cursor is None:
            return names


def test_two_servers_with_the_same_tools_are_told_apart_by_name(tmp_path: Path) -> None:
    async def main() -> tuple[list[str], str, str]:
        async with gateway(
            tmp_path, servers(a=entry("--version", "A"), b=entry("--version", "B")), page=5
        ) as built:
            names = await _names(built)
            return names, said(await call(built, "a__versioned")), said(await call(built, "b__versioned"))

    names, first, second = run(main())
    assert len(names) == len(set(names)) == 36
    assert {"a__echo", "b__echo"} <= set(names)
    assert (first, second) == ("A", "B")


def test_definitions_are_the_servers_own_under_the_wire_name(tmp_path: Path) -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        async with gateway(tmp_path, servers(one=entry("--era", "modern", "--odd"))) as built:
            return (await _list(built))["tools"], (await _list(built, caller(MODERN)))["tools"]

    older, modern = run(main())
    by_name = {tool["name"]: tool for tool in modern}
    assert by_name["rows"]["outputSchema"] == {"type": "array", "items": {"type": "integer"}}
    assert "outputSchema" not in {tool["name"]: tool for tool in older}["rows"]
    assert by_name["echo"]["annotations"] == {"readOnlyHint": True}
    assert by_name["remind"]["inputSchema"]["properties"]["day"] == {"type": "string", "format": "date"}
    assert "broken" not in by_name  # its schema cannot hold arguments


def test_a_server_that_fails_does_not_keep_the_others_away(tmp_path: Path) -> None:
    catalog = servers(
        good=entry(), bad={"command": "/no/such/program"}, worse=entry("--era", "nonsense", "--bogus-flag")
    )

    async def main() -> tuple[list[str], list[str]]:
        async with gateway(tmp_path, catalog) as built:
            names = await _names(built)
            return names, [one.subject for one in built.servers.findings if one.code == "server_failed"]

    names, failed = run(main())
    assert "echo" in names
    assert sorted(failed) == ["bad", "worse"]


def test_a_change_is_followed_in_list_index_and_announcement(tmp_path: Path) -> None:
    async def main() -> tuple[list[Any], str, list[Any]]:
        told: list[Any] = []

        async def changed(what: str, address: str) -> None:
            told.append((what, address))

        async with gateway(tmp_path, servers(one=entry()), mode="search") as built:
            await _list(built)
            built.on_changed.append(changed)
            view = built.view(ClientRule())
            before = len(view.visible)
            await call(built, "call_write", {"name": "change", "arguments": {}})
            while len(built.view(ClientRule()).visible) == before:
                await asyncio.sleep(0.02)
            found = await call(built, "find", {"query": "added later"})
            return told, said(found), [one["name"] for one in found["structuredContent"]["tools"]]

    told, text, names = run(main())
    assert ("tools", "one") in told
    assert "added_0" in names
    assert "added_0(" in text


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_stale_cursor_is_an_explicit_error(tmp_path: Path, era: str) -> None:
    async def main() -> GatewayError:
        async with gateway(tmp_path, servers(one=entry("--era", era)), page=4) as built:
            cursor = (await _list(built))["nextCursor"]
            assert len((await _list(built, cursor=cursor))["tools"]) == 4
            version = built.servers.version
            await call(built, "change")
            while built.servers.version == version:
                await asyncio.sleep(0.02)
            with pytest.raises(GatewayError) as caught:
                await _list(built, cursor=cursor)
            return caught.value

    error = run(main())
    assert error.code == -32602
    assert "stale cursor" in error.message


@given(st.lists(st.integers(), max_size=40), st.integers(1, 9), st.text(max_size=8))
def test_pages_hold_each_entry_once_in_order(items: list[int], size: int, version: str) -> None:
    seen: list[int] = []
    cursor: str | None = None
    while True:
        part, cursor = page(items, version, cursor, size)
        seen += part
        if cursor is None:
            break
    assert seen == items


@given(st.text(max_size=30))
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(StaleCursorError):
        page([1, 2, 3], "v", cursor, 2)


def test_kept_lists_answer_before_any_server_has_started(tmp_path: Path) -> None:
    async def first() -> list[str]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return await _names(built)

    async def second() -> tuple[list[str], int, str, int]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            names = await _names(built)
            starts = built.servers.upstreams["one"].starts
            result = said(await call(built, "echo", {"text": "x"}))
            return names, starts, result, built.servers.upstreams["one"].starts

    listed = run(first())
    names, before, result, after = run(second())
    assert names == listed
    assert (before, result, after) == (0, "x", 1)


def test_damaged_kept_lists_are_read_anew(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return await _names(built)

    names = run(main())
    for file in (tmp_path / ".agent-reach" / "gateway").iterdir():
        file.write_text(file.read_text()[:-20])
    assert run(main()) == names


def test_a_profile_is_one_fixed_list_and_other_tools_stay_callable(tmp_path: Path) -> None:
    profiles = {
        "days": {"text": "remember something on a day", "count": 1, "pins": ["slow"]},
        "only": {"pins": ["echo"]},
    }

    async def main() -> tuple[list[str], list[str], str, GatewayError]:
        async with gateway(tmp_path, servers(one=entry()), mode="top", profiles=profiles) as built:
            shown = await _names(built, endpoint="days")
            only = await _names(built, caller(MODERN), endpoint="only")
            with pytest.raises(GatewayError) as caught:
                await _names(built, endpoint="nights")
            other = await built.handle(
                "tools/call", {"name": "echo", "arguments": {"text": "x"}}, caller(), "days"
            )
            return shown, only, said(other), caught.value

    shown, only, other, error = run(main())
    assert shown == ["slow", "remind"]
    assert only == ["echo"]
    assert other == "x"
    assert "nights" in error.message


def test_pins_are_listed_beside_the_meta_tools(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with gateway(tmp_path, servers(one=entry()), mode="search", pins=["one/echo"]) as built:
            return (await _list(built))["tools"]

    tools = run(main())
    assert [tool["name"] for tool in tools] == ["find", "describe", "call_read", "call_write", "echo"]
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert hints["call_read"]["readOnlyHint"] is True
    assert hints["call_write"]["destructiveHint"] is True


def test_call_read_refuses_what_may_write(tmp_path: Path) -> None:
    state = tmp_path / "state"

    async def main() -> list[Any]:
        async with gateway(tmp_path, servers(one=entry("--state", str(state))), mode="search") as built:
            return [
                await call(built, via, {"name": "write", "arguments": {}})
                for via in ("call_read", "call_write")
            ]

    refused, done = run(main())
    assert refused["isError"]
    assert "call_write" in said(refused)
    assert said(done) == "execution 1"


def test_patterns_and_needs_decide_what_may_be_used(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("tools: {one/table: {needs: {scopes: [rows:read]}}}\n")
    from agent_reach.config.settings import EnvironmentGrants

    settings: dict[str, Any] = {"deny": ["one/d*", "hang"], "environment": "here", "mode": "search"}

    async def main() -> tuple[list[str], list[str], list[str]]:
        environments = {"here": EnvironmentGrants(name="here")}
        async with gateway(
            tmp_path, servers(one=entry()), overlay=str(overlay), environments=environments, **settings
        ) as built:
            refused = [said(await call(built, name)) for name in ("die", "hang", "table")]
            mine = ClientRule(name="reader", allow=("echo", "t*"))
            who = caller(rule=mine)
            found = await call(built, "find", {"query": "wait and give the seconds back", "count": 9}, who)
            told = said(await call(built, "slow", {"seconds": 0}, who))
            names = [one["name"] for one in found["structuredContent"]["tools"]]
            return refused, names, [told]

    refused, found, slow = run(main())
    assert all("may not be used here" in text for text in (*refused, *slow))
    assert set(found) <= {"echo"}


def test_the_pinned_catalog_withholds_what_changed_until_it_is_approved(tmp_path: Path) -> None:
    lock = tmp_path / "catalog.lock.json"

    async def freeze() -> None:
        async with gateway(tmp_path, servers(one=entry("--version", "1"))) as built:
            await _list(built)
            write_snapshot(built.servers.catalog, lock)

    async def main() -> tuple[list[str], str, Any, list[str], str]:
        catalog = servers(one=entry("--version", "2", "--odd"), two=entry("--era", "modern"))
        async with gateway(tmp_path, catalog, lock=str(lock)) as built:
            before = await _names(built)
            told = said(await call(built, "versioned"))
            assert built.lock is not None
            difference = built.lock.difference(built.servers.catalog)
            approve(lock, built.servers.catalog, ["versioned"], created_at=1.0)
            await asyncio.sleep(1.1)
            return before, told, difference, await _names(built), said(await call(built, "versioned"))

    run(freeze())
    before, told, difference, after, version = run(main())
    assert "versioned" not in before
    assert "rows" not in before  # new: nobody has seen it
    assert "one__echo" in before
    assert "changed since the snapshot" in told
    (change,) = [one for one in difference.changed if one.key == "one/versioned"]
    assert [(one.field, one.before, one.after) for one in change.changes] == [
        ("description", "Version 1.", "Version 2.")
    ]
    assert "versioned" in after
    assert version == "2"
    assert "two/echo" not in {tool.key for tool in load_snapshot(lock).tools}


def test_approve_all_takes_the_whole_list(tmp_path: Path) -> None:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.records.tool import Tool

    lock = tmp_path / "lock.json"
    write_snapshot(Catalog.from_tools([Tool(name="a", description="1"), Tool(name="gone")]), lock)
    live = Catalog.from_tools(
        [Tool(name="a", description="2"), Tool(name="new", description="else entirely")]
    )
    assert set(approve(lock, live, ["all"], created_at=1.0)) == {"a", "gone", "new"}
    assert load_snapshot(lock).hash == live.hash


def test_notes_of_the_overlay_are_shown(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.json"
    note = {"summary": "Echo when asked to repeat.", "param_hints": {"text": {"format": "plain words"}}}
    overlay.write_text(json.dumps({"tools": {"echo": {"note": note}}}))

    async def main() -> str:
        async with gateway(tmp_path, servers(one=entry()), overlay=str(overlay)) as built:
            tools = (await _list(built))["tools"]
            return next(tool["description"] for tool in tools if tool["name"] == "echo")

    assert run(main()) == "Echo when asked to repeat.\nGive the text back.\ntext: plain words"


def test_found_tools_join_the_list_of_an_older_client_where_that_is_wanted(tmp_path: Path) -> None:
    async def main() -> tuple[list[Any], list[str], list[str]]:
        told: list[Any] = []

        async def tell(method: str, params: Any) -> None:
            told.append(method)

        async with gateway(tmp_path, servers(one=entry()), mode="search", announce_found=True) as built:
            who = caller(LEGACY, tell=tell)
            await call(built, "find", {"query": "remember something on a day", "count": 1}, who)
            return told, await _names(built, who), await _names(built, caller(MODERN))

    told, older, modern = run(main())
    assert told == ["notifications/tools/list_changed"]
    assert "remind" in older
    assert "remind" not in modern


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"mode": "serach"}, "did you mean"),
        ({"pin": ["x"]}, "pins"),
        ({"host": "0.0.0.0"}, "nobody is asked for a token"),
        ({"limits": {"per_minute": 0}}, "per_minute"),
        ({"environment": "nowhere"}, "no environment is named"),
        ({"profiles": {"a/b": "text"}}, "letters"),
        ({"bridge": ["telepathy"]}, "telepathy"),
        ({"mode": "top"}, "there are none"),
        ({"auth": {"tokens": [{"name": "a", "token": "x"}, {"name": "a", "token": "y"}]}}, "stands twice"),
    ],
)
def test_wrong_settings_are_told_with_place_and_next_step(
    tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    from agent_reach.config.settings import ProjectConfig
    from agent_reach.gateway.settings import gateway_settings

    with pytest.raises(ConfigError) as caught:
        gateway_settings(ProjectConfig(source="reach.yaml", folder=str(tmp_path), gateway=settings))
    assert told in str(caught.value)


def test_a_static_source_is_served_too(tmp_path: Path) -> None:
    module = tmp_path / "shop.py"
    module.write_text(
        'from agent_reach import tool\n\n\n@tool\ndef price(item: str) -> dict:\n    """The price of an item."""\n'
        "    return {'item': item, 'price': 3}\n"
    )

    async def main() -> tuple[list[str], dict[str, Any]]:
        async with gateway(tmp_path, str(module)) as built:
            return await _names(built), await call(built, "price", {"item": "pen"})

    names, result = run(main())
    assert names == ["price"]
    assert result["structuredContent"] == {"item": "pen", "price": 3}


def test_the_docs_print_the_mapping_table() -> None:
    from agent_reach.gateway.eras import TABLE

    text = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")
    for direction, part, what in TABLE:
        assert f"| {direction} | {part} | {what} |" in text


def test_the_docs_show_every_setting() -> None:
    import dataclasses

    from agent_reach.gateway.settings import GatewaySettings, Limits

    text = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")
    written = {"clients": "auth", "store": "traces", "source": "catalog"}
    for one in (*dataclasses.fields(GatewaySettings), *dataclasses.fields(Limits)):
        assert f"{written.get(one.name, one.name)}:" in text, one.name
