"""A limit of many waits: those that may last equally long share one timer.

A cancel scope with a deadline of its own sets a timer and takes it back, which is two fifths of what it costs, and next
to none of these timers ever rings. Another fifth is looking up the library that runs the event loop.
"""

import asyncio
from types import TracebackType

import anyio


class SharedTimeout:
    """Cancels what takes longer than ``seconds``; each ``limit()`` is used as ``anyio.move_on_after(seconds)`` is.

    ``anyio.current_effective_deadline()`` knows nothing of it.
    """

    def __init__(self, seconds: float) -> None:
        """Nothing happens yet."""
        self.seconds = seconds
        self._ends: _Ends | None = None

    def __call__(self) -> "Limited":
        """A block that is cancelled when it takes too long; its scope tells whether it was."""
        ends = self._ends
        if ends is None:
            ends = self._ends = _Ends(self.seconds)
        return Limited(ends)

    def late(self, scope: anyio.CancelScope) -> None:
        """Say that it took too long, if it did; after the block.

        Raises:
            TimeoutError: it did.
        """
        if scope.cancelled_caught:
            raise TimeoutError(f"the operation took longer than {self.seconds:g} s")


class Limited:
    """One use of a limit."""

    __slots__ = ("_ends", "_scope")

    def __init__(self, ends: "_Ends") -> None:
        self._ends = ends
        self._scope = ends.scope()

    def __enter__(self) -> anyio.CancelScope:
        self._ends.begin(self._scope)
        return self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._ends.open.pop(self._scope, None)
        return self._scope.__exit__(kind, error, trace)


class _Ends:
    """What is under way in one event loop, and when it is to end."""

    def __init__(self, seconds: float) -> None:
        self.scope = type(anyio.CancelScope())
        """That of the library which runs the event loop."""
        self.open: dict[anyio.CancelScope, float] = {}
        """Until when each may last, on the event loop's clock: what began first ends first."""
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, scope: anyio.CancelScope) -> None:
        """From now on ``scope`` has its time."""
        until = self.open[scope] = self._now() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(until, self._ring)

    def _ring(self) -> None:
        while self.open:
            scope, until = next(iter(self.open.items()))
            if until > self._now():
                self._timer = self._loop.call_at(until, self._ring)
                return
            del self.open[scope]
            scope.cancel()
        self._timer = None
