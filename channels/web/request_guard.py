"""Checks before every endpoint: which requests are allowed, and that each request ends with a response.

A foreign web page in a person's browser must not reach a Millpond on that person's machine. Therefore the Host header
must name this server (defence against DNS rebinding), and a request that changes something must not come from a foreign
origin. Other people's programs on that machine, and tools that fetch addresses for a model, have no token.
"""

import math
import re
from collections.abc import Iterable

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.http import peer_of
from channels.web.access import Operator, Operators, unauthorized
from channels.web.access.browser_headers import cookie_in, is_ours, origin_host
from channels.web.error_response import INTERNAL, problem, refusal
from channels.web.rate_limit import RateLimit
from channels.web.static import is_page
from daemon.errors import MillpondError

OPEN = frozenset(["/", "/livez", "/healthz", "/readyz", "/api/login"])
"""Addresses that need no token, besides the files of the page."""

METRICS = "/metrics"
"""The address that needs a token by default."""

COUNTED, UNCOUNTED = ("/api/", "/v1/"), frozenset(["/api/login"])
"""Requests that the rate limit counts. Logins have a limit of their own, so that nobody else can use it up."""

SAFE = frozenset(["GET", "HEAD", "OPTIONS"])
"""Methods that change nothing."""

STOPPING = (
    "This process is stopping, so your request might not have been carried out. Send the request again in a moment, "
    "with the same ID."
)

FOREIGN_COOKIE = (
    "A request that uses the page's cookie can change data only if the page itself sent the request. "
    "Other programs must send an Authorization: Bearer <token> header."
)

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Added to every response that does not set them."""

_AUTHORITY = re.compile(r"(?P<host>\[[^\]]+\]|[^:\[\]]+)(:[0-9]*)?")

_log = structlog.get_logger()


def host_in(authority: str) -> str:
    """The host of ``host[:port]``, in lower case and without brackets; empty if there is no valid host."""
    found = _AUTHORITY.fullmatch(authority)
    return found["host"].strip("[]").lower() if found else ""


def hosts_of(bound: str, allowed: Iterable[str]) -> frozenset[str]:
    """The host names of a server that listens on ``bound``."""
    given = [bound, *allowed]
    return frozenset(["localhost", "127.0.0.1", "::1", *(host_in(host) or host.lower() for host in given)])


class OpenRequests:
    """The requests in progress, so that a stop can cancel those that do not end on their own."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()

    def begin(self) -> anyio.CancelScope:
        """A cancel scope for one request."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        return scope

    def end(self, scope: anyio.CancelScope) -> None:
        """The request has ended."""
        self._scopes.discard(scope)

    def cancel(self) -> None:
        """Cancel all of them."""
        for scope in self._scopes:
            scope.cancel()


class RequestGuard:
    """An application behind the checks. It catches all remaining exceptions."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str],
        operators: Operators,
        requests: OpenRequests,
        rate_limit: RateLimit,
        metrics_open: bool = False,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._operators = operators
        self._requests = requests
        self._rate_limit = rate_limit
        self._open = OPEN | {METRICS} if metrics_open else OPEN

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, also after an unexpected exception."""
        answer = _Answer(scope, send)
        limit = self._requests.begin()
        try:
            with limit:
                await (await self._refusal(scope) or self._app)(scope, receive, answer)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001 - the service's top
            _log.exception("request.failed", path=scope["path"])
            await answer.instead(problem(500, "internal", INTERNAL), scope, receive)
        finally:
            self._requests.end(limit)
        if limit.cancelled_caught:
            await answer.instead(problem(503, "stopping", STOPPING, headers={"Retry-After": "1"}), scope, receive)

    async def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        foreign = self._foreign_host(headers) or self._foreign_origin(scope, headers)
        refused = foreign or await self._no_token(scope)
        return self._too_many(scope) or refused

    def _foreign_host(self, headers: Headers) -> Response | None:
        given = headers.get("host", "")
        host = host_in(given)
        if not host:
            return problem(
                400,
                "bad_request",
                "The request has no valid Host header. The header must contain this server's host name.",
            )
        if host in self._hosts:
            return None
        return problem(
            421,
            "unknown_host",
            f"This server does not accept the host name {host[:100]!r}. Add the host name to the channel's "
            "allowed_hosts setting.",
        )

    def _foreign_origin(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["method"] in SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and origin_host(origin) not in self._hosts:
            return problem(
                403,
                "cross_site",
                "The request was rejected because it comes from another website. Send the request from this server's "
                "own page.",
            )
        # A browser also sends the cookie with requests that a page on another port of this host makes.
        if cookie_in(scope) and not self._operators.has_token(headers) and not is_ours(headers):
            return problem(403, "cross_site", FOREIGN_COOKIE)
        return None

    async def _no_token(self, scope: Scope) -> Response | None:
        if scope["path"] in self._open or is_page(scope["path"]):
            return None
        try:
            return None if await self._operators.admits(scope) else unauthorized()
        except MillpondError as error:
            return refusal(Request(scope), error)

    def _too_many(self, scope: Scope) -> Response | None:
        if not scope["path"].startswith(COUNTED) or scope["path"] in UNCOUNTED:
            return None
        client = scope.get("client")
        peer = peer_of(client[0]) if client else ""
        wait_s = self._rate_limit.wait_s(self._operators.name_of(scope) or f"peer {peer}")
        if not wait_s:
            return None
        text = (
            f"This client has reached the limit of {self._rate_limit.per_minute:,} requests per minute. Wait for the "
            "number of seconds in the Retry-After header, or raise the channel's limits.requests_per_minute setting."
        )
        return problem(429, "too_many_requests", text, headers={"Retry-After": str(math.ceil(wait_s))})


class _Answer:
    """``send`` with the security headers. It knows whether a response has begun."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            operator: Operator | None = self._scope.get("operator")
            if operator is not None and operator.renewed:
                headers.append("Set-Cookie", operator.renewed)
        await self._send(message)

    async def instead(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Send ``response``. If another response has begun, its connection is closed instead."""
        if not self._begun:
            await response(scope, receive, self)
