"""All of it together: who works, who holds what, what waits, what rests, and how the models do."""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from daemon.access import Pauses
from daemon.bus import Bus, pairs
from daemon.clock import Clock, stamp
from daemon.config import Config
from daemon.overview.queue_contents import Queues, push_channels, read_queues
from daemon.overview.workers import LIMIT, Leader, Lease, Problem, Worker, read_leaders, read_problems, read_workers
from daemon.session import SessionReader, SessionStatus, standings

if TYPE_CHECKING:
    from daemon.model import FailureCounts

# What is not answered just now, and until when: sessions after a failure, chats by an administrator's word.


class ParkedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that rests after a failure."""

    session: str
    since: str
    """ISO 8601, UTC; empty of one that backs off, since its message's answer failed."""
    until: str
    """When it is tried again."""
    reason: str
    """Why; empty of one that backs off."""


class PausedChat(msgspec.Struct, frozen=True, kw_only=True):
    """A chat in which a bot rests until it is told to go on."""

    bot: str
    chat: str
    """``<channel>:<chat>``, or ``*`` for all of them."""
    since: str
    """ISO 8601, UTC."""


def parked(found: Iterable[SessionStatus]) -> list[ParkedSession]:
    """Those of ``found`` that rest."""
    return [
        ParkedSession(
            session=one.session, since=_time(one.parked_at_ms), until=_time(one.retry_at_ms), reason=one.reason
        )
        for one in found
        if one.parked
    ]


async def read_paused(pauses: Pauses, bots: Sequence[str]) -> list[PausedChat]:
    """The chats in which ``bots`` rest; errors as for ``Pauses``."""
    return [
        PausedChat(bot=bot, chat=chat, since=_time(int(at.partition("-")[0])))
        for bot in bots
        for chat, at in sorted((await pauses.chats(bot)).items())
    ]


def _time(ms: int) -> str:
    return stamp(dt.datetime.fromtimestamp(ms / 1000, dt.UTC)) if ms else ""


# Parts of replies that were cut while they were sent, and what became of them.


class UnknownDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """A part that was cut while it was sent."""

    time: str
    """When somebody went on with it: ISO 8601, UTC."""
    session: str
    reply: str
    part: int
    """From 0."""
    attempt: int
    """The one that was cut."""
    action: str
    """``resent`` or ``given up``."""


async def read_unknown(bus: Bus, *, limit: int) -> list[UnknownDelivery]:
    """The newest unknown outcomes of all partitions, oldest first.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[UnknownDelivery] = []
    for partition in range(bus.keys.partitions):
        entries: Any = await bus.call("XREVRANGE", bus.keys.unknown(partition), "+", "-", "COUNT", limit)
        found += [_unknown(stream_id, values) for stream_id, values in entries]
    return sorted(found, key=lambda outcome: outcome.time)[-limit:]


def _unknown(stream_id: bytes, fields: Any) -> UnknownDelivery:
    at = dt.datetime.fromtimestamp(int(stream_id.split(b"-")[0]) / 1000, dt.UTC)
    texts = {name.decode(): value.decode(errors="replace") for name, value in pairs(fields)}
    return UnknownDelivery(
        time=stamp(at),
        session=texts.get("session", ""),
        reply=texts.get("reply", ""),
        part=_number(texts.get("part", "")),
        attempt=_number(texts.get("attempt", "")),
        action=texts.get("action", ""),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


class SystemOverview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at one moment."""

    workers: list[Worker]
    leases: list[Lease]
    """Of the 1,000 sessions with something waiting that are looked at."""
    leaders: list[Leader]
    queues: Queues
    parked: list[ParkedSession]
    """As ``leases``."""
    paused: list[PausedChat]
    model_errors: "FailureCounts"
    problems: list[Problem]


async def read_system(bus: Bus, config: Config, clock: Clock, *, limit: int = LIMIT) -> SystemOverview:
    """Everything as it is now, as far as this process's configuration knows of it.

    Raises:
        BusUnavailable: Redis is away.
    """
    from daemon.model import read_failures  # noqa: PLC0415 - commands that list queues take 15 ms longer with it

    channels = push_channels(config)
    found = await standings(bus, limit=limit)
    at_work = await read_workers(bus, clock=clock, found=found)
    now_ms = await SessionReader(bus).now_ms()
    return SystemOverview(
        workers=at_work.workers,
        leases=at_work.leases,
        leaders=await read_leaders(bus, channels, now_ms=now_ms),
        queues=await read_queues(bus, channels, found=found),
        parked=parked(found),
        paused=await read_paused(Pauses(bus, config.queue), list(config.bots)),
        model_errors=await read_failures(bus, clock),
        problems=await read_problems(bus, clock),
    )
