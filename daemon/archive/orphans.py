"""Orphans: files of the archive that nothing lists, left by whoever died between writing a file and listing it."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import unquote

import anyio
import msgspec
import structlog

from daemon.archive.archive_files import ArchiveFiles
from daemon.archive.catalogue import listing_of
from daemon.archive.marker import database_id, marker_in
from daemon.archive.shelf import SCOPE_FOLDER, Shelf
from daemon.archive.storage import CALLS, StoredFile
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.errors import ArchiveError, brief

FOLDERS_AT_ONCE = 1_000
"""So many folders are looked at in one pass; the next one goes on behind them."""

CLEARING_S = 25.0
"""Longest that the orphans of one shelf are deleted; the last deletion may take ``STORAGE_LIMIT_S`` more."""

CLEARING_TTL_S = 60.0

COLLECT_EVERY_S = 3_600.0

_log = structlog.get_logger()


class OrphanReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass found."""

    folders: int = 0
    orphans: tuple[str, ...] = ()
    """Names of the files."""


class Orphans:
    """Finds the orphans of one archive."""

    def __init__(self, bus: Bus, files: ArchiveFiles, clock: Clock, *, older_s: float) -> None:
        """``older_s``: a younger file may be about to be listed."""
        self._bus = bus
        self._files = files
        self._clock = clock
        self._older_s = older_s

    async def is_ours(self) -> bool:
        """Whether all that lies in the archive is of this database, so that what it does not list nobody does."""
        marker = await marker_in(self._files.storage)
        return marker is not None and bool(marker.database) and marker.database == await database_id(self._bus)

    async def of(self, shelf: Shelf, *, older_s: float | None = None) -> list[str]:
        """The orphans in the folder of a shelf; ``older_s`` 0: of any age.

        Raises:
            ArchiveError: what is listed, or what lies there, cannot be read.
            BusUnavailable: Redis is away.
        """
        age_s = self._older_s if older_s is None else older_s
        # Whatever its age, then: the storage's clock may be ahead of ours.
        before_s = self._clock.now().timestamp() - age_s if age_s else math.inf
        found = [stored for stored in await self._files.storage.list(shelf.folder) if stored.modified_s <= before_s]
        # The lists are read after the folder: a file that was listed meanwhile is no orphan.
        return await self._unlisted(shelf, found) if found else []

    async def _unlisted(self, shelf: Shelf, found: Sequence[StoredFile]) -> list[str]:
        listing = await listing_of(self._bus, shelf)
        names = {segment.place for _, segment in listing.entries}
        for _, catalogue in listing.catalogues:
            names.add(f"{shelf.folder}/{catalogue.catalogue}")
            names |= {segment.place for segment in await self._files.load_catalogue(shelf, catalogue)}
        return [stored.name for stored in found if stored.name not in names]

    async def look(self, *, delete: bool, stop: Callable[[], bool] = lambda: False) -> OrphanReport:
        """One pass over the folders of sessions and scopes that there are; with ``delete`` the orphans are deleted.

        Raises:
            ArchiveError: the storage cannot be used.
            BusUnavailable: Redis is away.
        """
        if not await self.is_ours():
            return OrphanReport()
        folders, orphans = await self._next_folders(moves=delete), list[str]()
        for folder in folders:
            if stop():
                break
            with suppress(_Unreadable):
                orphans += await self._in_folder(folder, delete=delete)
        return OrphanReport(folders=len(folders), orphans=tuple(orphans))

    async def _in_folder(self, folder: str, *, delete: bool) -> list[str]:
        shelf = await self._known(folder)
        if shelf is None:
            return []
        try:
            found = await self.of(shelf)
            # Looked at once more: another database may have begun to write here.
            if delete and found and await self.is_ours():
                return await self.delete(shelf)
        except ArchiveError as error:
            _log.warning("archive.unreadable", reason=brief(error))
            raise _Unreadable from error
        return found

    async def delete(self, shelf: Shelf, *, older_s: float | None = None) -> list[str]:
        """Delete the orphans of a shelf; meanwhile nothing of it can be listed. Errors as for ``of``."""
        key, deleted = shelf.clearing_key(self._bus.keys), list[str]()
        await self._bus.call("SET", key, "1", "PX", round(CLEARING_TTL_S * 1000))
        began = anyio.current_time()
        names = await self.of(shelf, older_s=older_s)
        for first in range(0, len(names), CALLS):
            # The rest comes with the next pass.
            if anyio.current_time() - began > CLEARING_S:
                break
            await self._files.storage.delete(*names[first : first + CALLS])
            deleted += names[first : first + CALLS]
        await self._bus.call("DEL", key)
        return deleted

    async def _next_folders(self, *, moves: bool) -> Sequence[str]:
        key = self._bus.keys.meta
        folders = await self._files.storage.folders()
        last = (await self._bus.call("HGET", key, "collected") or b"").decode()
        following = [folder for folder in folders if folder > last][:FOLDERS_AT_ONCE] if moves else folders
        if moves:
            is_end = not following or following[-1] == folders[-1]
            await self._bus.call("HSET", key, "collected", "" if is_end else following[-1])
        return following[:FOLDERS_AT_ONCE]

    async def _known(self, folder: str) -> Shelf | None:
        """Whose folder it is, when there is such a session or scope; a name that was cut short nobody knows."""
        scope = folder.removeprefix(SCOPE_FOLDER)
        owner = unquote(scope)
        shelf = Shelf.log(owner) if scope == folder else Shelf.of("history", owner)
        if not owner.strip(".") or shelf.folder != folder:
            return None
        return shelf if await self._bus.call("EXISTS", shelf.hash_key(self._bus.keys)) else None


class _Unreadable(Exception):
    """What a folder should hold cannot be told: all of it stays."""
