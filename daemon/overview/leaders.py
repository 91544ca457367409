"""Who sends the replies of each push channel, and who asks its platform for what is new."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from daemon.bus import Bus


@dataclass(frozen=True, kw_only=True)
class Leader:
    """A process that holds a lease of a push channel."""

    channel: str
    does: Literal["sends", "asks"]
    """``sends``: the replies of a partition; ``asks``: the platform, for all of them."""
    partition: int | None
    worker: str
    left_s: float
    """How long it holds the lease unless it renews it."""


async def read_leaders(bus: Bus, channels: Sequence[str], *, now_ms: int) -> list[Leader]:
    """The leaders of ``channels``; ``now_ms`` is the server's time. Errors as for ``Bus.call``."""
    found: list[Leader | None] = []
    for channel in channels:
        found.append(await _leader(bus, channel, None, now_ms))
        found += [await _leader(bus, channel, partition, now_ms) for partition in range(bus.keys.partitions)]
    return [leader for leader in found if leader is not None]


async def _leader(bus: Bus, channel: str, partition: int | None, now_ms: int) -> Leader | None:
    key = bus.keys.poller(channel) if partition is None else bus.keys.leader(partition, channel)
    worker, deadline = await bus.call("HMGET", key, "worker", "deadline")
    left_s = (int(deadline or 0) - now_ms) / 1000
    if not worker or left_s <= 0:
        return None
    does: Literal["asks", "sends"] = "asks" if partition is None else "sends"
    return Leader(channel=channel, does=does, partition=partition, worker=worker.decode(), left_s=round(left_s, 1))
