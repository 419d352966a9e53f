"""Embeddings of texts by an endpoint with OpenAI's interface (``/v1/embeddings``)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.errors import Refused
from domain.language_models import Endpoint
from language_models.client import CallFailed, ModelClient
from records.decoding import decode_json

_ATTEMPTS = 4
_LONGEST_PAUSE = 30.0


class _Entry(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointEmbedder:
    """Computes embeddings of texts with a model at an endpoint.

    The caller must check first that the datasets permit the endpoint. Calls are not in the ledger of model
    runs: they have no reply that a person reads.

    Attributes:
        endpoint: the endpoint, which must serve an embedding model.
        texts_at_once: the largest number of texts in one call.
        first_pause: seconds before the second attempt of a failed call; doubled for each further one.
    """

    endpoint: Endpoint
    texts_at_once: int = 64
    first_pause: float = 1.0

    @property
    def name(self) -> str:
        """The name under which thresholds are stored: the name of the model, independent of the endpoint."""
        return f"model {self.endpoint.model_name}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector (norm 1) per text, shape (texts, dimensions). Equal texts are sent once.

        Raises:
            Refused: the endpoint returns no vectors.
        """
        unique_texts = list(dict.fromkeys(texts))
        rows = {text: row for row, text in enumerate(unique_texts)}
        batches = asyncio.run(self._embed_all(unique_texts)) if unique_texts else [np.empty((0, 0))]
        return np.concatenate(batches)[[rows[text] for text in texts]].astype(np.float32)

    async def _embed_all(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        limit = asyncio.Semaphore(self.endpoint.max_parallel)
        async with ModelClient(self.endpoint) as client:

            async def embed_batch_at(start: int) -> NDArray[np.float64]:
                async with limit:
                    return await self._embed_batch(client, texts[start : start + self.texts_at_once])

            starts = range(0, len(texts), self.texts_at_once)
            return list(await asyncio.gather(*map(embed_batch_at, starts)))

    async def _embed_batch(self, client: ModelClient, texts: Sequence[str]) -> NDArray[np.float64]:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                response = await client.embed(texts)
            except CallFailed as failure:
                if attempt == _ATTEMPTS or not failure.is_retryable:
                    raise self._refuse(str(failure)) from None
                pause = failure.retry_after or self.first_pause * 2 ** (attempt - 1)
                await asyncio.sleep(min(pause, _LONGEST_PAUSE))
            else:
                return self._read_vectors(response.raw, count=len(texts))
        raise AssertionError  # the last attempt returns or raises

    def _read_vectors(self, raw: str, *, count: int) -> NDArray[np.float64]:
        try:
            entries = sorted(decode_json(raw, _Reply).data, key=lambda entry: entry.index)
            vectors = np.array([entry.embedding for entry in entries], dtype=np.float64)
        except (msgspec.DecodeError, ValueError) as error:
            raise self._refuse(f"Its reply has no vectors: {error}") from None
        if [entry.index for entry in entries] != list(range(count)) or vectors.ndim != 2:
            raise self._refuse(
                f"It returned {count_text(len(entries), 'vector')} for {count_text(count, 'text')}."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise self._refuse("It returned a vector that is zero or not finite.")
        return np.asarray(vectors / lengths)

    def _refuse(self, reason: str) -> Refused:
        return Refused(f"Endpoint {self.endpoint.name} provided no embeddings. {reason} Nothing was stored.")
