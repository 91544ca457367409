"""What stands before every endpoint: whose requests are let in, that each of them ends, and how.

A web page of somebody else that a person has open must not reach a Millpond on that person's machine: the Host header
has to name this server (defence against DNS rebinding), and what changes anything must not come from a foreign origin.
"""

import re
import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.web.problem import INTERNAL, problem
from daemon.config.secret import Secret

OPEN = frozenset(["/", "/livez", "/healthz", "/readyz"])
"""What needs no token."""

SAFE = frozenset(["GET", "HEAD", "OPTIONS"])
"""Methods that change nothing."""

STOPPING = (
    "this process is stopping, so this may not have been carried out; send it again in a moment, with the same id"
)

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""On every answer that does not set them itself."""

_AUTHORITY = re.compile(r"(?P<host>\[[^\]]+\]|[^:\[\]]+)(:[0-9]*)?")

_log = structlog.get_logger()


def host_in(authority: str) -> str:
    """The host of ``host[:port]``, in lower case and without brackets; empty when it is none."""
    found = _AUTHORITY.fullmatch(authority)
    return found["host"].strip("[]").lower() if found else ""


def hosts_of(bound: str, allowed: Iterable[str]) -> frozenset[str]:
    """The host names of a server that listens on ``bound``."""
    given = [bound, *allowed]
    return frozenset(["localhost", "127.0.0.1", "::1", *(host_in(host) or host.lower() for host in given)])


class Requests:
    """The requests under way, so that a stop can end those that do not end by themselves."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()

    def begin(self) -> anyio.CancelScope:
        """A scope for one request to run in."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        return scope

    def end(self, scope: anyio.CancelScope) -> None:
        """Its request is over."""
        self._scopes.discard(scope)

    def cancel(self) -> None:
        """End them all."""
        for scope in self._scopes:
            scope.cancel()


class Guard:
    """An application behind the checks; the last place where an exception is met."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], token: Secret, requests: Requests) -> None:
        self._app = app
        self._hosts = hosts
        self._token = token
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        answer = _Answer(send)
        limit = self._requests.begin()
        try:
            with limit:
                await (self._refusal(scope) or self._app)(scope, receive, answer)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001 - the service's top
            _log.exception("request.failed", path=scope["path"])
            await answer.instead(problem(500, "internal", INTERNAL), scope, receive)
        finally:
            self._requests.end(limit)
        if limit.cancelled_caught:
            await answer.instead(problem(503, "stopping", STOPPING, headers={"Retry-After": "1"}), scope, receive)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        return self._foreign_host(headers) or self._foreign_origin(scope, headers) or self._no_token(scope, headers)

    def _foreign_host(self, headers: Headers) -> Response | None:
        given = headers.get("host", "")
        host = host_in(given)
        if not host:
            return problem(400, "bad_request", "the request has no valid Host header")
        if host in self._hosts:
            return None
        return problem(
            421,
            "unknown_host",
            f"this server does not go by the name {host[:100]!r}; add it to allowed_hosts of this channel",
        )

    def _foreign_origin(self, scope: Scope, headers: Headers) -> Response | None:
        origin = headers.get("origin")
        if origin is None or scope["method"] in SAFE or _origin_host(origin) in self._hosts:
            return None
        return problem(403, "cross_site", "this request comes from a page of another site, and is refused")

    def _no_token(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._token or scope["path"] in OPEN:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Compared as bytes: headers may hold any of them, and compare_digest takes no other text than ASCII.
        right = secrets.compare_digest(given.strip().encode("latin-1"), self._token.reveal().encode())
        if right and kind.lower() == "bearer":
            return None
        return problem(
            401,
            "unauthorized",
            "this needs the channel's token; send the header Authorization: Bearer <token>",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _origin_host(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


class _Answer:
    """``send`` with the security headers, which knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def instead(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Send ``response``, unless another one has begun; then the connection is closed in its middle."""
        if not self._begun:
            await response(scope, receive, self)
