"""Joined reading: what was said, whatever of it has left Redis, also in the moment in which it leaves."""

import itertools
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.conversation import Conversation, ConversationEntry
from daemon.archive import Archive, Segment
from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from daemon.errors import ArchiveError
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.transcripts import Hit, Piece, SearchWords, Transcripts, UnreadMessages, search
from tests.conftest import QUEUE, Lab, RecordingBus, an_entry, check_and_remove_keys
from tests.memorylab import MemoryLab, Summaries, small_window
from workers.consolidation import ConsolidationRequest

ANN = "web:ann"

Range = tuple[int, int]


class Shelf:
    """A session whose log is archived and trimmed as a test likes."""

    def __init__(self, lab: Lab, data_dir: Path) -> None:
        self.lab = lab
        self.archive = Archive(lab.bus, data_dir)
        self.data_dir = data_dir
        self.transcripts = Transcripts(lab.bus, self.archive)
        self.raws: list[bytes] = []

    async def say(self, count: int) -> None:
        keys = self.lab.bus.keys
        new = [
            msgspec.json.encode(an_entry(n, text=f"消息 {n}")) for n in range(len(self.raws), len(self.raws) + count)
        ]
        self.raws += new
        await self.lab.bus.call("RPUSH", keys.log(ANN), *new)
        await self.lab.bus.call("HSET", keys.session(ANN), "head", len(self.raws), "scope", "pond:workspace")

    async def store(self, *ranges: Range) -> list[Segment]:
        return [await self.archive.write(ANN, first, self.raws[first:upto]) for first, upto in ranges]

    async def trim(self, base: int) -> None:
        """Let the messages before ``base`` leave Redis."""
        keys = self.lab.bus.keys
        old = int(await self.lab.bus.call("HGET", keys.session(ANN), "base") or 0)
        await self.lab.bus.call("LTRIM", keys.log(ANN), base - old, -1)
        await self.lab.bus.call("HSET", keys.session(ANN), "base", base, "cursor", base, "start", base)


@pytest.fixture
def shelf(lab: Lab, tmp_path: Path) -> Shelf:
    return Shelf(lab, tmp_path)


async def pieces_of(shelf: Shelf, first: int = 0, upto: int | None = None, **more: Any) -> list[Piece]:
    async with aclosing(shelf.transcripts.pieces(ANN, first, upto, **more)) as pieces:
        return [piece async for piece in pieces]


def joined(pieces: Sequence[Piece]) -> list[bytes]:
    for one, two in itertools.pairwise(pieces):
        assert one.upto == two.first
    assert all(len(piece.raws) == piece.upto - piece.first for piece in pieces if not piece.reason)
    return [raw for piece in pieces for raw in piece.raws]


async def test_archive_and_log_are_one(shelf: Shelf) -> None:
    await shelf.say(10)
    await shelf.store((0, 4), (4, 6))
    await shelf.trim(6)

    assert await shelf.transcripts.read(ANN, 0, 10) == shelf.raws
    assert await shelf.transcripts.read(ANN, 3, 8) == shelf.raws[3:8]
    assert await shelf.transcripts.read(ANN, 1, 3) == shelf.raws[1:3]
    assert await shelf.transcripts.read(ANN, 7, 100) == shelf.raws[7:]
    assert await shelf.transcripts.read(ANN, 100, 200) == []
    assert await shelf.transcripts.read("web:nobody", 0, 5) == []
    assert [piece.segment.rpartition("_")[2] for piece in await pieces_of(shelf)] == [
        "0-4.jsonl.gz",
        "4-6.jsonl.gz",
        "",
    ]


async def test_pages_go_on_over_the_boundary(shelf: Shelf) -> None:
    await shelf.say(10)
    await shelf.store((0, 4), (4, 6))
    await shelf.trim(6)

    after, seen = -1, list[tuple[int, str]]()
    while page := await shelf.transcripts.committed(ANN, after=after, limit=3):
        assert len(page) <= 3
        seen += [(index, msgspec.json.decode(entry.wire)["content"]) for index, entry in page]
        after = page[-1][0]

    assert seen == [(n, f"消息 {n}") for n in range(10)]
    assert [index for index, _ in await shelf.transcripts.committed(ANN, after=4, limit=2)] == [5, 6]
    assert [index for index, _ in await shelf.transcripts.committed(ANN, most_bytes=1)] == [0]


async def test_the_journal_is_no_committed_message(shelf: Shelf) -> None:
    await shelf.say(4)
    await shelf.store((0, 2))
    await shelf.trim(2)
    await shelf.lab.bus.call("RPUSH", shelf.lab.bus.keys.log(ANN), b"{}", b"{}")

    assert await shelf.transcripts.read(ANN, 0, 100) == shelf.raws
    assert len(await shelf.transcripts.committed(ANN)) == 4
    assert joined(await pieces_of(shelf, journal=True)) == [*shelf.raws, b"{}", b"{}"]


async def test_what_was_forgotten_or_never_was_is_no_gap(shelf: Shelf) -> None:
    await shelf.say(6)
    await shelf.trim(4)
    await shelf.lab.bus.call("HSET", shelf.lab.bus.keys.session(ANN), "begins", 4)

    assert await shelf.transcripts.read(ANN, 0, 6) == shelf.raws[4:]
    assert [index for index, _ in await shelf.transcripts.committed(ANN)] == [4, 5]
    assert await shelf.transcripts.read(ANN, 0, 3) == []


async def test_a_gap_is_told_and_what_lies_around_it_can_be_read(shelf: Shelf) -> None:
    await shelf.say(10)
    segments = await shelf.store((0, 3), (3, 6), (5, 8))
    await shelf.trim(8)
    segments[1].path(shelf.data_dir).write_bytes(b"\x1f\x8bspoilt")

    found = await pieces_of(shelf)

    assert [(piece.first, piece.upto, bool(piece.reason)) for piece in found] == [
        (0, 3, False), (3, 5, True), (5, 8, False), (8, 10, False),
    ]  # fmt: skip
    assert "3-6.jsonl.gz" in found[1].reason
    assert [index for index, _ in await shelf.transcripts.committed(ANN)] == [0, 1, 2]
    with pytest.raises(ArchiveError, match="3-6"):
        await shelf.transcripts.committed(ANN, after=2)
    with pytest.raises(ArchiveError, match="3-6"):
        await shelf.transcripts.read(ANN, 0, 10)
    assert await shelf.transcripts.read(ANN, 5, 10) == shelf.raws[5:]


async def test_what_no_list_names_any_more_is_told_with_its_range(shelf: Shelf) -> None:
    await shelf.say(6)
    await shelf.store((0, 2), (2, 4))
    await shelf.trim(4)
    await shelf.lab.bus.call("LPOP", shelf.lab.bus.keys.segments(ANN))

    with pytest.raises(ArchiveError, match="messages 0 to 1 are neither in the session's log"):
        await shelf.transcripts.read(ANN, 0, 6)


async def test_of_several_segments_another_stands_in_for_a_spoilt_one(shelf: Shelf) -> None:
    await shelf.say(6)
    segments = await shelf.store((0, 2), (0, 6), (2, 6))
    await shelf.trim(6)
    segments[1].path(shelf.data_dir).unlink()

    assert await shelf.transcripts.read(ANN, 0, 6) == shelf.raws


async def test_what_lies_in_another_hosts_archive_is_told_with_its_place(shelf: Shelf, tmp_path: Path) -> None:
    await shelf.say(6)
    await shelf.store((0, 4))
    await shelf.trim(4)
    elsewhere = Transcripts(shelf.lab.bus, Archive(shelf.lab.bus, tmp_path / "elsewhere"))

    with pytest.raises(ArchiveError) as caught:
        await elsewhere.read(ANN, 0, 6)

    assert str(tmp_path / "transcripts") in str(caught.value)
    assert await elsewhere.read(ANN, 4, 6) == shelf.raws[4:]


async def test_what_a_consolidation_lets_go_of_is_read_as_before(process: Process, lab: Lab) -> None:
    memory = MemoryLab(replace(process, config=small_window(process.config)), lab, Summaries())
    await memory.talk(12)
    before = await memory.process.transcripts.read(ANN, 0, 24)
    assert len(before) == 24

    for want in (
        ConsolidationRequest(at="now"),
        ConsolidationRequest(),
    ):  # the second one flushes what the first, which somebody awaits, has left
        await memory.consolidator.consolidate(ANN, want)
    base = await memory.process.archive.trim(ANN, (await memory.state()).cursor)

    assert base == (await memory.state()).base > 0
    assert int(await lab.bus.call("LLEN", lab.bus.keys.log(ANN))) == 24 - base
    assert await memory.process.transcripts.read(ANN, 0, 24) == before
    await memory.talk(2)
    assert (await memory.process.transcripts.read(ANN, 0, 100))[:24] == before


class Meddling(RecordingBus):
    def __init__(self, lab: Lab, at: int, happens: Callable[[], Awaitable[None]]) -> None:
        super().__init__(lab.bus)  # type: ignore[arg-type]
        self._left = at
        self._happens = happens

    async def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            await self._happens()

    async def call(self, *command: Any) -> Any:
        await self._count()
        return await super().call(*command)

    async def run(self, *command: Any) -> Any:
        await self._count()
        return await super().run(*command)


@pytest.mark.parametrize("at", range(1, 8))
async def test_reading_is_the_same_when_messages_leave_between_any_two_steps(shelf: Shelf, at: int) -> None:
    await shelf.say(250)
    await shelf.store((0, 30))
    await shelf.trim(30)

    async def leave() -> None:
        await shelf.store((30, 90), (90, 180), (180, 240))
        await shelf.trim(240)

    bus = Meddling(shelf.lab, at, leave)
    shelf.transcripts = Transcripts(bus, Archive(bus, shelf.data_dir))

    assert joined(await pieces_of(shelf, chunk=40)) == shelf.raws


@st.composite
def lives(draw: st.DrawFn) -> list[Any]:
    """How a session may go on: so much is said, these ranges are archived, what lies before ``base`` leaves.

    Each range begins where what is archived ends, or before it, as far back as the log goes.
    """
    steps: list[Any] = []
    head = base = reached = 0
    for _ in range(draw(st.integers(1, 4))):
        said = draw(st.integers(1, 20))
        head += said
        ranges: list[Range] = []
        for _ in range(draw(st.integers(0, 4))):
            first = draw(st.integers(base, min(reached, head - 1)))
            ranges.append((first, draw(st.integers(first + 1, head))))
            reached = max(reached, ranges[-1][1])
        base = draw(st.integers(base, reached))
        first, upto = sorted((draw(st.integers(0, head + 3)), draw(st.integers(0, head + 3))))
        steps.append((said, ranges, base, first, upto, draw(st.integers(1, head)), draw(st.integers(1, 7))))
    return steps


def test_joined_reading_equals_what_was_said(redis: tuple[RedisConfig, Path], prefix: str) -> None:
    """Random segments, overlapping ones too, random trims, and more said in between."""
    config, server_dir = redis

    async def live(bus: Bus, steps: list[Any]) -> None:
        with TemporaryDirectory() as folder:
            await follow(Shelf(Lab(bus, QUEUE), Path(folder)), steps)
        await check_and_remove_keys(bus)

    with start_blocking_portal() as portal:
        opened = open_bus(msgspec.structs.replace(config, prefix=prefix), server_dir)
        with portal.wrap_async_context_manager(opened) as bus:

            @given(steps=lives())
            @settings(max_examples=60)
            def holds(steps: list[Any]) -> None:
                portal.call(live, bus, steps)

            holds()


async def follow(shelf: Shelf, steps: list[Any]) -> None:
    for said, ranges, base, first, upto, limit, chunk in steps:
        await shelf.say(said)
        await shelf.store(*ranges)
        await shelf.trim(base)

        assert await shelf.transcripts.read(ANN, first, upto) == shelf.raws[first:upto]
        page = await shelf.transcripts.committed(ANN, after=first - 1, limit=limit)
        assert [index for index, _ in page] == list(range(first, min(first + limit, len(shelf.raws))))
        assert joined(await pieces_of(shelf, chunk=chunk)) == shelf.raws


async def test_on_entering_what_was_said_is_shown_also_what_has_left_redis(process: Process, lab: Lab) -> None:
    shelf = Shelf(lab, process.data_dir)
    await shelf.say(8)
    segments = await shelf.store((0, 4), (4, 6))
    await shelf.trim(6)

    conversation = await Conversation.open(process, SessionKey.parse(ANN))
    assert [one.text for one in await conversation.earlier(5)] == [f"消息 {n}" for n in (3, 4, 5, 6, 7)]
    assert [one.index for one in await conversation.earlier(100)] == list(range(8))

    segments[1].path(process.data_dir).unlink()
    assert [one.index for one in await conversation.earlier(100)] == [0, 1, 2, 3, 6, 7]


async def test_what_was_said_and_left_while_a_terminal_was_away_is_shown(process: Process, lab: Lab) -> None:
    shelf = Shelf(lab, process.data_dir)
    await shelf.say(2)
    conversation = await Conversation.open(process, SessionKey.parse(ANN))

    await shelf.say(6)
    segments = await shelf.store((0, 5), (5, 7))
    await shelf.trim(7)
    shown = await conversation._new_entries()
    assert [one.index for one in shown if isinstance(one, ConversationEntry)] == [2, 3, 4, 5, 6, 7]

    conversation._next = 4
    segments[1].path(process.data_dir).unlink()
    shown = await conversation._new_entries()
    assert [one.index if isinstance(one, ConversationEntry) else one.kind for one in shown] == [4, "aside", 7]
    assert await conversation._new_entries() == []


async def test_a_session_of_forty_thousand_messages_is_searched_with_little_memory(lab: Lab, tmp_path: Path) -> None:
    shelf, size = Shelf(lab, tmp_path), 2_000
    for _ in range(20):
        await shelf.say(size)
        first = len(shelf.raws) - size
        await shelf.store((first, len(shelf.raws)))
        await shelf.trim(len(shelf.raws) - 100)
    held = sum(map(len, shelf.raws))
    found = list[Hit | UnreadMessages]()

    tracemalloc.start()
    try:
        async with aclosing(search(shelf.transcripts, [ANN], SearchWords("消息 39"), limit=5)) as hits:
            found += [hit async for hit in hits]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert [hit.index for hit in found if isinstance(hit, Hit)] == [39_999, 39_998, 39_997, 39_996, 39_995]
    assert len(found) == 5
    assert held > 4_000_000
    assert peak < 3_000_000
