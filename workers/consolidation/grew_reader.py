"""Reads the stream ``grew`` as a member of a group, and takes over entries of dead readers."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import structlog
from redis import exceptions as redis_errors

from daemon.bus import Bus, Part, PartitionChanges, pairs, translated
from daemon.concurrency import block_ms
from daemon.errors import BusError, ConfigError, brief
from workers.consolidation.consolidation_request import SharedStores
from workers.consolidation.consolidator import Consolidator

# Finds the sessions that wait for a consolidation. If no consolidation worker comes for one, an agent does.

STAND_IN_S = 60.0
"""After so long an agent consolidates a session itself: a sweep of the consolidation workers takes a few seconds."""

_log = structlog.get_logger()


async def overdue(stores: SharedStores, *, by_s: float = 0.0) -> list[str]:
    """The sessions whose time for consolidation came at least ``by_s`` seconds ago, of all partitions."""
    found: list[str] = []

    async def look(partition: int) -> None:
        try:
            found.extend(await stores.locks.due(partition, overdue_s=by_s))
        except BusError as error:  # other partitions may lie elsewhere
            _log.debug("queue.away", reason=brief(error))

    # At once, so that they share pipelines.
    async with anyio.create_task_group() as tg:
        for partition in range(stores.bus.keys.partitions):
            tg.start_soon(look, partition)
    return found


async def stand_in(consolidator: Consolidator, *, after_s: float = STAND_IN_S) -> None:
    """Consolidate the sessions for which no consolidation worker comes within ``after_s``, one at a time, for ever."""
    while True:
        await anyio.sleep(after_s)
        for session in await overdue(consolidator.stores, by_s=after_s):
            _log.debug("session.overdue", session=session)
            try:
                await consolidator.consolidate(session)
            except (BusError, ConfigError) as error:
                _log.warning("consolidation.put_off", session=session, reason=brief(error))
            except Exception:  # noqa: BLE001  one session's trouble must not end the work of the process
                _log.exception("consolidation.broken", session=session)


GROUP = "consolidators"
BLOCK_S = 0.5
"""Longest blocking read, and so what a stopping reader waits for."""

READ_MOST = 32
"""Events of one partition read at once; the idle clock of each starts with the read."""

READ_PARTITIONS = 8
"""Partitions of a cluster read at once."""

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
        self._line = bus.line()
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

    async def aclose(self) -> None:
        """Close the connection for blocking reads."""
        await self._line.aclose()

    async def remove(self, partition: int, event_id: bytes) -> None:
        """Be done with an event: acknowledged and deleted, or the stream would grow for ever."""
        stream = self._bus.keys.grew(partition)
        await self._bus.call("XACK", stream, GROUP, event_id)
        await self._bus.call("XDEL", stream, event_id)

    async def _group(self) -> None:
        if self._grouped:
            return
        # From 0, not $: what was committed before the first reader ever came counts too.
        created = await self._each(lambda stream: ("XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM"), self._all)
        for answer in created.values():
            if isinstance(answer, BaseException) and not str(answer).startswith("BUSYGROUP"):
                raise answer
        self._grouped = True

    async def _new(self) -> list[Event]:
        changes = self._bus.changes("grew", self._bus.keys.grew)
        if changes is None:
            return await self._new_of_any()
        return await self._new_of(changes, await changes.next(READ_PARTITIONS, within_s=BLOCK_S))

    async def _new_of_any(self) -> list[Event]:
        partitions = {self._bus.keys.grew(partition).encode(): partition for partition in self._all}
        block = block_ms(BLOCK_S)
        command = self._command(*partitions, *[">"] * len(partitions), block=("BLOCK", block))
        (found,) = await self._line.ask([command], block_s=block / 1000)
        if isinstance(found, BaseException):
            raise found
        return [event for stream, entries in pairs(found) for event in _events(partitions[stream], entries)]

    async def _new_of(self, changes: PartitionChanges, partitions: Sequence[int]) -> list[Event]:
        events: list[Event] = []
        failed: BaseException | None = None
        for partition, found in (await self._each(lambda stream: self._command(stream, ">"), partitions)).items():
            if isinstance(found, BaseException):
                failed = found
                if isinstance(found, redis_errors.ResponseError):
                    changes.put(partition)  # its group is made anew, and nothing tells what came before that
                continue
            new = [event for _, entries in pairs(found) for event in _events(partition, entries)]
            if len(new) >= READ_MOST:
                changes.put(partition)
            events += new
        if failed is not None and not events:
            raise failed
        return events

    async def _abandoned(self) -> list[Event]:
        if anyio.current_time() < self._taken_over_at + TAKE_OVER_EVERY_S:
            return []
        self._taken_over_at = anyio.current_time()
        claim = (GROUP, self._consumer, ABANDONED_MS, "0-0", "COUNT", READ_MOST)
        claimed = await self._each(lambda stream: ("XAUTOCLAIM", stream, *claim), self._all)
        return [
            event
            for partition, reply in claimed.items()
            if not isinstance(reply, BaseException)
            for event in _events(partition, reply[1])
        ]

    @property
    def _all(self) -> range:
        return range(self._bus.keys.partitions)

    def _command(self, *streams: Part, block: tuple[Part, ...] = ()) -> tuple[Part, ...]:
        return ("XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", READ_MOST, *block, "STREAMS", *streams)

    async def _each(self, command: Callable[[str], tuple[Part, ...]], partitions: Sequence[int]) -> dict[int, Any]:
        """The answer of each partition to a command about its stream; an exception where it failed."""
        answers = await self._bus.each([command(self._bus.keys.grew(partition)) for partition in partitions])
        return dict(zip(partitions, answers, strict=True))


def _events(partition: int, entries: Any) -> list[Event]:
    # RESP3 wraps a stream's entries in one more list; a 6.2 server gives (None, None) for deleted entries.
    if entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], list | tuple):
        entries = entries[0]
    return [(partition, event_id, fields.get(b"event", b"")) for event_id, fields in entries if event_id and fields]
