"""The application of one web channel: its addresses, the guard and the error handlers."""

from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from channels.web.access import Login, Only, Operators
from channels.web.completions import Completions
from channels.web.error_response import http_refusal, refusal
from channels.web.event_streams import SessionEvents
from channels.web.health_endpoints import HealthEndpoints
from channels.web.memory import memory_routes
from channels.web.message_endpoints import MessageEndpoints
from channels.web.rate_limit import RateLimit
from channels.web.request_guard import OpenRequests, RequestGuard, hosts_of
from channels.web.search_endpoint import SearchEndpoint
from channels.web.session import SessionList, session_routes
from channels.web.site import Site
from channels.web.static import ApiDescription, Page
from channels.web.system import (
    DeadLetterEndpoints,
    LogEndpoints,
    QueueEndpoints,
    RateEndpoints,
    SystemEndpoints,
    ToolEndpoints,
    UsageEndpoints,
)
from daemon.errors import MillpondError
from daemon.services import load

SETTINGS = "channels.web.settings:settings_routes"
"""Most processes never show their settings, and the libraries of the first setup take 10 MB."""


def application(site: Site, requests: OpenRequests) -> Starlette:
    """The ASGI application of ``site``; ``requests`` collects the requests in progress."""
    messages = MessageEndpoints(site)
    operators = Operators(site)
    login, only = Login(site, operators), operators.only
    system, queues, dead = SystemEndpoints(site), QueueEndpoints(site), DeadLetterEndpoints(site)
    tools = ToolEndpoints(site)
    app = Starlette(
        routes=[
            *Page(ApiDescription(site)).routes(),
            Route("/api/messages", messages.write, methods=["POST", "PUT"]),
            Route("/api/sessions", SessionList(site).read),
            Route("/api/sessions/{session:path}/messages", messages.read),
            *session_routes(site, messages, only),
            *memory_routes(site, only),
            later_routes("/api/settings", SETTINGS, site, only),
            Route("/api/events", SessionEvents(site).read),
            Route("/api/login", login.login, methods=["POST"]),
            Route("/api/logout", login.logout, methods=["POST"]),
            Route("/api/me", only(login.me)),
            Route("/api/audit", only(login.audit)),
            Route("/api/system", only(system.read)),
            Route("/api/system/events", only(system.events)),
            Route("/api/system/history", only(RateEndpoints(site).read)),
            Route("/api/queues/{queue}", only(queues.read)),
            Route("/api/queues/{queue}/{message}", only(queues.text)),
            Route("/api/logs/{name:path}", only(LogEndpoints(site).read)),
            Route("/api/search", only(SearchEndpoint(site).read)),
            Route("/api/usage", only(UsageEndpoints(site).read)),
            Route("/api/tools", only(tools.read)),
            Route("/api/tools/check", only(tools.check), methods=["POST"]),
            Route("/api/dead", only(dead.read)),
            Route("/api/dead/replay", only(dead.replay), methods=["POST"]),
            Route("/api/dead/drop", only(dead.drop), methods=["POST"]),
            Route("/api/unknown", only(dead.unknown)),
            *Completions(site).routes(),
            *HealthEndpoints(site.process).routes,
        ],
        middleware=[
            Middleware(
                RequestGuard,
                hosts=hosts_of(site.config.host, site.config.allowed_hosts),
                operators=operators,
                requests=requests,
                rate_limit=RateLimit(site.config.limits.requests_per_minute, site.process.clock),
                metrics_open=site.config.metrics == "open",
            )
        ],
        exception_handlers={HTTPException: http_refusal, MillpondError: refusal},
    )
    app.router.redirect_slashes = False
    app.state.bus = site.process.bus
    return app


# Addresses whose code is imported with the first request to one of them.


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
