"""Prompts, resources, completions and their changes, through the gateway."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import LEGACY, MODERN, caller, entry, gateway, run, servers

from agent_reach.gateway.answers import GatewayError

TWO = servers(a=entry("--name", "a"), b=entry("--name", "b", "--era", "modern"))


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_prompts_of_all_servers_are_listed_and_got_from_the_right_one(tmp_path: Path, version: str) -> None:
    async def main() -> tuple[list[str], list[str]]:
        async with gateway(tmp_path, TWO) as built:
            who = caller(version)
            listed = await built.handle("prompts/list", {}, who)
            names = [prompt["name"] for prompt in listed["prompts"]]
            texts = []
            for name in names:
                got = await built.handle("prompts/get", {"name": name, "arguments": {"who": "Ada"}}, who)
                texts.append(got["messages"][0]["content"]["text"])
            return names, texts

    names, texts = run(main())
    assert names == ["a__greet", "b__greet"]
    assert texts == ["hello Ada from a", "hello Ada from b"]


def test_resources_are_read_by_address_and_by_template(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with gateway(tmp_path, TWO) as built:
            listed = await built.handle("resources/list", {}, caller())
            templates = await built.handle("resources/templates/list", {}, caller())
            read = []
            for uri in (*(one["uri"] for one in listed["resources"]), "note://b/77"):
                read.append(
                    (await built.handle("resources/read", {"uri": uri}, caller()))["contents"][0]["text"]
                )
            return [len(templates["resourceTemplates"]), read]

    assert run(main()) == [
        2,
        ["content of memo://a/one", "content of memo://b/one", "content of note://b/77"],
    ]


@pytest.mark.parametrize(("version", "code"), [(LEGACY, -32002), (MODERN, -32602)])
def test_a_resource_that_nobody_has_is_an_error_in_the_clients_era(
    tmp_path: Path, version: str, code: int
) -> None:
    async def main() -> GatewayError:
        async with gateway(tmp_path, servers(a=entry("--name", "a"))) as built:
            await built.handle("resources/list", {}, caller(version))
            with pytest.raises(GatewayError) as caught:
                await built.handle("resources/read", {"uri": "gone://x"}, caller(version))
            return caught.value

    assert run(main()).code == code


def test_completions_go_to_the_owner_of_the_reference(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with gateway(tmp_path, TWO) as built:
            found = []
            for ref in (
                {"type": "ref/prompt", "name": "b__greet"},
                {"type": "ref/resource", "uri": "note://a/{id}"},
            ):
                params = {"ref": ref, "argument": {"name": "id", "value": "7"}}
                found.append(
                    (await built.handle("completion/complete", params, caller()))["completion"]["values"][0]
                )
            return found

    assert run(main()) == ["b-7", "a-7"]


def test_a_watched_resource_is_told_of_when_it_changes(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        told: list[Any] = []

        async def changed(what: str, address: str) -> None:
            told.append((what, address))

        async with gateway(tmp_path, servers(a=entry("--name", "a"))) as built:
            built.on_changed.append(changed)
            await built.handle("resources/subscribe", {"uri": "memo://a/one"}, caller())
            while not told:
                await asyncio.sleep(0.02)
        return told

    assert run(main()) == [("updated", "memo://a/one")]


def test_unknown_methods_are_refused(tmp_path: Path) -> None:
    async def main() -> int:
        async with gateway(tmp_path, servers(a=entry())) as built:
            with pytest.raises(GatewayError) as caught:
                await built.handle("tools/delete", {}, caller())
            return caught.value.code

    assert run(main()) == -32601
