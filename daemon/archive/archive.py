"""Moving old messages to the archive, reading them back, and removing them from Redis."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from daemon.archive.archive_breaker import ArchiveBreaker
from daemon.archive.archive_files import ArchiveFiles
from daemon.archive.catalogue import SegmentListing, entry_of, listing_of
from daemon.archive.marker import Permission, permission
from daemon.archive.orphans import COLLECT_EVERY_S, OrphanReport, Orphans
from daemon.archive.segment import Piece, Segment, cover, gaps, lines_of, raws_of, segment_from, segment_of, spelled
from daemon.archive.shelf import Shelf
from daemon.archive.shelf_lists import ShelfLists
from daemon.archive.storage import CALLS, Storage
from daemon.archive.storage_factory import storage_of
from daemon.bus import Bus, load_script
from daemon.clock import Clock, SystemClock, stamp
from daemon.concurrency import at_once
from daemon.config import ArchiveConfig
from daemon.errors import ArchiveError, ArchiveMissing

EXPIRE = load_script(__file__, "expire.lua")
TRIM = load_script(__file__, "trim.lua")

GAP_MAX = 500
"""Messages in a segment that is written only so that they can leave Redis."""

TRIES = 5
"""Number of retries after other processes changed the same list at the same time."""

_log = structlog.get_logger()


class Archive:
    """The archive of one database, as far as this process' storage holds it."""

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
        self.storage = ArchiveBreaker(storage or storage_of(self.config, data_dir), self._clock)
        self.files = ArchiveFiles(bus, self.storage, self._clock)
        self._lists = ShelfLists(bus, self.files, most=self.config.segments_listed)
        self.orphans = Orphans(bus, self.files, self._clock, older_s=self.config.orphan_after_s)
        self.is_failing = False
        """The last write to the storage failed."""
        self._told = ""

    async def write(self, shelf: Shelf | str, first: int, raws: Sequence[bytes]) -> Segment:
        """Archive ``raws``, the records of ``shelf`` in Redis from index ``first`` on. A repeated call changes nothing.

        When this returns, the file is durable and the segment is listed. A text names the log of that session.

        Raises:
            ArchiveError: the file was not written, or Redis does not hold these messages: nothing is listed.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        shelf = _shelf(shelf)
        if not raws:
            raise ValueError(f"{shelf.label}: there are no messages to archive")
        self.is_failing = True  # until it is written
        marker = await self.files.present()
        segment = segment_of(shelf, first, raws, time=stamp(self._clock.now()), archive=marker.archive)
        stored = await self.files.store(segment, lines_of(raws))
        self.is_failing = False
        found = await self._lists.enter(shelf, stored, raws)
        if not found:
            raise ArchiveError(
                f"{shelf.label}: messages {first} to {stored.upto - 1} in Redis differ from the archived messages. "
                "Redis was restored to an older state, or its data was changed by hand. "
                f"The file {self.storage.where}/{stored.place} was not added to the list of archive files."
            )
        return segment_from(found, shelf.owner)

    async def segments(self, shelf: Shelf | str) -> list[Segment]:
        """All that was archived of a shelf, in order of the messages.

        Raises:
            ArchiveError: the list in Redis or its catalogue cannot be read.
            BusUnavailable: Redis is away.
        """
        _, found = await self._lists.read(_shelf(shelf))
        return sorted(found, key=lambda segment: (segment.first, segment.upto))

    async def read(self, segment: Segment) -> list[bytes]:
        """The records of a segment, as Redis held them.

        Raises:
            ArchiveMissing: the file is not there, or does not hold what was archived.
            ArchiveError: the storage cannot be used, or it lies in another archive.
        """
        return await self.files.load(segment)

    async def read_range(self, shelf: Shelf | str, first: int, upto: int) -> list[bytes]:
        """The archived records from index ``first`` to ``upto`` (exclusive), as Redis held them.

        Raises:
            ArchiveMissing: a part of it is nowhere; the text says which.
            ArchiveError: a part of it cannot be read.
            BusUnavailable: Redis is away.
        """
        shelf = _shelf(shelf)
        while True:
            listing = await listing_of(self._bus, shelf)
            try:
                return await self._range(shelf, listing, first, upto)
            except ArchiveError:
                # What was listed may have been rewritten, and its file be gone.
                if (await listing_of(self._bus, shelf)).raws == listing.raws:
                    raise

    async def _range(self, shelf: Shelf, listing: SegmentListing, first: int, upto: int) -> list[bytes]:
        failure, found = None, dict[Segment, list[bytes]]()
        known, is_whole = listing.of(shelf), not listing.catalogues
        while True:
            pieces = cover(known, first, upto)
            if (missing := gaps(pieces)) and not is_whole:
                known, is_whole = await self._lists.all(listing, shelf), True
                continue
            if missing:
                raise failure or ArchiveMissing(
                    f"{shelf.label}: messages {spelled(missing)} were not found in any listed archive file. Restore "
                    "the list of archive files from a backup."
                )
            try:
                return await self._joined(pieces, found)
            except ArchiveError as error:
                # Another segment may hold the same messages.
                failure = failure or error
                known = [segment for segment in known if segment not in found or found[segment]]

    async def permission(self) -> Permission:
        """Whether archived records may leave Redis. Errors as for ``write``."""
        known, marker = await self.files.known(), await self.files.opened()
        return permission(marker.archive, known, key=self._bus.keys.archives)

    async def trim(self, shelf: Shelf | str, upto: int) -> int:
        """Remove archived records before index ``upto`` from Redis; returns the index of the first one that stays.

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
            await self.files.present()
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
        await self._lists.shorten(shelf)
        return int(base)

    async def rewrite(self, contents: Mapping[Segment, Sequence[bytes]]) -> list[Segment]:
        """Replace the contents of segments of one shelf: write and list new files, and delete the old ones.

        Raises:
            ValueError: a segment has more or fewer records.
            ArchiveError: a new file was not written, or a segment is not listed any more; that one is as it was.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        for segment, raws in contents.items():
            if len(raws) != segment.count:
                raise ValueError(f"{segment.name} holds {segment.count} messages, not {len(raws)}")
        stored = await at_once(list(contents.items()), lambda content: self._stored_anew(*content), most=CALLS)
        left: dict[Segment, Segment] = {old: new for old, new in zip(contents, stored, strict=True) if old != new}
        for _ in range(TRIES):
            if not left:
                break
            done = await self._lists.replaced(next(iter(left)).shelf, left)
            await self.storage.delete(*(old.place for old, new in left.items() if new in done))
            left = {old: new for old, new in left.items() if new not in done}
        await self.storage.delete(*(new.place for new in left.values()))
        for segment in left:
            raise ArchiveError(
                f"{segment.shelf.label}: the archive file {segment.name} is no longer listed, or the list of archive "
                "files keeps changing. Try again."
            )
        return stored

    async def _stored_anew(self, segment: Segment, raws: Sequence[bytes]) -> Segment:
        """The segment with other contents, whose file is written but not listed."""
        marker, lines = await self.files.present(), lines_of(raws)
        new = segment_of(segment.shelf, segment.first, raws, time=segment.time, archive=marker.archive)
        return segment if new.checksum == segment.checksum else await self.files.store_anew(new, lines)

    async def drop(self, shelf: Shelf | str) -> None:
        """Delete the whole archive of a shelf: its list, and every file, listed or not.

        What Redis itself still holds is somebody else's to remove, before: else it could be archived again.

        Raises:
            ArchiveError: the storage cannot be used; a part may be left, and the same call may be made again.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        shelf = _shelf(shelf)
        for _ in range(TRIES):
            listing = await listing_of(self._bus, shelf)
            if listing.raws:
                await self.files.present()
            others = [each for each in await self._lists.all_or_none(listing, shelf) if each.kind != shelf.kind]
            gone = [raw for raw, _ in listing.catalogues]
            gone += [raw for raw, segment in listing.entries if segment.kind == shelf.kind]
            itself = {segment for _, segment in listing.entries}
            kept = [each for each in others if each not in itself]
            entry = entry_of(await self.files.store_catalogue(shelf, kept)) if kept else b""
            if not gone or await self._lists.swap(shelf, entry, gone):
                break
        else:
            raise ArchiveError(
                f"{shelf.label}: the list of archive files keeps changing. Start the deletion again in a moment."
            )
        words = (f"{shelf.word}_",) if others else (f"{shelf.word}_", "catalogue_")
        names = [stored.name for stored in await self.storage.list(shelf.folder)]
        await self.storage.delete(*(name for name in names if name.rpartition("/")[2].startswith(words)))
        await self.storage.delete(*(f"{shelf.folder}/{catalogue.catalogue}" for _, catalogue in listing.catalogues))

    async def expire(self, session: str, *, before: str) -> int:
        """Delete the oldest segments of a log that were archived before a time (ISO 8601, UTC); how many.

        The session begins behind them from then on. Errors as for ``drop``.
        """
        shelf, upto = Shelf.log(session), 0
        for segment in await self.segments(shelf):
            if segment.time >= before:
                break
            upto = max(upto, segment.upto)
        if not upto:
            return 0
        await self.files.present()
        begins = int(await self._bus.run(EXPIRE, [self._bus.keys.session(session)], [upto]))
        for _ in range(TRIES):
            listing, every = await self._lists.read(shelf)
            gone = [segment for segment in every if segment.upto <= begins and segment.time < before]
            itself = {segment: raw for raw, segment in listing.entries}
            kept = [segment for segment in every if segment not in gone and segment not in itself]
            old = [raw for raw, _ in listing.catalogues] + [itself[segment] for segment in gone if segment in itself]
            entry = entry_of(await self.files.store_catalogue(shelf, kept)) if kept else b""
            if not gone or await self._lists.swap(shelf, entry, old):
                break
        else:
            return 0  # the list changes all the time; the next pass finds them again
        await self.storage.delete(*(segment.place for segment in gone))
        return len(gone)

    async def collect(self) -> OrphanReport:
        """Delete files that nothing lists, of so many folders; once an hour in all processes together.

        Raises:
            ArchiveError: the storage cannot be used.
            BusUnavailable: Redis is away.
        """
        taken = await self._bus.call("SET", self._bus.keys.collecting, "1", "NX", "PX", round(COLLECT_EVERY_S * 1000))
        return await self.orphans.look(delete=True) if taken else OrphanReport()

    async def scrap(self, shelf: Shelf | str) -> list[str]:
        """Delete every unlisted file of a shelf, even a new one. No process may be archiving the shelf.

        Errors as for ``collect``.
        """
        return await self.orphans.delete(_shelf(shelf), older_s=0.0)

    # What these are made of

    async def _joined(self, pieces: Sequence[Piece], found: dict[Segment, list[bytes]]) -> list[bytes]:
        """The records of the pieces; ``found`` keeps the readable ones."""
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

    async def _verified(self, shelf: Shelf, listing: SegmentListing, base: int, upto: int) -> int:
        """The end of the records in Redis from ``base`` on that are archived and readable; missing ones are written.

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


def _shelf(shelf: Shelf | str) -> Shelf:
    return Shelf.log(shelf) if isinstance(shelf, str) else shelf
