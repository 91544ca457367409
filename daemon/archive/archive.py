"""Writing what was consolidated to the archive, and reading it back."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from anyio import CapacityLimiter, to_thread

from daemon.archive.segment import FOLDER, Segment, lines_of, load, segment_of, store
from daemon.bus import Bus, load_script
from daemon.clock import Clock, SystemClock, stamp
from daemon.errors import ArchiveError
from daemon.scope import folder_of

LIST = load_script(__file__, "list.lua")

DISK_LIMIT_S = 30.0
"""How long is waited for a disk; a file system that hangs must not hold a lock for ever."""

THREADS = 4
"""What hangs holds up so many calls of the archive, and nothing else of the process."""

_T = TypeVar("_T")
_decode = msgspec.json.Decoder(Segment).decode
_encode = msgspec.json.Encoder().encode


class Archive:
    """The transcripts of one data directory, as one database lists them."""

    def __init__(self, bus: Bus, data_dir: Path, *, clock: Clock | None = None) -> None:
        self._bus = bus
        self._data_dir = data_dir
        self._clock = clock or SystemClock()
        self._threads = CapacityLimiter(THREADS)
        self.is_failing = False
        """The disk did not take what was last written."""

    async def write(self, session: str, first: int, raws: Sequence[bytes]) -> Segment:
        """Archive ``raws``, the log's stored messages from index ``first`` on; doing so again changes nothing.

        When this returns, the file is on the disk and the segment is listed.

        Raises:
            ArchiveError: the file was not written, or the log does not hold these messages: nothing is listed.
            BusUnavailable: Redis is away; the same call may be made again.
        """
        if not raws:
            raise ValueError(f"session {session}: there is nothing to be archived")
        time = stamp(self._clock.now())
        self.is_failing = True  # until it is written
        stored = await self._on_disk(
            session, lambda: store(self._data_dir, segment_of(session, first, raws, time=time), lines_of(raws))
        )
        self.is_failing = False
        keys = self._bus.keys
        listed: bytes = await self._bus.run(
            LIST,
            [keys.session(session), keys.log(session), keys.segments(session)],
            [stored.first, stored.upto, _encode(stored), raws[-1]],
        )
        if not listed:
            raise ArchiveError(
                f"session {session}: its log does not hold messages {first} to {stored.upto - 1} as they were "
                f"archived (it was set back, or somebody changed it); {stored.path(self._data_dir)} is not listed"
            )
        return _decode(listed)

    async def segments(self, session: str) -> list[Segment]:
        """What was archived of a session, in order of the messages.

        Raises:
            ArchiveError: the list in Redis cannot be read.
            BusUnavailable: Redis is away.
        """
        key = self._bus.keys.segments(session)
        try:
            found = [_decode(raw) for raw in await self._bus.call("LRANGE", key, 0, -1)]
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ArchiveError(
                f"{key} holds what is no segment: {error}; look at it with `millpond redis-cli`"
            ) from error
        return sorted(found, key=lambda segment: (segment.first, segment.upto))

    async def read(self, segment: Segment) -> list[bytes]:
        """The messages of a segment, each as the log held it.

        Raises:
            ArchiveError: the file is not there, cannot be read, or does not hold what was archived.
        """
        return await self._on_disk(segment.session, lambda: load(self._data_dir, segment))

    async def _on_disk(self, session: str, work: Callable[[], _T]) -> _T:
        folder = self._data_dir / FOLDER / folder_of(session)
        try:
            with anyio.fail_after(DISK_LIMIT_S):
                return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
        except TimeoutError as error:
            raise ArchiveError(
                f"{folder}: the disk has not answered for {DISK_LIMIT_S:.0f} s; look after it"
            ) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            name = f" ({error.filename})" if error.filename else ""
            raise ArchiveError(
                f"the archive of session {session} in {folder} cannot be used: {reason}{name}; make room there, or "
                "put its rights right"
            ) from error
