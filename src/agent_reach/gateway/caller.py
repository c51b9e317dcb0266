"""Who asks: one client at the moment of one request, and the ways to talk back to it.

Made anew for every request, because in the current era each request says by itself what its client can do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.gateway.settings import ClientRule

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Put a question of a server to the client and wait for the answer; raises `RequestRefused` where it refuses."""
Tell = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Send the client a notification that belongs to its request."""
Report = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Pass on one progress report."""


async def _nobody(*_: Any) -> None:
    """Say nothing to nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The client of one request.

    `name` is who it says it is, `connection` tells connections apart (empty where requests stand alone), `version` its
    protocol revision, `capabilities` what it declared. `ask` is None where no question can be put while it waits; `token` is
    the bearer token it came with.
    """

    rule: ClientRule = field(default_factory=ClientRule)
    name: str = ""
    connection: str = ""
    version: str = ""
    modern: bool = False
    transport: str = "stdio"
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    ask: Ask | None = None
    tell: Tell = _nobody
    report: Report | None = None
    token: str = field(default="", repr=False)

    @property
    def key(self) -> str:
        """What its memory (last search, failing rounds, rate) is kept under."""
        return f"{self.rule.name}|{self.connection or self.name}"
