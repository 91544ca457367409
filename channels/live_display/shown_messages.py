"""What is known of the messages that show texts being written, in the name of one leader."""

import msgspec

from channels.live_display.display_leader import Lead
from channels.live_display.draft_message import Draft
from daemon.bus import Bus, load_script

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


class Book:
    """Notes for one channel instance; errors of all methods as for ``Bus.run``."""

    def __init__(self, bus: Bus, channel: str, *, looks: bool) -> None:
        """``looks``: whether the platform can be asked what is there."""
        self._bus = bus
        self._channel = channel
        self._looks = looks

    async def begin(self, lead: Lead, draft: Draft, mark: str) -> Begun:
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

    async def shown(self, lead: Lead, draft: Draft, mark: str, platform_id: str) -> bool:
        """Note under which id it was sent; False: somebody has gone on without it."""
        status, _ = await self._run(lead, draft, "shown", mark=mark, platform_id=platform_id)
        return bool(status == b"noted")

    async def gone(self, lead: Lead, draft: Draft, *, mark: str = "") -> None:
        """Note that it was not taken, or was taken away."""
        await self._run(lead, draft, "gone", mark=mark, platform_id=draft.platform_id)

    async def unknown(self, lead: Lead, draft: Draft, mark: str) -> None:
        """Note that nobody knows whether it is there."""
        await self._run(lead, draft, "unknown", mark=mark)

    async def found(self, lead: Lead, draft: Draft, platform_id: str) -> bool:
        """Note that one is there of which nobody knew; False: somebody has gone on without it."""
        status, _ = await self._run(lead, draft, "found", platform_id=platform_id)
        return bool(status == b"noted")

    async def missing(self, lead: Lead, draft: Draft) -> None:
        """Note that one is not there of which nobody knew."""
        await self._run(lead, draft, "missing")

    async def _run(
        self, lead: Lead, draft: Draft, what: str, *, mark: str = "", platform_id: str = ""
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
