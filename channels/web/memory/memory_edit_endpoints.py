"""``PUT /api/memory/<scope>`` and ``POST …/restore``: changes of a memory by operators. Every version is kept."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.json_body import decoded, json_response
from channels.web.memory.memory_scope import scope_asked
from channels.web.message_endpoints import BODY_EXTRA_BYTES, ESCAPED
from channels.web.site import Site
from daemon.clock import stamp
from daemon.memory import Memories, MemoryFiles, written
from daemon.memory.memory_file import MAX_BYTES

EDIT = 'The body must be {"text": "…", "expect": <the version that was edited>}.'
RESTORE = 'The body must be {"version": <number>, "expect": <the current version>}.'

_Number = Annotated[int, Meta(ge=0, le=2**53)]


class _Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``PUT``."""

    text: str
    expect: _Number


class _Restore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST …/restore``."""

    version: _Number
    expect: _Number


class Changing:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        process = site.process
        self._bus, self._clock = process.bus, process.clock
        self._memories = Memories(process.bus, process.archive)
        self._files = MemoryFiles(self._memories, workspace_of=process.workspace, clock=process.clock)

    async def edit(self, request: Request) -> Response:
        """Save a text as the newest version, unless the memory has changed since the expected version."""
        wanted = await decoded(request, _Edit, EDIT, max_bytes=MAX_BYTES * ESCAPED + BODY_EXTRA_BYTES)
        if len(wanted.text.encode()) > MAX_BYTES:
            return problem(
                413,
                "message_too_large",
                f"The text is above the limit of {MAX_BYTES:,} bytes. Shorten the text, because it is part of every "
                f"prompt.",
            )
        scope, (by, time) = await scope_asked(request, self._bus, self._memories, parts=4), self._author(request)

        async def change() -> int:
            # Additions between the check of the version and this call are appended below, as for an edited file.
            return await self._memories.edit(scope, of=wanted.expect, text=wanted.text, by=by, time=time)

        return await self._written(request, "memory.edit", scope, change, wanted.expect)

    async def restore(self, request: Request) -> Response:
        """Make an older version the newest one."""
        wanted = await decoded(request, _Restore, RESTORE)
        scope, (by, time) = await scope_asked(request, self._bus, self._memories, parts=5), self._author(request)

        async def change() -> int:
            return await self._memories.restore(scope, version=wanted.version, by=by, time=time)

        return await self._written(request, "memory.restore", scope, change, wanted.expect)

    async def _written(
        self, request: Request, action: str, scope: str, change: Callable[[], Awaitable[int]], expect: int
    ) -> Response:
        async with audited(request, action, scope) as doing:
            done = await written(self._memories, self._files, scope, change, expect=expect)
            doing.outcome = f"version {done.version}"
        return json_response({"scope": scope, "version": done.version, "changed": done.changed})

    def _author(self, request: Request) -> tuple[str, str]:
        """The author and the time of a change."""
        return f"operator {request.scope['operator'].who}", stamp(self._clock.now())
