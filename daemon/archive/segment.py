"""A segment: one range of a log, as a file of its stored lines. Everything here that touches a disk blocks."""

import datetime as dt
import gzip
import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from daemon.durable import folder_below, folder_lock, plain_file, write_whole
from daemon.errors import ArchiveError
from daemon.scope import folder_of

FOLDER = "transcripts"
"""Below the data directory: a folder for each session."""

NAME_MAX_CHARS = 128
"""Of a session's name inside a file's name; file systems take 255 bytes, and the folder says the whole."""

LOCK_WAIT_S = 10.0

LEVEL = 6
"""Of the compression: what the highest saves more, a twentieth of the file, costs as much time again or many times."""


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A range of a log that was archived; the same range and messages always give the same file.

    Its JSON begins with the range, which ``list.lua`` knows it by.
    """

    first: int
    """Index of its first message."""
    upto: int
    """One past the index of its last message."""
    name: str
    """Of the file: ``transcript_<epoch>_<session>_<first>-<upto>.jsonl.gz``; the epoch is the second of its first
    message. When there is such a file with other messages already, the name ends in a part of the checksum too."""
    session: str
    checksum: str
    """SHA-256 of its lines, before they were compressed: ``zcat NAME | sha256sum``."""
    bytes: int
    """Of its lines, before they were compressed."""
    time: str
    """When it was archived: ISO 8601, UTC."""

    def path(self, data_dir: Path) -> Path:
        """Where its file lies."""
        return data_dir / FOLDER / folder_of(self.session) / self.name


class _Timed(msgspec.Struct):
    time: str = ""


def segment_of(session: str, first: int, raws: Sequence[bytes], *, time: str) -> Segment:
    """The segment that holds ``raws``, the stored messages of ``session`` from index ``first`` on."""
    lines, upto = lines_of(raws), first + len(raws)
    safe = folder_of(session)[-NAME_MAX_CHARS:]
    return Segment(
        first=first,
        upto=upto,
        name=f"transcript_{_epoch(raws[0])}_{safe}_{first}-{upto}.jsonl.gz",
        session=session,
        checksum=hashlib.sha256(lines).hexdigest(),
        bytes=len(lines),
        time=time,
    )


def lines_of(raws: Sequence[bytes]) -> bytes:
    """``raws`` as lines, byte for byte; a line feed, which JSON has only between its parts, becomes a space."""
    return b"".join(raw.replace(b"\n", b" ") + b"\n" for raw in raws)


def _epoch(raw: bytes) -> int:
    try:
        moment = dt.datetime.fromisoformat(msgspec.json.decode(raw, type=_Timed).time)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return 0  # what a hand has spoilt is archived all the same
    return int(moment.timestamp())


def store(data_dir: Path, segment: Segment, lines: bytes) -> Segment:
    """Write the segment's file, unless it is there; the segment as it is called now.

    Raises:
        OSError: it was not written.
    """
    with (
        folder_below(data_dir, FOLDER, folder_of(segment.session), make=True) as folder,
        folder_lock(folder, wait_s=LOCK_WAIT_S),
    ):
        if _holds(folder, segment.name, lines) is False:
            # After a failover that lost messages the same range holds others; these may be the last copy of the old.
            stem = segment.name.removesuffix(".jsonl.gz")
            segment = msgspec.structs.replace(segment, name=f"{stem}~{segment.checksum[:8]}.jsonl.gz")
        if not _holds(folder, segment.name, lines):
            write_whole(folder, segment.name, gzip.compress(lines, LEVEL, mtime=0))
    return segment


def _holds(folder: int, name: str, lines: bytes) -> bool | None:
    """Whether a file holds just these lines; None when there is none, or none that can be read."""
    try:
        with plain_file(folder, name) as descriptor:
            return _unpacked(descriptor, len(lines)) == lines
    except (OSError, EOFError, zlib.error):
        return None


def _unpacked(descriptor: int, size: int) -> bytes:
    """The first ``size`` bytes and one more, if there are so many: what was spoilt may unpack to any length."""
    with open(descriptor, "rb", closefd=False) as file, gzip.open(file) as lines:
        return lines.read(size + 1)


def load(data_dir: Path, segment: Segment) -> list[bytes]:
    """The messages of a segment, each as it was stored.

    Raises:
        ArchiveError: the file does not hold what was archived.
        OSError: it cannot be read.
    """
    with (
        folder_below(data_dir, FOLDER, folder_of(segment.session), make=False) as folder,
        plain_file(folder, segment.name) as descriptor,
    ):
        try:
            lines = _unpacked(descriptor, segment.bytes)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise _spoilt(data_dir, segment, "it cannot be unpacked") from error
    if hashlib.sha256(lines).hexdigest() != segment.checksum:
        raise _spoilt(data_dir, segment, "its checksum is another one")
    return lines.removesuffix(b"\n").split(b"\n")


def _spoilt(data_dir: Path, segment: Segment, reason: str) -> ArchiveError:
    return ArchiveError(
        f"{segment.path(data_dir)} does not hold what was archived ({reason}): messages {segment.first} to "
        f"{segment.upto - 1} of session {segment.session} are not in it; put the file back from a backup"
    )
