"""What agents share whose model stands behind the endpoint of a provider: the connection, the settings told, the loop.

It knows no message format; how a request is written and an answer read is each agent's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError
from agent_reach.evals.agents.base import AgentInfo, AgentSetup, ModelReply
from agent_reach.evals.agents.endpoint import Endpoint, Refusal
from agent_reach.evals.agents.loop import converse
from agent_reach.evals.agents.session import AttemptSession


class ProviderAgent(ABC):
    """Drives a model behind `url`; `headers` are what the API wants, and those of the configuration win over them."""

    kind: ClassVar[str]
    """The name in a report where the configuration gives none."""

    def __init__(
        self, config: AgentConfig, setup: AgentSetup, *, url: str, headers: Mapping[str, str]
    ) -> None:
        self._config = config
        self._url = url
        own = {name.lower(): value for name, value in config.headers.items()}
        self._endpoint = Endpoint(config=config, headers={**headers, **own}, notify=setup.notify)

    @property
    def endpoint(self) -> Endpoint:
        """The connection, whose waiting can be replaced."""
        return self._endpoint

    @property
    def info(self) -> AgentInfo:
        """What a report says of it."""
        return AgentInfo(
            name=self._config.name or self.kind,
            model=self._config.model,
            settings=public_settings(self._config),
            placed_by="provider",
            system_prompt=self._config.system,
        )

    async def run(self, session: AttemptSession) -> None:
        """Drive one attempt to its end; raises `ModelError` when the endpoint failed."""
        await converse(session, self._complete, max_steps=self._config.max_steps)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    @abstractmethod
    async def _complete(self, session: AttemptSession, messages: Sequence[Mapping[str, Any]]) -> ModelReply:
        """The model's next message."""

    def _refused(
        self, refusal: Refusal, *, next_step: str = "check model, extra_body and the size of the context"
    ) -> ModelError:
        return ModelError(
            f"the endpoint refused the request (HTTP {refusal.status}): {refusal.text}",
            where=self._url,
            next_step=next_step,
        )
