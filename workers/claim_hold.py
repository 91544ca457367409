"""Holds a claim during the work on it. A stop command or a lost lease ends the work early."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from daemon.errors import LeaseLost
from daemon.session import Claim, after
from daemon.shared_timeout import Limit

_T = TypeVar("_T")


class Hold:
    """One claim in the hands of this process."""

    def __init__(self, claim: Claim, *, held_until: float) -> None:
        self.claim = claim
        self.held_until = held_until
        """When the lease ends unless it is renewed, by this process's monotonic clock."""
        self.stop_upto = ""
        """Stream id of the stop that ends this work; empty while nobody asked."""
        self._lost = False
        self._scope: anyio.CancelScope | None = None

    def stop(self, upto: str) -> None:
        """End the work because a person wants it, unless the stop is older than what is being answered."""
        waiting = self.claim.begun.waiting
        if upto and waiting and after(upto, waiting[0].stream_id):
            self.stop_upto = upto
            self._cancel()

    def lose(self) -> None:
        """End the work because somebody else may hold the session by now."""
        self._lost = True
        self._cancel()

    async def until(self, work: Callable[[], Awaitable[_T]], *, limit: Limit) -> _T | None:
        """What ``work`` gives, or None when a stop cut it short.

        Raises:
            LeaseLost: the lease was lost meanwhile.
            TimeoutError: it took longer than ``limit``.
        """
        if not self.stop_upto and not self._lost:
            with limit() as self._scope:
                return await work()
        if self._lost:
            raise LeaseLost(f"session {self.claim.session} is now held by another worker. This turn was not written.")
        if not self.stop_upto:
            raise TimeoutError(f"the answer (turn) was not complete within {limit.seconds:g} s")
        return None

    def _cancel(self) -> None:
        if self._scope is not None:
            self._scope.cancel()
