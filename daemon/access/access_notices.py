"""Lines that the bot itself says in a chat of a push channel, without a turn: at most one of a kind in a while."""

from typing import Literal

import msgspec

from daemon.bus import Bus, load_script
from daemon.events import Reply
from daemon.sessionkey import SessionKey, encode_part

TELL = load_script(__file__, "tell.lua")

QUIET_S = 60.0
"""Pause between two lines of a kind in a chat: a flood is told once."""

_encode = msgspec.json.Encoder().encode


class AccessNotice(msgspec.Struct, frozen=True, kw_only=True):
    """One line."""

    session: SessionKey
    kind: str
    """Lines of different kinds do not hold each other up."""
    name: str
    """Names it among those of its kind in this chat: the same line again is not said again."""
    text: str
    correlation: str
    reply_to: str = ""


class AccessNotices:
    """Says lines."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def say(self, line: AccessNotice, *, quiet_s: float = QUIET_S) -> Literal["said", "again", "held"]:
        """Say a line, unless it, or another of its kind, was said within ``quiet_s``.

        Raises:
            BusUnavailable: Redis is away; the same may be said again.
        """
        keys, session = self._bus.keys, str(line.session)
        reply = Reply(
            id=f"{session}#told-{line.kind}-{encode_part(line.name)}",
            session=session,
            turn=0,
            text=line.text,
            correlation=line.correlation,
            reply_to=line.reply_to,
        )
        out = keys.out(keys.partition(session), line.session.channel)
        status: bytes = await self._bus.run(
            TELL, [keys.told(session, line.kind), out], [reply.id, round(quiet_s * 1000), _encode(reply)]
        )
        return "said" if status == b"said" else "again" if status == b"again" else "held"
