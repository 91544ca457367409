"""What a session's turn is about to answer, looked up where it waits."""

import msgspec

from daemon.bus import Bus, pairs
from daemon.events import Inbound

_decode = msgspec.json.Decoder(Inbound).decode


async def about_to_be_answered(bus: Bus, session: str) -> Inbound | None:
    """The oldest waiting message of a session; None when none waits, or it cannot be read.

    Raises:
        BusUnavailable: Redis is away.
    """
    first: bytes | None = await bus.call("LINDEX", bus.keys.waiting(session), 0)
    if first is None:
        return None
    found = await bus.call("XRANGE", bus.keys.inbox(bus.keys.partition(session)), first, first)
    try:
        return _decode(dict(pairs(found[0][1]))[b"message"]) if found else None
    except (KeyError, msgspec.DecodeError):
        return None
