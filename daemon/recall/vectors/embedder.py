"""The interface for computing vectors. This module does not need numpy."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from daemon.config import EmbeddingsConfig
from daemon.recall.reranking import paid
from daemon.usage import Payer

if TYPE_CHECKING:
    from daemon.recall.vectors.server_embedder import ServerEmbedder
    from daemon.recall.vectors.unit_vectors import Vectors


TEXT_MAX_CHARS = 4_000
"""So much of a text or a query is turned into a vector: a chunk has 80 tokens, and a mean over far more says little."""


class Embedder(Protocol):
    """Converts texts to vectors. Texts with similar meanings have similar vectors."""

    name: str
    """Vectors of another name are not compared with these."""
    batch: int
    """Most texts at once."""
    quick: bool
    """Whether it takes no longer for texts than a search can wait."""

    @property
    def dims(self) -> int:
        """Numbers in a vector; 0: not known before the first ones."""
        ...

    @property
    def at_once(self) -> "Callable[[Sequence[str]], Vectors] | None":
        """``embed`` in the caller's thread, if that takes no time; None: there is no such thing."""
        ...

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> "Vectors":
        """Float32, one row for each of ``texts``, each of length 1; of a text that means nothing all zeros.

        Raises:
            ModelError: there are none, or not within ``limit_s``.
        """
        ...

    async def aclose(self) -> None:
        """Give back what it holds."""
        ...


def plain(text: str) -> str:
    """``text`` as every embedder can take it: no halves of surrogate pairs, no null bytes, not too long, not empty."""
    cut = text[:TEXT_MAX_CHARS].replace("\0", " ")
    return cut.encode("utf-8", "replace").decode().strip() or " "


def says_something(text: str) -> bool:
    """Whether there is a letter or digit in the part of ``text`` that is looked at."""
    return any(char.isalnum() for char in text[:TEXT_MAX_CHARS])


# Vectors that the people of a scope pay for. This module does not need numpy.


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
