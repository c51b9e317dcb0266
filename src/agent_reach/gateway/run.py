"""Runs a gateway in a process of its own until its client leaves, or a signal ends it.

Reading thousands of tools makes many objects that stay; while the process starts, the cycle collector would only walk
through them again and again. It is held back for `START_SECONDS`, and what is there then is left out of its later walks.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway

START_SECONDS = 5.0


def run_stdio(make: Callable[[], Gateway], endpoint: str = "") -> None:
    """Serve one client on stdin and stdout; the gateway is made once both are out of the way of what prints."""
    with _few_collections():
        from agent_reach.gateway.stdio import Wires, serve_stdio

        with Wires() as wires:
            gateway = make()
            _run(gateway, lambda: serve_stdio(gateway, endpoint, wires))


def run_http(make: Callable[[], Gateway], ready: Callable[[str], None]) -> None:
    """Serve clients over HTTP; `ready` is told the address once it takes connections."""
    with _few_collections():
        from agent_reach.gateway.web import serve_http

        gateway = make()
        _run(gateway, lambda: serve_http(gateway, ready))


def _run(gateway: Gateway, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(START_SECONDS, _started)
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


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Hold the collector back until `_started`, or the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _started() -> None:
    gc.freeze()
    gc.enable()
