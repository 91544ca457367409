"""The index of sessions by their last activity, which lists them for people; nothing is decided by it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog

from daemon.errors import BusError, brief

_log = structlog.get_logger()


class Activity:
    """Notes sessions: those that come while a note is under way share the next one."""

    def __init__(self, write: Callable[[Sequence[str]], Awaitable[object]]) -> None:
        """``write`` puts sessions into the index, by the server's clock."""
        self._write = write
        self._noted: set[str] = set()
        self._writing = False
        self._asked = anyio.Event()
        self._waiters: list[asyncio.Future[None]] = []

    def note(self, session: str) -> None:
        """Have a session noted soon."""
        self._noted.add(session)
        self._asked.set()

    async def noted(self, session: str) -> None:
        """Have a session noted, and wait until that was tried."""
        self.note(session)
        await self._tried()

    async def written(self) -> None:
        """Wait until all that was to be noted was tried: whoever looks at the index then sees his own sessions."""
        if self._noted or self._writing:
            await self._tried()

    async def _tried(self) -> None:
        self._asked.set()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    async def run(self) -> None:
        """Write what is noted, for ever."""
        while True:
            await self._asked.wait()
            self._asked = anyio.Event()
            noted, waiters = self._noted, self._waiters
            self._noted, self._waiters = set(), []
            self._writing = bool(noted)
            try:
                if noted:
                    await self._write(sorted(noted))
            except BusError as error:  # only the list of sessions is the worse for it
                _log.debug("session.unlisted", count=len(noted), reason=brief(error))
            finally:
                self._writing = False
                for waiter in waiters:
                    if not waiter.done():
                        waiter.set_result(None)
