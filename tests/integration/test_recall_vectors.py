"""Vectors over the built-in engine: what it indexes is found by meaning, and what it forgets leaves no vector."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.errors import ModelUnavailable
from daemon.forget.forget_context import ForgetOrder
from daemon.memory import HistoryEntry
from daemon.process import Process
from daemon.recall.index import BuiltinEngine
from daemon.recall.session_book import SessionBook
from daemon.recall.vectors import VectorEngine, file_of
from daemon.recall.vectors.vector_engine import NOT_NOW
from daemon.transcripts import Transcripts
from tests.conftest import Lab
from tests.forgetlab import ANN, CANARY, KEPT, SCOPE, Pond, pond
from tests.vectorlab import ScriptedEmbedder


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


def builtin_of(world: Pond, **more: Any) -> BuiltinEngine:
    process, stores = world.process, world.stores
    data_dir = more.get("data_dir", process.data_dir)
    sessions, transcripts = SessionBook(world.bus), Transcripts(world.bus, stores.archive)
    engine = BuiltinEngine(sessions, stores.memories, transcripts, data_dir, process.clock)
    engine.rest = 0.0
    return engine


def engine_of(world: Pond, builtin: BuiltinEngine, embedder: ScriptedEmbedder, **more: Any) -> VectorEngine:
    async def embedder_of(_scope: str) -> ScriptedEmbedder:
        return embedder

    data_dir = more.get("data_dir", world.process.data_dir)
    return VectorEngine(builtin, embedder_of=embedder_of, data_dir=data_dir, clock=world.process.clock)


@pytest.fixture
async def builtin(world: Pond) -> AsyncIterator[BuiltinEngine]:
    builtin = builtin_of(world)
    yield builtin
    await builtin.aclose()


async def write(world: Pond, *texts: str) -> None:
    for text in texts:
        entry = HistoryEntry(time="2026-11-20T09:00:00.000Z", session=ANN, first=0, upto=1, kind="summary", text=text)
        await world.bus.call("RPUSH", world.bus.keys.history(SCOPE), msgspec.json.encode(entry))


def about_canaries(text: str) -> list[float]:
    is_canary = "Kanarienvogel" in text
    return [float(is_canary), float(not is_canary)]


def vectors_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found = [row[0] for table in ("rows", "known") for row in connection.execute(f"SELECT vector FROM {table}")]
    return sum([*memoryview(vector).cast("f")] == about_canaries(CANARY) for vector in found)


async def test_what_the_index_holds_is_found_by_meaning(world: Pond, builtin: BuiltinEngine) -> None:
    await write(world, "编程语言偏好", "我家的猫", "天气很好")
    engine = engine_of(world, builtin, ScriptedEmbedder())

    by_words = await engine.search(SCOPE, "喜欢Rust", mode="search", limit=5)
    by_vectors = await engine.search(SCOPE, "喜欢Rust", mode="vsearch", limit=5)
    by_both = await engine.search(SCOPE, "喜欢Rust", mode="query", limit=5)

    assert by_words.hits == ()
    for found in (by_vectors, by_both):
        assert "编程语言偏好" in found.hits[0].snippet
        assert (found.hits[0].file, found.hits[0].score) == ("memory/HISTORY.md", 1.0)


async def test_what_is_said_later_is_found_by_the_next_search(world: Pond, builtin: BuiltinEngine) -> None:
    engine = engine_of(world, builtin, ScriptedEmbedder())
    await write(world, "天气很好")
    await engine.search(SCOPE, "dog", mode="query", limit=5)

    await write(world, "我家的猫")
    found = await engine.search(SCOPE, "dog", mode="query", limit=5)

    assert "我家的猫" in found.hits[0].snippet


async def test_query_with_an_embedder_that_knows_nothing_is_search(world: Pond, builtin: BuiltinEngine) -> None:
    await write(world, *(f"entry {number} about rain and number {number}" for number in range(30)))
    engine = engine_of(world, builtin, ScriptedEmbedder(lambda _text: [1.0]))

    by_words = await engine.search(SCOPE, "rain number 7", mode="search", limit=5)
    by_both = await engine.search(SCOPE, "rain number 7", mode="query", limit=5)

    assert by_both == by_words
    assert by_words.hits


async def test_with_an_embedder_that_fails_everything_is_search(world: Pond, builtin: BuiltinEngine) -> None:
    await write(world, *(f"entry {number} about rain and number {number}" for number in range(30)))
    embedder = ScriptedEmbedder()
    embedder.failure = lambda _texts: ModelUnavailable("away")
    engine = engine_of(world, builtin, embedder)

    by_words = await engine.search(SCOPE, "rain number 7", mode="search", limit=5)
    by_both = await engine.search(SCOPE, "rain number 7", mode="query", limit=5)
    by_vectors = await engine.search(SCOPE, "rain number 7", mode="vsearch", limit=5)

    assert by_words.hits
    assert by_both == by_words
    assert (by_vectors.hits, by_vectors.note) == (by_words.hits, NOT_NOW)


async def test_of_what_was_forgotten_no_vector_is_left(world: Pond, builtin: BuiltinEngine) -> None:
    await world.plant()
    engine = engine_of(world, builtin, ScriptedEmbedder(about_canaries))
    path = file_of(world.process.data_dir, SCOPE)
    assert (await engine.search(SCOPE, CANARY, mode="vsearch", limit=5)).hits
    assert vectors_in(path)

    record = await world.forget()

    assert record.report["failed"] == []
    assert not path.exists() or not vectors_in(path)
    assert (await engine.search(SCOPE, CANARY, mode="vsearch", limit=5)).hits == ()
    assert not vectors_in(path)
    assert (await engine.search(SCOPE, KEPT, mode="query", limit=5)).hits


async def test_who_searches_while_it_is_forgotten_keeps_no_vector(world: Pond, builtin: BuiltinEngine) -> None:
    await world.plant()
    other = builtin_of(world)
    engines = [engine_of(world, each, ScriptedEmbedder(about_canaries, batch=1)) for each in (builtin, other)]
    stop = anyio.Event()

    async def search(engine: VectorEngine) -> None:
        while not stop.is_set():
            await engine.search(SCOPE, f"{CANARY} {KEPT}", mode="query", limit=5)

    async with anyio.create_task_group() as tg:
        for engine in engines:
            tg.start_soon(search, engine)
        record = await world.forget()
        stop.set()

    assert record.report["failed"] == []
    for engine in engines:
        assert (await engine.search(SCOPE, CANARY, mode="vsearch", limit=5)).hits == ()
    assert not vectors_in(file_of(world.process.data_dir, SCOPE))
    await other.aclose()


async def test_another_data_directory_keeps_no_vector_once_it_is_searched(world: Pond, builtin: BuiltinEngine) -> None:
    await world.plant()
    elsewhere = world.process.data_dir / "elsewhere"
    other = builtin_of(world, data_dir=elsewhere)
    engine = engine_of(world, other, ScriptedEmbedder(about_canaries), data_dir=elsewhere)
    assert (await engine.search(SCOPE, CANARY, mode="vsearch", limit=5)).hits

    await world.forget()

    assert (await engine.search(SCOPE, CANARY, mode="vsearch", limit=5)).hits == ()
    assert not vectors_in(file_of(elsewhere, SCOPE))
    await other.aclose()


async def test_of_somebody_who_is_forgotten_as_a_whole_no_vectors_are_left(world: Pond, builtin: BuiltinEngine) -> None:
    await world.plant()
    engine = engine_of(world, builtin, ScriptedEmbedder(about_canaries))
    await engine.search(SCOPE, CANARY, mode="query", limit=5)
    path = file_of(world.process.data_dir, SCOPE)
    assert path.exists()

    await world.forget(order=ForgetOrder(whole="scope", name=SCOPE, scopes=(SCOPE,)))

    assert not path.parent.exists()
