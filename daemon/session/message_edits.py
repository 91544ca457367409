"""Messages that are edited or deleted before they are answered."""

from typing import Any, Literal

import anyio
import msgspec

from daemon.bus import Bus, check_inbound, load_script, pairs
from daemon.config import QueueConfig
from daemon.errors import UNREADABLE
from daemon.events import Inbound

AMEND = load_script(__file__, "amend.lua", with_parts=("waits.part.lua",))
WITHDRAW = load_script(__file__, "withdraw.lua", with_parts=("waits.part.lua",))

BURST = 32
"""Waiting messages that one turn answers at most; as ``begin.part.lua`` has it."""

PAGE = 100
"""Waiting messages read at once, the newest first: people edit what they wrote last."""

TRIES = 3
"""How often is looked for a message that was replaced just when it was found."""

Amended = Literal["amended", "late", "unknown"]
Withdrawn = Literal["withdrawn", "stopped", "late", "unknown"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Inbound).decode


class MessageEdits:
    """Edits the pending messages of a database."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self._bus = bus
        self._config = config

    async def amend(self, inbound: Inbound) -> Amended:
        """Replace the pending message that has ``inbound``'s ID by ``inbound``. Its place and time are kept.

        ``late``: a turn that answers it is under way, a stop waits behind it, or one of the two is a command; nothing
        was changed. ``unknown``: none waits under that id from that sender: it was answered, or it never came. The same
        again changes nothing.

        Raises:
            MessageTooLarge, InboundError: it cannot be accepted as it is.
            BusUnavailable: Redis is away; the same may be said again.
        """
        check_inbound(inbound, self._config)
        for _ in range(TRIES):
            found = await self._waiting(str(inbound.session), inbound.id)
            if found is None:
                return "unknown"
            stream_id, old = found
            if old.sender_id != inbound.sender_id:
                return "unknown"
            if old.command or inbound.command:
                return "late"
            new = amended(old, inbound)
            if new == old:
                return "amended"
            status = await self.put(stream_id, new)
            if status != "gone":
                return status
        return "unknown"

    async def put(self, stream_id: bytes, new: Inbound) -> Literal["amended", "late", "gone"]:
        """Replace the pending entry ``stream_id`` by ``new``, of the same session and message ID; see ``amend.lua``."""
        session = str(new.session)
        keys = self._bus.keys.of(session)
        status: bytes = await self._bus.run(
            AMEND,
            [keys.inbox, keys.session, keys.waiting, keys.log],
            [session, stream_id, BURST, new.id, _encode(new)],
        )
        return "amended" if status == b"amended" else "late" if status == b"late" else "gone"

    async def withdraw(self, session: str, message_id: str, *, sender_id: str = "") -> Withdrawn:
        """Remove the pending message with this ID. ``sender_id``: only if this person sent the message.

        ``stopped``: a turn that answers it is under way, and is stopped. ``late``: that turn began with an earlier
        message, a stop waits behind it, or it is a command; it is answered all the same. ``unknown``: none waits under
        that id: it was answered, or it never came. The same again changes nothing.

        Raises:
            BusUnavailable: Redis is away; the same may be said again.
        """
        for _ in range(TRIES):
            found = await self._waiting(session, message_id)
            if found is None or sender_id not in ("", found[1].sender_id):
                return "unknown"
            stream_id, old = found
            if old.command:
                return "late"
            keys = self._bus.keys.of(session)
            partition = self._bus.keys.partition(session)
            status: bytes = await self._bus.run(
                WITHDRAW,
                [
                    *(keys.inbox, keys.session, keys.waiting, keys.log),
                    *(self._bus.keys.ready(partition), self._bus.keys.due(partition)),
                ],
                [session, stream_id, BURST, self._bus.keys.nudges],
            )
            if status in (b"withdrawn", b"stopped"):
                return "withdrawn" if status == b"withdrawn" else "stopped"
            if status != b"gone":
                return "late"
        return "unknown"

    async def _waiting(self, session: str, message_id: str) -> tuple[bytes, Inbound] | None:
        """The message with this id that waits in a session, and where it stands."""
        keys = self._bus.keys.of(session)
        ids: list[bytes] = await self._bus.call("LRANGE", keys.waiting, 0, -1)
        for end in range(len(ids), 0, -PAGE):
            found: dict[bytes, Inbound] = {}

            async def look(stream_id: bytes, found: dict[bytes, Inbound] = found) -> None:
                entries: Any = await self._bus.call("XRANGE", keys.inbox, stream_id, stream_id)
                for _, fields in entries:
                    if (message := _message_in(dict(pairs(fields)), message_id)) is not None:
                        found[stream_id] = message

            async with anyio.create_task_group() as tg:  # one tick, one pipeline
                for stream_id in ids[max(0, end - PAGE) : end]:
                    tg.start_soon(look, stream_id)
            for stream_id, message in found.items():
                return stream_id, message
        return None


def amended(old: Inbound, new: Inbound) -> Inbound:
    """``old`` with the text of its edit. The preceding group context and the arrival time are kept."""
    return msgspec.structs.replace(
        old,
        text=new.text,
        attachments=new.attachments,
        quote=new.quote or old.quote,
        sender_name=new.sender_name or old.sender_name,
    )


def _message_in(fields: dict[bytes, bytes], message_id: str) -> Inbound | None:
    if fields.get(b"id") != message_id.encode():
        return None
    try:
        return _decode(fields.get(b"message", b""))
    except UNREADABLE:
        return None
