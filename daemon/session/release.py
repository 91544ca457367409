"""Releasing a session without a commit."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus, load_script
from daemon.config import QueueConfig
from daemon.events import Notice, Reply

RELEASE = load_script(__file__, "release.lua")

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True)
class Word:
    """A notice for a session's users that belongs to no turn, together with a change of the session."""

    notice: Notice
    reply: Reply | None = None
    """The same for a push channel, which shows no notices."""
    out_channel: str = ""
    once: str = ""
    """When a session is put off: said once under this name; empty: each time."""


@dataclass(frozen=True)
class Pause:
    """The time until the next claim of a session, and the notice for its users."""

    attempt: Literal["counts", "parked", "undone"]
    """Whether the attempt counts. For ``parked`` it does not, and the time since the first such attempt is measured."""
    delay_s: float = 0.0
    word: Word | None = None
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
