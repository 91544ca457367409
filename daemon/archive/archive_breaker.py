"""The circuit breaker of the archive: a storage that hangs costs one call its time, and all later calls nothing."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio
import structlog

from daemon.archive.marker import MARKER, MARKER_MAX_BYTES
from daemon.archive.storage import FILE_MAX_BYTES, Kind, Storage, StoredFile
from daemon.clock import Clock
from daemon.errors import ArchiveError, ArchiveMissing, ArchiveUnavailable, brief

SLOW_S = 1.0
"""A failure that took less time needs no breaker: the next call learns about it as soon."""

PAUSE_MIN_S, PAUSE_MAX_S = 5.0, 60.0
"""How long the storage is left alone before it is probed; twice as long after each further failure."""

_log = structlog.get_logger()
_T = TypeVar("_T")


class ArchiveBreaker:
    """A storage whose calls fail at once while it is known to hang. See ``Storage`` for its methods."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        """The breaker is closed: calls reach ``storage``."""
        self._storage = storage
        self._clock = clock
        self._opened = anyio.Event()
        self._is_open = False
        self._pause_s = PAUSE_MIN_S
        self._until = 0.0
        """When the next call may reach the storage, on the monotonic clock, if nobody probes in the background."""
        self._has_prober = False

    @property
    def kind(self) -> Kind:
        """See ``Storage``."""
        return self._storage.kind

    @property
    def where(self) -> str:
        """See ``Storage``."""
        return self._storage.where

    async def create(self, name: str, content: bytes) -> bool:
        """See ``Storage``."""
        return await self._guarded(lambda: self._storage.create(name, content))

    async def put(self, name: str, content: bytes) -> None:
        """See ``Storage``."""
        await self._guarded(lambda: self._storage.put(name, content))

    async def get(self, name: str, *, max_bytes: int = FILE_MAX_BYTES) -> bytes:
        """See ``Storage``."""
        return await self._guarded(lambda: self._storage.get(name, max_bytes=max_bytes))

    async def list(self, folder: str) -> Sequence[StoredFile]:
        """See ``Storage``."""
        return await self._guarded(lambda: self._storage.list(folder))

    async def folders(self) -> Sequence[str]:
        """See ``Storage``."""
        return await self._guarded(self._storage.folders)

    async def delete(self, *names: str) -> None:
        """See ``Storage``."""
        await self._guarded(lambda: self._storage.delete(*names))

    async def probe(self) -> None:
        """Probe the storage whenever the breaker is open, for ever, so that no other call has to."""
        self._has_prober = True
        try:
            while True:
                await self._opened.wait()
                await anyio.sleep(self._pause_s)
                try:
                    await self._measured(lambda: self._storage.get(MARKER, max_bytes=MARKER_MAX_BYTES))
                except ArchiveError as error:
                    _log.debug("archive.unavailable", reason=brief(error))
        finally:
            self._has_prober = False

    async def _guarded(self, work: Callable[[], Awaitable[_T]]) -> _T:
        if self._is_open and (self._has_prober or self._clock.monotonic() < self._until):
            raise ArchiveUnavailable(
                f"the archive in {self.where} did not respond. Millpond tries again automatically. Check the network "
                "or the disk."
            )
        # While this call finds out, others need not.
        self._until = self._clock.monotonic() + self._pause_s
        return await self._measured(work)

    async def _measured(self, work: Callable[[], Awaitable[_T]]) -> _T:
        began = self._clock.monotonic()
        try:
            result = await work()
        except ArchiveMissing:
            self._close()  # the storage has answered
            raise
        except (ArchiveUnavailable, anyio.get_cancelled_exc_class()) as error:
            # A caller that could wait no longer has learned the same.
            if self._is_open or self._clock.monotonic() - began >= SLOW_S:
                self._open(error)
            raise
        self._close()
        return result

    def _open(self, error: BaseException) -> None:
        if self._is_open:
            self._pause_s = min(2 * self._pause_s, PAUSE_MAX_S)
        else:
            reason = brief(error) if isinstance(error, ArchiveError) else "the archive did not respond in time"
            _log.warning("archive.unavailable", reason=reason)
        self._is_open = True
        self._until = self._clock.monotonic() + self._pause_s
        self._opened.set()

    def _close(self) -> None:
        if self._is_open:
            _log.info("archive.available")
            self._is_open, self._pause_s, self._opened = False, PAUSE_MIN_S, anyio.Event()
