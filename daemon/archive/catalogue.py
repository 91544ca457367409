"""The lists of segments: the newest ones of a shelf in Redis, and catalogues of older ones as files.

So the list stays short however old a session is. A catalogue is never changed: a new one takes its place in the list,
and the old file becomes an orphan. When a failover, or a backup, brings back a list that names one which was deleted
already, the new one is known by what it begins with.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from daemon.archive.segment import ENDING, Segment, listed, segment_from
from daemon.archive.shelf import Shelf
from daemon.bus import Bus
from daemon.errors import UNREADABLE, ArchiveError

# A catalogue: older segments of a shelf's list, as a file in the archive that the list names with its first entry.

_PREFIX = b'{"catalogue":'


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first entry of a list; its JSON begins with ``catalogue``."""

    catalogue: str
    """Name of the file, which ends in a part of the checksum."""
    count: int
    """Segments in it."""
    checksum: str
    """SHA-256 of its lines, before they were compressed."""
    bytes: int
    archive: str = ""
    """As of a segment."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Catalogue).decode


def is_catalogue(raw: bytes) -> bool:
    """Whether an entry of a list names a catalogue."""
    return raw.startswith(_PREFIX)


def catalogue_from(raw: bytes) -> Catalogue:
    """The catalogue that an entry names. Errors as for ``segment_from``."""
    return _decode(raw)


def entry_of(catalogue: Catalogue) -> bytes:
    """Its entry."""
    return _encode(catalogue)


def catalogue_of(segments: Sequence[Segment], *, archive: str) -> tuple[Catalogue, bytes]:
    """The catalogue of ``segments``, in this order, and its lines."""
    lines = b"".join(listed(segment) + b"\n" for segment in segments)
    checksum = hashlib.sha256(lines).hexdigest()
    name = f"catalogue_{len(segments)}_{checksum[:16]}{ENDING}"
    return Catalogue(catalogue=name, count=len(segments), checksum=checksum, bytes=len(lines), archive=archive), lines


def segments_in(lines: bytes, owner: str) -> list[Segment]:
    """What stands in a catalogue. Errors as for ``segment_from``."""
    return [segment_from(line, owner) for line in lines.splitlines()]


def newest(segments: Sequence[Segment]) -> list[Segment]:
    """``segments``, in the order in which they were listed, without those whose very range was listed again later."""
    last = {(segment.kind, segment.first, segment.upto): at for at, segment in enumerate(segments)}
    kept = set(last.values())
    return [segment for at, segment in enumerate(segments) if at in kept]


# The list of a shelf in Redis: its newest segments, and the catalogue of the older ones.


class SegmentListing(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a list, as they stood at one moment."""

    owner: str
    raws: tuple[bytes, ...]
    entries: tuple[tuple[bytes, Segment], ...]
    """Each segment that is listed itself, of all kinds, in the order in which they were listed."""
    catalogues: tuple[tuple[bytes, Catalogue], ...]
    """One at most, but where a hand was at work."""

    @property
    def digest(self) -> str:
        """Its identity for ``trim.lua``."""
        return hashlib.sha1(b"".join(raw + b"\n" for raw in self.raws), usedforsecurity=False).hexdigest()

    def of(self, shelf: Shelf) -> list[Segment]:
        """The segments of one shelf that are listed themselves."""
        return [segment for _, segment in self.entries if segment.kind == shelf.kind]


async def listing_of(bus: Bus, shelf: Shelf) -> SegmentListing:
    """The listed segments of a shelf, and of the shelves that share its list.

    Raises:
        ArchiveError: the list cannot be read.
        BusUnavailable: Redis is away.
    """
    key = shelf.segments_key(bus.keys)
    raws: list[bytes] = await bus.call("LRANGE", key, 0, -1)
    try:
        return SegmentListing(
            owner=shelf.owner,
            raws=tuple(raws),
            entries=tuple((raw, segment_from(raw, shelf.owner)) for raw in raws if not is_catalogue(raw)),
            catalogues=tuple((raw, catalogue_from(raw)) for raw in raws if is_catalogue(raw)),
        )
    except UNREADABLE as error:
        raise ArchiveError(
            f"{key} contains an entry that does not describe an archive file: {error}. Inspect the key with `millpond "
            "redis-cli`."
        ) from error


def catalogued(lines: bytes, owner: str, *, where: str) -> Sequence[Segment]:
    """The segments in the lines of a catalogue.

    Raises:
        ArchiveError: they are no segments.
    """
    try:
        return segments_in(lines, owner)
    except UNREADABLE as error:
        raise ArchiveError(
            f"{where} contains an entry that does not describe an archive file: {error}. Restore the file from "
            f"a backup."
        ) from error
