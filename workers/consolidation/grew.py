"""The stream ``grew``: reading it as one of a group, and taking over what a dead reader left."""

from typing import Any

import anyio
from redis import exceptions as redis_errors

from daemon.bus import Bus, pairs, translated

GROUP = "consolidators"
BLOCK_MS = 500
"""Longest blocking read, and so what a stopping reader waits for."""

READ_MOST = 32
"""Events of one partition read at once; the idle clock of each starts with the read."""

ABANDONED_MS = 60_000
"""An event that its reader has not removed for so long is taken over."""

TAKE_OVER_EVERY_S = 30.0

Event = tuple[int, bytes, bytes]
"""Partition, stream id, and the event as JSON."""


class GrewReader:
    """One member of the group."""

    def __init__(self, bus: Bus, *, consumer: str) -> None:
        self._bus = bus
        self._consumer = consumer
        self._grouped = False
        self._taken_over_at = -TAKE_OVER_EVERY_S

    async def read(self) -> list[Event]:
        """The next events, waiting a little for the first; empty when none came.

        Raises:
            BusError: Redis is away or refused.
        """
        events: list[Event] = []
        try:
            # Never cancelled: what is read and not returned would wait until it counts as abandoned.
            with anyio.CancelScope(shield=True):
                await self._group()
                events += await self._abandoned() or await self._new()
        except redis_errors.ResponseError as error:
            self._grouped = False  # the stream or its group is gone: a new or flushed server
            raise translated(error) from error
        except (redis_errors.RedisError, OSError) as error:
            raise translated(error) from error
        return events

    async def remove(self, partition: int, event_id: bytes) -> None:
        """Be done with an event: acknowledged and deleted, or the stream would grow for ever."""
        stream = self._bus.keys.grew(partition)
        await self._bus.call("XACK", stream, GROUP, event_id)
        await self._bus.call("XDEL", stream, event_id)

    async def _group(self) -> None:
        if self._grouped:
            return
        for partition in range(self._bus.keys.partitions):
            try:
                # From 0, not $: what was committed before the first reader ever came counts too.
                await self._bus.client.xgroup_create(self._bus.keys.grew(partition), GROUP, id="0", mkstream=True)
            except redis_errors.ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise
        self._grouped = True

    async def _new(self) -> list[Event]:
        streams: Any = {self._bus.keys.grew(partition): ">" for partition in range(self._bus.keys.partitions)}
        found: Any = await self._bus.client.xreadgroup(GROUP, self._consumer, streams, count=READ_MOST, block=BLOCK_MS)
        partitions = {self._bus.keys.grew(partition).encode(): partition for partition in range(len(streams))}
        return [event for stream, entries in pairs(found) for event in _events(partitions[stream], entries)]

    async def _abandoned(self) -> list[Event]:
        if anyio.current_time() < self._taken_over_at + TAKE_OVER_EVERY_S:
            return []
        self._taken_over_at = anyio.current_time()
        events: list[Event] = []
        for partition in range(self._bus.keys.partitions):
            reply: Any = await self._bus.client.xautoclaim(
                self._bus.keys.grew(partition), GROUP, self._consumer, ABANDONED_MS, count=READ_MOST
            )
            events += _events(partition, reply[1])
        return events


def _events(partition: int, entries: Any) -> list[Event]:
    # RESP3 wraps a stream's entries in one more list; a 6.2 server gives (None, None) for deleted entries.
    if entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], list | tuple):
        entries = entries[0]
    return [(partition, event_id, fields.get(b"event", b"")) for event_id, fields in entries if event_id and fields]
