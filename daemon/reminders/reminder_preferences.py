"""What a person chose for all reminders of a bot: the time zone, and that none may be sent at all."""

import msgspec

from daemon.bus import Bus
from daemon.errors import UNREADABLE


class Preferences(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices of one person."""

    zone: str = ""
    """IANA name; empty: the bot's."""
    stopped: str = ""
    """Since when the person wants no reminders: ISO 8601, UTC; empty: the person wants them."""


NO_PREFERENCES = Preferences()

_decode = msgspec.json.Decoder(Preferences).decode
_encode = msgspec.json.Encoder().encode


async def preferences_of(bus: Bus, bot: str, person: str) -> Preferences:
    """The choices of ``person``, ``<channel>:<sender>``. Raises BusUnavailable."""
    raw: bytes | None = await bus.call("HGET", bus.keys.preferences(bot), person)
    try:
        return _decode(raw) if raw else NO_PREFERENCES
    except UNREADABLE:
        return NO_PREFERENCES  # a hand has spoilt it


async def prefer(bus: Bus, bot: str, person: str, wanted: Preferences) -> None:
    """Keep the choices of ``person``. Raises BusUnavailable."""
    if wanted == NO_PREFERENCES:
        await bus.call("HDEL", bus.keys.preferences(bot), person)
    else:
        await bus.call("HSET", bus.keys.preferences(bot), person, _encode(wanted))
