"""``…/timeline``, ``…/search``, ``…/turns`` and ``/api/trace/…``: outline, search and traces of a session."""

from contextlib import aclosing
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.error_response import problem
from channels.web.request_params import (
    after_of,
    before_of,
    json_response,
    limit_of,
    segments_of,
    session_in_path,
    turn_in,
    words_of,
)
from channels.web.site import Site
from daemon.memory import Audit, HistoryEntry, Memories
from daemon.session import SessionReader
from daemon.traces import FoundTrace, Traces, told
from daemon.transcripts import Hit, Range, SearchWords, outline_of, ranges_of, search

# ``GET …/timeline`` and ``GET …/search``: an outline of a session, and a search in its messages.

TITLE_CHARS = 160
"""Longest title of a history entry, which is its first line."""

SEARCH_S = 20.0
"""Time limit of a search; hits found until then are returned."""


class Timeline:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        process = site.process
        self._reader = SessionReader(process.bus)
        self._memories = Memories(process.bus, process.archive)

    async def read(self, request: Request) -> Response:
        """Sizes and roles of all messages after an index, the cursor, and the history entries made from messages."""
        session, process = str(session_in_path(request, self._site.name)), self._site.process
        first = after_of(request.query_params.get("after")) + 1
        state = await self._reader.state(session)
        found = await outline_of(process.transcripts, session, first=max(first, 0), upto=state.head)
        ranges = await ranges_of(self._memories, process.archive, session, state.scope)
        return json_response(
            {
                "session": session,
                "first": found.first,
                "head": state.head,
                "cursor": state.cursor,
                "start": state.start,
                "tokens": found.tokens,
                "roles": found.roles,
                "turns": found.turns,
                "entries": [_entry(each, each.entry) for each in ranges if each.entry is not None],
            }
        )

    async def search(self, request: Request) -> Response:
        """The newest messages that contain all words."""
        session, limit = str(session_in_path(request, self._site.name)), limit_of(request, default=20)
        try:
            needle = SearchWords(words_of(request))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        hits, missing = list[dict[str, Any]](), list[dict[str, Any]]()
        with anyio.move_on_after(SEARCH_S) as limited:
            async with aclosing(search(self._site.process.transcripts, [session], needle, limit=limit)) as found:
                async for each in found:
                    if isinstance(each, Hit):
                        hits.append(_hit(each))
                    else:
                        missing.append({"first": each.first, "upto": each.upto, "reason": each.reason})
        return json_response({"hits": hits, "missing": missing, "partly": limited.cancelled_caught})


def _entry(found: Range, entry: HistoryEntry) -> dict[str, Any]:
    lines = entry.text.strip().splitlines()
    return {
        "entry": found.index,
        "first": found.first,
        "upto": found.upto,
        "kind": entry.kind,
        "lost": entry.lost,
        "time": entry.time,
        "title": lines[0][:TITLE_CHARS] if lines else "",
        "audit": _audit(entry.audit) if entry.audit else None,
    }


def _audit(audit: Audit) -> dict[str, Any]:
    return {**audit.told, "lost": [{"kind": each.kind, "message": each.index} for each in audit.lost]}


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "index": hit.index,
        "role": hit.role,
        "sender": hit.sender,
        "time": hit.time,
        "excerpt": hit.excerpt,
        "archived": bool(hit.segment),
    }


# ``GET …/turns`` and ``GET /api/trace/…``: traces of turns.

TURNS = 20
"""Default number of turns in one response."""

GONE = (
    "No trace of this turn was found. For each session, the traces of the last 100 committed turns are kept for one "
    "week. List the traces with GET /api/sessions/<session>/turns."
)


class TraceEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._traces = Traces(site.process.bus)

    async def turns(self, request: Request) -> Response:
        """The newest turns of a session, or those before one, newest first."""
        session = str(session_in_path(request, self._name))
        found = await self._traces.of(session, before=before_of(request), limit=limit_of(request, default=TURNS))
        return json_response({"session": session, "turns": [told(each) for each in found]})

    async def turn(self, request: Request) -> Response:
        """One turn, named by the index at which it began."""
        session = str(session_in_path(request, self._name, parts=6))
        return _answer(await self._traces.one(session, turn_in(segments_of(request, 6)[5])))

    async def trace(self, request: Request) -> Response:
        """The turn that answered a message, by its id, its correlation id, or the name of the turn."""
        return _answer(await self._traces.find(unquote(segments_of(request, 4)[3])))


def _answer(found: FoundTrace | None) -> Response:
    return problem(404, "no_trace", GONE) if found is None else json_response(told(found))
