"""Runs a gateway in a process of its own until its client leaves, or a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway


def run_stdio(make: Callable[[], Gateway], endpoint: str = "") -> None:
    """Serve one client on stdin and stdout; the gateway is made once both are out of the way of what prints."""
    from agent_reach.gateway.stdio import Wires, serve_stdio

    with Wires() as wires:
        gateway = make()
        _run(gateway, lambda: serve_stdio(gateway, endpoint, wires))


def run_http(make: Callable[[], Gateway], ready: Callable[[str], None]) -> None:
    """Serve clients over HTTP; `ready` is told the address once it takes connections."""
    from agent_reach.gateway.web import serve_http

    gateway = make()
    _run(gateway, lambda: serve_http(gateway, ready))


def _run(gateway: Gateway, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        serving = asyncio.ensure_future(serve())
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, serving.cancel)
        try:
            await serving
        except asyncio.CancelledError:
            pass  # a signal: servers and traces are still ended in order
        finally:
            await gateway.close()

    asyncio.run(main())
