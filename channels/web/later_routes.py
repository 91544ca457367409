"""Addresses whose code is imported with the first request to one of them."""

from typing import Any

from anyio import to_thread
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from channels.web.access import Only
from channels.web.site import Site
from daemon.services import load


def later_routes(path: str, target: str, site: Site, only: Only) -> Route:
    """All addresses that begin with ``path``: the routes that ``target`` returns.

    Args:
        path: the beginning of the addresses.
        target: import string of a function ``routes(site, only)``.
        site: first argument of that function.
        only: second argument of that function.
    """
    return Route(f"{path}{{rest:path}}", _LaterRoutes(target, site, only))


class _LaterRoutes:
    """An ASGI application, whose routes are made once."""

    def __init__(self, target: str, site: Site, only: Only) -> None:
        self._target = target
        self._site = site
        self._only = only
        self._router: Router | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._router is None:
            routes: Any = await to_thread.run_sync(load, self._target)
            self._router = Router(routes(self._site, self._only), redirect_slashes=False)
        await self._router(scope, receive, send)
