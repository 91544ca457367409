"""What is known of the messages that show texts being written, in the name of one leader."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from anyio.abc import TaskGroup

from channels.leader_election import Lease
from channels.live_display.draft_message import DraftMessage
from daemon.bus import Bus, load_script, pairs
from daemon.events import Inbound

# In whose name a process shows texts in the chats of a partition.


@dataclass(frozen=True, eq=False, kw_only=True)
class DisplayLeader:
    """The leader of a channel's partition, for as long as it is."""

    partition: int
    lease: Lease
    sends: TaskGroup
    """Over before the lease is given back: what is shown must not come after what a successor sends."""
    holds: Callable[[str], bool]
    """Whether there are replies to deliver to a session."""


# What a session's turn is about to answer, looked up where it waits.

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


SHOW = load_script(__file__, "show.lua")

OPEN_TTL_MS = 7 * 86_400_000
"""As of the marks of a reply that is not delivered: both lie in one hash."""

UNKNOWN_MAX = 10_000
UNKNOWN_TTL_MS = 7 * 86_400_000


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a message may be sent now."""

    send: bool = False
    platform_id: str = ""
    """Of one that shows the text already; it was sent by a predecessor."""
    look: bool = False
    """A predecessor died while he sent one: it is to be looked for."""


class ShownMessages:
    """Notes for one channel instance; errors of all methods as for ``Bus.run``."""

    def __init__(self, bus: Bus, channel: str, *, looks: bool) -> None:
        """``looks``: whether the platform can be asked what is there."""
        self._bus = bus
        self._channel = channel
        self._looks = looks

    async def begin(self, lead: DisplayLeader, draft: DraftMessage, mark: str) -> Begun:
        """Note that a message is about to be sent, of the draft's number, which is corrected; it may be repeated."""
        while True:
            status, value = await self._run(lead, draft, "begin", mark=mark)
            if status == b"number":
                draft.number = int(value) + 1
                continue
            if status == b"shown":
                number, _, platform_id = value.decode().partition(" ")
                draft.number = int(number)
                return Begun(platform_id=platform_id)
            if status == b"look":
                draft.number = int(value)
                return Begun(look=True)
            return Begun(send=status == b"send")

    async def shown(self, lead: DisplayLeader, draft: DraftMessage, mark: str, platform_id: str) -> bool:
        """Note under which id it was sent; False: somebody has gone on without it."""
        status, _ = await self._run(lead, draft, "shown", mark=mark, platform_id=platform_id)
        return bool(status == b"noted")

    async def gone(self, lead: DisplayLeader, draft: DraftMessage, *, mark: str = "") -> None:
        """Note that it was not taken, or was taken away."""
        await self._run(lead, draft, "gone", mark=mark, platform_id=draft.platform_id)

    async def unknown(self, lead: DisplayLeader, draft: DraftMessage, mark: str) -> None:
        """Note that nobody knows whether it is there."""
        await self._run(lead, draft, "unknown", mark=mark)

    async def found(self, lead: DisplayLeader, draft: DraftMessage, platform_id: str) -> bool:
        """Note that one is there of which nobody knew; False: somebody has gone on without it."""
        status, _ = await self._run(lead, draft, "found", platform_id=platform_id)
        return bool(status == b"noted")

    async def missing(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        """Note that one is not there of which nobody knew."""
        await self._run(lead, draft, "missing")

    async def _run(
        self, lead: DisplayLeader, draft: DraftMessage, what: str, *, mark: str = "", platform_id: str = ""
    ) -> tuple[bytes, bytes]:
        keys = self._bus.keys
        status, value = await self._bus.run(
            SHOW,
            [
                keys.leader(lead.partition, self._channel),
                keys.sent(draft.session, draft.reply),
                keys.unknown(lead.partition),
            ],
            [
                *(lead.lease.nonce, OPEN_TTL_MS, UNKNOWN_MAX, UNKNOWN_TTL_MS),
                *(what, draft.number, mark, platform_id, draft.reply, draft.session, int(self._looks)),
            ],
        )
        return status, value if isinstance(value, bytes) else str(value).encode()
