"""Whose memory a request is about: that of one scope, and of no other."""

import re
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request

from channels.web.ask import segments_of
from daemon.bus import Bus
from daemon.errors import NoSuchMemory
from daemon.memory import Memories
from daemon.session import sessions_of

SCOPE_MAX_CHARS = 1_100
"""A bot's name, the kind, and a session key or the names of a channel and a person, each part percent-encoded."""

_is_scope = re.compile(r"[A-Za-z0-9_.~%-]+:(workspace|(person|group|session)(:[A-Za-z0-9_.~%-]+){2,3})").fullmatch

PLACE = 3
"""The position of the scope in the address: ``/api/memory/<scope>/…``."""


async def scope_asked(request: Request, bus: Bus, memories: Memories, *, parts: int) -> str:
    """The home of the scope in the address: whose memory that is which the scope's people share.

    Raises:
        NoSuchMemory: there is no such scope.
        BusUnavailable: Redis is away.
    """
    asked = scope_of(segments_of(request, parts)[PLACE])
    home = await memories.home(asked)
    # Of whoever began to talk only just now nothing is remembered yet.
    if await bus.call("EXISTS", bus.keys.memory(home)) or await sessions_of(bus, {asked}):
        return home
    raise NoSuchMemory(f"{asked} is not a scope with a memory. GET /api/memory lists the scopes.")


def scope_of(segment: str) -> str:
    """The scope in a part of an address: as it is, or percent-encoded once more.

    Raises:
        HTTPException: 400, it names none.
    """
    scope = segment if ":" in segment else unquote(segment, errors="replace")
    if len(scope) > SCOPE_MAX_CHARS or not _is_scope(scope):
        raise HTTPException(400, "the address contains no scope. GET /api/memory lists the scopes.")
    return scope
