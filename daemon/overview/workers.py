"""The processes that live, what they hold, and where they listen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus
from daemon.clock import Clock, SystemClock, age_s
from daemon.heartbeat import STALE_S, Heartbeat, ToolServerState, workers
from daemon.session import SessionStatus, standings

# Who sends the replies of each push channel, and who asks its platform for what is new.


class Leader(msgspec.Struct, frozen=True, kw_only=True):
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


LIMIT = 1_000
"""Sessions that are looked at unless told otherwise."""

SYSTEM = SystemClock()


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """One role of a process, as it said with its last heartbeat."""

    worker: str
    role: str
    host: str
    """The machine it runs on."""
    started: str
    """ISO 8601, UTC."""
    seen_s: float
    """Seconds since it said so, by this machine's clock."""
    holding: int
    """Sessions, or chats that something is sent to."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A session that a worker holds just now."""

    session: str
    worker: str
    fence: int
    left_s: float


class Workers(msgspec.Struct, frozen=True, kw_only=True):
    """All of them at one moment."""

    workers: list[Worker]
    leases: list[Lease]
    """At most ``--limit`` sessions are looked at."""


async def read_workers(
    bus: Bus, *, limit: int = LIMIT, clock: Clock = SYSTEM, found: Sequence[SessionStatus] | None = None
) -> Workers:
    """The workers and their leases as they are now; ``found``: what ``standings`` gave just now.

    Raises:
        BusUnavailable: Redis is away.
    """
    found = await standings(bus, limit=limit) if found is None else found
    return Workers(
        workers=[_worker(name, beat, clock) for name, beat in await workers(bus)],
        leases=[
            Lease(session=one.session, worker=one.worker, fence=one.fence, left_s=round(one.lease_left_s, 1))
            for one in found
            if one.held
        ],
    )


async def web_addresses(bus: Bus, *, clock: Clock = SYSTEM) -> dict[str, list[str]]:
    """Where each web channel listens, ``http://host:port``, of the processes that live.

    Errors as for ``read_workers``.
    """
    found: dict[str, list[str]] = {}
    for _, beat in await workers(bus):
        if age_s(beat.seen, clock) <= STALE_S:
            for channel, address in beat.addresses.items():
                found.setdefault(channel, []).append(address)
    return {channel: list(dict.fromkeys(addresses)) for channel, addresses in found.items()}


async def token_conflicts(bus: Bus, tokens: Mapping[str, str], *, clock: Clock = SYSTEM) -> list[str]:
    """A sentence for each host whose web processes accept other API tokens than ``tokens``, fingerprints by channel.

    Errors as for ``read_workers``.
    """
    found = set[tuple[str, str]]()
    for name, beat in await workers(bus):
        if age_s(beat.seen, clock) <= STALE_S:
            host = _host_of(name.partition(" ")[0])
            found |= {(each, host) for each, token in beat.tokens.items() if tokens.get(each, token) != token}
    return [
        f"The web processes of channel {channel} on {host} expect a different API token. Restart these processes. If "
        f"the web processes have another data directory, set channels.{channel}.token_file to a file with the same "
        "token "
        "everywhere."
        for channel, host in sorted(found)
    ]


def _host_of(process: str) -> str:
    return process.rsplit("-", 2)[0]


def _worker(name: str, beat: Heartbeat, clock: Clock) -> Worker:
    process = name.partition(" ")[0]
    return Worker(
        worker=process,
        role=beat.role,
        host=_host_of(process),
        started=beat.started,
        seen_s=round(age_s(beat.seen, clock), 1),
        holding=beat.holding,
    )


# What the bots' workers cannot use: files, tools and tool servers.


@dataclass(frozen=True, kw_only=True, order=True)
class Problem:
    """Something that a bot goes without."""

    bot: str
    name: str
    """A file by its path from the bot's workspace, a tool, or a tool server."""
    reason: str


async def read_problems(bus: Bus, clock: Clock) -> list[Problem]:
    """As the processes that live said with their last heartbeat, each once.

    Raises:
        BusUnavailable: Redis is away.
    """
    alive = [beat for _, beat in await workers(bus) if age_s(beat.seen, clock) <= STALE_S]
    return sorted({Problem(bot=one.bot, name=one.name, reason=one.reason) for beat in alive for one in beat.problems})


_WORST_FIRST = ("failing", "available", "unknown")


async def read_tool_servers(bus: Bus, clock: Clock, bot: str) -> dict[str, ToolServerState]:
    """The tool servers of ``bot`` by name, as the processes that live said with their last heartbeat.

    If processes differ, a failure counts, and then the longest list of tools. Errors as for ``read_problems``.
    """
    found: dict[str, ToolServerState] = {}
    for _, beat in await workers(bus):
        if age_s(beat.seen, clock) <= STALE_S:
            for state in beat.servers:
                if state.bot == bot:
                    found[state.server] = min(state, found.get(state.server, state), key=_rank)
    return found


def _rank(state: ToolServerState) -> tuple[int, int]:
    return _WORST_FIRST.index(state.state), -len(state.tools)
