"""Looking for what nobody knows whether it was sent, where the adapter can."""

import anyio
import structlog

from channels.base import Channel, Finds, Part
from daemon.errors import SendRefused, SendRejected, brief
from daemon.sessionkey import SessionKey

_log = structlog.get_logger()


async def found(channel: Channel, chat: SessionKey, part: Part, *, timeout_s: float) -> str | None:
    """The platform's id of what some attempt at ``part`` has sent; empty: nothing is there; None: nobody may look.

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
    raise SendRefused(f"no answer to what was sent within {timeout_s:g} s")
