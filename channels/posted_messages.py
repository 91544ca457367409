"""Messages that a bot sent to a platform, by the platform's IDs: people react to them, and press their buttons.

Key ``seen`` of the chat, with the ID ``posted:<platform's ID>``: the ID of the reply, in the form that other values of
``seen`` have. The text stays in the log alone.
"""

import msgspec
import structlog

from channels.arrival import Arrival
from daemon.bus import Bus
from daemon.errors import BusError, brief
from daemon.events import Reply
from daemon.sessionkey import SessionKey

KEPT_S = 86_400.0
"""A reaction to an older message is ignored; group context is kept for a day too."""

_NO_CORRELATION = "0  "

_log = structlog.get_logger()


class PostedMessages:
    """The sent messages of one channel instance."""

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel

    async def note(self, reply: Reply, platform_id: str) -> None:
        """Remember that a message is a part of ``reply``; failures are logged, because the message was sent."""
        if not platform_id:
            return
        chat = SessionKey.parse(reply.session)
        value = f"{_NO_CORRELATION}{reply.session}#{reply.id.rpartition('#')[2]}"
        try:
            await self._bus.call("SET", self._key(chat.chat, platform_id), value, "PX", round(KEPT_S * 1000))
        except BusError as error:
            _log.warning("posted.unsaved", channel=self._channel, reason=brief(error))

    async def reply_of(self, chat: str, platform_id: str) -> str:
        """``<session>#<turn or kind>`` of the reply that a message is a part of; empty: not the bot's, or too old.

        Raises:
            BusUnavailable: Redis is away.
        """
        found: bytes | None = await self._bus.call("GET", self._key(chat, platform_id))
        return (found or b"").decode(errors="replace").removeprefix(_NO_CORRELATION)

    async def placed(self, arrival: Arrival) -> Arrival:
        """``arrival``, a press of a message's button, in the thread of the question, if the thread is known.

        Telegram does not state the thread of a message that the bot cannot access any more. If a thread is deleted, its
        question stands in the chat.

        Raises:
            BusUnavailable: Redis is away.
        """
        session = (await self.reply_of(arrival.chat, arrival.id)).rpartition("#")[0]
        return msgspec.structs.replace(arrival, thread=SessionKey.parse(session).thread) if session else arrival

    def _key(self, chat: str, platform_id: str) -> str:
        # Threads share the key: most platforms do not state the thread of a message that was marked.
        return self._bus.keys.seen(str(SessionKey(channel=self._channel, chat=chat)), f"posted:{platform_id}")
