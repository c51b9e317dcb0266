"""How a session behaves: limits, what it offers to the server, whom it tells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.wire.listing import MAX_PAGES
from agent_reach.wire.negotiation import CLIENT_INFO, Era
from agent_reach.wire.peer import OnNotification, OnRequest
from agent_reach.wire.pipe import CLOSE_GRACE

_LIST_RETRIES = (0.2, 0.4, 0.8, 1.2)

OpenAddress = Callable[[str], Awaitable[None]]
"""Shows a person the address at which to allow access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How patient a session is and what it offers; times in seconds.

    `startup_timeout` covers starting, negotiating and the first list page; `probe_timeout` the question for the current
    era; `call_timeout` is the default of a call and starts anew with progress, up to `max_total`. `list_retries` are the
    waits between questions when the first list is empty. `capabilities` are announced to the server and answered by
    `on_request`; `on_notification` is told what the server announces. `open_address` None refuses to ask a person.
    """

    era: Era = "auto"
    startup_timeout: float = 30.0
    probe_timeout: float = 10.0
    call_timeout: float | None = 60.0
    max_total: float | None = 600.0
    list_retries: tuple[float, ...] = _LIST_RETRIES
    max_pages: int = MAX_PAGES
    close_grace: float = CLOSE_GRACE
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    client_info: Mapping[str, Any] = field(default_factory=lambda: CLIENT_INFO)
    on_notification: OnNotification | None = None
    on_request: OnRequest | None = None
    open_address: OpenAddress | None = None
