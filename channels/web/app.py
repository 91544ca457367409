"""The application of one web channel: its addresses, the guard and the error handlers."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from channels.web.access import Login, Operators
from channels.web.api_description import Front
from channels.web.completions import Completions
from channels.web.error_response import http_refusal, refusal
from channels.web.health_endpoints import Health
from channels.web.memory import memory_routes
from channels.web.message_endpoints import Messages
from channels.web.rate_limit import RateLimit
from channels.web.request_guard import Guard, Requests, hosts_of
from channels.web.search_endpoint import SearchPages
from channels.web.session import Sessions, session_routes
from channels.web.session_events import Events
from channels.web.settings import settings_routes
from channels.web.site import Site
from channels.web.static import Page
from channels.web.system import DeadPages, HistoryPages, LogPages, QueuePages, SystemPages, UsagePages
from daemon.errors import MillpondError


def application(site: Site, requests: Requests) -> Starlette:
    """The ASGI application of ``site``; ``requests`` collects the requests in progress."""
    messages = Messages(site)
    operators = Operators(site)
    login, only = Login(site, operators), operators.only
    system, queues, dead = SystemPages(site), QueuePages(site), DeadPages(site)
    app = Starlette(
        routes=[
            *Page(Front(site)).routes(),
            Route("/api/messages", messages.write, methods=["POST", "PUT"]),
            Route("/api/sessions", Sessions(site).read),
            Route("/api/sessions/{session:path}/messages", messages.read),
            *session_routes(site, messages, only),
            *memory_routes(site, only),
            *settings_routes(site, only),
            Route("/api/events", Events(site).read),
            Route("/api/login", login.login, methods=["POST"]),
            Route("/api/logout", login.logout, methods=["POST"]),
            Route("/api/me", only(login.me)),
            Route("/api/audit", only(login.audit)),
            Route("/api/system", only(system.read)),
            Route("/api/system/events", only(system.events)),
            Route("/api/system/history", only(HistoryPages(site).read)),
            Route("/api/queues/{queue}", only(queues.read)),
            Route("/api/queues/{queue}/{message}", only(queues.text)),
            Route("/api/logs/{name:path}", only(LogPages(site).read)),
            Route("/api/search", only(SearchPages(site).read)),
            Route("/api/usage", only(UsagePages(site).read)),
            Route("/api/dead", only(dead.read)),
            Route("/api/dead/replay", only(dead.replay), methods=["POST"]),
            Route("/api/dead/drop", only(dead.drop), methods=["POST"]),
            Route("/api/unknown", only(dead.unknown)),
            *Completions(site).routes(),
            *Health(site.process).routes,
        ],
        middleware=[
            Middleware(
                Guard,
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
