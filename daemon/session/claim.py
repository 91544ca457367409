"""The state that a worker holds while it answers a session's messages."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from daemon.bus import Bus, load_script
from daemon.config import QueueConfig
from daemon.errors import UNREADABLE
from daemon.events import NO_OPTIONS, Continuity, Inbound, Notice, Options, Reply

SUSPECT_DEATHS = 2
"""Workers that died while a message was at work, without progress between, after which it is tried alone."""

DEATH_PAUSE_S, DEATH_PAUSE_MAX_S = 5.0, 600.0
"""Seconds before such a message is tried, four times as long after each death: a fleet that is being restarted, or a
machine without memory, has time to recover."""

_decode = msgspec.json.Decoder(Inbound).decode
_decode_options = msgspec.json.Decoder(Options).decode
_decode_continuity = msgspec.json.Decoder(Continuity).decode


# Made for every turn, and four times as fast to make as dataclasses.


class PendingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A pending message."""

    stream_id: str
    """Where it stands in ``in``."""
    inbound: Inbound | None
    """None: what stands there cannot be read."""
    raw: bytes
    """The entry as it is stored."""


class TurnStart(msgspec.Struct, frozen=True, kw_only=True):
    """The positions and messages of a turn at its beginning, read by the script that claimed the session."""

    claims: int
    """Number of this claim, rising for ever."""
    attempts: int
    """Claims since the last progress, this one counted; those are not whose worker died beside other messages."""
    deaths: int
    """Workers that died, or lost the lease, since the last progress."""
    head: int
    base: int
    """Index of the first message that Redis still holds."""
    start: int
    """Index from which on the model sees messages (at or after the cursor)."""
    cursor: int
    tokens: int
    """Of the messages from the cursor on."""
    step: int
    """Journal entries of this turn, left by a predecessor."""
    stop_upto: str
    """A stop waits: stream id of its entry, else empty."""
    scope: str
    options: Options = NO_OPTIONS
    continuity: Continuity | None = None
    """What the history begins with, of what lies before the start; None: nothing."""
    done: str = ""
    """Name of the session's last commit (``commit_name``); empty: there was none."""
    replaced: int = 0
    """How often messages of the log were replaced, since something in them was forgotten."""
    flushed: bool = False
    """What lies behind the cursor was flushed to memory once: no more is done before it is consolidated."""
    dropped: int
    """Waiting messages whose entry was gone from the stream."""
    parked_s: float
    """How long it is since the session was first parked, since its last commit; 0 when it was not."""
    waiting: tuple[PendingMessage, ...]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A session held under a lease."""

    session: str
    nonce: str
    """Random, one a claim: what every script of the holder is checked by."""
    fence: int
    begun: TurnStart


def commit_name(claim: Claim) -> str:
    """The name that a commit of ``claim`` has in the session's hash."""
    return f"{claim.begun.claims} {claim.nonce}"


def begun_from(reply: Sequence[Any]) -> TurnStart:
    """The turn that ``begin()`` of the scripts returned, without its status. The first value is the fence.

    Raises:
        ValueError: what should be a number in the session's hash is none.
    """
    _, claims, attempts, deaths, step, stop_upto, dropped, parked, flat, *waiting = reply
    fields: dict[bytes, bytes] = dict(zip(flat[::2], flat[1::2], strict=True))
    get = fields.get
    # Most sessions have none of these three.
    cursor, options, continuity = int(get(b"cursor", 0)), get(b"options"), get(b"continuity")
    return TurnStart(
        claims=claims,
        attempts=attempts,
        deaths=deaths,
        head=int(get(b"head", 0)),
        base=int(get(b"base", 0)),
        start=int(get(b"start", 0)),
        cursor=cursor,
        tokens=int(get(b"tokens", 0)),
        step=step,
        stop_upto=stop_upto.decode(),
        scope=get(b"scope", b"").decode(),
        options=options_from(options) if options else NO_OPTIONS,
        continuity=continuity_from(continuity) if continuity else None,
        done=get(b"done", b"").decode(),
        replaced=int(get(b"replaced", 0)),
        flushed=b"flushed" in fields and fields[b"flushed"] == b"%d" % cursor,
        dropped=dropped,
        parked_s=parked / 1000,
        waiting=waiting_from(waiting),
    )


def options_from(raw: bytes) -> Options:
    """The options in a session's hash. Corrupted options are ignored."""
    if not raw:
        return NO_OPTIONS
    try:
        return _decode_options(raw)
    except UNREADABLE:
        return NO_OPTIONS


def continuity_from(raw: bytes) -> Continuity | None:
    """The continuity in a session's hash. A corrupted continuity is ignored."""
    if not raw:
        return None
    try:
        return _decode_continuity(raw)
    except UNREADABLE:
        return None


def after(stream_id: str, other: str) -> bool:
    """Whether ``stream_id`` is newer than ``other``. Both are ``<ms>-<sequence>`` and compared as numbers."""
    return _position(stream_id) > _position(other)


def _position(stream_id: str) -> tuple[int, int]:
    ms, _, sequence = stream_id.partition("-")
    return int(ms), int(sequence)


def waiting_from(pairs: Sequence[Any]) -> tuple[PendingMessage, ...]:
    """The messages of a flat list of stream ID and payload."""
    return tuple(map(_waiting, pairs[::2], pairs[1::2]))


def _waiting(stream_id: bytes, raw: bytes) -> PendingMessage:
    try:
        inbound = _decode(raw)
    except UNREADABLE:
        inbound = None
    return PendingMessage(stream_id=stream_id.decode(), inbound=inbound, raw=raw)


# Releasing a session without a commit.

RELEASE = load_script(__file__, "release.lua")

_encode = msgspec.json.Encoder().encode


class SessionNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A notice for a session's users that belongs to no turn, together with a change of the session."""

    notice: Notice
    reply: Reply | None = None
    """The same for a push channel, which shows no notices."""
    out_channel: str = ""
    once: str = ""
    """When a session is put off: said once under this name; empty: each time."""


class Pause(msgspec.Struct, frozen=True):
    """The time until the next claim of a session, and the notice for its users."""

    attempt: Literal["counts", "parked", "undone"]
    """Whether the attempt counts. For ``parked`` it does not, and the time since the first such attempt is measured."""
    delay_s: float = 0.0
    word: SessionNotice | None = None
    reason: str = ""
    """Why the session is parked."""
    tell_after_s: float = 0.0
    """Time for which the session must be parked, including the delay, before its users are notified."""


async def release(
    bus: Bus, config: QueueConfig, session: str, nonce: str, pause: Pause, *, stop_upto: str = ""
) -> bytes:
    """Release the session that is held under ``nonce``. ``stop_upto`` is the stop command that its holder knew.

    Returns:
        ``done``; ``parked`` when its people were told for the first time; ``stale`` when ``nonce`` does not hold it.

    Raises:
        BusUnavailable: Redis is away; repeating is safe.
    """
    keys, word = bus.keys.of(session), pause.word
    status: bytes = await bus.run(
        RELEASE,
        [
            keys.session,
            keys.ready,
            keys.due,
            keys.notices,
            bus.keys.out(bus.keys.partition(session), word.out_channel if word else ""),
        ],
        [
            session,
            nonce,
            pause.attempt,
            round(pause.delay_s * 1000),
            round(config.wakeup_s * 1000),
            stop_upto,
            _encode(word.notice) if word else "",
            round(config.notice_ttl_s * 1000),
            bus.keys.events(session),
            _encode(word.reply) if word and word.reply else "",
            word.once if word else "",
            pause.reason,
            round(pause.tell_after_s * 1000),
        ],
    )
    return status
