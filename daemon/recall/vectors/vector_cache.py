"""The vectors of the most recently searched scopes, in memory."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np

from daemon.recall.vectors.nearest_vectors import Block, nearest
from daemon.recall.vectors.similarity import Similarity
from daemon.recall.vectors.unit_vectors import Vectors
from daemon.recall.vectors.vector_store import State, VectorStore, opened

MAX_BYTES = 96 * 1024 * 1024
"""Of vectors that a process holds: 98,304 of 256 numbers each, or 16,384 of 1,536. A scope that has more is read from
its file at each search."""
FLOAT_BYTES = 4
JOIN_FROM = 64
"""Blocks that are made one."""


@dataclass
class _Held:
    nonce: str
    changes: int
    dims: int
    blocks: list[Block] = field(default_factory=list[Block])

    @property
    def last(self) -> int:
        return int(self.blocks[-1].rows[-1]) if self.blocks else 0

    @property
    def size_bytes(self) -> int:
        return sum(block.vectors.nbytes for block in self.blocks)


class VectorCache:
    """What one process holds of all scopes; its methods block, and let one thread in at a time."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._scopes: OrderedDict[Path, _Held] = OrderedDict()
        self._lock = Lock()

    def nearest(self, path: Path, maker: str, query: Vectors, *, limit: int) -> Similarity:
        """As ``nearest`` of all vectors in the file at ``path``.

        Raises:
            Gone: there is none.
            sqlite3.Error: it cannot be read.
            OSError: likewise.
        """
        with self._lock, opened(path, maker) as store:
            state = store.state()
            if not state.dims or state.dims != len(query):
                return Similarity()
            return nearest(self._blocks(path, store, state), query, limit=limit)

    def drop(self, path: Path) -> None:
        """Hold a scope's vectors no longer."""
        with self._lock:
            self._scopes.pop(path, None)

    @property
    def size_bytes(self) -> int:
        """Of all that is held."""
        return sum(each.size_bytes for each in self._scopes.values())

    def _blocks(self, path: Path, store: VectorStore, state: State) -> Iterator[Block] | list[Block]:
        held = self._scopes.pop(path, None)
        if held is None or (held.nonce, held.changes, held.dims) != (state.nonce, state.changes, state.dims):
            held = _Held(state.nonce, state.changes, state.dims)
        if store.size() * state.dims * FLOAT_BYTES > self._max_bytes:
            return _read(store, 0, state.dims)
        held.blocks = _joined([*held.blocks, *_read(store, held.last, state.dims)])
        self._scopes[path] = held
        while self.size_bytes > self._max_bytes and len(self._scopes) > 1:
            self._scopes.popitem(last=False)
        return held.blocks


def _read(store: VectorStore, after: int, dims: int) -> Iterator[Block]:
    for rows, vectors in store.blocks(after):
        if len(vectors) != len(rows) * dims * FLOAT_BYTES:
            raise sqlite3.DatabaseError("the vectors have the wrong size")
        yield Block(np.array(rows, np.int64), np.frombuffer(vectors, np.float32).reshape(len(rows), dims))


def _joined(blocks: list[Block]) -> list[Block]:
    """The same in one block, once there are many small ones: each message that is said adds one."""
    if len(blocks) < JOIN_FROM:
        return blocks
    return [Block(np.concatenate([b.rows for b in blocks]), np.concatenate([b.vectors for b in blocks]))]
