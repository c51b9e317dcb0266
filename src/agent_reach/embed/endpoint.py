"""Any endpoint that speaks the OpenAI embeddings form (`POST {base_url}/embeddings`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.embed.base import unit_rows
from agent_reach.errors import ModelError


class EndpointEmbedder:
    """Vectors of a model behind an address; batches of `batch` texts, `timeout` in seconds per request.

    `transport` is for tests: an httpx2 transport that answers in place of the network.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str = "",
        headers: Mapping[str, str] | None = None,
        batch: int = 64,
        timeout: float = 30.0,
        transport: Any = None,
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._url = base_url.rstrip("/") + "/embeddings"
        self._model = model
        self._headers = {**({"authorization": f"Bearer {api_key}"} if api_key else {}), **(headers or {})}
        self._batch = batch
        self._timeout = timeout
        self._transport = transport

    def embed(self, texts: Sequence[str]) -> Any:
        """One row per text; `ModelError` when the endpoint fails or answers in another form."""
        import httpx2
        import numpy as np

        rows: list[list[float]] = []
        try:
            with httpx2.Client(
                headers=self._headers, timeout=self._timeout, transport=self._transport
            ) as client:
                for start in range(0, len(texts), self._batch):
                    part = [text or " " for text in texts[start : start + self._batch]]
                    answer = client.post(self._url, json={"model": self._model, "input": part})
                    answer.raise_for_status()
                    rows.extend(_rows(answer.json(), len(part), self._url))
        except httpx2.HTTPError as error:
            raise ModelError(
                f"the embeddings endpoint failed: {error}",
                where=self._url,
                next_step="check address, model and key",
            ) from error
        return unit_rows(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _rows(answer: Any, wanted: int, where: str) -> list[list[float]]:
    """The vectors of an answer in the order of the texts (`index` decides, not the order of the list)."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list) or len(data) != wanted:
        raise ModelError(f"the embeddings endpoint did not return {wanted} vectors", where=where)
    try:
        ordered = sorted(enumerate(data), key=lambda pair: pair[1].get("index", pair[0]))
        return [[float(number) for number in item["embedding"]] for _, item in ordered]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError("the embeddings endpoint answered in an unknown form", where=where) from error
