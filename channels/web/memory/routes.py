"""The addresses of this room."""

from starlette.routing import Route

from channels.web.access import Only
from channels.web.memory.reading import Reading
from channels.web.site import Site

OF_SCOPE = "/api/memory/{scope:path}"


def memory_routes(site: Site, only: Only) -> list[Route]:
    """What is remembered of one scope, told to operators ``only``."""
    reading = Reading(site)
    return [
        Route("/api/memory", only(reading.scopes)),
        Route(f"{OF_SCOPE}/versions", only(reading.versions)),
        Route(f"{OF_SCOPE}/versions/{{version}}", only(reading.version)),
        Route(f"{OF_SCOPE}/diff", only(reading.diff)),
        Route(f"{OF_SCOPE}/history", only(reading.history)),
        Route(f"{OF_SCOPE}/notes", only(reading.notes)),
        Route(f"{OF_SCOPE}/search", only(reading.search)),
        # Last: a scope's name may not have a / in it, but the router knows nothing of that.
        Route(OF_SCOPE, only(reading.read)),
    ]
