"""A catalogue: older segments of a shelf's list, as a file in the archive that the list names with its first entry.

So the list stays short however old a session is. A catalogue is never changed: a new one takes its place in the list,
and the old file becomes an orphan. When a failover, or a backup, brings back a list that names one which was deleted
already, the new one is known by what it begins with.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from daemon.archive.segment import ENDING, Segment, listed, segment_from

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
