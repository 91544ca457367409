"""A segment: one range of a shelf, as a file of its stored lines. Pure.

Whoever lists a segment has compared it with the log. After a failover that lost messages the same indexes can hold
others; what was listed last was compared last.
"""

import datetime as dt
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import msgspec

from daemon.archive.shelf import FOLDER, Shelf, ShelfKind
from daemon.errors import UNREADABLE
from daemon.scope import folder_of

NAME_MAX_CHARS = 128
"""Of a session's name inside a file's name; file systems take 255 bytes, and the folder says the whole."""

LEVEL = 6
"""Of the compression: what the highest saves more, a twentieth of the file, costs as much time again or many times."""

ENDING = ".jsonl.gz"

PACKED_EXTRA_BYTES = 4_096
"""How much longer than its lines a file may be that does not get shorter by being packed."""


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A range of a shelf that was archived; the same range and messages always give the same file."""

    first: int
    """Index of its first message."""
    upto: int
    """One past the index of its last message."""
    kind: ShelfKind = "log"
    owner: str
    """Session key, or scope."""
    name: str
    """Of the file: ``transcript_<epoch>_<session>_<first>-<upto>.jsonl.gz``; the epoch is the second of its first
    message. When there is such a file with other messages already, the name ends in a part of the checksum too."""
    checksum: str
    """SHA-256 of its lines, before they were compressed: ``zcat NAME | sha256sum``."""
    bytes: int
    """Of its lines, before they were compressed."""
    time: str
    """When it was archived: ISO 8601, UTC."""
    archive: str = ""
    """Id of the archive that it lies in; empty: it was written before archives had one."""

    @property
    def count(self) -> int:
        """How many messages it holds."""
        return self.upto - self.first

    @property
    def shelf(self) -> Shelf:
        """What it is a part of."""
        return Shelf(kind=self.kind, owner=self.owner)

    @property
    def place(self) -> str:
        """Its name in its storage."""
        return f"{self.shelf.folder}/{self.name}"

    def path(self, data_dir: Path) -> Path:
        """Where its file lies, when it is in the local archive of a data directory."""
        return data_dir / FOLDER / self.shelf.folder / self.name

    @property
    def other_name(self) -> str:
        """Its name when another file has its own."""
        return f"{self.name.removesuffix(ENDING)}~{self.checksum[:8]}{ENDING}"


class _Listed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A segment as it stands in Redis and in catalogues: without what the list's own name says already.

    Its JSON begins with the range, and the kind if it is no log, which ``list.lua`` knows it by.
    """

    first: int
    upto: int
    kind: ShelfKind = "log"
    epoch: int = 0
    """Of its name, when that is made from the range."""
    name: str = ""
    """When it is another one, and in those that were listed before ``epoch`` was."""
    checksum: str
    bytes: int
    time: str
    archive: str = ""


class _Timed(msgspec.Struct):
    time: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Listed).decode
_decode_timed = msgspec.json.Decoder(_Timed).decode


def segment_of(shelf: Shelf, first: int, raws: Sequence[bytes], *, time: str, archive: str = "") -> Segment:
    """The segment that holds ``raws``, what is stored on ``shelf`` from index ``first`` on."""
    lines, upto = lines_of(raws), first + len(raws)
    return Segment(
        first=first,
        upto=upto,
        kind=shelf.kind,
        owner=shelf.owner,
        name=_name(shelf, _epoch(raws[0]), first, upto),
        checksum=hashlib.sha256(lines).hexdigest(),
        bytes=len(lines),
        time=time,
        archive=archive,
    )


def listed(segment: Segment) -> bytes:
    """The segment's JSON in a list."""
    epoch = _epoch_in(segment.name)
    named = epoch > 0 and segment.name == _name(segment.shelf, epoch, segment.first, segment.upto)
    return _encode(
        _Listed(
            first=segment.first,
            upto=segment.upto,
            kind=segment.kind,
            epoch=epoch if named else 0,
            name="" if named else segment.name,
            checksum=segment.checksum,
            bytes=segment.bytes,
            time=segment.time,
            archive=segment.archive,
        )
    )


def segment_from(raw: bytes, owner: str) -> Segment:
    """The segment that stands in a list of ``owner``.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: it is none.
    """
    found = _decode(raw)
    shelf = Shelf(kind=found.kind, owner=owner)
    return Segment(
        first=found.first,
        upto=found.upto,
        kind=found.kind,
        owner=owner,
        name=found.name or _name(shelf, found.epoch, found.first, found.upto),
        checksum=found.checksum,
        bytes=found.bytes,
        time=found.time,
        archive=found.archive,
    )


def _name(shelf: Shelf, epoch: int, first: int, upto: int) -> str:
    return f"{shelf.word}_{epoch}_{folder_of(shelf.owner)[-NAME_MAX_CHARS:]}_{first}-{upto}{ENDING}"


def _epoch_in(name: str) -> int:
    second = name.split("_", 2)[1:2]
    return int(second[0]) if second and second[0].isdecimal() else 0


def _epoch(raw: bytes) -> int:
    try:
        return int(dt.datetime.fromisoformat(_decode_timed(raw).time).timestamp())
    except (*UNREADABLE, OverflowError):
        return 0  # what a hand has spoilt is archived all the same


def lines_of(raws: Sequence[bytes]) -> bytes:
    """``raws`` as lines, byte for byte; a line feed, which JSON has only between its parts, becomes a space."""
    return b"".join(raw.replace(b"\n", b" ") + b"\n" for raw in raws)


def raws_of(lines: bytes) -> list[bytes]:
    """What stands in lines."""
    return lines.removesuffix(b"\n").split(b"\n")


def packed(lines: bytes) -> bytes:
    """The file of these lines, always the same."""
    return gzip.compress(lines, LEVEL, mtime=0)


def unpacked(content: bytes, size: int) -> bytes | None:
    """The first ``size`` bytes of a file's lines and one more, if there are so many; None when it is no such file.

    What was spoilt may unpack to any length.
    """
    try:
        with gzip.open(BytesIO(content)) as lines:
            return lines.read(size + 1)
    except (OSError, EOFError, zlib.error):
        return None


def is_of(segment: Segment, lines: bytes) -> bool:
    """Whether these are the segment's lines."""
    return len(lines) == segment.bytes and hashlib.sha256(lines).hexdigest() == segment.checksum


# Which segments a range is read from: several may hold the same message, and then the one listed last is right. Pure.


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a range, and the segment that holds it; None: none does."""

    first: int
    upto: int
    segment: Segment | None = None


def cover(segments: Sequence[Segment], first: int, upto: int) -> list[Piece]:
    """The pieces that the range consists of, in order; gaps are pieces without a segment.

    Args:
        segments: of one shelf, in the order in which they were listed.
        first: index of the first message.
        upto: one past the last.
    """
    pieces = [Piece(first=first, upto=upto)] if first < upto else []
    for segment in reversed(segments):
        if all(piece.segment for piece in pieces):
            break
        pieces = [part for piece in pieces for part in _filled(piece, segment)]
    return pieces


def _filled(piece: Piece, segment: Segment) -> Iterator[Piece]:
    """A gap with what the segment holds of it."""
    first, upto = max(piece.first, segment.first), min(piece.upto, segment.upto)
    if piece.segment or first >= upto:
        yield piece
        return
    if piece.first < first:
        yield Piece(first=piece.first, upto=first)
    yield Piece(first=first, upto=upto, segment=segment)
    if upto < piece.upto:
        yield Piece(first=upto, upto=piece.upto)


def gaps(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that no segment holds."""
    return [piece for piece in pieces if piece.segment is None]


def spelled(pieces: Sequence[Piece]) -> str:
    """Ranges for people: ``0 to 3, 7 to 9``."""
    return ", ".join(f"{piece.first} to {piece.upto - 1}" for piece in pieces)
