"""Requests to the HTTP endpoint of a model: patient where waiting helps, clear where it does not.

Rate limits, server errors and dropped connections are waited out with back-off (Retry-After first) and never become a
decision; a wrong key or a dead address ends the run with the next step. It knows nothing of messages or tools.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ConfigError, ModelError
from agent_reach.evals.agents.base import UnusableModelError
from agent_reach.records.events import Event, WaitingForModel

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
MAX_WAIT = 600.0
_SHOWN = 300


class Refusal(Exception):
    """The endpoint understood and refused (a 4xx that waiting does not help): its status and words."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP {status}: {text}")
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an endpoint answered: a JSON body, or the events of a stream; `latency_ms` is the time of the try that worked."""

    body: Any = None
    events: tuple[Mapping[str, Any], ...] = ()
    streamed: bool = False
    latency_ms: float = 0.0
    raw: str = ""


@dataclass(slots=True)
class Endpoint:
    """One address with its client. `sleep` and `jitter` can be replaced, so that tests need no time."""

    config: AgentConfig
    headers: Mapping[str, str]
    notify: Callable[[Event], None] = lambda event: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default=lambda: random.uniform(0.8, 1.2))
    has_answered: bool = False
    _client: Any = None

    async def post(
        self, url: str, body: Mapping[str, Any], *, excuse: Callable[[float], None] = lambda seconds: None
    ) -> Answer:
        """Post JSON until it is answered; `excuse` is told the seconds of failed tries and waits as they arise.

        Raises `Refusal` for a 4xx about the request, `UnusableModelError` for a wrong key or a dead address, `ModelError`
        when the tries are used up or the answer is no JSON.
        """
        for attempt in range(self.config.max_retries + 1):
            started = time.perf_counter()
            try:
                answer = await self._once(url, body)
            except _Retry as retry:
                excuse(time.perf_counter() - started)
                if attempt >= self.config.max_retries:
                    raise self._gave_up(url, retry, attempt + 1) from retry
                wait = retry.after if retry.after is not None else min(60.0, 0.5 * 2**attempt) * self.jitter()
                if wait > MAX_WAIT:
                    raise self._gave_up(url, retry, attempt + 1) from retry
                self.notify(WaitingForModel(seconds=wait, reason=retry.reason))
                excuse(wait)
                await self.sleep(wait)
                continue
            self.has_answered = True
            latency = (time.perf_counter() - started) * 1000
            return Answer(
                body=answer.body,
                events=answer.events,
                streamed=answer.streamed,
                raw=answer.raw,
                latency_ms=latency,
            )
        raise AssertionError("unreachable")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, url: str, body: Mapping[str, Any]) -> Answer:
        import httpx2

        client = self._open()
        try:
            async with client.stream("POST", url, json=body, headers=dict(self.headers)) as response:
                if response.status_code >= 400:
                    text = (await response.aread()).decode("utf-8", "replace")
                    raise self._refused(url, response.status_code, text, response.headers)
                if "text/event-stream" in response.headers.get("content-type", ""):
                    events = [event async for event in _events(response.aiter_lines())]
                    return self._streamed(url, events)
                raw = (await response.aread()).decode("utf-8", "replace")
        except httpx2.TimeoutException as error:
            raise _Retry(f"no answer within {self.config.request_timeout:g} s", error) from error
        except (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol) as error:
            raise self._unreachable(url, error) from error
        except httpx2.TransportError as error:
            raise _Retry(f"the connection broke ({type(error).__name__})", error) from error
        return self._whole(url, raw)

    def _whole(self, url: str, raw: str) -> Answer:
        try:
            body = json.loads(raw)
        except ValueError:
            raise ModelError(
                f"the endpoint answered no JSON: {self._clean(raw)!r}",
                where=url,
                next_step="check base_url; it must be the address of an API, not of a web page",
            ) from None
        error = body.get("error") if isinstance(body, Mapping) else None
        if error and not (isinstance(body, Mapping) and (body.get("choices") or body.get("content"))):
            raise self._refused(url, _error_status(error), json.dumps(error, ensure_ascii=False), {})
        return Answer(body=body, raw=raw)

    def _streamed(self, url: str, events: list[Mapping[str, Any]]) -> Answer:
        for event in events:
            error = event.get("error")
            if error:
                raise self._refused(url, _error_status(error), json.dumps(error, ensure_ascii=False), {})
        raw = "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
        return Answer(events=tuple(events), streamed=True, raw=raw)

    def _open(self) -> Any:
        if self._client is None:
            import ssl

            import httpx2

            verify: Any = True
            if self.config.ca_file:
                try:
                    verify = ssl.create_default_context(cafile=self.config.ca_file)
                except (OSError, ssl.SSLError) as error:
                    raise ConfigError(
                        f"the certificate file cannot be used: {error}",
                        where=self.config.ca_file,
                        next_step="give a PEM file with the certificates of the authority",
                    ) from error
            self._client = httpx2.AsyncClient(
                verify=verify,
                proxy=self.config.proxy or None,
                timeout=httpx2.Timeout(
                    self.config.request_timeout, connect=min(20.0, self.config.request_timeout)
                ),
                trust_env=False,
                limits=httpx2.Limits(max_connections=64, max_keepalive_connections=16),
            )
        return self._client

    def _refused(self, url: str, status: int, text: str, headers: Mapping[str, str]) -> Exception:
        words = self._clean(text)
        if status in RETRIED:
            return _Retry(f"HTTP {status}", None, after=_retry_after(headers), text=words)
        if status in (401, 403):
            variable = self.config.api_key_env
            step = (
                f"check the key in the environment variable {variable}"
                if variable
                else "name the key's variable: api_key_env"
            )
            return UnusableModelError(
                f"the endpoint refused the key (HTTP {status}): {words}", where=url, next_step=step
            )
        if status in (404, 405):
            return UnusableModelError(
                f"the endpoint has no such address or model {self.config.model!r} (HTTP {status}): {words}",
                where=url,
                next_step="check base_url (it usually ends in /v1) and the model's name",
            )
        return Refusal(status, words)

    def _unreachable(self, url: str, error: Exception) -> Exception:
        detail = str(error) or type(error).__name__
        if self.has_answered:
            return _Retry(f"no connection ({detail})", error)
        return UnusableModelError(
            f"no connection to the endpoint: {detail}",
            where=url,
            next_step="check that it runs, and base_url, proxy and ca_file",
        )

    def _gave_up(self, url: str, retry: _Retry, tries: int) -> ModelError:
        words = f": {retry.text}" if retry.text else ""
        asked = f" (it asks for {retry.after:g} s)" if retry.after is not None else ""
        return ModelError(
            f"no answer after {tries} tries, last {retry.reason}{asked}{words}",
            where=url,
            next_step="run again with --resume later, lower `concurrency`, or raise `max_retries`",
        )

    def _clean(self, text: str) -> str:
        """Words of the endpoint, short, without the key."""
        if self.config.api_key:
            text = text.replace(self.config.api_key, "***")
        text = " ".join(text.split())
        return text[:_SHOWN] + ("..." if len(text) > _SHOWN else "")


class _Retry(Exception):
    """This try failed and another may work."""

    def __init__(
        self, reason: str, cause: Exception | None, *, after: float | None = None, text: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after
        self.text = text or (str(cause) if cause else "")


def _error_status(error: Any) -> int:
    """The HTTP status that an error object inside a 200 answer stands for; 502 (try again) where it says nothing."""
    if isinstance(error, Mapping):
        for key in ("code", "status", "status_code"):
            value = error.get(key)
            if isinstance(value, int) and 400 <= value < 600:
                return value
            if isinstance(value, str) and value.isdigit():
                return int(value)
        kind = f"{error.get('type', '')} {error.get('code', '')}".lower()
        if "rate" in kind or "overloaded" in kind:
            return 429
        if "invalid_request" in kind:
            return 400
        if "auth" in kind or "api_key" in kind:
            return 401
    return 502


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (a number or a date); None when there is none."""
    milliseconds = headers.get("retry-after-ms", "")
    try:
        return max(0.0, float(milliseconds) / 1000)
    except ValueError:
        pass
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[Mapping[str, Any]]:
    """The JSON objects of a server-sent event stream; comments, `[DONE]` and broken lines are passed over."""
    data: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].strip())
            text = "\n".join(data)
            parsed = _object(text)
            if parsed is not None or text == "[DONE]":
                data.clear()
            if parsed is not None:
                yield parsed
        elif not line.strip():
            data.clear()


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None
