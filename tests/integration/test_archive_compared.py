"""Files of the archive are compared with what they are to hold: other content of the same length never passes."""

import datetime as dt
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from daemon.archive import Archive, Segment, Shelf
from daemon.archive.archive import TRIM
from daemon.archive.catalogue import catalogue_of, listing_of
from daemon.archive.local_storage import LocalStorage
from daemon.archive.marker import database_id, marker_in, noted
from daemon.archive.segment import is_of, lines_of, packed, segment_of, unpacked
from daemon.config import ArchiveConfig
from daemon.errors import ArchiveError, ArchiveMissing, ArchiveUnavailable
from daemon.testing import ManualClock
from tests.conftest import Lab, an_entry
from tests.cut_short import InterludeBus

ANN = "web:ann"
LOG = Shelf.log(ANN)


class Place:
    """A session whose log is consolidated, and its archive in a folder."""

    def __init__(self, lab: Lab, folder: Path, clock: ManualClock) -> None:
        self.bus = lab.bus
        self.folder = folder
        self.clock = clock
        self.archive = self.archive_in(folder)
        self.raws: list[bytes] = []

    def archive_in(self, folder: Path) -> Archive:
        storage, config = LocalStorage(folder, "transcripts"), ArchiveConfig(segments_listed=2)
        return Archive(self.bus, folder, storage=storage, clock=self.clock, config=config)

    async def say(self, count: int = 4) -> None:
        first = len(self.raws)
        self.raws += [msgspec.json.encode(an_entry(n, text=f"old {n}")) for n in range(first, first + count)]
        await self.bus.call("RPUSH", self.bus.keys.log(ANN), *self.raws[first:])
        fields = dict.fromkeys(("head", "cursor", "start"), len(self.raws))
        words = [word for field in fields.items() for word in field]
        await self.bus.call("HSET", self.bus.keys.session(ANN), "scope", "pond:workspace", *words)

    async def put(self, name: str, raws: Sequence[bytes]) -> None:
        await self.archive.storage.put(f"{LOG.folder}/{name}", packed(lines_of(raws)))

    async def files(self) -> list[str]:
        return [each.name.rpartition("/")[2] for each in await self.archive.storage.list(LOG.folder)]


@pytest.fixture
def place(lab: Lab, tmp_path: Path, clock: ManualClock) -> Place:
    return Place(lab, tmp_path, clock)


async def test_a_database_id_that_a_failover_took_back_is_made_again(lab: Lab) -> None:
    async def fail_over() -> None:
        await lab.bus.call("HDEL", lab.bus.keys.meta, "database")

    await fail_over()
    database = await database_id(InterludeBus(lab.bus, at=3, interlude=fail_over))

    assert await database_id(lab.bus) == database


def other(raws: Sequence[bytes]) -> list[bytes]:
    return [raw.replace(b"old", b"new") for raw in raws]


def test_lines_of_the_same_length_are_not_those_of_a_segment() -> None:
    segment = segment_of(LOG, 0, [b"{1}", b"{2}"], time="")

    assert is_of(segment, b"{1}\n{2}\n")
    assert not is_of(segment, b"{1}\n{3}\n")
    assert not is_of(segment, b"{1}\n{2}\n\n")


def test_no_more_of_a_file_is_unpacked_than_tells_that_it_is_too_long() -> None:
    assert unpacked(packed(b"x" * 1_000), 10) == b"x" * 11
    assert unpacked(packed(b"x" * 10), 10) == b"x" * 10


def test_the_same_lines_make_the_same_file_at_any_time() -> None:
    assert packed(b"{}\n")[4:8] == b"\0" * 4, "the time in the head of a gzip file (RFC 1952)"


async def test_a_file_of_other_messages_of_the_same_length_is_not_read(place: Place) -> None:
    await place.say()
    segment = await place.archive.write(ANN, 0, place.raws)
    await place.put(segment.name, other(place.raws))

    with pytest.raises(ArchiveMissing, match="the checksum of the file does not match"):
        await place.archive.read(segment)


async def test_what_redis_holds_otherwise_than_the_archive_leaves_only_once_it_is_archived_too(place: Place) -> None:
    await place.say()
    old = await place.archive.write(ANN, 0, place.raws)
    new = [*place.raws[:2], *other(place.raws[2:])]
    await place.bus.call("LSET", place.bus.keys.log(ANN), 2, new[2])  # as after a failover
    await place.bus.call("LSET", place.bus.keys.log(ANN), 3, new[3])

    assert await place.archive.trim(ANN, 4) == 4

    assert await place.archive.read_range(ANN, 0, 4) == new
    assert await place.archive.read(old) == place.raws


async def test_rewriting_a_segment_with_what_it_holds_leaves_its_file_alone(place: Place) -> None:
    await place.say()
    new = other(place.raws)
    (rewritten,) = await place.archive.rewrite({await place.archive.write(ANN, 0, place.raws): new})

    assert await place.archive.rewrite({rewritten: new}) == [rewritten]
    assert await place.archive.read(rewritten) == new


@pytest.mark.parametrize("spoilt", ["another content", "fewer messages"])
async def test_what_a_segment_was_rewritten_to_is_known_by_its_checksum_and_its_size(place: Place, spoilt: str) -> None:
    await place.say()
    old = await place.archive.write(ANN, 0, place.raws)
    (rewritten,) = await place.archive.rewrite({old: other(place.raws)})  # the list of before is a failover's
    assert await place.archive.read(old) == other(place.raws)

    if spoilt == "another content":
        await place.put(rewritten.name, place.raws)
    else:
        few = segment_of(LOG, 0, place.raws[:3], time="")
        await place.archive.storage.delete(rewritten.place)
        await place.put(msgspec.structs.replace(old, checksum=few.checksum).other_name, place.raws[:3])

    with pytest.raises(ArchiveMissing):
        await place.archive.read(old)


async def with_a_catalogue(place: Place) -> tuple[str, list[Segment]]:
    """The name of a session's catalogue, and all of its segments."""
    for _ in range(8):
        await place.say(2)
        await place.archive.trim(ANN, len(place.raws))
        await place.archive.scrap(ANN)
    (name,) = [name for name in await place.files() if name.startswith("catalogue_")]
    return name, await place.archive.segments(ANN)


async def test_a_catalogue_of_other_segments_is_not_read(place: Place) -> None:
    name, segments = await with_a_catalogue(place)
    _, lines = catalogue_of(segments[: int(name.split("_")[1])], archive=segments[0].archive)
    changed = lines.replace(b'"first":0,"upto":2', b'"first":0,"upto":3')
    await place.archive.storage.put(f"{LOG.folder}/{name}", packed(changed))

    with pytest.raises(ArchiveError, match="was changed after Millpond wrote it"):
        await place.archive.segments(ANN)

    # Nor in the place of one that is missing.
    await place.archive.storage.delete(f"{LOG.folder}/{name}")
    await place.archive.storage.put(f"{LOG.folder}/catalogue_9_0123456789abcdef.jsonl.gz", packed(changed * 2))
    with pytest.raises(ArchiveMissing):
        await place.archive.segments(ANN)


async def test_few_segments_need_no_catalogue(place: Place) -> None:
    for _ in range(2):
        await place.say(2)
        await place.archive.trim(ANN, len(place.raws))

    assert [name for name in await place.files() if name.startswith("catalogue_")] == []


async def test_an_archive_that_is_not_mounted_has_lost_nothing(place: Place) -> None:
    await place.say()
    segment = await place.archive.write(ANN, 0, place.raws)
    shutil.rmtree(place.folder / "transcripts")

    with pytest.raises(ArchiveError, match="Check whether the archive's storage is mounted") as told:
        await place.archive.read(segment)
    assert not isinstance(told.value, ArchiveMissing)


async def test_while_its_mount_is_lost_nothing_is_written_trimmed_or_deleted(place: Place) -> None:
    await place.say(6)
    await place.archive.write(ANN, 0, place.raws[:2])
    await place.archive.write(ANN, 2, place.raws[2:4])
    assert await place.archive.trim(ANN, 2) == 2
    folder, mounted = place.folder / "transcripts", place.folder / "mounted"
    folder.rename(mounted)
    folder.mkdir()
    calls: list[Callable[[Archive], Awaitable[object]]] = [
        lambda archive: archive.write(ANN, 4, place.raws[4:]),
        lambda archive: archive.trim(ANN, 4),
        lambda archive: archive.drop(ANN),
        lambda archive: archive.expire(ANN, before="9999"),
        lambda archive: archive.rewrite({segment_of(LOG, 0, place.raws[:2], time=""): other(place.raws[:2])}),
    ]

    for call in calls:
        # The second process starts while the mount is lost.
        for archive in (place.archive, place.archive_in(place.folder)):
            with pytest.raises(ArchiveUnavailable, match="Check whether the archive's storage is mounted"):
                await call(archive)

    assert not [path for path in folder.rglob("*") if path.is_file()]
    shutil.rmtree(folder)
    mounted.rename(folder)
    assert await place.archive.trim(ANN, 6) == 6
    assert await place.archive.read_range(ANN, 0, 6) == place.raws


async def test_an_archive_that_was_deleted_on_purpose_begins_anew(place: Place) -> None:
    old = (await place.archive.files.opened()).archive
    shutil.rmtree(place.folder / "transcripts")
    anew = place.archive_in(place.folder)
    with pytest.raises(ArchiveUnavailable, match=f"HDEL {place.bus.keys.archives} {old}"):
        await anew.files.opened()

    await place.bus.call("HDEL", place.bus.keys.archives, old)

    assert (await anew.files.opened()).archive != old


async def test_an_archive_fails_from_the_first_try_until_something_is_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.say()

    async def full(*_given: object) -> bool:
        raise ArchiveError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(place.archive.storage, "create", full)
        with pytest.raises(ArchiveError):
            await place.archive.write(ANN, 0, place.raws)
        assert place.archive.is_failing

    await place.archive.write(ANN, 0, place.raws)
    assert not place.archive.is_failing


async def test_a_segment_is_too_old_when_it_was_archived_before_a_moment_and_not_at_it(place: Place) -> None:
    await place.say()
    segment = await place.archive.write(ANN, 0, place.raws)
    await place.archive.trim(ANN, 4)
    later = (dt.datetime.fromisoformat(segment.time) + dt.timedelta(milliseconds=1)).isoformat().replace("+00:00", "Z")

    assert await place.archive.expire(ANN, before=segment.time) == 0
    assert await place.bus.call("HGET", place.bus.keys.session(ANN), "begins") is None
    assert await place.archive.expire(ANN, before=later) == 1


async def test_the_same_range_of_another_archive_takes_the_place_of_the_one_that_was_listed(
    place: Place, tmp_path: Path
) -> None:
    await place.say()
    await place.archive.write(ANN, 0, place.raws)
    moved = place.archive_in(tmp_path / "moved")

    segment = await moved.write(ANN, 0, place.raws)

    assert segment.archive == (await moved.files.opened()).archive
    assert len(await place.bus.call("LRANGE", place.bus.keys.segments(ANN), 0, -1)) == 1


async def test_an_archive_that_a_second_database_writes_to_is_nobodys(place: Place) -> None:
    assert await place.archive.orphans.is_ours() is False  # nothing is there yet
    await place.archive.files.opened()
    assert await place.archive.orphans.is_ours()
    database = await place.bus.call("HGET", place.bus.keys.meta, "database")

    await place.bus.call("HSET", place.bus.keys.meta, "database", "another")
    await place.archive_in(place.folder).files.opened()
    await place.bus.call("HSET", place.bus.keys.meta, "database", database)

    marker = await marker_in(place.archive.storage)
    assert marker is not None and marker.database == ""
    assert not await place.archive.orphans.is_ours()


async def test_where_an_archive_is_used_is_noted_again_when_it_has_moved(place: Place) -> None:
    archive = (await place.archive.files.opened()).archive
    first = (await noted(place.bus))[archive]
    elsewhere = msgspec.structs.replace(first, host="elsewhere", time="")
    await place.bus.call("HSET", place.bus.keys.archives, archive, msgspec.json.encode(elsewhere))

    await place.archive_in(place.folder).files.opened()

    assert (await noted(place.bus))[archive].host == first.host


async def test_an_archive_that_a_hand_has_spoilt_the_note_of_keeps_everything_in_redis(place: Place) -> None:
    assert (await place.archive.permission()).is_granted
    await place.bus.call("HSET", place.bus.keys.archives, "abc", "{")

    allowed = await place.archive.permission()

    assert not allowed.is_granted
    assert "an unknown place" in allowed.why


async def test_while_orphans_are_deleted_their_shelf_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    await place.say()
    await place.archive.write(ANN, 0, place.raws)
    await place.put("transcript_1_x_0-4.jsonl.gz", place.raws)
    storage, seen = place.archive.storage, list[int]()
    delete = storage.delete

    async def noting(name: str) -> None:
        seen.append(await place.bus.call("PTTL", LOG.clearing_key(place.bus.keys)))
        await delete(name)

    monkeypatch.setattr(storage, "delete", noting)

    assert len(await place.archive.scrap(ANN)) == 1
    assert len(seen) == 1
    assert 0 < seen[0] <= 60_000
    assert await place.bus.call("EXISTS", LOG.clearing_key(place.bus.keys)) == 0


async def test_whatever_its_caller_believes_a_script_trims_no_message_that_is_needed(place: Place) -> None:
    await place.say(10)
    await place.archive.write(ANN, 0, place.raws)
    keys, listing = place.bus.keys, await listing_of(place.bus, LOG)
    own = [LOG.hash_key(keys), LOG.list_key(keys), LOG.segments_key(keys), LOG.segments_key(keys)]
    lost = {"cursor": 20, "head": 20}  # a hand has taken messages away
    bases: list[int] = []
    for fields in ({"cursor": 2}, {"cursor": 10, "head": 4}, {"head": 10, "unflushed": "6 8"}, {"unflushed": ""}, lost):
        await place.bus.call("HSET", keys.session(ANN), *[word for field in fields.items() for word in field])

        _, base = await place.bus.run(TRIM, own, [99, "log", listing.digest, LOG.base_field])

        assert await place.bus.call("LRANGE", keys.log(ANN), 0, -1) == place.raws[base:]
        bases.append(base)
    assert bases == [2, 4, 6, 10, 10]
