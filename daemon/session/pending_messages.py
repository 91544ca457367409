"""Messages of a session that are accepted and not answered yet."""

import msgspec

from daemon.bus import Bus, pairs
from daemon.errors import UNREADABLE
from daemon.events import Inbound

_decode = msgspec.json.Decoder(Inbound).decode


async def pending_of(bus: Bus, session: str, *, limit: int) -> list[Inbound]:
    """The first ``limit`` pending messages of a session, oldest first; unreadable ones are left out.

    Raises:
        BusUnavailable: Redis is unavailable.
    """
    ids: list[bytes] = await bus.call("LRANGE", bus.keys.waiting(session), 0, limit - 1)
    inbox = bus.keys.inbox(bus.keys.partition(session))
    found: list[Inbound] = []
    for stream_id in ids:
        for _, fields in await bus.call("XRANGE", inbox, stream_id, stream_id):
            try:
                found.append(_decode(dict(pairs(fields)).get(b"message", b"")))
            except UNREADABLE:
                continue
    return found
