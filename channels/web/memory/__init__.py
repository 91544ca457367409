"""Shows and changes memories over the HTTP API.

Public: ``memory_routes`` lists the addresses.
Begin with ``memory_endpoints``. ``forget_endpoints`` deletes text.
"""

from starlette.routing import Route

from channels.web.access import Only
from channels.web.memory.forget_endpoints import ForgetEndpoints
from channels.web.memory.memory_endpoints import MemoryEditEndpoints, MemoryEndpoints
from channels.web.site import Site

__all__ = ["memory_routes"]

OF_SCOPE = "/api/memory/{scope:path}"


def memory_routes(site: Site, only: Only) -> list[Route]:
    """Addresses about the memory of one scope, for operators ``only``."""
    reading, changing, forgetting = MemoryEndpoints(site), MemoryEditEndpoints(site), ForgetEndpoints(site)
    return [
        Route("/api/memory", only(reading.scopes)),
        Route(f"{OF_SCOPE}/versions", only(reading.versions)),
        Route(f"{OF_SCOPE}/versions/{{version}}", only(reading.version)),
        Route(f"{OF_SCOPE}/diff", only(reading.diff)),
        Route(f"{OF_SCOPE}/history", only(reading.history)),
        Route(f"{OF_SCOPE}/notes", only(reading.notes)),
        Route(f"{OF_SCOPE}/search", only(reading.search)),
        Route(f"{OF_SCOPE}/restore", only(changing.restore), methods=["POST"]),
        Route(f"{OF_SCOPE}/forget", only(forgetting.post), methods=["POST"]),
        # Last: the name of a scope has no /, but the router does not know that.
        Route(OF_SCOPE, only(reading.read), methods=["GET"]),
        Route(OF_SCOPE, only(changing.edit), methods=["PUT"]),
    ]
