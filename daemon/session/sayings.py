"""What a turn says before its answer: in its own chat, or in another one of its scope."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus, load_script
from daemon.config import QueueConfig
from daemon.errors import LeaseLost
from daemon.events import Notice, Reply
from daemon.session.claim import Claim
from daemon.session.sessions import Sessions

SAY = load_script(__file__, "say.lua")

SAID_TTL_S = 604_800.0
"""How long is remembered what a call said: a week, longer than a turn can be put off."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True)
class Saying:
    """One thing to be said."""

    call: str
    """Names the tool call within its turn."""
    session: str
    """Key of the chat's session."""
    scope: str
    """The chat's own: nothing is said in one that has another."""
    notice: Notice
    reply: Reply | None = None
    """The same for a push channel, which shows no notices."""
    out_channel: str = ""


def saying_id(claim: Claim, call: str, session: str) -> str:
    """Id of the reply that a call makes in a chat: the same whoever runs the call, and no other call's."""
    own = "" if session == claim.session else f"-{claim.session}"
    return f"{session}#message-{claim.begun.head}-{call}{own}"


class Sayings:
    """Says things in the name of claims."""

    def __init__(self, bus: Bus, sessions: Sessions, config: QueueConfig) -> None:
        self._bus = bus
        self._sessions = sessions
        self._notice_ttl_ms = round(config.notice_ttl_s * 1000)

    async def say(self, claim: Claim, saying: Saying) -> Literal["said", "again", "foreign"]:
        """Say it, unless this call of the turn said it before, or the chat is not of the scope that is wanted.

        Raises:
            LeaseLost: somebody else holds the session; nothing was said.
            BusUnavailable: Redis is away; the same may be said again.
        """
        keys, partition = self._bus.keys, self._bus.keys.partition(saying.session)
        near = keys.partition(claim.session) == partition
        if not near:
            # The best there is across slots: who lost the lease stops here, who loses it now says what its successor
            # would say under the same name.
            await self._sessions.renew(claim)
        status: bytes = await self._bus.run(
            SAY,
            [
                keys.session(claim.session if near else saying.session),
                keys.session(saying.session),
                keys.notices(saying.session),
                keys.out(partition, saying.out_channel),
                keys.said(saying.session, saying_id(claim, saying.call, saying.session)),
            ],
            [
                claim.nonce if near else "",
                claim.begun.head,
                saying.scope,
                round(SAID_TTL_S * 1000),
                _encode(saying.notice),
                self._notice_ttl_ms,
                keys.events(saying.session),
                _encode(saying.reply) if saying.reply else "",
            ],
        )
        if status == b"stale":
            raise LeaseLost(f"session {claim.session} is now held by another worker. Nothing was sent.")
        return "said" if status == b"said" else "again" if status == b"again" else "foreign"
