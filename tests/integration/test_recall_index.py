"""The built-in engine: what anybody said or noted is found by its words, and the index is never trusted nor missed."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest
from anyio import from_thread
from structlog.testing import capture_logs

import daemon.recall.index.builtin
import daemon.recall.index.index_feed
import daemon.recall.index.indexes
from daemon.archive import Shelf
from daemon.errors import ArchiveError, BusUnavailable
from daemon.forget.forget_context import ForgetContext, ForgetOrder, ForgetTargets
from daemon.forget.tombstone import EVERYTHING
from daemon.memory import HistoryEntry, Note, Version
from daemon.process import Process
from daemon.recall.index import BuiltinEngine
from daemon.recall.index.builtin import NOT_ALL
from daemon.recall.index.index_feed import IndexFeed
from daemon.recall.index.index_files import FOLDER, IndexGone, index_file
from daemon.recall.index.index_store import Index
from daemon.recall.index.indexes import THREADS
from daemon.recall.index_removal import forget_in_indexes
from daemon.recall.search_results import SNIPPET_CHARS, InPrompt, SearchResults
from daemon.recall.session_book import SessionBook
from daemon.scope import folder_of
from daemon.testing import FailingBus
from daemon.transcripts import Transcripts
from tests.conftest import Lab
from tests.forgetlab import ANN, ANNS, BOB, BOBS, CANARY, KEPT, SCOPE, Pond, files_with, pond
from tests.limits import HANG_S, until


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


def engine_of(world: Pond, **more: Any) -> BuiltinEngine:
    process, stores = world.process, world.stores
    fields = {"bus": world.bus, "data_dir": process.data_dir, **more}
    bus, data_dir = fields.pop("bus"), fields.pop("data_dir")
    transcripts = Transcripts(bus, stores.archive)
    engine = BuiltinEngine(
        SessionBook(bus), fields.pop("memories", stores.memories), transcripts, data_dir, process.clock, **fields
    )
    engine.rest = 0.0
    return engine


@pytest.fixture
async def engine(world: Pond) -> AsyncIterator[BuiltinEngine]:
    engine = engine_of(world)
    yield engine
    await engine.aclose()


async def found(engine: BuiltinEngine, query: str, *, scope: str = SCOPE, limit: int = 10) -> SearchResults:
    return await engine.search(scope, query, mode="search", limit=limit)


async def files(engine: BuiltinEngine, query: str, **more: Any) -> list[str]:
    return [hit.file for hit in (await found(engine, query, **more)).hits]


async def write(world: Pond, *texts: str, notes: tuple[str, ...] = (), memory: tuple[str, ...] = ()) -> None:
    """Let entries stand in the history, notes in the file of a day, and versions of MEMORY.md follow each other."""
    keys, call = world.bus.keys, world.bus.call
    for text in texts:
        entry = HistoryEntry(time="2026-11-20T09:00:00.000Z", session=ANN, first=0, upto=1, kind="summary", text=text)
        await call("RPUSH", keys.history(SCOPE), msgspec.json.encode(entry))
    for text in notes:
        note = Note(time="2026-11-20T09:00:00.000Z", date="2026-11-20", session=ANN, cycle=0, text=text)
        await call("RPUSH", keys.notes(SCOPE), msgspec.json.encode(note))
    for text in memory:
        now = await world.memories.current(SCOPE)
        await world.memories.edit(SCOPE, of=now.version, text=text, by="test", time="2026-11-20T09:00:00.000Z")


def word(number: int) -> str:
    """A word that stands nowhere else; digits would be a part of it that is found by itself."""
    return "x" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "q"


def index_path(world: Pond, scope: str = SCOPE) -> Path:
    [path] = (world.process.data_dir / FOLDER / folder_of(scope)).glob("*.sqlite3")
    return path


async def test_history_notes_memory_and_messages_are_found_at_their_places(world: Pond, engine: BuiltinEngine) -> None:
    await write(
        world,
        "[2026-11-01 08:00] Ann bought a sailing boat.\nIt is called Heron.",
        "[2026-11-02 08:00] Ann painted the garage.",
        notes=("- the dentist has moved to Oak Street",),
        memory=("# Ann\n\n## Family\n- her daughter is called Mathilda\n",),
    )
    await world.turn(ANN, "My passport number is X4471.", answer="Noted.")

    assert (await files(engine, "what is the boat called?"))[0] == "memory/HISTORY.md"
    assert (await files(engine, "Did I paint the garages?"))[0] == "memory/HISTORY.md"
    assert (await files(engine, "where is my dentist"))[0] == "memory/2026-11-20.md"
    assert (await files(engine, "my daughter"))[0] == "memory/MEMORY.md"
    [hit] = (await found(engine, "X4471")).hits
    assert hit.file == f"transcript/{ANN}"
    assert hit.snippet == "ann: My passport number is X4471.\nassistant: Noted."
    assert (hit.score, hit.time) == (1.0, "2026-11-20T09:00:00.000Z")
    places = await engine.places(SCOPE, [hit.docid, "00000000", "nonsense", "é" * 8])
    assert [(at.session, at.first, at.upto) for at in places.values()] == [(ANN, 0, 1)]


async def test_places_are_lines_of_the_files_that_tools_read(world: Pond, engine: BuiltinEngine) -> None:
    await write(
        world,
        "[2026-11-01 08:00] One.\n[2026-11-01 08:01] Two says kingfisher.",
        "[2026-11-02 08:00] [forgotten]",
        "\n[2026-11-03 08:00] Three says nightingale.\n",
        notes=("- first", "- second says woodpecker\n- third"),
        memory=("# Ann\n\n- says goldfinch",),
    )
    await found(engine, "warm")
    await write(world, "[2026-11-04 08:00] Four says oystercatcher.")
    await world.stores.files.sync(SCOPE, at_once=True)
    folder = world.workspace / "memory" / folder_of(SCOPE)

    for word in ("kingfisher", "nightingale", "woodpecker", "goldfinch", "oystercatcher"):
        [hit] = (await found(engine, word)).hits
        place = (await engine.places(SCOPE, [hit.docid]))[hit.docid]
        lines = (folder / Path(place.file).name).read_text().split("\n")
        assert word in "\n".join(lines[place.first - 1 : place.upto - 1]), (word, place)


async def test_chinese_is_found_by_what_it_shares(world: Pond, engine: BuiltinEngine) -> None:
    await write(
        world, "[2026-11-01 08:00] 用户的女儿叫小雨，今年七岁。", "[2026-11-02 08:00] 代理的配置写在 config.toml 里。"
    )

    assert "小雨" in (await found(engine, "我的女儿叫什么名字？")).hits[0].snippet
    assert "config.toml" in (await found(engine, "怎么配置代理")).hits[0].snippet


async def test_of_an_older_memory_only_lines_that_no_newer_one_holds_are_found(world: Pond, engine: BuiltinEngine):
    one = "# Ann\n\n## Home\n- lives in Lisbon\n- has a heron\n\n## Work\n- is a potter\n"
    two = one.replace("Lisbon", "Porto")
    await write(world, memory=(one,))
    assert await files(engine, "Lisbon") == ["memory/MEMORY.md"]

    await write(world, memory=(two,))

    assert await files(engine, "Lisbon") == ["memory/MEMORY.md@1"]
    assert await files(engine, "Porto") == ["memory/MEMORY.md"]
    assert await files(engine, "potter heron") == ["memory/MEMORY.md"] * 2
    [hit] = (await found(engine, "Lisbon")).hits
    place = (await engine.places(SCOPE, [hit.docid]))[hit.docid]
    old = (await world.memories.version(SCOPE, 1)).text.split("\n")
    assert old[place.first - 1 : place.upto - 1] == ["- lives in Lisbon"]

    await write(world, memory=(one,))

    assert await files(engine, "Lisbon") == ["memory/MEMORY.md"]
    assert await files(engine, "Porto") == ["memory/MEMORY.md@2"]
    same = engine_of(world, data_dir=world.process.data_dir / "other")
    for query in ("Lisbon", "Porto", "potter heron", "Ann Home Work"):
        assert await files(same, query) == await files(engine, query)
    await same.aclose()


async def test_a_rejected_version_was_never_known(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, memory=("- likes herons",))
    record = Version(kind="rejected", time="t", version=2, text="- likes cormorants")
    await world.bus.call("RPUSH", world.bus.keys.versions(SCOPE), msgspec.json.encode(record))
    await write(world, memory=("- likes herons\n- and coots",))

    assert await files(engine, "cormorants") == []
    assert await files(engine, "herons coots") == ["memory/MEMORY.md"]


async def test_a_tool_result_is_found_unless_it_is_long_or_from_a_search(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "Look.", told="a", gave="the gauge shows 17 millibar")
    await world.turn(ANN, "Look again.", told="b", gave="the barometer " * 200)
    entries = await world.entries(8, ["Search."], answer="Well.", told="c", gave="an anemometer")
    entries = [
        msgspec.structs.replace(entry, wire=msgspec.Raw(bytes(entry.wire).replace(b"write_file", b"memory_search")))
        for entry in entries
    ]
    await world.inbound(ANN, "Search.")
    claim = await world.lab.claim(ANN)
    await world.lab.sessions.commit(claim, world.commit_of(claim, entries), step=0, go_on=False)

    assert await files(engine, "millibar") == [f"transcript/{ANN}"]
    assert await files(engine, "barometer") == []
    assert await files(engine, "anemometer") == []


async def test_what_says_the_same_is_shown_once(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, "[2026-11-01 08:00] The heron has landed.", notes=("The heron has landed.",))

    assert len(await files(engine, "heron")) == 1


async def test_scores_fall_from_one_and_snippets_stay_short(world: Pond, engine: BuiltinEngine) -> None:
    await write(
        world,
        *(f"[2026-11-0{at} 08:00] " + f"The heron number {at} stands there. " * 6 for at in range(1, 6)),
        "[2026-11-06 08:00] A heron and a kingfisher.",
    )

    hits = (await found(engine, "heron kingfisher", limit=4)).hits

    scores = [hit.score for hit in hits]
    assert len(hits) == 4
    assert "kingfisher" in hits[0].snippet
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert scores[1] < 1.0
    assert max(len(hit.snippet) for hit in hits) <= SNIPPET_CHARS


async def test_entries_of_a_date_that_is_named_come_first(world: Pond, engine: BuiltinEngine) -> None:
    await write(
        world,
        "[2026-03-05 08:00] Ann repaired the heron house.",
        "[2026-05-05 08:00] Ann repaired the heron house again.",
        "[2026-07-05 08:00] Ann repaired the heron house once more.",
    )

    hit = (await found(engine, "What about the heron house last May?")).hits[0]
    assert hit.snippet == "Ann repaired the heron house again."
    assert "again" in (await found(engine, "五月做了什么？")).hits[0].snippet


async def test_every_query_is_answered(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, "[2026-11-01 08:00] The heron's user_id is v2.3.1 – 黄雀 🐦.")
    queries = ["", " ", "???", '"', '" OR "', "NEAR(a b)", "a*", "-", "text:heron", "\0", "heron\0", "🐦", "שלום", "黄"]

    for query in [*queries, "heron " * 20_000, "x" * 100_000, "黄雀" * 40_000]:
        assert (await found(engine, query)).note == ""
    for query in ("heron", "HERON AND (", "user_id", "2.3.1", "🐦", "黄雀", "heron\0", "heron " * 20_000):
        assert len((await found(engine, query)).hits) == 1, query


async def test_scopes_are_apart_and_linked_ones_are_one(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "I keep herons.")
    await world.turn(BOB, "I keep ostriches.")
    assert await files(engine, "ostriches") == []
    assert await files(engine, "ostriches", scope=BOBS) == [f"transcript/{BOB}"]
    keys = world.bus.keys

    await world.bus.call("HSET", keys.memory(SCOPE), f"links:{BOBS}", "x")
    await world.bus.call("HSET", keys.memory(BOBS), "joined", SCOPE)

    assert await files(engine, "ostriches") == [f"transcript/{BOB}"]
    assert await files(engine, "herons", scope=BOBS) == [f"transcript/{ANN}"]

    await world.bus.call("HDEL", keys.memory(SCOPE), f"links:{BOBS}")
    await world.bus.call("HDEL", keys.memory(BOBS), "joined")

    assert await files(engine, "ostriches") == []
    assert await files(engine, "herons") == [f"transcript/{ANN}"]


async def test_what_is_said_between_two_searches_is_found_by_the_second(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "I have a heron.")
    assert await files(engine, "swallow") == []
    await world.turn(ANN, "And a swallow.")
    await world.turn(ANNS, "And a wagtail, in another chat.")

    assert await files(engine, "swallow") == [f"transcript/{ANN}"]
    assert await files(engine, "wagtail") == [f"transcript/{ANNS}"]


async def test_no_message_is_fed_twice_or_missed_on_its_way_to_the_archive(world: Pond, engine: BuiltinEngine) -> None:
    await world.plant()
    await found(engine, KEPT)
    rows = sqlite3.connect(index_path(world)).execute("SELECT file, first, part FROM chunk").fetchall()
    assert len(rows) == len(set(rows)) > 20
    cold = engine_of(world, data_dir=world.process.data_dir / "other")

    assert await files(cold, CANARY, limit=50) == await files(engine, CANARY, limit=50)
    await cold.aclose()


async def test_a_long_history_is_fed_piece_by_piece_and_what_was_fed_is_found_meanwhile(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(world, *(f"[2026-11-01 08:00] Entry {word(at)}." for at in range(1_000)))
    monkeypatch.setattr(daemon.recall.index.index_feed, "PIECE", 2)
    hurried = engine_of(world)
    hurried.in_step_s = 0.03

    first = await found(hurried, word(0))
    rest = await found(hurried, word(999))

    assert first.note
    assert rest.hits == ()
    with anyio.fail_after(HANG_S):
        while not (last := await found(hurried, word(999))).hits:
            assert last.note
    assert len((await found(engine, word(999))).hits) == 1
    assert await engine.catch_up(SCOPE, within_s=HANG_S)
    await hurried.aclose()


async def test_a_server_that_was_set_back_has_the_index_made_anew(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, "[2026-11-01 08:00] A heron.", "[2026-11-01 08:00] A coot.")
    await world.turn(ANN, "I have a swallow.")
    assert set(await files(engine, "coot swallow")) == {f"transcript/{ANN}", "memory/HISTORY.md"}
    keys = world.bus.keys
    await world.bus.call("RPOP", keys.history(SCOPE))
    await write(world, "[2026-11-01 08:00] A wagtail.")

    with capture_logs() as logs:
        assert await files(engine, "coot") == []
    assert await files(engine, "wagtail") == ["memory/HISTORY.md"]
    assert [line["event"] for line in logs] == ["index.remade"]

    head = int(await world.bus.call("HGET", keys.session(ANN), "head"))
    await world.bus.call("HSET", keys.session(ANN), "head", head - 2)
    await world.bus.call("LTRIM", keys.log(ANN), 0, head - 3)
    assert await files(engine, "swallow") == []


async def test_an_old_look_does_not_take_a_newer_index_for_one_set_back(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, "[2026-11-01 08:00] A heron.")
    late = engine_of(world)
    look = await late._feeder.look(SCOPE)
    await write(world, "[2026-11-01 08:00] A coot.")
    assert await files(engine, "coot") == ["memory/HISTORY.md"]
    path = index_path(world)

    index = await late._indexes.open(SCOPE, forgets=0)
    assert await late._feeder.in_step(index, look, late._indexes.run)

    assert index_path(world) == path
    assert await files(late, "coot") == ["memory/HISTORY.md"]
    await late.aclose()


async def test_messages_that_the_archive_does_not_give_are_taken_in_when_it_does(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        await world.turn(ANN, f"Here is {word(number)}.")
    archive = world.stores.archive
    await world.bus.call("HSET", world.bus.keys.session(ANN), "cursor", 6, "start", 6)
    raws = await world.bus.call("LRANGE", world.bus.keys.log(ANN), 0, 3)
    await archive.write(Shelf.log(ANN), 0, raws)
    assert await archive.trim(Shelf.log(ANN), 4) == 4
    real = type(archive).read

    async def away(*_: Any) -> list[bytes]:
        raise ArchiveError("it is away")

    monkeypatch.setattr(type(archive), "read", away)
    assert await files(engine, word(0)) == []
    assert await files(engine, word(3)) == [f"transcript/{ANN}"]
    monkeypatch.setattr(type(archive), "read", real)
    assert await files(engine, word(0)) == []  # it rests
    monkeypatch.setattr(daemon.recall.index.index_feed, "REST_S", 0.0)
    engine = engine_of(world)

    await found(engine, word(0))
    assert await files(engine, word(0)) == [f"transcript/{ANN}"]
    assert await files(engine, word(1)) == [f"transcript/{ANN}"]
    await engine.aclose()


async def test_redis_away_is_said_at_every_point(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "I have a heron.")
    counting = FailingBus(world.bus, at=0)
    await found(engine_of(world, bus=counting, data_dir=world.process.data_dir / "0"), "heron")
    assert counting.calls > 3

    for at in range(1, counting.calls + 1):
        failing = engine_of(world, bus=FailingBus(world.bus, at=at), data_dir=world.process.data_dir / str(at))
        with pytest.raises(BusUnavailable):
            await found(failing, "heron")
        assert await files(failing, "heron") == [f"transcript/{ANN}"]
        await failing.aclose()


@pytest.mark.parametrize("spoilt", ["garbage", "cut", "empty", "page", "older", "folder"])
async def test_an_index_that_is_not_one_is_made_anew_and_that_is_logged_once(world: Pond, spoilt: str) -> None:
    await write(world, *(f"[2026-11-01 08:00] A heron and {at} others." for at in range(300)))
    before = engine_of(world)
    assert await files(before, "heron", limit=1) == ["memory/HISTORY.md"]
    await before.aclose()
    path = index_path(world)
    content = path.read_bytes()
    if spoilt == "older":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
    elif spoilt == "folder":
        path.unlink()
        path.mkdir()
    else:
        torn = content[:100] + b"\xff" * 4_000 + content[4_100:]
        path.write_bytes({"garbage": b"no index " * 1_000, "cut": content[:5_000], "empty": b"", "page": torn}[spoilt])
    engine = engine_of(world)

    with capture_logs() as logs:
        assert await files(engine, "heron", limit=1) == ["memory/HISTORY.md"]
        assert await files(engine, "others", limit=1) == ["memory/HISTORY.md"]

    events = [line["event"] for line in logs]
    assert events == [] if spoilt == "empty" else len(events) == 1, events
    await engine.aclose()


async def test_an_index_that_spoils_while_it_is_open_is_made_anew(world: Pond) -> None:
    await write(world, *(f"[2026-11-01 08:00] A heron and {at} others." for at in range(2_000)))
    engine = engine_of(world)
    assert await engine.catch_up(SCOPE, within_s=HANG_S)
    with sqlite3.connect(index_path(world)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    path = index_path(world)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for at in range(4_096, size, 4_096):
            file.seek(at)
            file.write(b"\xfe" * 2_000)

    cold = engine_of(world)
    assert await files(cold, "heron", limit=1) == ["memory/HISTORY.md"]
    assert await files(engine, "heron", limit=1) == ["memory/HISTORY.md"]
    await engine.aclose()
    await cold.aclose()


async def test_a_deleted_index_is_made_anew_by_whoever_has_it_open(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "I have a heron.")
    assert await files(engine, "heron")
    old = index_path(world)
    for path in old.parent.iterdir():
        path.unlink()
    old.parent.rmdir()

    assert await files(engine, "heron") == [f"transcript/{ANN}"]
    assert index_path(world) != old


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    connection.execute(statement)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    "lock", ["BEGIN IMMEDIATE", "PRAGMA locking_mode=EXCLUSIVE;BEGIN EXCLUSIVE"], ids=["writing", "alone"]
)
async def test_an_index_locked_by_another_process_holds_nobody_up(world: Pond, engine: BuiltinEngine, lock: str):
    await world.turn(ANN, "I have a heron.")
    await found(engine, "heron")
    await engine.aclose()
    arguments = [sys.executable, "-c", HOLD, str(index_path(world)), lock]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # noqa: ASYNC220 - it is a moment
        assert holder.stdout is not None
        line = await anyio.to_thread.run_sync(holder.stdout.readline)
        await world.turn(ANN, "And a swallow.")
        with anyio.fail_after(HANG_S):
            got = await found(engine, "heron")
        assert line.strip() == b"held"
        holder.stdin.close()  # type: ignore[union-attr]

    assert got.note
    assert bool(got.hits) is (lock == "BEGIN IMMEDIATE")
    assert await files(engine, "swallow") == [f"transcript/{ANN}"]


async def test_two_processes_on_one_index_feed_it_once(world: Pond) -> None:
    await write(world, *(f"[2026-11-01 08:00] Entry {word(at)}." for at in range(600)))
    for number in range(5):
        await world.turn(ANN, f"I have {word(1_000 + number)}.")
    one, other = engine_of(world), engine_of(world)

    async with anyio.create_task_group() as tg:
        for engine in (one, other, one, other):
            tg.start_soon(found, engine, word(1))
    for engine in (one, other):
        assert await engine.catch_up(SCOPE, within_s=HANG_S)
        assert len(await files(engine, word(599))) == 1
        assert len(await files(engine, word(1_004))) == 1

    [(count,)] = sqlite3.connect(index_path(world)).execute("SELECT count(*) FROM chunk")
    assert count == 600 + 5 * 2
    await one.aclose()
    await other.aclose()


FEED = """
import sys
from pathlib import Path
from daemon.recall.chunks import Chunk
from daemon.recall.index.index_store import FeedPosition, Index, NOWHERE
index = Index.open(Path(sys.argv[1]), sys.argv[2], forgets=0)
print("open", flush=True)
sys.stdin.readline()
refused = 0
for first in range(0, int(sys.argv[3]), 10):
    seen, now = FeedPosition(first, "x") if first else NOWHERE, FeedPosition(first + 10, "x")
    numbers = range(first, first + 10)
    chunks = [Chunk(kind="message", file="f", first=at, upto=at + 1, text=f"heron {at}") for at in numbers]
    while True:
        place = index.fed().get("log web:ann", NOWHERE)
        if place.upto >= now.upto:
            break
        try:
            index.feed("log web:ann", seen, now, lambda _, write: write.chunks.extend(chunks))
        except Exception as error:
            assert type(error).__name__ == "IndexBusy", error
print("fed", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("killed", [False, True], ids=["in peace", "one is killed"])
def test_processes_that_feed_the_same_at_the_same_time_feed_it_once(tmp_path: Path, killed: bool) -> None:
    arguments = [sys.executable, "-c", FEED, str(tmp_path), SCOPE, "400"]
    feeders = [subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        assert [feeder.stdout.readline() for feeder in feeders if feeder.stdout] == ["open\n"] * 2
        for feeder in feeders:
            assert feeder.stdin is not None
            feeder.stdin.write("go\n")
            feeder.stdin.flush()
        if killed:
            feeders[1].kill()
        for feeder in feeders[: 1 if killed else 2]:
            assert feeder.stdout is not None
            assert feeder.stdout.readline() == "fed\n"
    finally:
        for feeder in feeders:
            feeder.kill()
            feeder.communicate()

    index = Index.open(tmp_path, SCOPE, forgets=0)
    with index.held() as connection:
        assert connection.execute("SELECT first FROM chunk ORDER BY first").fetchall() == [(at,) for at in range(400)]
        assert len(connection.execute("SELECT rowid FROM words WHERE words MATCH 'heron'").fetchall()) == 400
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    index.close()


async def test_a_search_cancelled_at_any_point_leaves_a_usable_index(world: Pond, engine: BuiltinEngine) -> None:
    await write(world, *(f"[2026-11-01 08:00] Entry {word(at)}." for at in range(500)))
    for number in range(3):
        await world.turn(ANN, f"I have {word(1_000 + number)}.")

    for at in range(40):
        with anyio.move_on_after(0.001 * at):
            await found(engine, word(at))

    assert await engine.catch_up(SCOPE, within_s=HANG_S)
    for number in (0, 499, 1_000, 1_002):
        assert len(await files(engine, word(number))) == 1
    with sqlite3.connect(index_path(world)) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM chunk")
    connection.close()
    assert count == 500 + 3 * 2


async def test_a_disk_that_cannot_be_used_is_done_without(world: Pond, tmp_path: Path) -> None:
    await world.turn(ANN, "I have a heron.")
    (tmp_path / "file").write_text("no folder")
    engine = engine_of(world, data_dir=tmp_path / "file")

    with capture_logs() as logs:
        assert await files(engine, "heron") == [f"transcript/{ANN}"]
        await world.turn(ANN, "And a swallow.")
        assert await files(engine, "swallow") == [f"transcript/{ANN}"]
    assert [line["event"] for line in logs] == ["index.in_memory"]
    await engine.aclose()


async def test_a_full_disk_leaves_old_messages_found(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.turn(ANN, "I have a heron.")
    await found(engine, "heron")
    index = engine._indexes._open[SCOPE]
    index._connection.execute("PRAGMA max_page_count = 1")
    await write(world, *(f"[2026-11-01 08:00] {at} words that take room." * 20 for at in range(200)))

    got = await found(engine, "heron")

    assert [hit.file for hit in got.hits] == [f"transcript/{ANN}"]
    assert got.note


async def test_only_so_many_indexes_are_open(world: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.recall.index.indexes, "OPEN_MAX", 2)
    engine = engine_of(world)
    for name in "abcd":
        await found(engine, "heron", scope=f"pond:person:web:{name}")

    assert [scope[-1] for scope in engine._indexes._open] == ["c", "d"]
    await engine.aclose()


async def test_the_files_are_nobody_elses_to_read(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "I have a heron.")
    await found(engine, "heron")

    for path in index_path(world).parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert index_path(world).parent.stat().st_mode & 0o077 == 0


async def test_what_was_forgotten_is_in_no_index_and_found_no_more(world: Pond, engine: BuiltinEngine) -> None:
    await world.plant()
    other = engine_of(world)
    for each in (engine, other):
        assert await files(each, "Kanarienvogel")
        assert await files(each, "Kanarienvogel", scope=BOBS)
    assert any(FOLDER in path.parts for path in files_with(CANARY, world.process.data_dir))

    record = await world.forget()

    assert record.report["failed"] == []
    left = files_with(CANARY, world.process.data_dir / FOLDER / folder_of(SCOPE))
    assert left == set()
    for each in (engine, other):
        assert await files(each, "Kanarienvogel") == []
        assert await files(each, KEPT)
        assert await files(each, "Kanarienvogel", scope=BOBS)
    assert files_with(CANARY, world.process.data_dir / FOLDER / folder_of(SCOPE)) == set()
    await other.aclose()


async def test_who_searches_while_it_is_forgotten_keeps_nothing(world: Pond, engine: BuiltinEngine) -> None:
    await world.plant()
    other, stop = engine_of(world), anyio.Event()

    async def search(each: BuiltinEngine) -> None:
        while not stop.is_set():
            await found(each, f"{CANARY} {KEPT}")

    async with anyio.create_task_group() as tg:
        tg.start_soon(search, engine)
        tg.start_soon(search, other)
        record = await world.forget()
        stop.set()

    assert record.report["failed"] == []
    for each in (engine, other):
        assert await files(each, "Kanarienvogel") == []
        await each.aclose()
    assert files_with(CANARY, world.process.data_dir / FOLDER / folder_of(SCOPE)) == set()


async def test_a_process_with_its_own_data_directory_notices_what_was_forgotten(world: Pond, engine: BuiltinEngine):
    await world.plant()
    elsewhere = engine_of(world, data_dir=world.process.data_dir / "elsewhere")
    assert await files(elsewhere, "Kanarienvogel")

    await world.forget()

    assert await files(elsewhere, "Kanarienvogel") == []
    await elsewhere.aclose()
    assert files_with(CANARY, world.process.data_dir / "elsewhere") == set()


async def test_of_somebody_who_is_forgotten_as_a_whole_no_index_is_left(world: Pond, engine: BuiltinEngine) -> None:
    await world.plant()
    await files(engine, KEPT)
    folder = world.process.data_dir / FOLDER / folder_of(SCOPE)
    assert folder.exists()

    await world.forget(order=ForgetOrder(whole="scope", name=SCOPE, scopes=(SCOPE,)))

    assert not folder.exists()


async def test_an_index_that_cannot_be_deleted_is_named(world: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")

    def refuse(*_: Any) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr("daemon.recall.index.index_files.delete_indexes", refuse)
    record = await world.forget()

    assert [line for line in record.report["failed"] if line.startswith(f"search index of {SCOPE}: not permitted")]


async def test_where_nothing_was_consolidated_others_notice_all_the_same(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    elsewhere = engine_of(world, data_dir=world.process.data_dir / "elsewhere")
    assert await files(elsewhere, "Kanarienvogel")
    work, ground = (
        ForgetContext(stores=world.stores, wanted=EVERYTHING),
        ForgetTargets(sessions=(), others=((ANN, SCOPE),)),
    )

    for looks in (True, False):
        work.looks = looks
        before = index_of_elsewhere(world)
        await forget_in_indexes(work, ForgetOrder(name="Bob", scopes=()), ground)
        await found(elsewhere, "Kanarienvogel")
        assert (index_of_elsewhere(world) == before) is looks
    await elsewhere.aclose()


def index_of_elsewhere(world: Pond) -> Path:
    [path] = (world.process.data_dir / "elsewhere" / FOLDER / folder_of(SCOPE)).glob("*.sqlite3")
    return path


def test_a_generation_never_takes_away_what_belongs_to_the_next(tmp_path: Path) -> None:
    """SQLite deletes its log by name when it closes a file; of two files of one name it would be the wrong one's."""
    old = Index.open(tmp_path, SCOPE, forgets=0)
    assert old.path is not None
    old.path.unlink()
    new = Index.open(tmp_path, SCOPE, forgets=0)
    with new.held() as connection:
        connection.execute("INSERT INTO file (name, next) VALUES ('a', 1)")

    old.close()

    assert new.is_there()
    assert Path(f"{new.path}-wal").exists()
    with index_file(tmp_path, SCOPE, "words") as path:
        assert path == new.path
    new.close()


IN_TURN = InPrompt(file=f"transcript/{ANN}", first=1_000)


async def test_a_turn_waits_for_no_feeding_but_the_very_first(world: Pond, engine: BuiltinEngine) -> None:
    async def found_in_turn(words: str) -> int:
        return len((await engine.search(SCOPE, words, mode="search", limit=10, prompt=IN_TURN)).hits)

    await world.turn(ANN, "Ann has a violin.")
    assert await found_in_turn("violin") == 1  # nothing was ever fed here, and somebody waits for a first answer
    await world.turn(ANN, "Ann has an otter.")

    assert await found_in_turn("otter") == 0
    async with anyio.create_task_group() as tg:
        tg.start_soon(engine.run)
        await until(lambda: found_in_turn("otter"))
        tg.cancel_scope.cancel()


async def test_a_turn_is_told_that_the_index_is_half_built_until_it_is_whole(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def noted() -> str:
        return (await engine.search(SCOPE, "heron", mode="search", limit=10, prompt=IN_TURN)).note

    async def goes_on(*_: Any) -> bool:
        await anyio.lowlevel.checkpoint()
        return False

    await write(world, "[2026-11-01 08:00] The heron has landed.")
    monkeypatch.setattr(IndexFeed, "in_step", goes_on)
    engine.in_step_s = 0.01

    async with anyio.create_task_group() as tg:
        tg.start_soon(engine.run)
        await anyio.wait_all_tasks_blocked()
        notes = [await noted(), await noted()]
        monkeypatch.undo()
        await until(lambda: is_silent(noted))
        tg.cancel_scope.cancel()

    assert notes == [NOT_ALL, NOT_ALL]


async def is_silent(noted: Callable[[], Awaitable[str]]) -> bool:
    return not await noted()


async def test_a_turn_of_another_process_searches_the_file_as_it_is(world: Pond, engine: BuiltinEngine) -> None:
    await world.turn(ANN, "Ann has a violin.")
    await engine.catch_up(SCOPE, within_s=HANG_S)
    await world.turn(ANN, "Ann has an otter.")
    other = engine_of(world)

    first = await other.search(SCOPE, "violin or otter", mode="search", limit=10, prompt=IN_TURN)

    assert len(first.hits) == 1
    assert "violin" in first.hits[0].snippet
    await other.aclose()


async def test_a_turn_searches_no_index_from_before_something_was_forgotten(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon.recall.index.builtin, "LOOK_AGAIN_S", 0.0)
    await world.turn(ANN, "Ann has a violin.")
    await engine.search(SCOPE, "violin", mode="search", limit=10, prompt=IN_TURN)
    old = index_path(world)
    await world.bus.call("HINCRBY", world.bus.keys.memory(SCOPE), "forgets", 1)

    found = await engine.search(SCOPE, "violin", mode="search", limit=10, prompt=IN_TURN)

    assert len(found.hits) == 1  # made anew, of what is left
    assert index_path(world) != old


def test_an_index_that_is_closed_while_somebody_still_has_it_is_gone_and_not_damaged() -> None:
    index = Index.in_memory(forgets=0)
    index.close()

    with pytest.raises(IndexGone):
        index.ask(lambda _: None)


async def test_a_search_that_is_given_up_ends_its_own_and_nobody_elses(
    world: Pond, engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, goes_on, begun = list[Index](), threading.Event(), list[None]()

    def interrupt(index: Index) -> None:
        ended.append(index)

    monkeypatch.setattr(Index, "interrupt", interrupt)
    await write(world, "Mia plays the cello")
    await found(engine, "cello")
    index = engine._indexes.opened(SCOPE)
    assert index is not None

    def hang(_: Any = None) -> None:
        begun.append(None)
        assert goes_on.wait(HANG_S)

    def give_up(_: Any) -> None:
        from_thread.run_sync(search.cancel)
        hang()

    async with anyio.create_task_group() as tg:
        for _ in range(THREADS):
            tg.start_soon(engine._indexes.run, hang)
        await until(lambda: len(begun) == THREADS)
        with anyio.move_on_after(0.2) as waiting:
            await found(engine, "cello")
        before = list(ended)
        goes_on.set()
    goes_on.clear()
    with anyio.CancelScope() as search:
        await engine._answered(index, give_up)
    goes_on.set()

    assert waiting.cancelled_caught
    assert before == []
    assert ended == [index]
