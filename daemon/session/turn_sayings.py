"""Messages that a turn sends before its answer, to its own chat or to another chat of its scope."""

from typing import Literal

import msgspec

from daemon.bus import Bus, load_script
from daemon.config import QueueConfig
from daemon.errors import LeaseLost
from daemon.events import Notice, Reply
from daemon.session.claim import Claim, SessionNotice
from daemon.session.sessions import Sessions

# Notices for the users of a session that belong to no turn.

TELL = load_script(__file__, "tell.lua")

_encode = msgspec.json.Encoder().encode


async def tell(bus: Bus, config: QueueConfig, session: str, word: SessionNotice) -> None:
    """Send ``word`` in a session. Errors as for ``Bus.call``; the word may then be sent twice."""
    keys = bus.keys
    await bus.run(
        TELL,
        [keys.notices(session), keys.out(keys.partition(session), word.out_channel)],
        [
            _encode(word.notice),
            round(config.notice_ttl_s * 1000),
            keys.events(session),
            _encode(word.reply) if word.reply else "",
        ],
    )


SAY = load_script(__file__, "say.lua")

SAID_TTL_S = 604_800.0
"""How long is remembered what a call said: a week, longer than a turn can be put off."""


class TurnMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message to be sent."""

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
    """ID of the message that a tool call sends to a chat. It is the same whenever this call is repeated."""
    own = "" if session == claim.session else f"-{claim.session}"
    return f"{session}#message-{claim.begun.head}-{call}{own}"


class TurnMessages:
    """Sends messages on behalf of claims."""

    def __init__(self, bus: Bus, sessions: Sessions, config: QueueConfig) -> None:
        self._bus = bus
        self._sessions = sessions
        self._notice_ttl_ms = round(config.notice_ttl_s * 1000)

    async def say(self, claim: Claim, saying: TurnMessage) -> Literal["said", "again", "foreign"]:
        """Send the message, unless this call already sent it, or the chat does not belong to the required scope.

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
