"""Commands with an out-of-band reply. They are answered by any worker, also during a turn or a back-off.

No lease is needed. Any number of workers may work out an answer; one script says it, once.
"""

from typing import Any

import msgspec

from daemon.bus import Bus, load_script, pairs
from daemon.config import QueueConfig
from daemon.events import Inbound, Notice, Reply
from daemon.session.claim import PendingMessage, waiting_from

ASIDE = load_script(__file__, "aside.lua")

PAGE = 100
"""Commands read at once."""

_encode = msgspec.json.Encoder().encode


class ImmediateCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that is pending."""

    session: str
    command: PendingMessage | None
    """None: its entry is gone, answered by somebody else meanwhile or deleted by hand."""
    member: str
    """Where it stands in ``asides``."""

    @property
    def inbound(self) -> Inbound | None:
        """The command as it was accepted; None if it cannot be read."""
        return self.command.inbound if self.command else None


class ImmediateCommands:
    """Reads and answers the commands of a database."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self._bus = bus
        self._ttl_ms = round(config.notice_ttl_s * 1000)

    async def waiting(self, partition: int, *, after: str = "") -> list[ImmediateCommand]:
        """Up to ``PAGE`` commands of a partition, after the ``member`` of an earlier command.

        Raises:
            BusUnavailable: Redis is away.
        """
        first = f"({after}" if after else "-"
        key = self._bus.keys.asides(partition)
        members: list[bytes] = await self._bus.call("ZRANGEBYLEX", key, first, "+", "LIMIT", 0, PAGE)
        return [await self._read(partition, member.decode()) for member in members]

    async def answer(self, aside: ImmediateCommand, notice: Notice, reply: Reply | None, *, out_channel: str) -> bool:
        """Send ``notice``, and ``reply`` on ``out_channel``; False if the command was already answered.

        Raises:
            BusUnavailable: Redis is away; the same may be said again.
        """
        texts = (_encode(notice), _encode(reply) if reply else b"")
        return await self._say(aside, *texts, reason="", out_channel=out_channel) == b"said"

    async def bury(self, aside: ImmediateCommand, *, reason: str) -> bool:
        """Turn a command that cannot be answered into a dead letter. Otherwise as ``answer``."""
        return await self._say(aside, b"", b"", reason=reason, out_channel="") == b"dead"

    async def _say(
        self, aside: ImmediateCommand, notice: bytes, reply: bytes, *, reason: str, out_channel: str
    ) -> bytes:
        keys = self._bus.keys
        partition = keys.partition(aside.session)
        stream_id = aside.member.rpartition(" ")[2]
        status: bytes = await self._bus.run(
            ASIDE,
            [
                keys.inbox(partition),
                keys.asides(partition),
                keys.notices(aside.session),
                keys.out(partition, out_channel),
                keys.dead(partition),
            ],
            [aside.member, stream_id, notice, self._ttl_ms, keys.events(aside.session), reply, reason],
        )
        return status

    async def _read(self, partition: int, member: str) -> ImmediateCommand:
        session, _, stream_id = member.rpartition(" ")
        found: Any = await self._bus.call("XRANGE", self._bus.keys.inbox(partition), stream_id, stream_id)
        messages = [part for at, fields in found for part in (at, dict(pairs(fields))[b"message"])]
        command = waiting_from(messages)[0] if messages else None
        return ImmediateCommand(session=session, command=command, member=member)
