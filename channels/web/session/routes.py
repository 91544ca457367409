"""The addresses of this room."""

from starlette.routing import Route

from channels.web.session.filled import Filled
from channels.web.session.timeline import Timeline
from channels.web.site import Site

OF_SESSION = "/api/sessions/{session:path}"


def session_routes(site: Site) -> list[Route]:
    """What is told of one session, for operators."""
    filled, timeline = Filled(site), Timeline(site)
    return [
        Route(f"{OF_SESSION}/context", filled.context),
        Route(f"{OF_SESSION}/prompt", filled.prompt),
        Route(f"{OF_SESSION}/timeline", timeline.read),
        Route(f"{OF_SESSION}/search", timeline.search),
    ]
