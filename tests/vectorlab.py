"""A small index of words, and an embedder that does what a test says: for what is done with vectors."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import numpy as np

from daemon.clock import Clock
from daemon.errors import MillpondError, ModelTimeout
from daemon.recall.search_results import Hit, InPrompt, Mode, SearchResults
from daemon.recall.vectors import Extent, Ranking, ScoredRow, Text, VectorEngine
from daemon.recall.vectors.keyword_index import Blend
from daemon.recall.vectors.unit_vectors import Vectors, unit
from daemon.testing import ManualClock

SCOPE = "anna:person:web:ann"


class SmallIndex:
    """Texts by row, found by the words that they share with a query."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts_by_row = dict(enumerate(texts, 1))
        self.generation = "one"
        self.removed = 0
        self.asked: list[str] = []
        self.read = 0
        """Texts that were given out."""
        self.failure: MillpondError | None = None

    def add(self, text: str) -> int:
        row = max(self.texts_by_row, default=0) + 1
        self.texts_by_row[row] = text
        return row

    def drop(self, row: int) -> None:
        del self.texts_by_row[row]
        self.removed += 1

    def anew(self, *texts: str) -> None:
        self.texts_by_row = dict(enumerate(texts, 1))
        self.generation += "+"

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        self.asked.append(mode)
        ranking = await self.ranked(scope, query, limit=limit)
        return SearchResults(hits=await self.shown(scope, query, ranking.scored, limit=limit), note=ranking.note)

    async def ranked(self, scope: str, query: str, *, limit: int, prompt: InPrompt | None = None) -> Ranking:
        if self.failure is not None:
            raise self.failure
        wanted = set(_words(query))
        counts = {row: len(wanted & set(_words(text))) for row, text in self.texts_by_row.items()}
        best = max(counts.values(), default=0)
        order = sorted((row for row, count in counts.items() if count), key=lambda row: (-counts[row], row))
        return Ranking(scored=tuple(ScoredRow(row, counts[row] / best) for row in order[:limit]))

    async def blended(
        self, scope: str, query: str, blend: Blend, *, depth: int, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        ranking = await self.ranked(scope, query, limit=depth)
        hits = await self.shown(scope, query, blend(ranking), limit=limit)
        return SearchResults(hits=hits, note=ranking.note)

    async def shown(
        self, scope: str, query: str, scored: Sequence[ScoredRow], *, limit: int, prompt: InPrompt | None = None
    ) -> tuple[Hit, ...]:
        return tuple(
            Hit(docid=f"{row:08x}", file="memory/HISTORY.md", score=score, snippet=self.texts_by_row[row])
            for row, score in scored[:limit]
            if row in self.texts_by_row
        )

    async def extent(self, scope: str) -> Extent:
        return Extent(generation=self.generation, removed=self.removed, last=max(self.texts_by_row, default=0))

    async def texts(self, scope: str, *, after: int, limit: int) -> Sequence[Text]:
        found = [Text(row, text) for row, text in self.texts_by_row.items() if row > after][:limit]
        self.read += len(found)
        return found


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]", text.lower())


TOPICS = {
    "programming": ("python", "programming", "language", "编程", "语言", "rust"),
    "pets": ("cat", "dog", "pet", "猫", "狗"),
    "weather": ("rain", "sun", "weather", "天气", "雨"),
    "food": ("noodles", "curry", "food", "吃", "面条"),
}


def by_topic(text: str) -> list[float]:
    """What a good embedder makes of ``text``: what it is about, whatever the language."""
    found = [float(any(word in text.lower() for word in words)) for words in TOPICS.values()]
    return [*found, float(not any(found))]


class ScriptedEmbedder:
    """Vectors by a function; fails as it is told."""

    def __init__(self, vector_of: Callable[[str], Sequence[float]] = by_topic, *, batch: int = 4) -> None:
        self.name = "scripted"
        self.dims = 0
        self.batch = batch
        self.quick = True
        self.at_once: None = None
        self.embedded: list[str] = []
        self.calls = 0
        self.failure: Callable[[Sequence[str]], MillpondError | None] = lambda _texts: None
        self.before: Callable[[Sequence[str]], None] = lambda _texts: None
        self.slow_s = 0.0
        self._vector_of = vector_of

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> Vectors:
        self.calls += 1
        self.before(texts)
        if self.slow_s > limit_s:
            await anyio.sleep(limit_s)
            raise ModelTimeout("it took too long")
        await anyio.sleep(self.slow_s)
        if (failure := self.failure(texts)) is not None:
            raise failure
        self.embedded += texts
        vectors = unit(np.array([self._vector_of(text) for text in texts], np.float32))
        self.dims = vectors.shape[1]
        return vectors

    async def aclose(self) -> None:
        pass


def engine_of(
    index: SmallIndex, embedder: ScriptedEmbedder | None, data_dir: Path, clock: Clock | None = None
) -> VectorEngine:
    async def embedder_of(_scope: str) -> ScriptedEmbedder | None:
        return embedder

    return VectorEngine(index, embedder_of=embedder_of, data_dir=data_dir, clock=clock or ManualClock())


async def snippets(engine: VectorEngine, query: str, *, mode: Mode = "query", limit: int = 10) -> list[str]:
    found = await engine.search(SCOPE, query, mode=mode, limit=limit)
    return [hit.snippet for hit in found.hits]
