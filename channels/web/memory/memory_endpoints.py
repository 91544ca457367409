"""``/api/memory/<scope>``: the memory of a scope, its versions, and changes by operators."""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from urllib.parse import unquote

import msgspec
from anyio import to_thread
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.message_endpoints import BODY_EXTRA_BYTES, ESCAPED
from channels.web.request_params import before_of, decoded, json_response, limit_of, number_in, segments_of, words_of
from channels.web.site import Site
from daemon.bus import Bus
from daemon.clock import stamp
from daemon.errors import ConfigError, NoSuchMemory
from daemon.memory import (
    Memories,
    MemoryFiles,
    MemorySize,
    ScoredPassage,
    Version,
    VersionChanges,
    census_of,
    changes_of,
    found_in,
    passages_of,
    seen,
    written,
)
from daemon.memory.memory_file import MAX_BYTES
from daemon.memory.memory_files import bot_of
from daemon.memory.text_diff import lines
from daemon.session import sessions_of
from daemon.tokens import load

# The scope of a request about a memory.

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
    raise NoSuchMemory(f"The memory {asked} was not found. To list all memories, send GET /api/memory.")


def scope_of(segment: str) -> str:
    """The scope in a part of an address: as it is, or percent-encoded once more.

    Raises:
        HTTPException: 400, the part is not a scope.
    """
    scope = segment if ":" in segment else unquote(segment, errors="replace")
    if len(scope) > SCOPE_MAX_CHARS or not _is_scope(scope):
        raise HTTPException(
            400, "The address must contain the scope of a memory. To list all memories, send GET /api/memory."
        )
    return scope


# ``GET /api/memory/…``: the memory of a scope, its versions and their origin.

COUNTED_MAX = 1_024
"""Memories whose token count is cached."""


class MemoryEndpoints:
    """The endpoints of one site that change nothing."""

    def __init__(self, site: Site) -> None:
        self._process = site.process
        self._bus = site.process.bus
        self._memories = Memories(site.process.bus, site.process.archive)
        self._counted: OrderedDict[tuple[str, int, int], int] = OrderedDict()

    async def scopes(self, request: Request) -> Response:
        """All scopes with a memory, the last changed first."""
        part = request.query_params.get("q", "").strip().casefold()
        found = await census_of(
            self._bus, self._memories, fits=lambda scope: part in scope.casefold(), limit=limit_of(request)
        )
        return json_response({"scopes": [await self._line(known) for known in found.known], "more": found.more})

    async def read(self, request: Request) -> Response:
        """The current MEMORY.md."""
        scope = await self._scope(request, 4)
        current = await self._memories.current(scope)
        version = await self._memories.version(scope, current.version) if current.version else None
        about = about_version(version) if version else {"version": 0, "time": "", "cause": ""}
        tokens = await self._tokens(scope, current.version, current.text)
        return json_response({"scope": scope, **about, "tokens": tokens, "text": current.text})

    async def versions(self, request: Request) -> Response:
        """The changes of each version, newest first."""
        scope = await self._scope(request, 5)
        found = await changes_of(self._memories, scope, limit=limit_of(request, default=50))
        return json_response({"scope": scope, "versions": [_changed(each) for each in found]})

    async def version(self, request: Request) -> Response:
        """One version with its text."""
        scope, number = await self._scope(request, 6), number_in(segments_of(request, 6)[5])
        version = await self._memories.version(scope, number)
        current = (await self._memories.current(scope)).version
        return json_response(
            {"scope": scope, **about_version(version), "current": number == current, "text": version.text}
        )

    async def diff(self, request: Request) -> Response:
        """The differences of two versions, word by word."""
        scope, query = await self._scope(request, 5), request.query_params
        if not query.get("from"):
            raise HTTPException(
                400,
                "The number of the older version is missing. Add ?from=<number> to the address (0 is the empty "
                "memory before version 1).",
            )
        first, last = number_in(query["from"]), number_in(query["to"]) if query.get("to") else None
        old, new = await seen(self._memories, scope, first), await seen(self._memories, scope, last)
        found = await to_thread.run_sync(lines, old.text, new.text)
        return json_response({"scope": scope, "from": old.version, "to": new.version, "lines": found})

    async def history(self, request: Request) -> Response:
        """The entries of the history, newest first."""
        scope, limit = await self._scope(request, 5), limit_of(request, default=50)
        found = await self._memories.history_before(scope, before_of(request), limit=limit)
        entries = [
            {
                "index": index,
                "time": entry.time,
                "session": entry.session,
                "first": entry.first,
                "upto": entry.upto,
                "kind": entry.kind,
                "lost": entry.lost,
                "text": entry.text,
            }
            for index, entry in reversed(found)
        ]
        return json_response({"scope": scope, "entries": entries})

    async def notes(self, request: Request) -> Response:
        """The notes of a day, by default of the last day with notes, and the list of all days with notes."""
        scope = await self._scope(request, 5)
        notes = await self._memories.notes(scope)
        days = sorted({note.date for note in notes}, reverse=True)
        day = request.query_params.get("day") or (days[0] if days else "")
        chosen = [{"time": note.time, "session": note.session, "text": note.text} for note in notes if note.date == day]
        return json_response({"scope": scope, "day": day, "days": days, "notes": chosen})

    async def search(self, request: Request) -> Response:
        """The passages that match the search terms, the best first."""
        scope, words, limit = await self._scope(request, 5), words_of(request), limit_of(request, default=20)
        current = await self._memories.current(scope)
        passages = passages_of(current.text, await self._memories.history(scope), await self._memories.notes(scope))
        found = await to_thread.run_sync(lambda: found_in(passages, words, limit=limit))
        return json_response({"scope": scope, "hits": [_hit(each) for each in found]})

    async def _scope(self, request: Request, parts: int) -> str:
        return await scope_asked(request, self._bus, self._memories, parts=parts)

    async def _line(self, known: MemorySize) -> dict[str, Any]:
        text = (await self._memories.current(known.scope)).text
        return {
            "scope": known.scope,
            "bot": bot_of(known.scope),
            "version": known.version,
            "time": known.time,
            "tokens": await self._tokens(known.scope, known.version, text),
            "entries": known.entries,
            "notes": known.notes,
        }

    async def _tokens(self, scope: str, version: int, text: str) -> int:
        # After a failover, the same number may belong to another text.
        key = (scope, version, hash(text))
        if key not in self._counted:
            self._counted[key] = await (await load(self._model(scope))).acount(text)
            if len(self._counted) > COUNTED_MAX:
                self._counted.popitem(last=False)
        return self._counted[key]

    def _model(self, scope: str) -> str:
        try:
            return self._process.bot(bot_of(scope)).model.name
        except ConfigError:
            return ""  # counted with the default tokenizer


def about_version(version: Version) -> dict[str, Any]:
    """The description of a version without its text."""
    told = {
        "session": version.session,
        "first": version.first if version.upto else None,
        "upto": version.upto or None,
        "model": version.model,
        "by": version.by,
        "of": version.of or None,
        "reason": version.reason,
        "audit": version.audit.told if version.audit else None,
    }
    about = {"version": version.version, "time": version.time, "cause": version.kind}
    return about | {name: value for name, value in told.items() if value not in ("", None)}


def _changed(changed: VersionChanges) -> dict[str, Any]:
    about = {"reason": "", **about_version(changed.version)}
    return {**about, "added": changed.came, "removed": changed.went, "current": changed.is_current}


def _hit(found: ScoredPassage) -> dict[str, Any]:
    passage = found.passage
    hit: dict[str, Any] = {"source": passage.source, "text": passage.text, "score": found.score, "time": passage.time}
    return hit if passage.index is None else {**hit, "index": passage.index}


# ``PUT /api/memory/<scope>`` and ``POST …/restore``: changes of a memory by operators. Every version is kept.

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


class MemoryEditEndpoints:
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
                f"The text is larger than {MAX_BYTES:,} bytes. Shorten the text, because every prompt contains it.",
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
