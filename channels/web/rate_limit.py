"""The requests of each client in a minute, and the limits of members.

A member chooses the session that it uses, and the session names the person. Therefore nothing beyond the sessions of
this channel may follow from that name: no other channel, no rights of an administrator, no memory of another identity.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request

from daemon.access import is_admin
from daemon.clock import Clock
from daemon.errors import ForeignSession
from daemon.events import Inbound
from daemon.people import LinkIndex, is_operator
from daemon.process import Process
from daemon.scope import scope_of
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey

# The requests of each client in a minute, in one process.

WINDOW_S = 60.0

CLIENTS_MAX = 10_000
"""Clients that are remembered; a megabyte. With more, the one that has been quiet longest may begin anew."""


class RateLimit:
    """A token bucket for each client: a minute's requests at once, and then as many as time gives back."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        """``per_minute``: requests of one client; 0: no limit."""
        self.per_minute = per_minute
        self._clock = clock
        self._spent_until: dict[str, float] = {}
        """By client, the time at which all of its requests will be given back (virtual scheduling, ITU-T I.371)."""

    def wait_s(self, client: str) -> float:
        """Count a request of ``client``. 0 if it is allowed; else seconds until one is, and it is not counted."""
        if not self.per_minute:
            return 0.0
        now = self._clock.monotonic()
        spent_until = max(self._spent_until.pop(client, now), now)
        later = spent_until + WINDOW_S / self.per_minute
        wait_s = max(0.0, later - now - WINDOW_S)
        self._spent_until[client] = spent_until if wait_s else later
        if len(self._spent_until) > CLIENTS_MAX:
            del self._spent_until[next(iter(self._spent_until))]
        return wait_s


# Limits of members: clients of the API that have no rights of operators (``access.operators``).


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
            f"Session {str(key)[:80]!r} belongs to channel {key.channel[:80]!r}. Only operators can read sessions on "
            f"channels other than {channel!r}. Send the operator token."
        )
    return key


def check_channel(key: SessionKey, channel: str) -> SessionKey:
    """``key``, if the site ``channel`` accepts messages for this session.

    Raises:
        ForeignSession: it is of another channel.
    """
    if key.channel != channel:
        raise ForeignSession(
            f"Session {str(key)[:80]!r} belongs to channel {key.channel[:80]!r}. This address accepts messages only "
            f"for channel {channel!r}, so choose a session on that channel."
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
    is_shared = await LinkIndex(process.bus).family(scope) != [scope]
    is_reserved = is_operator(process.config, inbound.channel, inbound.sender_id)
    if owner not in ("", scope) or is_shared or is_reserved or is_admin(bot, inbound):
        raise HTTPException(
            403,
            f"Session {session[:80]!r} belongs to another user, to an operator, to an administrator or to a person "
            "with linked identities. Only operators can write to this session. Send the operator token, or choose "
            "another session.",
        )
