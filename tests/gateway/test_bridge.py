"""Questions of servers in the middle of a call, in all four pairs of eras."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import LEGACY, MODERN, call, caller, entry, gateway, run, said, servers

from agent_reach.gateway.answers import GatewayError
from agent_reach.gateway.bridge import Suspensions
from agent_reach.wire.failures import RequestRefused

ELICITS: dict[str, Any] = {"elicitation": {"form": {}}}
ANSWER = {"action": "accept", "content": {"name": "Ada"}}


async def _answer(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    assert method == "elicitation/create"
    assert params["message"] == "Your name?"
    return ANSWER


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_an_older_client_is_asked_by_a_request(tmp_path: Path, era: str) -> None:
    async def main() -> str:
        async with gateway(tmp_path, servers(one=entry("--era", era))) as built:
            return said(await call(built, "ask", {}, caller(LEGACY, ask=_answer, capabilities=ELICITS)))

    assert run(main()) == "hello Ada"


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_client_of_the_current_era_is_asked_by_a_result(tmp_path: Path, era: str) -> None:
    async def main() -> tuple[dict[str, Any], dict[str, Any], int]:
        who = caller(MODERN, capabilities=ELICITS, connection="")
        async with gateway(tmp_path, servers(one=entry("--era", era))) as built:
            first = await call(built, "ask", {}, who)
            ((key, question),) = first["inputRequests"].items()
            assert question["method"] == "elicitation/create"
            assert question["params"]["message"] == "Your name?"
            answers = {"inputResponses": {key: ANSWER}, "requestState": first["requestState"]}
            second = await call(built, "ask", {}, who, **answers)
            return first, second, built.suspensions.waiting

    first, second, waiting = run(main())
    assert first["resultType"] == "input_required"
    assert said(second) == "hello Ada"
    assert second["resultType"] == "complete"
    assert waiting == 0


@pytest.mark.parametrize(("version", "capabilities"), [(LEGACY, {}), (MODERN, {}), (LEGACY, ELICITS)])
def test_what_a_client_does_not_offer_is_refused_clearly_and_at_once(
    tmp_path: Path, version: str, capabilities: dict[str, Any]
) -> None:
    async def main() -> str:
        who = caller(version, capabilities=capabilities)
        async with gateway(tmp_path, servers(one=entry())) as built:
            return said(await call(built, "ask", {}, who))

    told = run(main())
    assert "refused" in told
    assert ("does not offer elicitation" in told) or ("without a session" in told)


def test_two_clients_of_one_server_never_get_each_others_questions(tmp_path: Path) -> None:
    asked: list[str] = []

    def asking(name: str) -> Any:
        async def ask(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
            asked.append(name)
            return ANSWER

        return ask

    async def main() -> str:
        async with gateway(tmp_path, servers(one=entry())) as built:
            other = caller(LEGACY, connection="b", ask=asking("b"), capabilities=ELICITS)
            waiting = asyncio.ensure_future(call(built, "slow", {"seconds": 1}, other))
            await asyncio.sleep(0.6)
            mine = caller(LEGACY, connection="a", ask=asking("a"), capabilities=ELICITS)
            result = said(await call(built, "ask", {}, mine))
            waiting.cancel()
            return result

    assert "2 clients are under way" in run(main())
    assert asked == []


def test_a_state_is_refused_by_another_gateway_by_an_other_client_and_when_forged() -> None:
    async def main() -> list[str]:
        here, there = Suspensions(), Suspensions()
        told = []
        for place, state in (
            (there, here._sealed("1")),
            (here, "agent-reach.eyJ9.00"),
            (here, here._sealed("gone")),
        ):
            with pytest.raises(RequestRefused) as caught:
                await place.resume(state, {"question": {}}, "me")
            told.append(caught.value.message)
        return told

    other, forged, gone = run(main())
    assert "another gateway" in other
    assert "not made by this gateway" in forged
    assert "expired" in gone


def test_an_answer_of_somebody_else_does_not_reach_a_waiting_call(tmp_path: Path) -> None:
    async def main() -> str:
        mine = caller(MODERN, capabilities=ELICITS, connection="")
        async with gateway(tmp_path, servers(one=entry())) as built:
            first = await call(built, "ask", {}, mine)
            more = {"inputResponses": {"question": ANSWER}, "requestState": first["requestState"]}
            from agent_reach.gateway.settings import ClientRule

            thief = caller(MODERN, capabilities=ELICITS, connection="", rule=ClientRule(name="thief"))
            with pytest.raises(GatewayError) as caught:
                await call(built, "ask", {}, thief, **more)
            assert said(await call(built, "ask", {}, mine, **more)) == "hello Ada"
            return caught.value.message

    assert "expired" in run(main())


def test_logs_go_to_the_client_whose_call_wrote_them(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        told: list[Any] = []

        async def tell(method: str, params: Mapping[str, Any]) -> None:
            told.append((method, params["data"]))

        async with gateway(tmp_path, servers(one=entry())) as built:
            await call(built, "log", {"text": "a line"}, caller(LEGACY, tell=tell))
        return told

    assert run(main()) == [("notifications/message", "a line")]
