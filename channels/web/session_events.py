"""``GET /api/events``: a session as Server-Sent Events."""

from starlette.requests import Request
from starlette.responses import Response

from channels.web.event_streams import Streams, Write
from channels.web.event_viewer import Viewer
from channels.web.member_limits import readable
from channels.web.request_params import after_of, session_in_query
from channels.web.site import Site
from daemon.session import SessionReader


class Events:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._streams = Streams(site.process.stopping, site.name)

    async def read(self, request: Request) -> Response:
        """The stream of a session."""
        session = str(readable(request, session_in_query(request, self._site.name), self._site.name))
        after = after_of(request.headers.get("last-event-id") or request.query_params.get("after"))
        # Read before the response begins, so that an outage is reported as an error.
        await SessionReader(self._site.process.bus).state(session)

        async def work(write: Write) -> None:
            await Viewer(self._site, session, after=after, write=write).run()

        return self._streams.response(request, work)
