"""The scope of a request about a memory."""

import re
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request

from channels.web.request_params import segments_of
from daemon.bus import Bus
from daemon.errors import NoSuchMemory
from daemon.memory import Memories
from daemon.session import sessions_of

SCOPE_MAX_CHARS = 1_100
"""A bot's name, the kind, and a session key or the names of a channel and a person, each part percent-encoded."""

_is_scope = re.compile(r"[A-Za-z0-9_.~%-]+:(workspace|(person|group|session)(:[A-Za-z0-9_.~%-]+){2,3})").fullmatch

PLACE = 3
"""Position of the scope in the address: ``/api/memory/<scope>/…``."""


async def scope_asked(request: Request, bus: Bus, memories: Memories, *, parts: int) -> str:
    """The home of the scope in the address, which holds the memory that linked scopes share.

    Raises:
        NoSuchMemory: the scope was not found.
        BusUnavailable: Redis is unavailable.
    """
    asked = scope_of(segments_of(request, parts)[PLACE])
    home = await memories.home(asked)
    # A new session has a scope before it has a memory.
    if await bus.call("EXISTS", bus.keys.memory(home)) or await sessions_of(bus, {asked}):
        return home
    raise NoSuchMemory(f"The memory {asked} was not found. GET /api/memory lists all memories.")


def scope_of(segment: str) -> str:
    """The scope in a part of an address: as it is, or percent-encoded once more.

    Raises:
        HTTPException: 400, the part is not a scope.
    """
    scope = segment if ":" in segment else unquote(segment, errors="replace")
    if len(scope) > SCOPE_MAX_CHARS or not _is_scope(scope):
        raise HTTPException(
            400, "The address does not contain the name of a memory (its scope). GET /api/memory lists all memories."
        )
    return scope
