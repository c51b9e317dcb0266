"""Questions of servers to clients (sampling, elicitation, roots), carried between the eras or refused clearly.

An older client is asked by a request while its call waits. A client of the current era cannot be asked so: its call is
answered with a result that asks for input, the call goes on waiting here under a signed state, and the repeated call brings
the answer. The state names this gateway, so that another one says so instead of guessing.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.gateway.caller import Caller
from agent_reach.wire.failures import RequestRefused
from agent_reach.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND

KINDS: Mapping[str, str] = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""Method of a question and the capability that a client declares for it."""
_STATE_PREFIX = "agent-reach."
_MOST_WAITING = 1000


@dataclass(slots=True)
class Question:
    """A question of a server that waits for its answer."""

    method: str
    params: Mapping[str, Any]
    answer: asyncio.Future[Mapping[str, Any]]


class CallOrigin:
    """The call behind which a client waits; see `upstream.Origin`."""

    def __init__(self, caller: Caller, owner: str, allowed: tuple[str, ...]) -> None:
        self.caller = caller
        self.owner = owner
        self.questions: asyncio.Queue[Question] = asyncio.Queue()
        self.capabilities = {
            kind: value for kind, value in caller.capabilities.items() if kind in allowed or kind not in KINDS.values()
        }  # fmt: skip
        self._reports: list[Mapping[str, Any]] = []
        self._logs: list[Mapping[str, Any]] = []
        self._pump: asyncio.Task[None] | None = None

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a question of the server to the client; raises `RequestRefused` where it cannot be put or is refused."""
        kind = KINDS.get(method)
        if kind is None:
            raise RequestRefused(f"{method} is not passed on by this gateway", code=METHOD_NOT_FOUND)
        if kind not in self.capabilities:
            raise RequestRefused(
                f"{method} is refused: the client does not offer {kind}", code=METHOD_NOT_FOUND
            )
        if self.caller.ask is not None:
            return await self.caller.ask(method, params)
        if not self.caller.modern:
            raise RequestRefused(
                f"{method} is refused: the client cannot be asked over a connection without a session",
                code=METHOD_NOT_FOUND,
            )
        question = Question(method, params, asyncio.get_running_loop().create_future())
        self.questions.put_nowait(question)
        return await question.answer

    def report(self, progress: Mapping[str, Any]) -> None:
        """Pass progress on to the client, in order."""
        if self.caller.report is not None:
            self._reports.append(progress)
            self._start_pump()

    def log(self, params: Mapping[str, Any]) -> None:
        """Pass a line of the server's log on to the client."""
        self._logs.append(params)
        self._start_pump()

    async def told(self) -> None:
        """Everything that was reported has been passed on."""
        if self._pump is not None:
            with contextlib.suppress(Exception):
                await self._pump

    def _start_pump(self) -> None:
        if self._pump is None or self._pump.done():
            self._pump = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        while self._reports or self._logs:
            if self._reports:
                assert self.caller.report is not None
                await self.caller.report(self._reports.pop(0))
            else:
                await self.caller.tell("notifications/message", self._logs.pop(0))


@dataclass(slots=True)
class _Suspended:
    """A call that waits for an answer of its client."""

    work: asyncio.Task[Any]
    origin: CallOrigin
    question: Question
    owner: str
    expiry: asyncio.TimerHandle


@dataclass(slots=True)
class Suspensions:
    """Calls whose client was asked by a result, until it comes back or `seconds` have passed."""

    seconds: float = 600.0
    gateway: str = field(default_factory=lambda: secrets.token_hex(8))
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _waiting: OrderedDict[str, _Suspended] = field(default_factory=OrderedDict)

    @property
    def waiting(self) -> int:
        """How many calls wait for an answer."""
        return len(self._waiting)

    async def drive(self, work: Coroutine[Any, Any, Any], origin: CallOrigin, owner: str) -> Any:
        """The result of the work, or a result that asks the client for input first."""
        return await self._next(asyncio.ensure_future(work), origin, owner)

    async def resume(self, state: str, responses: Mapping[str, Any], owner: str) -> Any:
        """Go on with the call that the state stands for; raises `RequestRefused` for a state that is not ours."""
        number = self._opened(state)
        known = self._waiting.get(number)
        if known is None or known.owner != owner:
            raise RequestRefused(
                "the question of this call has expired, or was answered already; call the tool again",
                code=INVALID_PARAMS,
            )
        answer = responses.get("question")
        if not isinstance(answer, Mapping):
            raise RequestRefused("`inputResponses` holds no answer under 'question'", code=INVALID_PARAMS)
        del self._waiting[number]
        known.expiry.cancel()
        if not known.question.answer.done():
            known.question.answer.set_result(answer)
        return await self._next(known.work, known.origin, owner)

    def is_ours(self, state: Any) -> bool:
        """Whether a state was made by a gateway, not by a server behind it."""
        return isinstance(state, str) and state.startswith(_STATE_PREFIX)

    async def _next(self, work: asyncio.Task[Any], origin: CallOrigin, owner: str) -> Any:
        asked = asyncio.ensure_future(origin.questions.get())
        try:
            await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        finally:
            if not asked.done():
                asked.cancel()
        if work.done():
            return work.result()
        return self._suspend(work, origin, asked.result(), owner)

    def _suspend(
        self, work: asyncio.Task[Any], origin: CallOrigin, question: Question, owner: str
    ) -> dict[str, Any]:
        number = secrets.token_hex(8)
        loop = asyncio.get_running_loop()
        expiry = loop.call_later(self.seconds, self._expire, number)
        self._waiting[number] = _Suspended(work, origin, question, owner, expiry)
        if len(self._waiting) > _MOST_WAITING:
            self._expire(next(iter(self._waiting)))
        work.add_done_callback(lambda done: self._ended(number, done))
        return {
            "resultType": "input_required",
            "inputRequests": {"question": {"method": question.method, "params": dict(question.params)}},
            "requestState": self._sealed(number),
        }

    def _expire(self, number: str) -> None:
        known = self._waiting.pop(number, None)
        if known is not None:
            known.expiry.cancel()
            if not known.question.answer.done():
                known.question.answer.set_exception(
                    RequestRefused("the client did not answer in time", code=METHOD_NOT_FOUND)
                )

    def _ended(self, number: str, work: asyncio.Task[Any]) -> None:
        """The call ended (its own limit) before the client came back."""
        known = self._waiting.pop(number, None)
        if known is not None:
            known.expiry.cancel()
            if not work.cancelled():
                work.exception()

    def close(self) -> None:
        """Give up every waiting call."""
        for known in self._waiting.values():
            known.expiry.cancel()
            known.work.cancel()
        self._waiting.clear()

    def _sealed(self, number: str) -> str:
        body = base64.urlsafe_b64encode(
            json.dumps({"gateway": self.gateway, "call": number}).encode()
        ).decode()
        return f"{_STATE_PREFIX}{body}.{self._signature(body)}"

    def _opened(self, state: str) -> str:
        body, _, signature = state.removeprefix(_STATE_PREFIX).rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(body).encode()):
            try:
                named = json.loads(base64.urlsafe_b64decode(body.encode())).get("gateway")
            except (ValueError, AttributeError):
                named = None
            reason = (
                f"this call waits at another gateway ({named}); send its answer there, or call the tool again"
                if isinstance(named, str) and named != self.gateway
                else "`requestState` was not made by this gateway"
            )
            raise RequestRefused(reason, code=INVALID_PARAMS)
        return str(json.loads(base64.urlsafe_b64decode(body.encode()))["call"])

    def _signature(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()
