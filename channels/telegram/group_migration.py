"""Groups that have become supergroups: their conversations go on under the id that they began with.

Hash ``mp:moved:{<channel>}``: old id → new id. A platform never moves a chat twice, and never back. It has no TTL:
it is needed for as long as the group is spoken to.
"""

import msgspec
import structlog

from channels.arrival import Arrival
from daemon.bus import Bus
from daemon.errors import BusError, brief

NEW = "m"
"""What ids of messages begin with that a group got after it moved: the platform counts them from 1 again."""

SUPERGROUPS = "-100"
"""What ids of supergroups begin with."""

NEW_ORDER = float(2**32)
"""Added to their order, so that they come after all that the group had before; ids of messages have 31 bits."""

_log = structlog.get_logger()


class GroupMigrations:
    """What is known of the groups of one channel instance that moved."""

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._key = bus.keys.moved(channel)
        self._new: dict[str, str] = {}
        self._old: dict[str, str] = {}
        self._looked_at: set[str] = set()
        """Supergroups of which it was looked up since whether they are a group that moved."""

    async def load(self) -> None:
        """Read what other processes have noted.

        Raises:
            BusUnavailable: Redis is away.
        """
        found: dict[bytes, bytes] | list[bytes] = await self._bus.call("HGETALL", self._key)
        pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
        for old, new in pairs:
            self._know(old.decode(), new.decode())

    async def note(self, old: int, new: int) -> None:
        """Keep that a group has moved; the same again changes nothing. Errors as for ``load``."""
        if self._new.get(str(old)) == str(new):
            return
        await self._bus.call("HSETNX", self._key, str(old), str(new))
        self._know(str(old), str(new))
        _log.info("chat.moved", channel=self._channel)

    async def noted(self, old: int, new: int) -> None:
        """As ``note``; while Redis is away, for this process alone: the platform will say it again to the others."""
        try:
            await self.note(old, new)
        except BusError as error:
            self._know(str(old), str(new))
            _log.warning("chat.moved", channel=self._channel, reason=brief(error))

    def address(self, chat: str) -> str:
        """The id under which a chat is to be spoken to."""
        return self._new.get(chat, chat)

    async def settled(self, arrival: Arrival) -> Arrival:
        """``arrival`` as one of the conversation that it belongs to. Errors as for ``load``."""
        if arrival.chat.startswith(SUPERGROUPS) and arrival.chat not in self._looked_at:
            # Another process may have heard of the move; a group moves before its new id is ever heard of.
            await self.load()
            self._looked_at.add(arrival.chat)
        old = self._old.get(arrival.chat)
        if old is None:
            return arrival
        return msgspec.structs.replace(
            arrival,
            chat=old,
            id=f"{NEW}{arrival.id}",
            reply_to=f"{NEW}{arrival.reply_to}" if arrival.reply_to else "",
            order=arrival.order + NEW_ORDER,
        )

    def message_id(self, chat: str, message: str) -> int | None:
        """The platform's number of a message in a chat's present place; None when it lies in the one it left."""
        if chat in self._new and not message.startswith(NEW):
            return None
        number = message.removeprefix(NEW)
        return int(number) if number.isdecimal() else None

    def _know(self, old: str, new: str) -> None:
        self._new[old] = new
        self._old[new] = old
