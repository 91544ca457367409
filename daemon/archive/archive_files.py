"""Segments and catalogues as files of one storage: none is ever overwritten by another, or taken for another."""

import hashlib
import re
from collections.abc import Callable
from typing import TypeVar

import anyio
import msgspec
from anyio import to_thread

from daemon.archive.catalogue import Catalogue, catalogue_of, catalogued
from daemon.archive.marker import KnownArchive, Marker, marked, marker_in, note, noted, unmounted
from daemon.archive.segment import ENDING, PACKED_EXTRA_BYTES, Segment, is_of, packed, raws_of, unpacked
from daemon.archive.shelf import Shelf
from daemon.archive.storage import Storage
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.errors import ArchiveError, ArchiveMissing, ArchiveUnavailable

REWRITTEN_MAX_BYTES = 256 * 1024 * 1024
"""Of lines whose length nothing says."""

INLINE_BYTES = 65_536
"""So much is packed in about a millisecond; more is packed in a thread."""

_MARKED = re.compile(r"~[0-9a-f]{8}\Z")

_T = TypeVar("_T")


class ArchiveFiles:
    """The files of the archive that this process uses."""

    def __init__(self, bus: Bus, storage: Storage, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self.storage = storage
        self._marker: Marker | None = None
        self._opening = anyio.Lock()

    async def opened(self) -> Marker:
        """Which archive this is; from the first call on it is marked, and noted in Redis.

        Raises:
            ArchiveError: the storage cannot be used.
            BusUnavailable: Redis is away.
        """
        async with self._opening:
            if self._marker is None:
                marker = await marked(self.storage, self._bus)
                await note(self.storage, self._bus, self._clock, marker.archive)
                self._marker = marker
        return self._marker

    async def present(self) -> Marker:
        """The same, read again: to be called before records leave Redis, and before files are written or deleted.

        A mount may have been lost since the last call; files would then go into the folder below the mount, or seem to
        be deleted.

        Raises:
            ArchiveUnavailable: this archive is not there.
            ArchiveError, BusUnavailable: as for ``opened``.
        """
        marker = await self.opened()
        found = await marker_in(self.storage)
        if found is None or found.archive != marker.archive:
            raise ArchiveUnavailable(unmounted(self.storage))
        return marker

    async def known(self) -> dict[str, KnownArchive]:
        """Every archive of this database, with this one."""
        marker = await self.opened()
        found = await noted(self._bus)
        if marker.archive not in found:  # the database was set back, or emptied
            await note(self.storage, self._bus, self._clock, marker.archive)
            found = await noted(self._bus)
        return found

    async def store(self, segment: Segment, lines: bytes) -> Segment:
        """Write a segment's file unless it exists; returns the segment with its current name."""
        content = await _aside(len(lines), lambda: packed(lines))
        for named in (segment, msgspec.structs.replace(segment, name=segment.other_name)):
            if await self.storage.create(named.place, content):
                return named
            there = await self._lines(named.place, len(lines))
            if there == lines:
                return named
            if there is None:
                # Spoilt, or deleted just now.
                await self.storage.put(named.place, content)
                return named
            # After a failover that lost messages the same range holds others; these may be the last copy of the old.
        raise ArchiveError(
            f"{self.storage.where}/{named.place} does not contain the messages given in its file name. Move "
            "the "
            "file away."
        )

    async def store_anew(self, segment: Segment, lines: bytes) -> Segment:
        """Write a segment's file under a name that has a part of its checksum."""
        named = msgspec.structs.replace(segment, name=segment.other_name)
        await self.storage.put(named.place, await _aside(len(lines), lambda: packed(lines)))
        return named

    async def load(self, segment: Segment) -> list[bytes]:
        """The records of a segment, as Redis held them.

        Raises:
            ArchiveMissing: there is no such file, or it does not hold what was archived.
            ArchiveError: the storage cannot be used, or it lies in another archive.
        """
        await self._check_here(
            segment.archive, f"messages {segment.first} to {segment.upto - 1} of {segment.shelf.label}"
        )
        try:
            lines = await self._lines_or_raise(segment.place, segment.bytes)
        except ArchiveMissing:
            if (rewritten := await self._rewritten(segment)) is None:
                raise
            return rewritten
        if lines is None or not await _aside(segment.bytes, lambda: is_of(segment, lines)):
            reason = "the file cannot be decompressed" if lines is None else "the checksum of the file does not match"
            raise ArchiveMissing(
                f"{self.storage.where}/{segment.place} is damaged ({reason}): messages {segment.first} to "
                f"{segment.upto - 1} of {segment.shelf.label} cannot be read from it. Restore the file "
                "from a backup."
            )
        return raws_of(lines)

    async def store_catalogue(self, shelf: Shelf, segments: list[Segment]) -> Catalogue:
        """Write a catalogue's file."""
        marker = await self.present()
        catalogue, lines = catalogue_of(segments, archive=marker.archive)
        await self.storage.put(f"{shelf.folder}/{catalogue.catalogue}", await _aside(len(lines), lambda: packed(lines)))
        return catalogue

    async def load_catalogue(self, shelf: Shelf, catalogue: Catalogue) -> list[Segment]:
        """The segments of a catalogue. Errors as for ``load``."""
        await self._check_here(catalogue.archive, f"the catalogue of {shelf.label}")
        place = f"{shelf.folder}/{catalogue.catalogue}"
        where = f"{self.storage.where}/{place}"
        try:
            lines = await self._lines_or_raise(place, catalogue.bytes)
        except ArchiveMissing:
            if (lines := await self._grown(shelf, catalogue)) is None:
                raise
        if lines is None or hashlib.sha256(lines).hexdigest() != catalogue.checksum:
            raise ArchiveError(
                f"{where}: this file, which lists older archive files for {shelf.label}, was changed after Millpond "
                "wrote it. Restore the file from a backup."
            )
        return list(catalogued(lines, shelf.owner, where=where))

    async def _rewritten(self, segment: Segment) -> list[bytes] | None:
        """The newer file of a segment whose list a failover has set back; the name proves that it is complete."""
        stem, found = f"{_MARKED.sub('', segment.place.removesuffix(ENDING))}~", None
        for stored in sorted(await self.storage.list(segment.shelf.folder), key=lambda stored: stored.modified_s):
            if not stored.name.startswith(stem):
                continue
            lines = await self._lines(stored.name, REWRITTEN_MAX_BYTES)
            checksum = hashlib.sha256(lines or b"").hexdigest()
            if lines and stored.name == f"{stem}{checksum[:8]}{ENDING}" and lines.count(b"\n") == segment.count:
                found = raws_of(lines)
        return found

    async def _grown(self, shelf: Shelf, catalogue: Catalogue) -> bytes | None:
        """The lines of a catalogue that was deleted because a newer one begins with them; None if none does."""
        for stored in await self.storage.list(shelf.folder):
            if stored.name.rpartition("/")[2].startswith("catalogue_"):
                lines = (await self._lines(stored.name, REWRITTEN_MAX_BYTES) or b"")[: catalogue.bytes]
                if hashlib.sha256(lines).hexdigest() == catalogue.checksum:
                    return lines
        return None

    async def _check_here(self, archive: str, what: str) -> None:
        marker = self._marker or await marker_in(self.storage)
        if not archive or (marker and archive == marker.archive):
            return
        lies = (await noted(self._bus)).get(archive)
        if lies and lies.is_at(self.storage):
            raise ArchiveUnavailable(unmounted(self.storage))
        told = lies.told if lies else "an unused archive"
        raise ArchiveError(
            f"{what}: the data is archived in {told} ({archive}), but this process uses another archive "
            f"({self.storage.where}). Set the same archive.url in all "
            "processes."
        )

    async def _lines(self, place: str, size: int) -> bytes | None:
        """Like ``_lines_or_raise``, but None for a missing file and nothing for an unusable one."""
        try:
            return await self._lines_or_raise(place, size)
        except ArchiveMissing:
            return None
        except ArchiveError:
            return b""

    async def _lines_or_raise(self, place: str, size: int) -> bytes | None:
        """The decompressed contents, at most one byte more than ``size``; None if decompression fails."""
        try:
            content = await self.storage.get(place, max_bytes=size + size // 100 + PACKED_EXTRA_BYTES)
        except ArchiveMissing as error:
            if self._marker is None or await marker_in(self.storage) is not None:
                raise
            raise ArchiveUnavailable(unmounted(self.storage)) from error
        return await _aside(size, lambda: unpacked(content, size))


async def _aside(size: int, work: Callable[[], _T]) -> _T:
    """The result of ``work`` on so many bytes; run in a thread if it takes long."""
    return work() if size <= INLINE_BYTES else await to_thread.run_sync(work)
