"""Writing what is old to the archive, reading it back, and letting it leave Redis."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from daemon.archive.catalogue import entry_of, newest
from daemon.archive.cover import Piece, cover, gaps, spelled
from daemon.archive.files import ArchiveFiles
from daemon.archive.listing import Listing, listing_of
from daemon.archive.marker import Permission, permission
from daemon.archive.places import storage_of
from daemon.archive.segment import Segment, lines_of, listed, raws_of, segment_from, segment_of
from daemon.archive.shelf import Shelf
from daemon.archive.storage import Storage
from daemon.bus import Bus, load_script
from daemon.clock import Clock, SystemClock, stamp
from daemon.config import ArchiveConfig
from daemon.errors import ArchiveError, ArchiveMissing

LIST = load_script(__file__, "list.lua")
SWAP = load_script(__file__, "swap.lua")
TRIM = load_script(__file__, "trim.lua")

LISTED_SLACK = 1
"""So many segments more than are kept in a list go to its catalogue at once. With more of them a session would cost
more than its window and 2 kB: ``python -m benchmarks kept``."""

GAP_MAX = 500
"""Messages in a segment that is written only so that they can leave Redis."""

TRIES = 5
"""How often somebody who changes the same list at the same time is made way for."""

_log = structlog.get_logger()


class Archive:
    """What is archived of one database, as far as this process' storage holds it."""

    def __init__(
        self,
        bus: Bus,
        data_dir: Path,
        *,
        config: ArchiveConfig | None = None,
        clock: Clock | None = None,
        storage: Storage | None = None,
    ) -> None:
        """Nothing is touched before it is used.

        Args:
            bus: of the database.
            data_dir: below it lies the local archive, ``transcripts``, unless ``config`` names another place.
            config: where it lies.
            clock: for the times of segments.
            storage: instead of the one that ``config`` names.
        """
        self.config = config or ArchiveConfig()
        self._bus = bus
        self._clock = clock or SystemClock()
        self.storage = storage or storage_of(self.config, data_dir)
        self.files = ArchiveFiles(bus, self.storage, self._clock)
        self.is_failing = False
        """The storage did not take what was last written."""
        self._told = ""

    async def write(self, shelf: Shelf | str, first: int, raws: Sequence[bytes]) -> Segment:
        """Archive ``raws``, what Redis holds of ``shelf`` from index ``first`` on; doing so again changes nothing.

        When this returns, the file is durable and the segment is listed. A text names the log of that session.

        Raises:
            ArchiveError: the file was not written, or Redis does not hold these messages: nothing is listed.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        shelf = _shelf(shelf)
        if not raws:
            raise ValueError(f"{shelf.what}: there is nothing to be archived")
        self.is_failing = True  # until it is written
        marker = await self.files.opened()
        segment = segment_of(shelf, first, raws, time=stamp(self._clock.now()), archive=marker.archive)
        stored = await self.files.store(segment, lines_of(raws))
        self.is_failing = False
        found = await self._list(shelf, stored, raws)
        if not found:
            raise ArchiveError(
                f"{shelf.what}: Redis does not hold messages {first} to {stored.upto - 1} as they were archived (it "
                f"was set back, or somebody changed them); {self.storage.where}/{stored.place} is not listed"
            )
        return segment_from(found, shelf.owner)

    async def segments(self, shelf: Shelf | str) -> list[Segment]:
        """All that was archived of a shelf, in order of the messages.

        Raises:
            ArchiveError: the list in Redis or its catalogue cannot be read.
            BusUnavailable: Redis is away.
        """
        found = await self._all(await listing_of(self._bus, _shelf(shelf)), _shelf(shelf))
        return sorted(found, key=lambda segment: (segment.first, segment.upto))

    async def read(self, segment: Segment) -> list[bytes]:
        """What a segment holds, each as Redis held it.

        Raises:
            ArchiveMissing: the file is not there.
            ArchiveError: it cannot be read, lies in another archive, or does not hold what was archived.
        """
        return await self.files.load(segment)

    async def read_range(self, shelf: Shelf | str, first: int, upto: int) -> list[bytes]:
        """What is archived from index ``first`` to ``upto`` (exclusive), each as Redis held it.

        Raises:
            ArchiveMissing: a part of it is nowhere; the text says which.
            ArchiveError: a part of it cannot be read.
            BusUnavailable: Redis is away.
        """
        shelf, failure, found = _shelf(shelf), None, dict[Segment, list[bytes]]()
        listing = await listing_of(self._bus, shelf)
        known, is_whole = listing.of(shelf), not listing.catalogues
        while True:
            pieces = cover(known, first, upto)
            if (missing := gaps(pieces)) and not is_whole:
                known, is_whole = await self._all(listing, shelf), True
                continue
            if missing:
                raise failure or ArchiveMissing(
                    f"{shelf.what}: messages {spelled(missing)} are in no listed segment of the archive"
                )
            try:
                return await self._joined(pieces, found)
            except ArchiveError as error:
                # Another segment may hold the same messages.
                failure = failure or error
                known = [segment for segment in known if segment not in found or found[segment]]

    async def permission(self) -> Permission:
        """Whether what is archived may leave Redis. Errors as for ``write``."""
        known, marker = await self.files.known(), await self.files.opened()
        return permission(marker.archive, known, key=self._bus.keys.archives)

    async def trim(self, shelf: Shelf | str, upto: int) -> int:
        """Let what is archived before index ``upto`` leave Redis; the index of the first that Redis holds then.

        What is still needed stays (``trim.lua``), and everything when other processes could not read it back. Each
        segment is read back and compared first; what is in no segment of this archive is written to one.

        Raises:
            ArchiveError: the storage cannot be used; what was not trimmed is still in Redis.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        shelf = _shelf(shelf)
        base, limit = await self._bounds(shelf)
        if min(limit, upto) <= base or not await self._may_trim():
            return base
        for _ in range(TRIES):
            listing = await listing_of(self._bus, shelf)
            sure = await self._verified(shelf, listing, base, min(limit, upto))
            status, base = await self._bus.run(
                TRIM,
                [
                    shelf.hash_key(self._bus.keys),
                    shelf.list_key(self._bus.keys),
                    shelf.segments_key(self._bus.keys),
                    shelf.guard_key(self._bus.keys),
                ],
                [sure, shelf.kind, listing.digest, shelf.base_field],
            )
            if status == b"done" and sure >= min(limit, upto):
                break
        await self._shorten(shelf)
        return int(base)

    async def rewrite(self, segment: Segment, raws: Sequence[bytes]) -> Segment:
        """Put ``raws`` in the place of what a segment holds: a new file, listed in its stead, and the old one deleted.

        Raises:
            ValueError: they are more or fewer.
            ArchiveError: the new file was not written, or the segment is not listed any more; the old one is as it was.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        if len(raws) != segment.upto - segment.first:
            raise ValueError(f"{segment.name} holds {segment.upto - segment.first} messages, not {len(raws)}")
        marker = await self.files.opened()
        lines = lines_of(raws)
        new = segment_of(segment.shelf, segment.first, raws, time=segment.time, archive=marker.archive)
        if new.checksum == segment.checksum:
            return segment
        new = await self.files.store_anew(new, lines)
        for _ in range(TRIES):
            if await self._replaced(segment, new):
                await self.storage.delete(segment.place)
                return new
        await self.storage.delete(new.place)
        raise ArchiveError(
            f"{segment.shelf.what}: {segment.name} is not listed any more, or its list changes all the time; look again"
        )

    async def drop(self, shelf: Shelf | str) -> None:
        """Forget all that was archived of a shelf: what is listed, and every file, listed or not.

        What Redis itself still holds is somebody else's to remove, before: else it could be archived again.

        Raises:
            ArchiveError: the storage cannot be used; a part may be left, and the same call may be made again.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        shelf = _shelf(shelf)
        for _ in range(TRIES):
            listing = await listing_of(self._bus, shelf)
            others = [each for each in await self._all_or_none(listing, shelf) if each.kind != shelf.kind]
            gone = [raw for raw, _ in listing.catalogues]
            gone += [raw for raw, segment in listing.entries if segment.kind == shelf.kind]
            itself = {segment for _, segment in listing.entries}
            kept = [each for each in others if each not in itself]
            entry = entry_of(await self.files.store_catalogue(shelf, kept)) if kept else b""
            if not gone or await self._swap(shelf, entry, gone):
                break
        else:
            raise ArchiveError(f"{shelf.what}: the list of its segments changes all the time; forget it again")
        for stored in await self.storage.list(shelf.folder):
            name = stored.name.rpartition("/")[2]
            if name.startswith(f"{shelf.word}_") or (not others and name.startswith("catalogue_")):
                await self.storage.delete(stored.name)
        for _, catalogue in listing.catalogues:
            await self.storage.delete(f"{shelf.folder}/{catalogue.catalogue}")

    # What these are made of

    async def _list(self, shelf: Shelf, segment: Segment, raws: Sequence[bytes]) -> bytes:
        keys, raw = self._bus.keys, listed(segment)
        ranged = f'{{"first":{segment.first},"upto":{segment.upto},'
        found: bytes = await self._bus.run(
            LIST,
            [shelf.hash_key(keys), shelf.list_key(keys), shelf.segments_key(keys)],
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
        return found

    async def _swap(self, shelf: Shelf, new: bytes, old: Sequence[bytes]) -> bool:
        return bool(await self._bus.run(SWAP, [shelf.segments_key(self._bus.keys)], [new, *old]) == b"done")

    async def _all(self, listing: Listing, shelf: Shelf, *, every_kind: bool = False) -> list[Segment]:
        """All segments, in the order in which they were listed."""
        found: list[Segment] = []
        for _, catalogue in listing.catalogues:
            found += await self.files.load_catalogue(shelf, catalogue)
        found += [segment for _, segment in listing.entries]
        return newest([segment for segment in found if every_kind or segment.kind == shelf.kind])

    async def _all_or_none(self, listing: Listing, shelf: Shelf) -> list[Segment]:
        """All segments of all kinds; without those of a catalogue that cannot be read, which is to go."""
        try:
            return await self._all(listing, shelf, every_kind=True)
        except ArchiveError as error:
            if not shelf.is_log:
                raise
            _log.warning("archive.unreadable", reason=str(error))
            return [segment for _, segment in listing.entries]

    async def _joined(self, pieces: Sequence[Piece], found: dict[Segment, list[bytes]]) -> list[bytes]:
        """What the pieces hold; ``found`` keeps what was read, and nothing for what could not be."""
        joined: list[bytes] = []
        for piece in pieces:
            if piece.segment is None:
                continue
            if not found.get(piece.segment):
                found[piece.segment] = []
                found[piece.segment] = await self.files.load(piece.segment)
            joined += found[piece.segment][piece.first - piece.segment.first : piece.upto - piece.segment.first]
        return joined

    async def _bounds(self, shelf: Shelf) -> tuple[int, int]:
        """The index of the first that Redis holds, and one past the last that could be trimmed."""
        keys = self._bus.keys
        fields = await self._bus.call("HMGET", shelf.hash_key(keys), shelf.base_field, "cursor", "unflushed")
        base, cursor = (int(value or 0) for value in fields[:2])
        if not shelf.is_log:
            return base, base + int(await self._bus.call("LLEN", shelf.list_key(keys)))
        unflushed = (fields[2] or b"").partition(b" ")[0]
        return base, min(cursor, int(unflushed or cursor))

    async def _may_trim(self) -> bool:
        allowed = await self.permission()
        if not allowed.is_granted and self._told != allowed.why:
            self._told = allowed.why
            _log.warning("archive.untrimmed", reason=allowed.why)
        return allowed.is_granted

    async def _verified(self, shelf: Shelf, listing: Listing, base: int, upto: int) -> int:
        """How far what Redis holds from ``base`` on was read back from the archive; what is in none is written.

        Up to the first that had to be written: then the list is another one.
        """
        marker, keys = await self.files.opened(), self._bus.keys
        mine = [segment for segment in listing.of(shelf) if segment.archive == marker.archive]
        for piece in cover(mine, base, upto):
            first, last = piece.first, min(piece.upto, piece.first + GAP_MAX) if not piece.segment else piece.upto
            held = await self._bus.call("LRANGE", shelf.list_key(keys), first - base, last - 1 - base)
            if piece.segment and await self._holds(piece, piece.segment, raws_of(lines_of(held))):
                continue
            if held:
                await self.write(shelf, first, held)
            return first
        return upto

    async def _holds(self, piece: Piece, segment: Segment, held: Sequence[bytes]) -> bool:
        """Whether the segment of a piece can be read back, and holds the same as Redis."""
        with suppress(ArchiveError):
            return (await self.files.load(segment))[piece.first - segment.first : piece.upto - segment.first] == held
        return False

    async def _shorten(self, shelf: Shelf) -> None:
        """Move the older segments of a list to its catalogue, when there are too many."""
        listing = await listing_of(self._bus, shelf)
        most = self.config.segments_listed
        if len(listing.entries) <= most + LISTED_SLACK and len(listing.catalogues) <= 1:
            return
        moved = listing.entries[: len(listing.entries) - most]
        old = [
            segment
            for _, catalogue in listing.catalogues
            for segment in await self.files.load_catalogue(shelf, catalogue)
        ]
        catalogue = await self.files.store_catalogue(shelf, newest([*old, *(segment for _, segment in moved)]))
        replaced = [raw for raw, _ in listing.catalogues] + [raw for raw, _ in moved]
        if await self._swap(shelf, entry_of(catalogue), replaced):
            for _, before in listing.catalogues:
                if before.catalogue != catalogue.catalogue:
                    await self.storage.delete(f"{shelf.folder}/{before.catalogue}")

    async def _replaced(self, old: Segment, new: Segment) -> bool:
        """Whether ``new`` stands in the list where ``old`` did, or in the catalogue."""
        shelf = old.shelf
        listing = await listing_of(self._bus, shelf)
        for raw, segment in listing.entries:
            if segment == new:
                return True
            if segment == old:
                return await self._swap(shelf, listed(new), [raw])
        for raw, catalogue in listing.catalogues:
            inside = await self.files.load_catalogue(shelf, catalogue)
            if new in inside:
                return True
            if old in inside:
                changed = [new if segment == old else segment for segment in inside]
                entry = entry_of(await self.files.store_catalogue(shelf, changed))
                if await self._swap(shelf, entry, [raw]):
                    await self.storage.delete(f"{shelf.folder}/{catalogue.catalogue}")
                    return True
                return False
        return False


def _shelf(shelf: Shelf | str) -> Shelf:
    return Shelf.log(shelf) if isinstance(shelf, str) else shelf
