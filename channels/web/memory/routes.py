"""The addresses of this room."""

from starlette.routing import Route

from channels.web.memory.reading import Reading
from channels.web.site import Site

OF_SCOPE = "/api/memory/{scope:path}"


def memory_routes(site: Site) -> list[Route]:
    """What is remembered of one scope, for operators."""
    reading = Reading(site)
    return [
        Route("/api/memory", reading.scopes),
        Route(f"{OF_SCOPE}/versions", reading.versions),
        Route(f"{OF_SCOPE}/versions/{{version}}", reading.version),
        Route(f"{OF_SCOPE}/diff", reading.diff),
        Route(f"{OF_SCOPE}/history", reading.history),
        Route(f"{OF_SCOPE}/notes", reading.notes),
        Route(f"{OF_SCOPE}/search", reading.search),
        # Last: a scope's name may not have a / in it, but the router knows nothing of that.
        Route(OF_SCOPE, reading.read),
    ]
