"""How a request to a server can fail, told apart by what is known of its execution.

`sent` on each says whether the request may have reached the server: what was not sent did not happen.
"""

from __future__ import annotations

from typing import Any

from agent_reach.errors import ServerError


class RequestFailure(ServerError):
    """A request to a server got no usable result."""

    sent = True


class RequestRefused(RequestFailure):
    """The server answered with a JSON-RPC error, or its HTTP front with an error status.

    `code` is the JSON-RPC code; `http_status` and `retry_after` (seconds) are set when HTTP carried the refusal.
    """

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        data: Any = None,
        http_status: int | None = None,
        retry_after: float | None = None,
        where: str = "",
    ) -> None:
        super().__init__(message, where=where)
        self.code = code
        self.data = data
        self.http_status = http_status
        self.retry_after = retry_after


class RequestTimedOut(RequestFailure):
    """No answer within the limit; `elapsed` and `limit` in seconds."""

    def __init__(self, method: str, elapsed: float, limit: float, *, where: str = "") -> None:
        super().__init__(f"no answer to {method} after {elapsed:.1f} s (limit {limit:g} s)", where=where)
        self.elapsed = elapsed
        self.limit = limit


class ConnectionLost(RequestFailure):
    """The connection ended, or was never there (`sent` False)."""

    def __init__(self, message: str, *, sent: bool = True, where: str = "", next_step: str = "") -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.sent = sent


class InputRequired(RequestFailure):
    """The server asks back in the middle of a call and nobody here can answer; `requests` are its questions."""

    def __init__(self, requests: Any, *, where: str = "") -> None:
        methods = sorted(
            {
                str(item.get("method"))
                for item in (requests.values() if isinstance(requests, dict) else ())
                if isinstance(item, dict)
            }
        )
        super().__init__(
            f"the server asks for more input ({', '.join(methods) or 'unknown'}), which nobody here can give",
            where=where,
        )
        self.requests = requests
