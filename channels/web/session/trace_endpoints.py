"""``GET …/turns`` and ``GET /api/trace/…``: traces of turns."""

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from channels.web.error_response import problem
from channels.web.json_body import json_response
from channels.web.request_params import before_of, limit_of, segments_of, session_in_path, turn_in
from channels.web.site import Site
from daemon.traces import Found, Traces, told

TURNS = 20
"""Default number of turns in one response."""

GONE = (
    "No trace of this turn was found. Traces of the last 100 committed turns of a session are kept for a week. List "
    "the traces with GET /api/sessions/<session>/turns."
)


class Turns:
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


def _answer(found: Found | None) -> Response:
    return problem(404, "no_trace", GONE) if found is None else json_response(told(found))
