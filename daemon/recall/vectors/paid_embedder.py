"""Vectors that the people of a scope pay for. This module does not need numpy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from daemon.config import EmbeddingsConfig
from daemon.recall.search_payer import paid
from daemon.recall.vectors.embedder import plain
from daemon.usage import Payer

if TYPE_CHECKING:
    from daemon.recall.vectors.server_embedder import ServerEmbedder
    from daemon.recall.vectors.unit_vectors import Vectors


class PaidEmbedder:
    """A server's model, within the limits of one payer."""

    at_once: None = None

    def __init__(self, embedder: "ServerEmbedder", config: EmbeddingsConfig, payer: Payer) -> None:
        """Closing it closes nothing: ``embedder``, the server's of ``config``, is shared."""
        self._embedder = embedder
        self._config = config
        self._payer = payer
        self.name, self.batch, self.quick = embedder.name, embedder.batch, embedder.quick

    @property
    def dims(self) -> int:
        """As ``Embedder.dims``."""
        return self._embedder.dims

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> "Vectors":
        """As ``Embedder.embed``.

        Raises:
            LimitReached: a limit is used up; nothing was asked.
            BusError: Redis is away or refused.
        """
        plain_texts = [plain(text) for text in texts]
        return await paid(
            self._payer, self._config, plain_texts, lambda: self._embedder.counted(texts, limit_s=limit_s)
        )

    async def aclose(self) -> None:
        """Do nothing."""
