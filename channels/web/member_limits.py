"""Limits of members: clients of the API that have no rights of operators (``access.operators``).

A member chooses the session that it uses, and the session names the person. Therefore nothing beyond the sessions of
this channel may follow from that name: no other channel, no rights of an administrator, no memory of another identity.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request

from daemon.access import is_admin
from daemon.errors import ForeignSession
from daemon.events import Inbound
from daemon.people import People, is_operator
from daemon.process import Process
from daemon.scope import scope_of
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey


def is_member(request: Request) -> bool:
    """Whether the guard let a request through that no operator made."""
    return request.scope["operator"] is None


def readable(request: Request, key: SessionKey, channel: str) -> SessionKey:
    """``key``, if the client of the site ``channel`` may read this session.

    Raises:
        ForeignSession: it is of another channel.
    """
    if is_member(request) and key.channel != channel:
        raise ForeignSession(
            f"Session {str(key)[:80]!r} belongs to the channel {key.channel[:80]!r}. Only operators may read sessions "
            f"of channels other than {channel!r}. Send the operators' token."
        )
    return key


def check_channel(key: SessionKey, channel: str) -> SessionKey:
    """``key``, if the site ``channel`` accepts messages for this session.

    Raises:
        ForeignSession: it is of another channel.
    """
    if key.channel != channel:
        raise ForeignSession(
            f"Session {str(key)[:80]!r} belongs to the channel {key.channel[:80]!r}. Choose a session of channel "
            f"{channel!r}, because this address accepts messages only for that channel."
        )
    return key


async def check_sender(process: Process, inbound: Inbound) -> None:
    """Check the person that a message of a member would come from.

    Raises:
        HTTPException: 403, the session is another person's, or the person is an administrator or has linked identities.
        BusUnavailable: Redis is unavailable.
    """
    bot = process.bot(inbound.bot)
    scope, session = scope_of(inbound, bot), str(inbound.session)
    owner = (await SessionReader(process.bus).state(session)).scope
    is_shared = await People(process.bus).family(scope) != [scope]
    is_reserved = is_operator(process.config, inbound.channel, inbound.sender_id)
    if owner not in ("", scope) or is_shared or is_reserved or is_admin(bot, inbound):
        raise HTTPException(
            403,
            f"Session {session[:80]!r} belongs to another user, to an operator, to an administrator or to a person "
            "with linked identities. Only operators may write to this session. Send the operators' token, or choose "
            "another session.",
        )
