"""The lists of segments in Redis: a segment is listed, older ones go to a catalogue, one takes the place of another."""

import hashlib
from collections.abc import Mapping, Sequence

import anyio
import structlog

from daemon.archive.archive_files import ArchiveFiles
from daemon.archive.catalogue import SegmentListing, entry_of, listing_of, newest
from daemon.archive.segment import Segment, listed
from daemon.archive.shelf import Shelf
from daemon.bus import Bus, Part, Script, load_script
from daemon.errors import ArchiveError, ArchiveMissing, brief

LIST = load_script(__file__, "list.lua")
SWAP = load_script(__file__, "swap.lua")

LISTED_SLACK = 1
"""So many segments more than are kept in a list go to its catalogue at once. With more of them a session would cost
more than its window and 2 kB: ``python -m benchmarks kept``."""

CLEARED_LOOK_S = 0.1
CLEARED_LOOKS = 100
"""Pause and number of checks whether another process still deletes files of a shelf."""

_log = structlog.get_logger()


class ShelfLists:
    """Changes the lists of all shelves of a database."""

    def __init__(self, bus: Bus, files: ArchiveFiles, *, most: int) -> None:
        """``most``: segments that are not moved to a catalogue."""
        self._bus = bus
        self._files = files
        self._most = most

    async def enter(self, shelf: Shelf, segment: Segment, raws: Sequence[bytes]) -> bytes:
        """The segment that is listed for the range of ``segment``, JSON; empty: Redis does not hold ``raws``."""
        keys, raw = self._bus.keys, listed(segment)
        ranged = f'{{"first":{segment.first},"upto":{segment.upto},'
        return await self._in_time(
            shelf,
            LIST,
            [shelf.hash_key(keys), shelf.list_key(keys), shelf.segments_key(keys), shelf.clearing_key(keys)],
            [
                segment.first,
                segment.upto,
                raw,
                ranged if shelf.is_log else f'{ranged}"kind":"{shelf.kind}",',
                hashlib.sha1(b"".join(each + b"\n" for each in raws), usedforsecurity=False).hexdigest(),
                shelf.base_field,
                "head" if shelf.is_log else "",
            ],
        )

    async def read(self, shelf: Shelf, *, every_kind: bool = False) -> tuple[SegmentListing, list[Segment]]:
        """The list and all its segments in order, of a shelf or of all shelves that share the list.

        Raises:
            ArchiveError: the list or its catalogue cannot be read.
            BusUnavailable: Redis is away.
        """
        listing = await listing_of(self._bus, shelf)
        while True:
            try:
                return listing, await self.all(listing, shelf, every_kind=every_kind)
            except ArchiveMissing:
                # Another catalogue may have taken its place.
                before, listing = listing, await listing_of(self._bus, shelf)
                if listing.raws == before.raws:
                    raise

    async def all(self, listing: SegmentListing, shelf: Shelf, *, every_kind: bool = False) -> list[Segment]:
        """All segments, in the order in which they were listed."""
        found: list[Segment] = []
        for _, catalogue in listing.catalogues:
            found += await self._files.load_catalogue(shelf, catalogue)
        found += [segment for _, segment in listing.entries]
        return newest([segment for segment in found if every_kind or segment.kind == shelf.kind])

    async def all_or_none(self, listing: SegmentListing, shelf: Shelf) -> list[Segment]:
        """All segments of all kinds, except those of an unreadable catalogue, which will be deleted."""
        try:
            return await self.all(listing, shelf, every_kind=True)
        except ArchiveError as error:
            if not shelf.is_log:
                raise
            _log.warning("archive.unreadable", reason=brief(error))
            return [segment for _, segment in listing.entries]

    async def swap(self, shelf: Shelf, new: bytes, old: Sequence[bytes]) -> bool:
        """Replace the entries ``old`` with ``new`` or with nothing; False if ``old`` is not listed."""
        keys = self._bus.keys
        status = await self._in_time(shelf, SWAP, [shelf.segments_key(keys), shelf.clearing_key(keys)], [new, *old])
        return status == b"done"

    async def shorten(self, shelf: Shelf) -> None:
        """Move the older segments of a long list to its catalogue."""
        listing = await listing_of(self._bus, shelf)
        if len(listing.entries) <= self._most + LISTED_SLACK and len(listing.catalogues) <= 1:
            return
        listing, every = await self.read(shelf, every_kind=True)
        moved = listing.entries[: max(0, len(listing.entries) - self._most)]
        kept = {segment for _, segment in listing.entries[len(moved) :]}
        catalogue = await self._files.store_catalogue(shelf, [segment for segment in every if segment not in kept])
        replaced = [raw for raw, _ in listing.catalogues] + [raw for raw, _ in moved]
        # The catalogue before stays until it is old: a failover may bring back the list that names it.
        await self.swap(shelf, entry_of(catalogue), replaced)

    async def replaced(self, shelf: Shelf, changes: Mapping[Segment, Segment]) -> set[Segment]:
        """List the values in the place of the keys; returns the values that are listed now.

        The catalogue is written once for all of them.
        """
        listing, new, done = await listing_of(self._bus, shelf), set(changes.values()), set[Segment]()
        for raw, segment in listing.entries:
            if segment in new:
                done.add(segment)
            elif segment in changes and await self.swap(shelf, listed(changes[segment]), [raw]):
                done.add(changes[segment])
        for raw, catalogue in listing.catalogues:
            inside = await self._files.load_catalogue(shelf, catalogue)
            after = [changes.get(segment, segment) for segment in inside]
            if after == inside or await self.swap(
                shelf, entry_of(await self._files.store_catalogue(shelf, after)), [raw]
            ):
                done |= new.intersection(after)
        return done

    async def _in_time(self, shelf: Shelf, script: Script, keys: Sequence[str], args: Sequence[Part]) -> bytes:
        """The result of a script, once no process deletes files of the shelf."""
        for _ in range(CLEARED_LOOKS):
            found: bytes = await self._bus.run(script, keys, args)
            if found != b"busy":
                return found
            await anyio.sleep(CLEARED_LOOK_S)
        raise ArchiveError(f"{shelf.label}: another process is deleting unused archive files. Try again in a minute.")
