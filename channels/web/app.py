"""The application of one web channel: its addresses, and what stands before and behind them."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from channels.web.events import Events
from channels.web.front import Front
from channels.web.guard import Guard, Requests, hosts_of
from channels.web.health import Health
from channels.web.messages import Messages
from channels.web.problem import http_refusal, refusal
from channels.web.site import Site
from daemon.errors import MillpondError


def application(site: Site, requests: Requests) -> Starlette:
    """The ASGI application of ``site``; ``requests`` gets to hold what is under way."""
    messages = Messages(site)
    app = Starlette(
        routes=[
            Route("/", Front(site).read),
            Route("/api/messages", messages.post, methods=["POST"]),
            Route("/api/sessions", messages.sessions),
            Route("/api/sessions/{session:path}/messages", messages.read),
            Route("/api/events", Events(site).read),
            *Health(site.process).routes,
        ],
        middleware=[
            Middleware(
                Guard,
                hosts=hosts_of(site.config.host, site.config.allowed_hosts),
                token=site.config.token,
                requests=requests,
            )
        ],
        exception_handlers={HTTPException: http_refusal, MillpondError: refusal},
    )
    app.router.redirect_slashes = False
    return app
