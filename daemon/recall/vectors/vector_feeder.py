"""Computes missing vectors of a scope's index, page by page, in one process at a time."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio
import numpy as np
from anyio import CapacityLimiter, to_thread

from daemon.clock import Clock
from daemon.errors import ContextOverflow, InvalidAnswer, ModelRefused
from daemon.recall.vectors.embedder import Embedder
from daemon.recall.vectors.keyword_index import Extent, KeywordIndex, Text
from daemon.recall.vectors.vector_store import Gone, Row, State, hash_of, opened

PAGE = 1_000
"""Texts that are looked at in one step; reading them takes some 10 ms."""
CLAIM_S = 60.0
"""How long a process that feeds has it for itself, from its last step on; one that died is waited for so long."""
PROBE = "hello"
"""A text that every embedder can take: whether it is the server that refuses, or what it was given."""

_T = TypeVar("_T")


class VectorFeeder:
    """Updates the vectors of scopes."""

    def __init__(
        self, places: KeywordIndex, *, file_of: Callable[[str], Path], clock: Clock, threads: CapacityLimiter
    ) -> None:
        self._places = places
        self._file_of = file_of
        self._clock = clock
        self._threads = threads

    async def is_in_step(self, scope: str, embedder: Embedder) -> bool:
        """Whether all that the index holds has its vector.

        Raises:
            BusUnavailable: Redis is away.
            sqlite3.Error: the file cannot be read.
            OSError: likewise.
        """
        path = self._file_of(scope)
        extent = await self._places.extent(scope)
        try:
            return _in_step(await self._in_thread(lambda: _look(path, embedder.name, make=False)), extent)
        except Gone:
            return not extent.last

    async def feed(self, scope: str, embedder: Embedder, *, limit_s: float) -> bool:
        """Work for about ``limit_s``; whether all is done, or somebody else does it.

        What was done is kept, whatever ends it.

        Raises:
            ModelError: there are no vectors to be had.
            BusUnavailable: Redis is away.
            sqlite3.Error: the file cannot be written.
            OSError: likewise.
        """
        ends = anyio.current_time() + limit_s
        path = self._file_of(scope)
        extent = await self._places.extent(scope)
        if not extent.last and not path.exists():  # nothing to say, and nobody has to know that there is such a scope
            return True
        state = await self._in_thread(lambda: _look(path, embedder.name, make=True))
        if _in_step(state, extent):
            return True
        now_s = self._clock.now().timestamp()
        if not await self._in_thread(lambda: _claim(path, embedder.name, state, now_s)):
            return True
        done = False
        try:
            while not done:
                done = await self._step(scope, path, embedder, limit_s=max(0.0, ends - anyio.current_time()))
                if anyio.current_time() >= ends:
                    break
        except Gone:
            return False
        finally:
            if not done:
                with anyio.CancelScope(shield=True):  # a file of ours; SQLite waits for half a second at most
                    await self._in_thread(lambda: _give_back(path, embedder.name, state))
        return done

    async def _step(self, scope: str, path: Path, embedder: Embedder, *, limit_s: float) -> bool:
        """The next page, or as much of it as is embedded at once; whether that was the last one."""
        extent = await self._places.extent(scope)
        # The file is known before the texts are read. When somebody forgets meanwhile it is another one afterwards,
        # and nothing of what was read here comes into it.
        state = await self._in_thread(lambda: _begun(path, embedder, extent))
        texts = await self._places.texts(scope, after=state.upto, limit=PAGE)
        if not texts:
            await self._in_thread(lambda: _finish(path, embedder.name, state, extent))
            return True
        now_s = self._clock.now().timestamp()
        hashes = [hash_of(text.text) for text in texts]
        known = await self._in_thread(lambda: _known(path, embedder.name, state, hashes, now_s))
        count, missing = _portion(texts, hashes, known, embedder.batch)
        vectors, dims = known, state.dims
        if missing:
            made = await _embedded(embedder, list(missing.values()), limit_s=limit_s)
            vectors, dims = {**known, **dict(zip(missing, made, strict=True))}, embedder.dims
        rows = [Row(text.row, key, vectors[key]) for text, key in zip(texts[:count], hashes[:count], strict=True)]
        await self._in_thread(lambda: _put(path, embedder.name, state, rows, dims))
        return False

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(work, limiter=self._threads)


def _in_step(state: State, extent: Extent) -> bool:
    return (state.generation, state.removed, state.upto) == (extent.generation, extent.removed, extent.last)


def _portion(
    texts: Sequence[Text], hashes: Sequence[bytes], known: dict[bytes, bytes], batch: int
) -> tuple[int, dict[bytes, str]]:
    """How many of ``texts`` are dealt with when ``batch`` of them are embedded, and those that are to be."""
    missing: dict[bytes, str] = {}
    for count, (text, key) in enumerate(zip(texts, hashes, strict=True)):
        if key not in known and key not in missing:
            if len(missing) == batch:
                return count, missing
            missing[key] = text.text
    return len(texts), missing


async def _embedded(embedder: Embedder, texts: Sequence[str], *, limit_s: float) -> list[bytes]:
    """The vectors of ``texts``; of one that the server will not take zeros, which are near to nothing."""
    try:
        vectors = await embedder.embed(texts, limit_s=limit_s)
    except (ContextOverflow, InvalidAnswer, ModelRefused):
        # Raises when it is not these texts that it will not take.
        await embedder.embed([PROBE], limit_s=limit_s)
        if len(texts) == 1:
            return [np.zeros(embedder.dims, np.float32).tobytes()]
        half = len(texts) // 2
        parts = [await _embedded(embedder, part, limit_s=limit_s) for part in (texts[:half], texts[half:])]
        return [*parts[0], *parts[1]]
    return [vector.tobytes() for vector in vectors]


def _look(path: Path, maker: str, *, make: bool) -> State:
    with opened(path, maker, make=make) as store:
        return store.state()


def _claim(path: Path, maker: str, state: State, now_s: float) -> bool:
    with opened(path, maker, nonce=state.nonce) as store:
        return store.claim(now_s, now_s + CLAIM_S)


def _give_back(path: Path, maker: str, state: State) -> None:
    with suppress(Gone, sqlite3.Error, OSError), opened(path, maker, nonce=state.nonce) as store:
        store.extend(0.0)


def _begun(path: Path, embedder: Embedder, extent: Extent) -> State:
    """The state of the pass over these rows, which is begun if it was another one."""
    with opened(path, embedder.name, make=True) as store:
        state = store.state()
        if state.dims and embedder.dims not in (0, state.dims):
            store.anew(embedder.name)
            state = store.state()
        if (state.generation, state.removed) != (extent.generation, extent.removed):
            store.begin(extent, same=state.generation == extent.generation)
        return store.state()


def _known(path: Path, maker: str, state: State, hashes: Sequence[bytes], now_s: float) -> dict[bytes, bytes]:
    with opened(path, maker, nonce=state.nonce) as store:
        store.extend(now_s + CLAIM_S)
        return store.known(hashes)


def _put(path: Path, maker: str, state: State, rows: Sequence[Row], dims: int) -> None:
    with opened(path, maker, nonce=state.nonce) as store:
        if state.dims and dims != state.dims:
            store.anew(maker)  # the server has another model under the old name
        else:
            store.put(rows, after=state.upto, dims=dims)


def _finish(path: Path, maker: str, state: State, extent: Extent) -> None:
    with opened(path, maker, nonce=state.nonce) as store:
        store.finish(state.upto, extent.last)
