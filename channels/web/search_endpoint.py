"""``GET /api/search``: a search in everything that was said, remembered or noted, in all conversations."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from channels.web.access.request_operator import Operator
from channels.web.request_params import json_response, limit_of, words_of
from channels.web.site import Site
from daemon.memory.memory_merge import home_of
from daemon.recall import GlobalSearch, LocatedHit
from daemon.scope import person_scope
from daemon.session import NO_LABEL, SessionLabels

SEARCH_S = 5.0
"""Time limit of a search; hits found until then are returned."""

KINDS = {"memory/MEMORY.md": "memory", "memory/HISTORY.md": "history"}
"""By file; other files are the notes of a day."""


class SearchEndpoint:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._labels = SessionLabels(site.process.bus)
        self._everywhere = GlobalSearch(site.process.bus, site.process.recaller)

    async def read(self, request: Request) -> Response:
        """The passages and messages that match best, with the place of each."""
        words, limit = words_of(request), limit_of(request, default=20)
        own = await self._own(request.scope["operator"])
        found = await self._everywhere.search(words, first=own, limit=limit, within_s=SEARCH_S)
        labels = await self._labels.all()
        hits = [_hit(each) for each in found.hits if each.place is not None]
        for hit in hits:
            hit["title"] = labels.get(hit["session"], NO_LABEL).title
        return json_response({"hits": hits, "searched": found.searched, "left": found.left})

    async def _own(self, operator: Operator) -> str:
        """The memory of the operator, which is searched first."""
        if not operator.person:
            return ""
        site = self._site
        return await home_of(site.process.bus, person_scope(site.config.bot, site.name, operator.person))


def _hit(found: LocatedHit) -> dict[str, Any]:
    hit, place = found.hit, found.place
    session = place.session if place else ""
    return {
        "kind": "message" if session else KINDS.get(hit.file, "notes"),
        "scope": found.scope,
        "session": session,
        "index": place.first if place and session else None,
        "file": hit.file,
        "time": hit.time,
        "score": hit.score,
        "snippet": hit.snippet,
    }
