"""What waits where: the lengths of all queues at one moment."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from daemon.bus import Bus
from daemon.config import Config, PushConfig
from daemon.heartbeat import workers
from daemon.session import Standing, standings

BACKING_OFF = "waiting for a retry after a failed answer, or delayed by a limit or a pause"
"""The reason of a session that is not parked and has to wait all the same."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """One partition's queues, or all of them together."""

    backlog: int = 0
    """Messages accepted and not yet answered."""
    oldest_s: float = 0.0
    """How long the oldest of them waits."""
    ready: int = 0
    """Sessions that a worker may take."""
    due: int = 0
    """Sessions with something waiting."""
    grew: int = 0
    """Hints for consolidation."""
    unsettled: int = 0
    """Sessions of which older messages should be consolidated."""
    dead: int = 0
    """Messages that could not be answered, and replies that could not be delivered."""
    unknown: int = 0
    """Parts of replies of which nobody knows whether they arrived."""
    out: dict[str, int] = field(default_factory=dict[str, int])
    """Replies not yet delivered, by push channel."""


@dataclass(frozen=True, kw_only=True)
class Queues:
    """All queues at one moment."""

    partitions: list[Lengths]
    total: Lengths
    in_flight: int
    """Sessions that workers hold, as they said with their last heartbeat."""
    workers: int
    parked: int
    """Sessions that are parked or backing off, of the 1,000 that are looked at."""
    reasons: dict[str, int]
    """The same by reason; empty for a failed answer that is tried again (``BACKING_OFF``)."""


def push_channels(config: Config) -> list[str]:
    """The configured channels whose replies are sent by an outbox."""
    return [name for name, channel in config.channels.items() if isinstance(channel, PushConfig)]


async def read_queues(bus: Bus, channels: Sequence[str] = (), *, found: Sequence[Standing] | None = None) -> Queues:
    """The queues as they are now, with the replies for ``channels``; ``found``: what ``standings`` gave just now.

    Raises:
        BusUnavailable: Redis is away.
    """
    lengths: dict[int, Lengths] = {}

    async def read(partition: int) -> None:
        lengths[partition] = await _lengths(bus, partition, channels)

    async with anyio.create_task_group() as tg:
        for partition in range(bus.keys.partitions):
            tg.start_soon(read, partition)
    partitions = [lengths[partition] for partition in sorted(lengths)]
    agents = [beat for _, beat in await workers(bus) if beat.role == "agent"]
    found = await standings(bus) if found is None else found
    return Queues(
        partitions=partitions,
        total=_together(partitions),
        in_flight=sum(beat.holding for beat in agents),
        workers=len(agents),
        parked=sum(standing.parked for standing in found),
        reasons=dict(Counter(standing.reason for standing in found if standing.parked).most_common()),
    )


async def _lengths(bus: Bus, partition: int, channels: Sequence[str]) -> Lengths:
    keys = bus.keys
    oldest: Any = await bus.call("XRANGE", keys.inbox(partition), "-", "+", "COUNT", 1)
    seconds, micros = await bus.call("TIME")
    age_s = int(seconds) + int(micros) / 1e6 - int(oldest[0][0].split(b"-")[0]) / 1000 if oldest else 0.0
    return Lengths(
        backlog=await bus.call("XLEN", keys.inbox(partition)),
        oldest_s=round(max(age_s, 0.0), 1),
        ready=await bus.call("ZCARD", keys.ready(partition)),
        due=await bus.call("ZCARD", keys.due(partition)),
        grew=await bus.call("XLEN", keys.grew(partition)),
        unsettled=await bus.call("ZCARD", keys.unsettled(partition)),
        dead=await bus.call("XLEN", keys.dead(partition)),
        unknown=await bus.call("XLEN", keys.unknown(partition)),
        out={channel: await bus.call("XLEN", keys.out(partition, channel)) for channel in channels},
    )


def _together(partitions: list[Lengths]) -> Lengths:
    return Lengths(
        backlog=sum(each.backlog for each in partitions),
        oldest_s=max(each.oldest_s for each in partitions),
        ready=sum(each.ready for each in partitions),
        due=sum(each.due for each in partitions),
        grew=sum(each.grew for each in partitions),
        unsettled=sum(each.unsettled for each in partitions),
        dead=sum(each.dead for each in partitions),
        unknown=sum(each.unknown for each in partitions),
        out={channel: sum(each.out[channel] for each in partitions) for channel in partitions[0].out},
    )
