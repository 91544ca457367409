"""Vectors from the weights of the package wordllama: a text's vector is the mean of its words' vectors.

Only its two files are read. Importing the package would set up logging for the whole process, and its ``load()`` asks a
hub on the network where it does not find what it looks for.
"""

import struct
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
from anyio import to_thread
from tokenizers import Tokenizer

from daemon.errors import ModelRefused
from daemon.recall.vectors.embedder import plain
from daemon.recall.vectors.unit_vectors import Vectors, unit

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
"""The only weights that the wheel has, and what goes with them (wordllama 0.4)."""
TENSOR = "embedding.weight"
HEADER_MAX_BYTES = 1_000_000
"""A header of safetensors with a single tensor has 88 bytes."""
BATCH = 256
"""So many texts take 20 ms, in which a search waits for nothing else."""


class _Tensor(msgspec.Struct):
    dtype: str
    shape: tuple[int, int]
    data_offsets: tuple[int, int]
    """Bytes after the header."""


class WordLlama:
    """The shipped weights; 0.1 ms for a chunk, and 16 MB that all processes of a machine share."""

    batch = BATCH
    quick = True

    def __init__(self, folder: Path) -> None:
        """Blocking, 0.1 s. ``folder`` is that of the package.

        Raises:
            ModelRefused: a file is missing, or is none of those that are known.
        """
        try:
            self._weights = _weights(folder / WEIGHTS)
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        # The tokenizer's own errors have no class of their own.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ModelRefused(
                f"the weights in {folder} cannot be read ({reason}). Install wordllama again."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.dims = int(self._weights.shape[1])
        self.name = f"wordllama-{Path(WEIGHTS).stem}"

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> Vectors:
        """As ``Embedder.embed``; it never fails and takes 0.1 ms a text, in a thread."""
        return await to_thread.run_sync(self.at_once, texts)

    async def aclose(self) -> None:
        """There is nothing to give back."""

    def at_once(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``, in the caller's thread."""
        means = np.zeros((len(texts), self.dims), np.float32)
        for row, text in enumerate(texts):
            # One by one: a batch would start threads of the tokenizer's own on every core.
            ids = self._tokenizer.encode(plain(text), add_special_tokens=False).ids
            if ids:
                means[row] = self._weights[ids].mean(axis=0, dtype=np.float32)
        return unit(means)


def folder_of_package() -> Path | None:
    """Where wordllama lies; None: it is not installed. It is not imported."""
    spec = find_spec("wordllama")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) if places else None


def _weights(path: Path) -> "np.memmap[tuple[int, int], np.dtype[np.float16]]":
    """The table of safetensors' only tensor: a length of 8 bytes, a JSON header, the numbers (its format's README)."""
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = msgspec.json.decode(file.read(min(size, HEADER_MAX_BYTES)), type=dict[str, msgspec.Raw])
    tensor = msgspec.json.decode(header[TENSOR], type=_Tensor)
    if tensor.dtype != "F16":
        raise ValueError(f"numbers of type {tensor.dtype}")
    return np.memmap(path, np.float16, "r", offset=8 + size + tensor.data_offsets[0], shape=tensor.shape)
