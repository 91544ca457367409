"""Looking up whether a message was sent, if the adapter can."""

import anyio
import structlog

from channels.base import Channel, Finds, Part
from daemon.errors import SendRefused, SendRejected, brief
from daemon.sessionkey import SessionKey

_log = structlog.get_logger()


async def found(channel: Channel, chat: SessionKey, part: Part, *, timeout_s: float) -> str | None:
    """The platform's ID of the message sent by an attempt at ``part``; empty: none; None: it cannot be looked up.

    Raises:
        SendRefused: it cannot be looked just now.
    """
    if not isinstance(channel, Finds):
        return None
    try:
        with anyio.move_on_after(timeout_s):
            return await channel.find(chat, part, timeout_s=timeout_s)
    except SendRejected as error:
        _log.warning("part.unfindable", session=str(chat), reason=brief(error))
        return None
    raise SendRefused(f"the platform did not confirm within {timeout_s:g} s whether the message arrived")
