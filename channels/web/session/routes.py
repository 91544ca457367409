"""The addresses of this room."""

from starlette.routing import Route

from channels.web.access import Only
from channels.web.session.filled import Filled
from channels.web.session.timeline import Timeline
from channels.web.site import Site

OF_SESSION = "/api/sessions/{session:path}"


def session_routes(site: Site, only: Only) -> list[Route]:
    """What is told of one session, to operators ``only``."""
    filled, timeline = Filled(site), Timeline(site)
    return [
        Route(f"{OF_SESSION}/context", only(filled.context)),
        Route(f"{OF_SESSION}/prompt", only(filled.prompt)),
        Route(f"{OF_SESSION}/timeline", only(timeline.read)),
        Route(f"{OF_SESSION}/search", only(timeline.search)),
    ]
