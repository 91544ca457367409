"""What comes onto ``out``, read for all partitions that this process leads: one connection, one blocking read.

On a cluster no command waits for keys of several slots; there the nodes tell which partitions are worth a look.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Protocol

import anyio
import structlog

from daemon.bus import Bus, Part, PartitionChanges, pairs, translated
from daemon.errors import brief

PAGE = 512
"""Replies read at once, from all partitions together; at least one from each."""

BLOCK_MS = 1_000
"""Longest wait of one read: new replies are seen at once; after this, what may have been missed is looked for."""

BUSY_BLOCK_MS = 10
"""The same while a partition has more than it can take, for it will have room again before long."""

TOGETHER_S = 0.0005
"""Pause after several replies came at once: those that come meanwhile are read together."""

LOOK_S = 1.0
"""Longest wait for anything else before looking again."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

Entry = tuple[bytes, dict[bytes, bytes]]
"""Stream id and fields."""

_log = structlog.get_logger()


class Reader(Protocol):
    """Takes in what comes onto ``out`` of one partition."""

    def read_from(self) -> bytes | None:
        """The stream id after which to read; None when it can take nothing just now, and will ask when it can."""
        ...

    def take_in(self, entries: Sequence[Entry]) -> None:
        """Take in what was read, oldest first."""
        ...


class OutFeed:
    """Reads for the leaders of one channel instance; ``run`` must be running in a task group."""

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._changes = bus.changes(f"out:{channel}", lambda partition: bus.keys.out(partition, channel))
        self._readers: dict[int, Reader] = {}
        self._line = bus.line()
        self._asked = anyio.Event()
        self._blocked = anyio.CancelScope()

    @contextmanager
    def read(self, partition: int, reader: Reader) -> Generator[None]:
        """Read for it for the length of the block."""
        self._readers[partition] = reader
        self.look(partition)
        # The read that is under way knows nothing of it; being cancelled it takes nothing along.
        self._blocked.cancel()
        try:
            yield
        finally:
            del self._readers[partition]

    def look(self, partition: int) -> None:
        """Read for a partition that could take nothing and now can."""
        if self._changes is not None:
            self._changes.put(partition)
        self._asked.set()

    async def run(self) -> None:
        """Read, for ever."""
        try:
            while True:
                if self._changes is None:
                    await self._read_all()
                else:
                    await self._read_changed(self._changes)
        finally:
            await self._line.aclose()

    async def _read_all(self) -> None:
        self._asked = anyio.Event()
        wanted = self._wanted(list(self._readers))
        if not wanted:
            with anyio.move_on_after(LOOK_S):
                await self._asked.wait()
            return
        partitions = {self._out(partition).encode(): partition for partition in wanted}
        block_ms = BLOCK_MS if len(wanted) == len(self._readers) else BUSY_BLOCK_MS
        streams: tuple[Part, ...] = ("STREAMS", *partitions, *wanted.values())
        with anyio.CancelScope() as self._blocked:
            read = ("XREAD", "COUNT", _count(wanted), "BLOCK", block_ms, *streams)
            [found] = await self._line.ask([read], block_s=block_ms / 1000)
            if isinstance(found, BaseException):
                await self._rest(found)
                return
            for key, entries in pairs(found):
                self._give(partitions[key], entries)
            if sum(len(entries) for _, entries in pairs(found)) > 1:
                await anyio.sleep(TOGETHER_S)

    async def _read_changed(self, changes: PartitionChanges) -> None:
        wanted = self._wanted(await changes.next(PAGE, within_s=LOOK_S))
        if not wanted:
            return
        count = _count(wanted)
        commands = [("XREAD", "COUNT", count, "STREAMS", self._out(at), after) for at, after in wanted.items()]
        answers = await self._bus.each(commands)
        for partition, found in zip(wanted, answers, strict=True):
            # One that failed is looked at again with all others, or as soon as its node is heard.
            for _, entries in pairs(found) if not isinstance(found, BaseException) else ():
                self._give(partition, entries)
                if len(entries) == count:
                    changes.put(partition)
        if errors := [found for found in answers if isinstance(found, BaseException)]:
            await self._rest(errors[0])

    def _wanted(self, partitions: Sequence[int]) -> dict[int, bytes]:
        """Where to read on in each of these partitions, without those for which nothing can be taken in."""
        found = {at: self._readers[at].read_from() for at in partitions if at in self._readers}
        return {at: after for at, after in found.items() if after is not None}

    def _give(self, partition: int, entries: Sequence[Entry]) -> None:
        reader = self._readers.get(partition)
        if reader is not None:
            reader.take_in(entries)

    def _out(self, partition: int) -> str:
        return self._bus.keys.out(partition, self._channel)

    async def _rest(self, error: BaseException) -> None:
        _log.warning("outbox.away", channel=self._channel, reason=brief(translated(error)))
        await anyio.sleep(AWAY_PAUSE_S)


def _count(wanted: dict[int, bytes]) -> int:
    return max(1, PAGE // len(wanted))
