"""The list of a shelf in Redis: its newest segments, and the catalogue of the older ones."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from daemon.archive.catalogue import Catalogue, catalogue_from, is_catalogue, segments_in
from daemon.archive.segment import Segment, segment_from
from daemon.archive.shelf import Shelf
from daemon.bus import Bus
from daemon.errors import UNREADABLE, ArchiveError


@dataclass(frozen=True, kw_only=True)
class Listing:
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


async def listing_of(bus: Bus, shelf: Shelf) -> Listing:
    """The listed segments of a shelf, and of the shelves that share its list.

    Raises:
        ArchiveError: the list cannot be read.
        BusUnavailable: Redis is away.
    """
    key = shelf.segments_key(bus.keys)
    raws: list[bytes] = await bus.call("LRANGE", key, 0, -1)
    try:
        return Listing(
            owner=shelf.owner,
            raws=tuple(raws),
            entries=tuple((raw, segment_from(raw, shelf.owner)) for raw in raws if not is_catalogue(raw)),
            catalogues=tuple((raw, catalogue_from(raw)) for raw in raws if is_catalogue(raw)),
        )
    except UNREADABLE as error:
        raise ArchiveError(
            f"{key} contains a value that does not describe an archive file: {error}. Inspect the key with `millpond "
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
            f"{where} contains a value that does not describe an archive file: {error}. Restore the file from a backup."
        ) from error
