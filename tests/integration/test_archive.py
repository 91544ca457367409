"""The archive: what was consolidated, byte for byte, listed only when it is on the disk."""

import gzip
import hashlib
import os
from pathlib import Path

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.archive import Archive, Shelf
from daemon.archive.local_storage import LocalStorage
from daemon.archive.segment import is_of, lines_of, listed, packed, raws_of, segment_from, segment_of, unpacked
from daemon.clock import stamp
from daemon.errors import ArchiveError, ArchiveUnavailable
from daemon.testing import START, ManualClock
from tests.conftest import Lab

ANN = "web:ann"
TIME = stamp(START)


def archive_of(lab: Lab, tmp_path: Path) -> Archive:
    return Archive(lab.bus, tmp_path, clock=ManualClock())


async def log_of(lab: Lab, turns: int = 3, session: str = ANN) -> list[bytes]:
    """A log of so many turns, as it is stored."""
    for number in range(turns):
        await lab.publish(f"m{number}", session=session)
    claim = await lab.claim(session)
    while claim is not None:
        claim = await lab.commit(claim)  # type: ignore[assignment]
    found: list[bytes] = await lab.bus.call("LRANGE", lab.bus.keys.log(session), 0, -1)
    return found


async def entries(lab: Lab, session: str = ANN) -> list[bytes]:
    found: list[bytes] = await lab.bus.call("LRANGE", lab.bus.keys.segments(session), 0, -1)
    return found


async def test_a_segment_holds_the_stored_messages_byte_for_byte_under_a_name_that_tells_what_it_is(
    lab: Lab, tmp_path: Path
) -> None:
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)

    segment = await archive.write(ANN, 0, raws[:4])

    path = tmp_path / "transcripts" / "web%3aann" / "transcript_1795165200_web%3aann_0-4.jsonl.gz"
    assert segment.path(tmp_path) == path
    assert gzip.decompress(path.read_bytes()) == b"\n".join(raws[:4]) + b"\n"
    assert (segment.first, segment.upto, segment.owner, segment.time) == (0, 4, ANN, TIME)
    assert segment.checksum == hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert await archive.segments(ANN) == [segment]
    assert await archive.read(segment) == raws[:4]


async def test_the_same_range_is_listed_once_and_its_file_is_not_written_again(lab: Lab, tmp_path: Path) -> None:
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    first = await archive.write(ANN, 0, raws)
    before = (await lab.dump(), first.path(tmp_path).stat().st_mtime_ns)

    again = await Archive(lab.bus, tmp_path).write(ANN, 0, raws)  # at another time
    await lab.bus.repeat("list.lua", back=2)

    assert again == first
    assert (await lab.dump(), first.path(tmp_path).stat().st_mtime_ns) == before


async def test_segments_are_told_in_order_of_the_messages_whatever_the_order_they_came_in(lab: Lab, tmp_path: Path):
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    late = await archive.write(ANN, 4, raws[4:])
    early = await archive.write(ANN, 0, raws[:4])

    assert await archive.segments(ANN) == [early, late]
    assert await archive.segments("web:nobody") == []


async def test_sessions_whose_names_differ_in_case_only_have_folders_of_their_own(lab: Lab, tmp_path: Path) -> None:
    archive = archive_of(lab, tmp_path)
    segments = [
        await archive.write(session, 0, await log_of(lab, session=session)) for session in ("web:Ann", "web:ann")
    ]

    assert len({str(segment.path(tmp_path)).casefold() for segment in segments}) == 2


@pytest.mark.parametrize("draft", [False, True])
async def test_what_a_writer_that_was_killed_has_left_is_completed(lab: Lab, tmp_path: Path, draft: bool) -> None:
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    marker = await archive.files.opened()
    stored = segment_of(Shelf.log(ANN), 0, raws, time=TIME, archive=marker.archive)
    await archive.files.store(stored, lines_of(raws))
    if draft:
        stored.path(tmp_path).rename(stored.path(tmp_path).parent / ".millpond.draft")

    segment = await archive.write(ANN, 0, raws)

    assert segment == stored
    assert list(stored.path(tmp_path).parent.iterdir()) == [stored.path(tmp_path)]
    assert await archive.read(segment) == raws


async def test_what_the_log_no_longer_holds_is_not_listed_and_what_it_holds_now_replaces_it(lab: Lab, tmp_path: Path):
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    old = await archive.write(ANN, 0, raws)
    other = raws[-1].replace(b'"x"', b'"y"')
    await lab.bus.call("LSET", lab.bus.keys.log(ANN), -1, other)  # as after a failover, and another turn
    new = await archive.write(ANN, 0, [*raws[:-1], other])
    with pytest.raises(ArchiveError, match="messages 0 to 5 in Redis differ"):
        await archive.write(ANN, 0, raws)

    assert await archive.segments(ANN) == [new]
    assert await archive.read(new) == [*raws[:-1], other]
    assert await archive.read(old) == raws, "the last copy of what was lost"
    assert new.name == old.name.replace(".jsonl.gz", f"~{new.checksum[:8]}.jsonl.gz")


async def test_messages_beyond_the_head_are_not_listed(lab: Lab, tmp_path: Path) -> None:
    raws = await log_of(lab)
    await lab.bus.call("HINCRBY", lab.bus.keys.session(ANN), "head", -1)

    with pytest.raises(ArchiveError, match="was restored to an older state"):
        await archive_of(lab, tmp_path).write(ANN, 0, raws)
    assert await entries(lab) == []


async def test_what_is_archived_already_stays_listed_when_the_log_has_lost_it(lab: Lab, tmp_path: Path) -> None:
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    segment = await archive.write(ANN, 0, raws)
    await lab.bus.call("LTRIM", lab.bus.keys.log(ANN), 6, -1)
    await lab.bus.call("HSET", lab.bus.keys.session(ANN), "base", 6)

    assert await archive.write(ANN, 0, raws) == segment


@pytest.mark.parametrize("spoil", ["other bytes", "cut", "longer", "missing", "link", "pipe"])
async def test_a_file_that_was_spoilt_is_not_taken_for_what_was_archived(lab: Lab, tmp_path: Path, spoil: str) -> None:
    raws = await log_of(lab)
    archive = archive_of(lab, tmp_path)
    segment = await archive.write(ANN, 0, raws)
    path = segment.path(tmp_path)
    content = path.read_bytes()
    path.unlink()
    match spoil:
        case "other bytes":
            path.write_bytes(gzip.compress(b"other\n"))
        case "cut":
            path.write_bytes(content[:-9])
        case "longer":
            path.write_bytes(gzip.compress(gzip.decompress(content) + b"\0" * 10_000_000))
        case "link":
            path.symlink_to("/etc/hostname")
        case "pipe":
            os.mkfifo(path)

    with pytest.raises(ArchiveError, match="transcripts") as failure:
        await archive.read(segment)
    assert str(path.parent) in str(failure.value)

    if spoil in ("cut", "missing"):  # writing it again mends it
        assert await archive.write(ANN, 0, raws) == segment
        assert await archive.read(segment) == raws


async def test_a_folder_that_cannot_be_written_is_told_with_what_to_do_and_nothing_is_listed(lab: Lab, tmp_path: Path):
    raws = await log_of(lab)
    (tmp_path / "transcripts").write_text("a file in the way")

    with pytest.raises(ArchiveError, match=r"the archive in .*transcripts.* cannot be used: .*Free some disk space"):
        await archive_of(lab, tmp_path).write(ANN, 0, raws)
    assert await entries(lab) == []


async def test_a_folder_that_is_a_link_is_not_followed(lab: Lab, tmp_path: Path) -> None:
    raws = await log_of(lab)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "transcripts").symlink_to(elsewhere)

    with pytest.raises(ArchiveError):
        await archive_of(lab, tmp_path).write(ANN, 0, raws)
    assert list(elsewhere.iterdir()) == []


async def test_a_list_that_a_hand_has_spoilt_is_told_by_its_key(lab: Lab, tmp_path: Path) -> None:
    await lab.bus.call("RPUSH", lab.bus.keys.segments(ANN), "{}")

    with pytest.raises(ArchiveError, match="segments:web:ann contains an entry that does not describe an archive file"):
        await archive_of(lab, tmp_path).segments(ANN)


async def test_many_who_archive_the_same_at_once_make_one_file_and_list_it_once(lab: Lab, tmp_path: Path) -> None:
    raws = await log_of(lab)
    async with anyio.create_task_group() as tg:
        for _ in range(8):
            tg.start_soon(archive_of(lab, tmp_path).write, ANN, 0, raws)

    (segment,) = await archive_of(lab, tmp_path).segments(ANN)
    assert [path.name for path in segment.path(tmp_path).parent.iterdir()] == [segment.name]
    assert await archive_of(lab, tmp_path).read(segment) == raws


async def test_nothing_is_no_segment(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no messages to archive"):
        await archive_of(lab, tmp_path).write(ANN, 0, [])


lines = st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), min_size=1, max_size=6)


@given(lines, st.integers(0, 10**9), st.text(min_size=1, max_size=300), st.booleans())
def test_whatever_stood_in_the_log_is_read_back_as_it_was_from_a_name_that_file_systems_take(
    raws: list[bytes], first: int, name: str, is_log: bool
) -> None:
    session = f"web:{name}".encode("utf-8", "replace").decode()
    shelf = Shelf.log(session) if is_log else Shelf.of("versions", session)

    segment = segment_of(shelf, first, raws, time=TIME, archive="0a1b2c")
    lines = unpacked(packed(lines_of(raws)), segment.bytes)

    assert lines is not None
    assert is_of(segment, lines)
    assert raws_of(lines) == raws
    assert len(os.fsencode(segment.other_name)) <= 255
    assert len(os.fsencode(shelf.folder)) <= 255
    for each in (segment, msgspec.structs.replace(segment, name=segment.other_name)):
        assert segment_from(listed(each), session) == each


def test_a_line_feed_inside_a_message_does_not_make_two_of_it() -> None:
    raws = [b'{"time":\n"2026-11-20T09:00:00Z"}', b"{}"]

    segment = segment_of(Shelf.log(ANN), 7, raws, time=TIME)

    assert raws_of(lines_of(raws)) == [b'{"time": "2026-11-20T09:00:00Z"}', b"{}"]
    assert segment.name == "transcript_1795165200_web%3aann_7-9.jsonl.gz"


async def test_the_folder_of_a_lost_mount_is_not_made_again(tmp_path: Path) -> None:
    """What was written there meanwhile was gone when the mount was back."""
    storage = LocalStorage(tmp_path, "transcripts")
    await storage.put("web/one", b"1")
    (tmp_path / "transcripts").rename(tmp_path / "away")

    with pytest.raises(ArchiveUnavailable):
        await storage.put("web/two", b"2")
    assert not (tmp_path / "transcripts").exists()

    (tmp_path / "away").rename(tmp_path / "transcripts")
    await storage.put("web/two", b"2")
    assert await storage.get("web/two") == b"2"
