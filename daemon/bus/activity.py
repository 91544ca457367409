"""The index of sessions by their last activity, which lists them for people; nothing is decided by it."""

from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog

from daemon.errors import BusError

_log = structlog.get_logger()


class Activity:
    """Notes sessions: those that come while a note is under way share the next one."""

    def __init__(self, write: Callable[[Sequence[str]], Awaitable[object]]) -> None:
        """``write`` puts sessions into the index, by the server's clock."""
        self._write = write
        self._noted: set[str] = set()
        self._asked = anyio.Event()
        self._written = anyio.Event()

    def note(self, session: str) -> anyio.Event:
        """Have a session noted soon; the event is set when that was tried."""
        self._noted.add(session)
        self._asked.set()
        return self._written

    async def run(self) -> None:
        """Write what is noted, for ever."""
        while True:
            await self._asked.wait()
            self._asked = anyio.Event()
            noted, written = self._noted, self._written
            self._noted, self._written = set(), anyio.Event()
            try:
                await self._write(sorted(noted))
            except BusError as error:  # only the list of sessions is the worse for it
                _log.debug("session.unlisted", count=len(noted), reason=str(error))
            finally:
                written.set()
