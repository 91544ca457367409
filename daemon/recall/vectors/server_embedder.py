"""Vectors from a server, ``/v1/embeddings``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from anyio import to_thread

from daemon.errors import InvalidAnswer
from daemon.recall.vectors.embedder import plain
from daemon.recall.vectors.unit_vectors import Vectors, unit

if TYPE_CHECKING:
    from daemon.model.embeddings_client import EmbeddingsClient

BATCH = 64
"""Texts a request: servers take 2,048 (OpenAI) or as few as 32 to 256 (those that people run themselves)."""


class ServerEmbedder:
    """A server's model."""

    batch = BATCH
    quick = False
    at_once: None = None

    def __init__(self, embeddings: "EmbeddingsClient") -> None:
        """Owns ``embeddings``: closes it when it is closed."""
        self._embeddings = embeddings
        self.name = embeddings.name
        self.dims = 0

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> Vectors:
        """As ``Embedder.embed``; all vectors have as many numbers as the first ones had."""
        vectors, _ = await self.counted(texts, limit_s=limit_s)
        return vectors

    async def counted(self, texts: Sequence[str], *, limit_s: float) -> tuple[Vectors, int]:
        """As ``embed``, with the tokens that the server counted; 0: it does not say."""
        given = await self._embeddings.vectors_of([plain(text) for text in texts], limit_s=limit_s)
        vectors = await to_thread.run_sync(_as_array, given.vectors)
        dims = int(vectors.shape[1])
        if self.dims and dims != self.dims:
            raise InvalidAnswer(
                f"{self.name} returned vectors with {dims} dimensions, but earlier vectors had {self.dims} dimensions"
            )
        self.dims = dims
        return vectors, given.tokens

    async def aclose(self) -> None:
        """Close its connections."""
        await self._embeddings.aclose()


def _as_array(given: Sequence[Sequence[float]]) -> Vectors:
    # In double precision first: a number beyond float32 would become infinite, and its vector nothing.
    wide = np.asarray(given, np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True)
    scaled = np.divide(wide, largest, out=np.zeros_like(wide), where=largest > 0)
    return unit(scaled.astype(np.float32))
