"""What changes seldom and is asked for all the time: kept in memory, read again when it is old or has changed."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

import anyio

from daemon.errors import BusUnavailable

_T = TypeVar("_T")


class Cached(Generic[_T]):
    """The newest known answer of ``read``."""

    def __init__(self, read: Callable[[], Awaitable[_T]], *, fresh_s: float) -> None:
        """``fresh_s``: how long an answer is used, should the word that it has changed get lost."""
        self._read = read
        self._fresh_s = fresh_s
        self._known: list[_T] = []
        self._asked = False
        self._until = 0.0
        self._changes = 0
        self._lock = anyio.Lock()

    def changed(self) -> None:
        """Read it again before the next answer."""
        self._changes += 1
        self._until = 0.0

    async def get(self) -> _T:
        """The answer; while Redis is away the last one that is known.

        Raises:
            BusUnavailable: Redis is away, and nothing is known yet.
        """
        self._asked = True
        if not self._known or time.monotonic() >= self._until:
            await self._look()
        return self._known[0]

    async def renew(self) -> None:
        """Read it, if it was asked for since the last time: nobody has to wait for it when it is old."""
        if not self._asked:
            return
        self._asked = False
        async with self._lock:
            with suppress(Exception):  # whoever asks when it is old is told
                await self._again()

    async def _look(self) -> None:
        async with self._lock:  # many ask at once: one reads
            if self._known and time.monotonic() < self._until:
                return
            try:
                await self._again()
            except BusUnavailable:
                if not self._known:
                    raise

    async def _again(self) -> None:
        changes = self._changes
        self._known = [await self._read()]
        # What changed while it was read is read again.
        self._until = time.monotonic() + self._fresh_s if changes == self._changes else 0.0
