"""The contents of the queues: messages and replies without their texts, and the sessions that wait."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import anyio
import msgspec

from daemon.bus import Bus, DeadLetters, pairs
from daemon.clock import stamp
from daemon.config import Config, PushConfig, QueueConfig
from daemon.errors import UNREADABLE, DamagedData
from daemon.events import Inbound, Reply
from daemon.heartbeat import workers
from daemon.session import SessionReader, SessionState, SessionStatus, standings

# What waits where: the lengths of all queues at one moment.

BACKING_OFF = "waiting for a retry after a failed answer, or delayed by a limit or a pause"
"""The reason of a session that is not parked and has to wait all the same."""


class Lengths(msgspec.Struct, frozen=True, kw_only=True):
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
    out: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Replies not yet delivered, by push channel."""


class Queues(msgspec.Struct, frozen=True, kw_only=True):
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


async def read_queues(
    bus: Bus, channels: Sequence[str] = (), *, found: Sequence[SessionStatus] | None = None
) -> Queues:
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


MessageQueue = Literal["backlog", "replies", "dead"]
"""Queues of messages: accepted ones, replies to deliver, and dead letters."""

SessionQueue = Literal["ready", "in_flight", "due", "parked", "unsettled"]
"""Queues of sessions."""

TOGETHER = 100
"""Sessions that are read in one tick of the event loop."""

_is_stream_id = re.compile(r"[0-9]{1,19}-[0-9]{1,19}").fullmatch
_decoder: msgspec.json.Decoder[Inbound | Reply] = msgspec.json.Decoder(Inbound | Reply)


class QueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message or a reply that waits, without its text."""

    id: str
    """Its place: ``[<channel>:][<partition>:]<stream id>``. Only replies have a channel."""
    time: str
    """When it was queued: ISO 8601, UTC."""
    session: str
    message: str
    """The message's id, or the reply's."""
    kind: Literal["message", "command", "reminder", "reply", "unreadable"]
    sender: str
    """Empty for a reply."""
    chars: int
    """Length of its text."""
    attachments: int
    correlation: str


class QueuedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that waits, or that a worker holds."""

    session: str
    time: str
    """``ready``: since when; ``in_flight``: when its turn began; ``due``: the deadline; ``parked``: the next attempt;
    ``unsettled``: the next look. ISO 8601, UTC; empty if unknown."""
    waiting: int
    """Pending messages."""
    unsettled: int
    """Messages that have not been consolidated."""
    worker: str
    """The process that holds it, or empty."""
    reason: str
    """Why it was parked, or empty."""


class Contents:
    """The contents of the queues of one database. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus, config: QueueConfig, channels: Sequence[str]) -> None:
        """``channels``: the push channels."""
        self._bus, self._channels = bus, channels
        self._reader = SessionReader(bus)
        self._letters = DeadLetters(bus, config)

    async def messages(self, queue: Literal["backlog", "replies"], *, limit: int) -> list[QueuedMessage]:
        """The messages that have waited longest, oldest first."""
        found: list[QueuedMessage] = []
        for place, key in self._streams(queue):
            entries: Any = await self._bus.call("XRANGE", key, "-", "+", "COUNT", limit)
            found += [_message(place, stream_id, fields) for stream_id, fields in entries]
        return sorted(found, key=lambda each: each.time)[:limit]

    async def messages_of(self, session: str, *, limit: int) -> list[QueuedMessage]:
        """The pending messages of a session, oldest first."""
        partition = self._bus.keys.partition(session)
        ids: list[bytes] = await self._bus.call("LRANGE", self._bus.keys.waiting(session), 0, limit - 1)
        found: list[QueuedMessage] = []
        for stream_id in ids:
            for _, fields in await self._bus.call("XRANGE", self._bus.keys.inbox(partition), stream_id, stream_id):
                found.append(_message(self._place(partition), stream_id, fields))
        return found

    async def text(self, queue: MessageQueue, name: str) -> tuple[str, str] | None:
        """The session and the text of one message; None if it was not found or cannot be read.

        ``name``: the ``id`` of a ``QueuedMessage``, or a dead letter's name.
        """
        payloads = await (self._dead(name) if queue == "dead" else self._queued(queue, name))
        found = _read(payloads[0]) if len(payloads) == 1 else None
        return None if found is None else (str(found.session), found.text)

    async def sessions(self, queue: SessionQueue, *, limit: int) -> list[QueuedSession]:
        """The sessions in a queue, ordered by their times."""
        chosen = (await self._named(queue, limit))[:limit]
        states: dict[str, SessionState] = {}
        for at in range(0, len(chosen), TOGETHER):
            async with anyio.create_task_group() as tg:  # one tick, one pipeline
                for session, _ in chosen[at : at + TOGETHER]:
                    tg.start_soon(self._look, session, states)
        return [_session(queue, states[session], ms) for session, ms in chosen]

    async def _named(self, queue: SessionQueue, limit: int) -> list[tuple[str, int]]:
        """The sessions in a queue with their times, ms since 1970."""
        if queue in ("in_flight", "parked"):
            found = await standings(self._bus)
            chosen = [one for one in found if (one.held if queue == "in_flight" else one.parked)]
            return sorted(((one.session, one.retry_at_ms) for one in chosen), key=lambda each: each[1])
        key = {"ready": self._bus.keys.ready, "due": self._bus.keys.due, "unsettled": self._bus.keys.unsettled}[queue]
        scored: list[tuple[str, int]] = []
        for partition in range(self._bus.keys.partitions):
            members = await self._bus.call("ZRANGE", key(partition), 0, limit - 1, "WITHSCORES")
            scored += [(member.decode(), int(float(score))) for member, score in pairs(members)]
        return sorted(scored, key=lambda each: each[1])

    async def _look(self, session: str, states: dict[str, SessionState]) -> None:
        try:
            states[session] = await self._reader.state(session)
        except DamagedData:  # `millpond data check` reports it
            states[session] = SessionState(session=session, exists=True)

    async def _dead(self, name: str) -> list[bytes]:
        return [letter.payload for letter in await self._letters.named(name)]

    async def _queued(self, queue: Literal["backlog", "replies"], name: str) -> list[bytes]:
        place, colon, stream_id = name.rpartition(":")
        key = dict(self._streams(queue)).get(place + colon)
        if key is None or not _is_stream_id(stream_id):
            return []
        return [_payload(fields) for _, fields in await self._bus.call("XRANGE", key, stream_id, stream_id)]

    def _streams(self, queue: Literal["backlog", "replies"]) -> list[tuple[str, str]]:
        """The beginnings of ids, and the key of the stream that each stands for."""
        keys, partitions = self._bus.keys, range(self._bus.keys.partitions)
        if queue == "backlog":
            return [(self._place(partition), keys.inbox(partition)) for partition in partitions]
        return [
            (f"{channel}:{self._place(partition)}", keys.out(partition, channel))
            for channel in self._channels
            for partition in partitions
        ]

    def _place(self, partition: int) -> str:
        return f"{partition}:" if self._bus.keys.partitions > 1 else ""


def _session(queue: SessionQueue, state: SessionState, ms: int) -> QueuedSession:
    return QueuedSession(
        session=state.session,
        time=_time(state.since_ms if queue == "in_flight" else ms),
        waiting=state.waiting,
        unsettled=state.head - state.cursor,
        worker=state.worker if queue == "in_flight" else "",
        reason=state.parked_why if queue == "parked" else "",
    )


def _message(place: str, stream_id: bytes, fields: Any) -> QueuedMessage:
    found = _read(_payload(fields))
    named = dict(pairs(fields)).get(b"session", b"").decode(errors="replace")
    return QueuedMessage(
        id=f"{place}{stream_id.decode()}",
        time=_time(int(stream_id.partition(b"-")[0])),
        session=named if found is None else str(found.session),
        message="" if found is None else found.id,
        kind=_kind(found),
        sender=found.sender_id if isinstance(found, Inbound) else "",
        chars=0 if found is None else len(found.text),
        attachments=0 if found is None else len(found.attachments),
        correlation="" if found is None else found.correlation,
    )


def _kind(found: Inbound | Reply | None) -> Literal["message", "command", "reminder", "reply", "unreadable"]:
    match found:
        case None:
            return "unreadable"
        case Reply():
            return "reply"
        case Inbound():
            if found.reminder is not None:
                return "reminder"
            return "command" if found.command else "message"


def _payload(fields: Any) -> bytes:
    values: dict[bytes, bytes] = dict(pairs(fields))
    return values.get(b"reply", values.get(b"message", b""))


def _read(payload: bytes) -> Inbound | Reply | None:
    try:
        return _decoder.decode(payload)
    except UNREADABLE:
        return None


def _time(ms: int) -> str:
    return stamp(dt.datetime.fromtimestamp(ms / 1000, dt.UTC)) if ms else ""
