"""The index of sessions by their last activity. It is used only to list sessions."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog

from daemon.errors import BusError, brief

_log = structlog.get_logger()


class ActivityIndex:
    """Updates the index. Sessions that are noted during an update are written together in the next update."""

    def __init__(self, write: Callable[[Sequence[str]], Awaitable[object]]) -> None:
        """``write`` puts sessions into the index, by the server's clock."""
        self._write = write
        self._noted: set[str] = set()
        self._writing = False
        self._asked = anyio.Event()
        self._waiters: list[asyncio.Future[None]] = []

    def note(self, session: str) -> None:
        """Schedule an update for a session."""
        self._noted.add(session)
        self._asked.set()

    async def noted(self, session: str) -> None:
        """Update the index for a session, and wait until this was tried."""
        self.note(session)
        await self._tried()

    async def written(self) -> None:
        """Wait until all scheduled updates were tried, so that the caller sees its own sessions in the index."""
        if self._noted or self._writing:
            await self._tried()

    async def _tried(self) -> None:
        self._asked.set()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    async def run(self) -> None:
        """Write scheduled updates, for ever."""
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
