"""Creates a session with an artificial conversation, for experiments."""

import secrets
from collections.abc import Sequence

import msgspec

from daemon.bus import Bus, load_script
from daemon.errors import InboundError
from daemon.events import LogEntry
from daemon.session.sessions import GREW_MAX

FILL = load_script(__file__, "fill.lua")

_encode = msgspec.json.Encoder().encode


async def fill(bus: Bus, session: str, entries: Sequence[LogEntry], *, scope: str) -> None:
    """Create ``session`` with a log of ``entries``, whole turns from index 0 on. One script writes all or nothing.

    Raises:
        InboundError: there is such a session already; nothing was written.
        BusUnavailable: Redis is away.
    """
    keys = bus.keys.of(session)
    status = await bus.run(
        FILL,
        [keys.session, keys.log, keys.unsettled, keys.grew],
        [
            session,
            secrets.token_hex(8),
            scope,
            sum(entry.tokens for entry in entries),
            GREW_MAX,
            bus.keys.events(session),
            *map(_encode, entries),
        ],
    )
    if status != b"done":
        raise InboundError(f"session {session} exists already. Choose another name.")
    await bus.activity.noted(session)
