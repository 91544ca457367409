"""Heartbeats: what ``mp:workers`` holds, so that people see which processes are alive and what they hold."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import anyio
import msgspec

from daemon.bus import Bus, pairs
from daemon.clock import Clock, age_s, stamp
from daemon.concurrency import until_tick
from daemon.errors import BusError

if TYPE_CHECKING:
    from daemon.process import Process

EVERY_S = 5.0
ALIVE_S = 15.0
"""A process that was seen within so many seconds is taken for alive: three heartbeats."""
STALE_S = 30.0
"""After this long without a beat a process is taken for dead, and its entry removed by whoever beats next."""

PROBLEMS_MAX = 50

NOWHERE: Mapping[str, str] = MappingProxyType({})
"""Of a role that nobody connects to."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a process cannot use, and goes on without."""

    bot: str
    name: str
    """A file by its path from the bot's workspace, a tool, or a tool server."""
    reason: str


class ToolServerState(msgspec.Struct, frozen=True, kw_only=True):
    """A tool server of a bot, as one process has last seen it."""

    bot: str
    server: str
    """As the configuration names it."""
    state: Literal["available", "failing", "unknown"]
    """``unknown``: no turn of the process has needed the server's tools yet."""
    since: str
    """Since when, ISO 8601, UTC."""
    reason: str = ""
    """Why it fails."""
    tools: dict[str, str] = {}
    """The first sentence of each tool's description, by the tool's name."""


class Heartbeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One role of one process."""

    role: str
    started: str
    seen: str
    holding: int
    """Sessions it holds just now."""
    addresses: dict[str, str] = {}
    """Where it listens, ``http://host:port``, by channel instance."""
    problems: tuple[Problem, ...] = ()
    """What it cannot use, ``PROBLEMS_MAX`` at most."""
    tokens: dict[str, str] = {}
    """Fingerprints of the API tokens that it accepts, by channel instance."""
    servers: tuple[ToolServerState, ...] = ()


class BotReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a process knows of its bots."""

    problems: Sequence[Problem] = ()
    servers: Sequence[ToolServerState] = ()


async def _nothing() -> BotReport:
    return BotReport()


_decode = msgspec.json.Decoder(Heartbeat).decode


async def beat(
    process: "Process",
    role: str,
    holding: Callable[[], int],
    addresses: Mapping[str, str] = NOWHERE,
    report: Callable[[], Awaitable[BotReport]] = _nothing,
    *,
    tokens: Mapping[str, str] = NOWHERE,
) -> None:
    """Say that this process lives, for ever; leave no entry behind when cancelled.

    ``report`` never raises, and is soon done.
    """
    key, field = process.bus.keys.workers, f"{process.name} {role}"
    noticed: dict[str, tuple[str, float]] = {}
    started = stamp(process.clock.now())
    try:
        while True:
            seen, listens = stamp(process.clock.now()), dict(addresses)
            bots = await report()
            heartbeat = Heartbeat(
                role=role,
                started=started,
                seen=seen,
                holding=holding(),
                addresses=listens,
                problems=tuple(bots.problems)[:PROBLEMS_MAX],
                tokens=dict(tokens),
                servers=tuple(bots.servers),
            )
            with suppress(BusError):  # whoever looks sees an old beat, which is the truth
                await process.bus.call("HSET", key, field, msgspec.json.encode(heartbeat))
                await _remove_stale(process, noticed)
            await anyio.sleep(until_tick(EVERY_S))
    finally:
        with anyio.move_on_after(1, shield=True), suppress(BusError):
            await process.bus.call("HDEL", key, field)


async def _remove_stale(process: "Process", noticed: dict[str, tuple[str, float]]) -> None:
    """``noticed``: each process's newest beat, and when this one first saw it; wall clocks may be hours apart."""
    now, found = process.clock.monotonic(), dict(await workers(process.bus))
    for gone in noticed.keys() - found.keys():
        del noticed[gone]
    for name, heartbeat in found.items():
        seen, since = noticed.get(name, ("", now))
        if seen != heartbeat.seen:
            noticed[name] = heartbeat.seen, now
        elif now - since > STALE_S:
            await process.bus.call("HDEL", process.bus.keys.workers, name)


async def agent_lives(bus: Bus, clock: Clock) -> bool:
    """Whether an agent worker is alive. Errors as for ``workers``."""
    return any(beat.role == "agent" and age_s(beat.seen, clock) <= ALIVE_S for _, beat in await workers(bus))


async def workers(bus: Bus) -> list[tuple[str, Heartbeat]]:
    """Every process that said lately that it lives, by name and role."""
    found = pairs(await bus.call("HGETALL", bus.keys.workers))
    return sorted(((name.decode(), _decode(value)) for name, value in found), key=lambda worker: worker[0])
