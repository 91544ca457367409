"""Waits until replicas have received writes. All waiting callers share one question to the server."""

from dataclasses import dataclass

import anyio

from daemon.bus.command_batch import translated
from daemon.bus.pipeline_connection import Client, Line
from daemon.errors import TooFewReplicas

ACKNOWLEDGE_S = 1.0
"""How long replicas may take; one that keeps up takes as long as the network does."""


@dataclass(eq=False)
class _Round:
    """Those who wait for the same answer."""

    acknowledged: int | None = None
    """Replicas that have what had been written when the question was sent; None: not asked yet."""


class Replication:
    """Asks how many replicas have received all writes."""

    def __init__(self, client: Client, channel: str, *, at_least: int) -> None:
        """Nothing happens yet.

        Args:
            client: of the server that is written to.
            channel: a channel on which nobody listens.
            at_least: replicas that have to acknowledge.
        """
        self._line = Line(client)
        self._channel = channel
        self._at_least = at_least
        self._next = _Round()
        """Whoever comes now is answered with it."""
        self._asking = anyio.Lock()

    async def confirm(self) -> None:
        """Return when enough replicas have received all earlier writes.

        Raises:
            TooFewReplicas: they have not, within ``ACKNOWLEDGE_S``.
            BusUnavailable: Redis is away.
        """
        own = self._next
        async with self._asking:
            if own.acknowledged is None:
                self._next = _Round()  # what is written from here on may come too late for this question
                own.acknowledged = await self._ask()
        if own.acknowledged < self._at_least:
            raise TooFewReplicas(
                f"Redis stored the write, but only {own.acknowledged} replicas confirmed the change within "
                f"{ACKNOWLEDGE_S:g} s. redis.min_replicas requires {self._at_least}. Check the replicas."
            )

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.aclose()

    async def _ask(self) -> int:
        # WAIT counts from the last write of its own connection, so there has to be one. Replicas are sent all writes in
        # one order: who has this one has all before it.
        write = ("PUBLISH", self._channel, "")
        wait = ("WAIT", self._at_least, round(ACKNOWLEDGE_S * 1000))
        for answer in (answers := await self._line.ask([write, wait], block_s=ACKNOWLEDGE_S)):
            if isinstance(answer, BaseException):
                raise translated(answer) from answer
        return int(answers[-1])
