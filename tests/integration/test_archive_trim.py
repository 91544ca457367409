"""Messages leave Redis when they are archived, and not before; whatever fails in between, each can still be read."""

import itertools
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

import daemon.archive.archive
import daemon.archive.shelf_lists
from daemon.archive import Archive, Segment, Shelf, Storage
from daemon.archive.catalogue import listing_of
from daemon.archive.local_storage import LocalStorage
from daemon.archive.marker import KnownArchive, noted
from daemon.archive.object_storage import ObjectStorage
from daemon.archive.segment import cover, gaps
from daemon.archive_maintenance import mark_archive
from daemon.bus import Bus
from daemon.cli.doctor.database_checks import examine_archive
from daemon.config import ArchiveConfig
from daemon.errors import ArchiveError, ArchiveMissing, BusUnavailable, Trimmed
from daemon.process import Process
from daemon.session import SessionReader
from daemon.testing import FailingBus, ManualClock
from daemon.transcripts import Transcripts
from tests.apart import Copy
from tests.conftest import Lab, an_entry
from tests.limits import HANG_S

ANN = "web:ann"
SCOPE = "pond:person:web:ann"

Make = Callable[..., Archive]


class Place:
    """A session, and archives of it: of one host, or of several."""

    def __init__(self, lab: Lab, data_dir: Path, kind: str) -> None:
        self.lab = lab
        self.keys = lab.bus.keys
        self.data_dir = data_dir
        self.storage = storage_in(kind, data_dir)
        self.archive = self.archive_of()
        self.raws: list[bytes] = []

    def archive_of(self, bus: Bus | None = None, storage: Storage | None = None) -> Archive:
        return Archive(
            bus or self.lab.bus, self.data_dir, storage=storage or self.storage, clock=ManualClock(),
            config=ArchiveConfig(segments_listed=2),
        )  # fmt: skip

    async def say(self, count: int, *, cursor: int | None = None) -> None:
        """Let the log grow, and be consolidated up to ``cursor``; all of it when that is not told."""
        first = len(self.raws)
        new = [msgspec.json.encode(an_entry(n, text=f"消息 {n}")) for n in range(first, first + count)]
        self.raws += new
        await self.lab.bus.call("RPUSH", self.keys.log(ANN), *new)
        await self.lab.bus.call("HSET", self.keys.session(ANN), "head", len(self.raws), "scope", SCOPE)
        await self.consolidated(len(self.raws) if cursor is None else cursor)

    async def consolidated(self, cursor: int) -> None:
        await self.lab.bus.call("HSET", self.keys.session(ANN), "cursor", cursor, "start", cursor)

    async def in_redis(self) -> tuple[int, list[bytes]]:
        base = int(await self.lab.bus.call("HGET", self.keys.session(ANN), "base") or 0)
        return base, await self.lab.bus.call("LRANGE", self.keys.log(ANN), 0, -1)

    async def whole(self) -> None:
        """Every message can be read, from another process, and what Redis holds is the end of them."""
        base, log = await self.in_redis()
        assert log == self.raws[base:]
        archive = self.archive_of()
        assert await Transcripts(self.lab.bus, archive).read(ANN, 0, len(self.raws)) == self.raws
        assert await archive.read_range(ANN, 0, base) == self.raws[:base]

    async def files(self, shelf: Shelf | None = None) -> list[str]:
        return [each.name.rpartition("/")[2] for each in await self.storage.list((shelf or Shelf.log(ANN)).folder)]


def storage_in(kind: str, folder: Path) -> Storage:
    from obstore.store import LocalStore, MemoryStore  # noqa: PLC0415

    if kind == "local":
        return LocalStorage(folder, "transcripts")
    if kind == "memory":
        return ObjectStorage(MemoryStore(), where="memory:///")
    (folder / "objects").mkdir(exist_ok=True)
    return ObjectStorage(LocalStore(folder / "objects"), where=f"file://{folder}/objects")


@pytest.fixture(params=["local", "memory", "file"])
def anywhere(request: pytest.FixtureRequest, lab: Lab, tmp_path: Path) -> Place:
    return Place(lab, tmp_path, request.param)


@pytest.fixture
def place(lab: Lab, tmp_path: Path) -> Place:
    return Place(lab, tmp_path, "local")


async def test_what_is_archived_leaves_redis_and_is_read_back(anywhere: Place) -> None:
    await anywhere.say(10, cursor=6)
    await anywhere.archive.write(ANN, 0, anywhere.raws[:4])
    await anywhere.archive.write(ANN, 4, anywhere.raws[4:6])

    assert await anywhere.archive.trim(ANN, 6) == 6

    assert await anywhere.in_redis() == (6, anywhere.raws[6:])
    assert await anywhere.archive.read_range(ANN, 2, 5) == anywhere.raws[2:5]
    await anywhere.whole()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, 6), ({"cursor": 4}, 4), ({"unflushed": "2 5"}, 2), ({"cursor": 0}, 0), ({"unflushed": ""}, 6)],
)
async def test_what_is_still_needed_stays(place: Place, fields: dict[str, Any], expected: int) -> None:
    await place.say(10, cursor=6)
    for name, value in fields.items():
        await place.lab.bus.call("HSET", place.keys.session(ANN), name, value)

    assert await place.archive.trim(ANN, 10) == expected
    await place.whole()


async def test_what_is_needed_since_it_was_looked_stays(place: Place) -> None:
    await place.say(10, cursor=8)
    await place.archive.write(ANN, 0, place.raws[:8])
    listing = await listing_of(place.lab.bus, Shelf.log(ANN))
    await place.lab.bus.call("HSET", place.keys.session(ANN), "unflushed", "3 8")
    shelf = Shelf.log(ANN)
    own = [shelf.hash_key(place.keys), shelf.list_key(place.keys), shelf.segments_key(place.keys)]

    found = await place.lab.bus.run(
        daemon.archive.archive.TRIM, [*own, own[2]], [8, "log", listing.digest, shelf.base_field]
    )

    assert found == [b"done", 3]


async def test_a_command_that_arrives_again_or_late_trims_nothing_more(place: Place) -> None:
    await place.say(10, cursor=6)
    await place.archive.trim(ANN, 6)
    before = await place.lab.dump()

    await place.lab.bus.repeat("trim.lua")
    assert await place.lab.dump() == before
    await place.say(6)
    await place.archive.trim(ANN, 14)
    before = await place.lab.dump()
    for back in range(1, 4):
        for script in ("trim.lua", "list.lua", "swap.lua"):
            await _repeat(place, script, back)

    assert await place.lab.dump() == before
    await place.whole()


async def _repeat(place: Place, script: str, back: int) -> None:
    if len([call for call in place.lab.bus.scripts if call[0].name == script]) >= back:
        await place.lab.bus.repeat(script, back=back)


async def test_what_nobody_archived_is_archived_before_it_leaves(place: Place) -> None:
    await place.say(1_200, cursor=1_100)
    await place.archive.write(ANN, 300, place.raws[300:400])

    assert await place.archive.trim(ANN, 1_100) == 1_100

    ranges = [(each.first, each.upto) for each in await place.archive.segments(ANN)]
    assert ranges == [(0, 300), (300, 400), (400, 900), (900, 1_100)]
    await place.whole()


@pytest.mark.parametrize("spoil", ["deleted", "cut", "other"])
async def test_a_file_that_cannot_be_read_back_is_written_again_before_its_messages_leave(place: Place, spoil: str):
    await place.say(10, cursor=6)
    segment = await place.archive.write(ANN, 0, place.raws[:6])
    content = await place.storage.get(segment.place)
    await place.storage.delete(segment.place)
    if spoil != "deleted":
        await place.storage.put(segment.place, content[:-9] if spoil == "cut" else b"\x1f\x8b")

    assert await place.archive.trim(ANN, 6) == 6
    await place.whole()


async def test_nothing_leaves_while_the_storage_takes_nothing(place: Place) -> None:
    await place.say(10, cursor=6)
    (place.data_dir / "transcripts").write_text("a file in the way")

    with pytest.raises(ArchiveError, match="cannot be used"):
        await place.archive.trim(ANN, 6)
    assert await place.in_redis() == (0, place.raws)


async def test_a_list_that_is_another_one_by_then_stops_the_trimming(place: Place, monkeypatch: pytest.MonkeyPatch):
    """A failover took the listing back, while the file is there: nobody would find the messages again."""
    await place.say(10, cursor=6)
    before = await Copy.of(place.lab.bus)
    await place.archive.write(ANN, 0, place.raws[:6])
    verified = Archive._verified

    async def overtaken(self: Archive, *args: Any) -> int:
        sure = await verified(self, *args)
        if failovers:
            await failovers.pop().takes_over(place.lab.bus)
        return sure

    failovers = [before]
    monkeypatch.setattr(Archive, "_verified", overtaken)
    assert await place.archive.trim(ANN, 6) == 6, "it is listed again, and then it leaves"
    await place.whole()


@pytest.mark.parametrize("is_listed", [False, True])
async def test_after_a_failover_to_before_it_was_trimmed_it_is_trimmed_again(place: Place, is_listed: bool) -> None:
    await place.say(10, cursor=6)
    if is_listed:
        await place.archive.write(ANN, 0, place.raws[:6])
    copy = await Copy.of(place.lab.bus)
    await place.archive.trim(ANN, 6)
    await copy.takes_over(place.lab.bus)
    await place.whole()

    assert await place.archive.trim(ANN, 6) == 6
    await place.whole()
    assert len(await place.archive.segments(ANN)) == 1


async def test_other_messages_that_came_after_a_failover_are_kept_beside_the_lost_ones(anywhere: Place) -> None:
    await anywhere.say(6)
    copy = await Copy.of(anywhere.lab.bus)
    lost = anywhere.raws[:]
    await anywhere.say(4)
    await anywhere.archive.write(ANN, 6, anywhere.raws[6:])
    await copy.takes_over(anywhere.lab.bus)
    anywhere.raws = lost + [raw.replace(b"\xe6\xb6\x88", b"\xe5\x88\xab") for raw in anywhere.raws[6:]]
    await anywhere.lab.bus.call("RPUSH", anywhere.keys.log(ANN), *anywhere.raws[6:])
    await anywhere.lab.bus.call("HSET", anywhere.keys.session(ANN), "head", 10, "cursor", 10)

    assert await anywhere.archive.trim(ANN, 10) == 10

    await anywhere.whole()
    assert len([name for name in await anywhere.files() if "_6-10" in name or "_0-10" in name]) == 2


async def test_an_archive_that_another_process_opens_between_two_looks_was_never_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, other = LocalStorage.get, place.archive_of()

    async def look_too_early(storage: LocalStorage, name: str, **options: Any) -> bytes:
        monkeypatch.setattr(LocalStorage, "get", look)
        await other.files.opened()
        raise ArchiveMissing(name)

    monkeypatch.setattr(LocalStorage, "get", look_too_early)

    assert await place.archive.files.opened() == await other.files.opened()


async def test_with_two_local_archives_nothing_leaves_and_it_is_said_why(place: Place, tmp_path: Path) -> None:
    other = place.archive_of(storage=LocalStorage(tmp_path / "another host", "transcripts"))
    await place.say(10, cursor=6)
    await other.write(ANN, 0, place.raws[:6])

    with capture_logs() as logs:
        assert await place.archive.trim(ANN, 6) == 0
        assert await other.trim(ANN, 6) == 0

    assert await place.in_redis() == (0, place.raws)
    reasons = [line["reason"] for line in logs if line["event"] == "archive.untrimmed"]
    assert "another host/transcripts" in reasons[0]
    assert str(place.storage.where) in reasons[1]
    assert all("archive.url" in reason and "HDEL" in reason for reason in reasons)
    await place.archive.write(ANN, 4, place.raws[4:6])
    with pytest.raises(
        ArchiveError, match=r"archived in .*another host/transcripts on .* but this process uses another archive"
    ):
        await place.archive.read_range(ANN, 0, 6)

    (forgotten,) = set(await noted(place.lab.bus)) - {(await place.archive.files.opened()).archive}
    await place.lab.bus.call("HDEL", place.keys.archives, forgotten)
    assert await place.archive.trim(ANN, 6) == 6
    await place.whole()


async def test_hosts_that_share_a_folder_or_a_store_trim(anywhere: Place) -> None:
    other = anywhere.archive_of()
    await anywhere.say(10, cursor=6)
    await other.write(ANN, 0, anywhere.raws[:6])

    assert await anywhere.archive.trim(ANN, 6) == 6
    assert await other.read_range(ANN, 0, 6) == anywhere.raws[:6]
    (known,) = (await noted(anywhere.lab.bus)).values()
    assert isinstance(known, KnownArchive)
    assert (known.kind, known.where) == (anywhere.storage.kind, anywhere.storage.where)


async def test_an_archive_that_was_copied_with_its_marker_is_the_same(place: Place, tmp_path: Path) -> None:
    await place.say(10, cursor=6)
    await place.archive.trim(ANN, 6)
    (place.data_dir / "transcripts").rename(tmp_path / "moved")
    place.storage = LocalStorage(tmp_path / "moved")
    await place.whole()
    await place.say(4)

    assert await place.archive_of().trim(ANN, 14) == 14
    await place.whole()


async def test_a_list_stays_short_however_much_is_archived(anywhere: Place) -> None:
    for _ in range(20):
        await anywhere.say(2)
        await anywhere.archive.trim(ANN, len(anywhere.raws))

    entries = await anywhere.lab.bus.call("LRANGE", anywhere.keys.segments(ANN), 0, -1)
    assert len(entries) <= 4
    assert sum(map(len, entries)) < 1_000
    ranges = [(each.first, each.upto) for each in await anywhere.archive.segments(ANN)]
    assert ranges == [(at, at + 2) for at in range(0, 40, 2)]
    await anywhere.whole()


async def test_a_failover_to_a_list_whose_catalogue_was_deleted_since_finds_it_in_the_newer_one(place: Place) -> None:
    for _ in range(5):
        await place.say(2)
        await place.archive.trim(ANN, len(place.raws))
    copy, raws = await Copy.of(place.lab.bus), place.raws[:]
    for _ in range(5):
        await place.say(2)
        await place.archive.trim(ANN, len(place.raws))
    await place.archive.scrap(ANN)
    assert len([name for name in await place.files() if name.startswith("catalogue_")]) == 1

    await copy.takes_over(place.lab.bus)
    place.raws = raws

    await place.whole()


async def test_a_catalogue_that_is_spoilt_is_told(place: Place) -> None:
    for _ in range(8):
        await place.say(2)
        await place.archive.trim(ANN, len(place.raws))
    (catalogue, *_) = sorted(place.data_dir.glob("transcripts/*/catalogue_*"), key=lambda file: file.stat().st_size)[
        ::-1
    ]
    for file in place.data_dir.glob("transcripts/*/catalogue_*"):
        file.write_bytes(b"spoilt")

    with pytest.raises(ArchiveError, match="this file, which lists older archive files for session web:ann"):
        await place.archive.segments(ANN)
    assert catalogue.exists()
    assert await place.archive.read_range(ANN, 14, 16) == place.raws[14:], "the newest are listed in Redis"


@pytest.mark.parametrize("at", [0, 9])
async def test_a_segment_is_rewritten_wherever_it_is_listed(anywhere: Place, at: int) -> None:
    for _ in range(10):
        await anywhere.say(2)
        await anywhere.archive.trim(ANN, len(anywhere.raws))
    segment = (await anywhere.archive.segments(ANN))[at]
    new = [raw.replace("消息".encode(), b"[gone]") for raw in anywhere.raws[segment.first : segment.upto]]

    (rewritten,) = await anywhere.archive.rewrite({segment: new})
    (again,) = await anywhere.archive.rewrite({segment: new})

    assert rewritten == again
    assert (rewritten.first, rewritten.upto, rewritten.time) == (segment.first, segment.upto, segment.time)
    assert segment.name not in await anywhere.files()
    anywhere.raws[segment.first : segment.upto] = new
    await anywhere.whole()
    with pytest.raises(ValueError, match="holds 2 messages, not 1"):
        await anywhere.archive.rewrite({rewritten: new[:1]})


async def test_after_a_failover_to_before_a_segment_was_rewritten_its_new_content_is_read(place: Place) -> None:
    await place.say(4)
    await place.archive.trim(ANN, 4)
    copy = await Copy.of(place.lab.bus)
    (segment,) = await place.archive.segments(ANN)
    new = [raw.replace("消息".encode(), b"[gone]") for raw in place.raws]
    await place.archive.rewrite({segment: new})

    await copy.takes_over(place.lab.bus)

    place.raws = new
    await place.whole()


async def test_what_is_not_listed_is_not_rewritten(place: Place) -> None:
    await place.say(4)
    segment = await place.archive.write(ANN, 0, place.raws)
    await place.lab.bus.call("DEL", place.keys.segments(ANN))

    with pytest.raises(ArchiveError, match="is no longer listed"):
        await place.archive.rewrite({segment: [b"{}"] * 4})
    assert await place.files() == [segment.name]


async def test_late_writers_do_not_bring_back_what_was_rewritten(place: Place) -> None:
    await place.say(4)
    segment = await place.archive.write(ANN, 0, place.raws)
    new = [b'{"gone":true}', *place.raws[1:]]
    await place.lab.bus.call("LSET", place.keys.log(ANN), 0, new[0])
    (rewritten,) = await place.archive.rewrite({segment: new})

    await place.lab.bus.repeat("list.lua")
    with pytest.raises(ArchiveError, match="messages 0 to 3 in Redis differ"):
        await place.archive.write(ANN, 0, place.raws)

    assert await place.archive.segments(ANN) == [rewritten]


async def test_a_log_is_dropped_with_all_its_files(anywhere: Place) -> None:
    for _ in range(8):
        await anywhere.say(2)
        await anywhere.archive.trim(ANN, len(anywhere.raws))
    unlisted = Shelf.log(ANN).folder + "/transcript_1_x_0-4.jsonl.gz"
    await anywhere.storage.put(unlisted, b"x")

    await anywhere.archive.drop(ANN)
    await anywhere.archive.drop(ANN)

    assert await anywhere.archive.segments(ANN) == []
    assert await anywhere.files() == []


async def test_a_list_of_a_scope_is_dropped_and_the_others_stay(place: Place) -> None:
    for kind in ("history", "notes"):
        for number in range(8):
            await scope_grows(place, kind, number)
            await place.archive.trim(Shelf.of(kind, SCOPE), number + 1)

    await place.archive.drop(Shelf.of("notes", SCOPE))

    assert await place.archive.segments(Shelf.of("notes", SCOPE)) == []
    assert len(await place.archive.read_range(Shelf.of("history", SCOPE), 0, 8)) == 8
    assert not [name for name in await place.files(Shelf.of("notes", SCOPE)) if name.startswith("notes_")]
    await place.archive.drop(Shelf.of("history", SCOPE))
    assert await place.files(Shelf.of("history", SCOPE)) == []
    assert await place.lab.bus.call("EXISTS", place.keys.shelved(SCOPE)) == 0


async def scope_grows(place: Place, kind: str, number: int) -> None:
    key = {"history": place.keys.history, "notes": place.keys.notes, "versions": place.keys.versions}[kind](SCOPE)
    await place.lab.bus.call("RPUSH", key, msgspec.json.encode({"time": "", "text": f"{kind} {number}"}))
    await place.lab.bus.call("HSET", place.keys.memory(SCOPE), "text", "")


@pytest.mark.parametrize(
    ("kind", "fields", "undigested", "expected"),
    [
        ("notes", {}, [], 6),
        ("history", {}, [], 6),
        ("history", {}, [4, 2], 2),
        ("versions", {"version": 6}, [], 5),
        ("versions", {"version": 6, "rejected": 3}, [], 2),
        ("versions", {"version": 2}, [], 1),
    ],
)
async def test_of_a_scope_what_is_still_needed_stays(
    place: Place, kind: Any, fields: dict[str, int], undigested: Sequence[int], expected: int
) -> None:
    for number in range(6):
        await scope_grows(place, kind, number)
    for name, value in fields.items():
        await place.lab.bus.call("HSET", place.keys.memory(SCOPE), name, value)
    for index in undigested:
        await place.lab.bus.call("RPUSH", place.keys.undigested(SCOPE), index)
    shelf = Shelf.of(kind, SCOPE)
    key = shelf.list_key(place.keys)
    before = await place.lab.bus.call("LRANGE", key, 0, -1)

    assert await place.archive.trim(shelf, 6) == expected

    assert await place.lab.bus.call("LRANGE", key, 0, -1) == before[expected:]
    assert await place.archive.read_range(shelf, 0, expected) == before[:expected]
    assert await place.lab.bus.call("HGET", place.keys.memory(SCOPE), f"{kind}_base") == str(expected).encode()


async def test_files_that_nothing_lists_are_deleted_once_they_are_old(anywhere: Place) -> None:
    for _ in range(8):
        await anywhere.say(2)
        await anywhere.archive.trim(ANN, len(anywhere.raws))
    orphan = f"{Shelf.log(ANN).folder}/transcript_1_x_0-4.jsonl.gz"
    strange = "web%3anobody/transcript_1_x_0-4.jsonl.gz"
    for name in (orphan, strange):
        await anywhere.storage.put(name, b"x")
    kept = set(await anywhere.files()) - {orphan.rpartition("/")[2]}

    young = anywhere.archive_of()
    young.orphans._clock = Later(-10 * 86_400.0)
    assert (await young.orphans.look(delete=True)).orphans == ()
    old = anywhere.archive_of()
    old.orphans._clock = Later(2 * 86_400.0)
    found = (await old.orphans.look(delete=True)).orphans

    assert orphan in found
    assert {name.rpartition("/")[2].partition("_")[0] for name in found} <= {"transcript", "catalogue"}
    assert strange not in found
    assert len([name for name in await anywhere.files() if name.startswith("catalogue_")]) == 1
    assert {name for name in kept if name.startswith("transcript_")} <= set(await anywhere.files())
    assert await anywhere.lab.bus.call("EXISTS", anywhere.keys.clearing(ANN)) == 0
    await anywhere.whole()


class Later(ManualClock):
    """So many seconds after the machine's own clock: files have their time from that."""

    def __init__(self, after_s: float) -> None:
        super().__init__()
        self._after_s = after_s

    def now(self) -> Any:
        """The wall clock."""
        import datetime as dt  # noqa: PLC0415

        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self._after_s)


async def test_while_files_are_deleted_nothing_is_listed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.archive.shelf_lists, "CLEARED_LOOK_S", 0.001)
    await place.say(4)
    await place.lab.bus.call("SET", place.keys.clearing(ANN), "1", "PX", 60_000)

    with pytest.raises(ArchiveError, match="is deleting unused archive files"):
        await place.archive.write(ANN, 0, place.raws)
    monkeypatch.setattr(daemon.archive.shelf_lists, "CLEARED_LOOKS", 1_000_000)
    async with anyio.create_task_group() as tg:
        tg.start_soon(place.archive.write, ANN, 0, place.raws)
        await anyio.wait_all_tasks_blocked()
        await place.lab.bus.call("DEL", place.keys.clearing(ANN))
    assert len(await place.archive.segments(ANN)) == 1


async def test_where_two_databases_archive_nothing_is_deleted(place: Place) -> None:
    await place.say(4)
    await place.archive.write(ANN, 0, place.raws)
    await place.storage.put(f"{Shelf.log(ANN).folder}/transcript_1_x_0-4.jsonl.gz", b"another database's")
    await place.lab.bus.call("HSET", place.keys.meta, "database", "another")

    other = place.archive_of()
    other.orphans._clock = Later(2 * 86_400.0)
    await other.files.opened()

    assert (await other.orphans.look(delete=True)).orphans == ()
    assert len(await place.files()) == 2


async def test_one_process_an_hour_looks_for_orphans(place: Place) -> None:
    await place.say(4)
    await place.archive.write(ANN, 0, place.raws)

    assert (await place.archive.collect()).folders == 1
    assert (await place.archive_of().collect()).folders == 0
    assert 0 < await place.lab.bus.call("TTL", place.keys.collecting) <= 3_600


async def test_cut_short_at_any_call_every_message_is_somewhere_and_the_next_one_goes_on(lab: Lab, tmp_path: Path):
    for number, carried_out in ((number, flag) for number in itertools.count(1) for flag in (False, True)):
        folder = tmp_path / f"{number}-{carried_out}"
        folder.mkdir()
        place = Place(lab, folder, "local")
        await lab.bus.call("DEL", *(f(ANN) for f in (lab.bus.keys.session, lab.bus.keys.log, lab.bus.keys.segments)))
        await lab.bus.call("DEL", lab.bus.keys.archives)
        await place.say(12)
        await place.archive.trim(ANN, 3)
        await place.archive.trim(ANN, 6)
        await place.archive.write(ANN, 6, place.raws[6:9])
        failing = FailingBus(lab.bus, at=number, carried_out=carried_out)
        cut = False
        try:
            await place.archive_of(failing).trim(ANN, 12)
        except BusUnavailable:
            cut = True
        await place.whole()

        assert await place.archive_of().trim(ANN, 12) == 12

        await place.whole()
        if not cut:
            break
    assert number > 10


async def test_a_part_of_the_log_that_has_left_is_told_and_not_mistaken_for_another(place: Place) -> None:
    await place.say(10)
    reader = SessionReader(place.lab.bus)
    state = await reader.state(ANN)
    await place.archive.trim(ANN, 6)

    with pytest.raises(Trimmed) as trimmed:
        await reader.log(ANN, first=4, upto=8, base=state.base)
    assert trimmed.value.base == 6
    entries = await reader.log(ANN, first=7, upto=9, base=state.base)
    assert [entry.turn for entry in entries] == [7, 8]
    assert [index for index, _ in await reader.committed(ANN, after=-1, limit=3)] == [6, 7, 8]


ranges = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=8)


def a_segment(first: int, upto: int) -> Segment:
    return Segment(first=first, upto=upto, owner=ANN, name="x", checksum="0", bytes=1, time="")


@given(ranges, st.integers(0, 30), st.integers(0, 20))
def test_each_message_is_read_from_the_segment_that_was_listed_last(
    spans: list[tuple[int, int]], first: int, length: int
) -> None:
    segments = [a_segment(at, at + count) for at, count in spans]

    pieces = cover(segments, first, first + length)

    covered = [index for piece in pieces for index in range(piece.first, piece.upto)]
    assert covered == list(range(first, first + length))
    for piece in pieces:
        for index in range(piece.first, piece.upto):
            holding = [segment for segment in segments if segment.first <= index < segment.upto]
            assert piece.segment is (holding[-1] if holding else None)
    assert all(piece.segment is None for piece in gaps(pieces))


async def test_a_gap_is_told_with_its_indexes(place: Place) -> None:
    await place.say(10)
    await place.archive.write(ANN, 0, place.raws[:3])
    await place.archive.write(ANN, 6, place.raws[6:8])

    with pytest.raises(ArchiveMissing, match="messages 3 to 5, 8 to 9 were not found in any listed archive file"):
        await place.archive.read_range(ANN, 0, 10)


async def test_of_two_segments_the_other_stands_in_for_a_lost_file(place: Place) -> None:
    await place.say(10)
    await place.archive.write(ANN, 0, place.raws[:8])
    lost = await place.archive.write(ANN, 2, place.raws[2:6])
    await place.storage.delete(lost.place)

    assert await place.archive.read_range(ANN, 1, 7) == place.raws[1:7]


async def test_whatever_is_archived_trimmed_and_set_back_nothing_is_lost(lab: Lab, tmp_path: Path) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        place = Place(lab, tmp_path / str(seed), "local")
        await lab.bus.call("DEL", *(f(ANN) for f in (lab.bus.keys.session, lab.bus.keys.log, lab.bus.keys.segments)))
        await lab.bus.call("DEL", lab.bus.keys.archives)
        copy: tuple[Copy, list[bytes]] | None = None
        for _ in range(25):
            base, _log = await place.in_redis()
            step = chance.choice(["say", "say", "write", "trim", "trim", "copy", "failover", "scrap"])
            if step == "say":
                await place.say(chance.randint(1, 6))
            elif step == "write" and base < len(place.raws):
                first = chance.randint(base, len(place.raws) - 1)
                await place.archive_of().write(ANN, first, place.raws[first : first + chance.randint(1, 5)])
            elif step == "trim":
                await place.archive_of().trim(ANN, chance.randint(0, len(place.raws)))
            elif step == "copy":
                copy = (await Copy.of(lab.bus), place.raws[:])
            elif step == "failover" and copy:
                await copy[0].takes_over(lab.bus)
                place.raws = copy[1][:]
            elif step == "scrap" and copy is None:
                await place.archive_of().scrap(ANN)
            await place.whole()


async def told(place: Place, storage: Storage | None = None) -> dict[str, str]:
    """The doctor's findings: check → state and text."""
    found = await examine_archive(place.lab.bus, place.archive_of(storage=storage))
    return {finding.check: f"{finding.state}: {finding.text}" for finding in found}


async def test_the_doctor_tries_the_archive_and_leaves_nothing_behind(anywhere: Place) -> None:
    before = await told(anywhere)
    assert before["archive"].startswith("ok: ")
    assert before["trimming"].startswith("ok: no messages have been archived yet")
    assert await noted(anywhere.lab.bus) == {}, "whoever asks is no process that shows messages"

    await anywhere.say(4)
    await anywhere.archive.trim(ANN, 4)
    assert (await told(anywhere))["trimming"] == "ok: archived messages are removed from Redis"
    assert not [name for name in await anywhere.storage.folders() if "doctor" in name]
    await anywhere.whole()


async def test_the_doctor_says_why_nothing_leaves_redis(place: Place, tmp_path: Path) -> None:
    other = LocalStorage(tmp_path / "another", "transcripts")
    await place.say(4)
    await place.archive.write(ANN, 0, place.raws)

    assert (await told(place, other))["trimming"].startswith("warning: ")
    assert "contains no millpond.json" in (await told(place, other))["trimming"]
    await place.archive_of(storage=other).files.opened()
    for each in (None, other):
        assert "warning: messages stay in Redis and are not archived" in (await told(place, each))["trimming"]


async def test_the_doctor_says_that_the_archive_is_not_mounted(place: Place) -> None:
    await place.say(4)
    await place.archive.write(ANN, 0, place.raws)
    (place.data_dir / "transcripts" / "millpond.json").unlink()

    found = (await told(place))["trimming"]

    assert "Check whether the archive's storage is mounted" in found
    assert f"HDEL {place.lab.bus.keys.archives} " in found


async def test_the_doctor_says_that_the_archive_cannot_be_used(place: Place) -> None:
    (place.data_dir / "transcripts").write_text("a file in the way")

    assert (await told(place))["archive"].startswith("error: the archive in ")


async def test_a_process_notes_its_archive_before_it_writes_to_it(process: Process) -> None:
    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: mark_archive(process, task_status=task_status))
        with anyio.fail_after(HANG_S):
            while not (found := await noted(process.bus)):
                await anyio.lowlevel.checkpoint()
        process.stopping.set()

    (known,) = found.values()
    assert known.where == str(process.data_dir / "transcripts")
