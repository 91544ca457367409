"""``GET /api/memory/…``: the memory of a scope, its versions and their origin."""

from collections import OrderedDict
from typing import Any

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.json_body import json_response
from channels.web.memory.memory_scope import scope_asked
from channels.web.request_params import before_of, limit_of, number_in, segments_of, words_of
from channels.web.site import Site
from daemon.errors import ConfigError
from daemon.memory import (
    Changed,
    Known,
    Memories,
    Scored,
    Version,
    census_of,
    changes_of,
    found_in,
    passages_of,
    seen,
)
from daemon.memory.memory_files import bot_of
from daemon.memory.text_diff import lines
from daemon.tokens import load

COUNTED_MAX = 1_024
"""Memories whose token count is cached."""


class Reading:
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
                "The number of the older version is missing. Add ?from=<number> to the address (0 is the empty memory "
                "before version 1).",
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

    async def _line(self, known: Known) -> dict[str, Any]:
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


def _changed(changed: Changed) -> dict[str, Any]:
    about = {"reason": "", **about_version(changed.version)}
    return {**about, "added": changed.came, "removed": changed.went, "current": changed.is_current}


def _hit(found: Scored) -> dict[str, Any]:
    passage = found.passage
    hit: dict[str, Any] = {"source": passage.source, "text": passage.text, "score": found.score, "time": passage.time}
    return hit if passage.index is None else {**hit, "index": passage.index}
