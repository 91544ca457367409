"""The operator of a request: looked up once, on demand."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from channels.web.access.cookies import cookie_in
from channels.web.access.origin import may_be_ours
from channels.web.problem import problem
from channels.web.site import Site
from daemon.operators import Logins, short_id

TOKEN = "token"  # noqa: S105 - a name in the audit
"""Name in the audit of a client that sends the channel's token."""

UNKNOWN = (
    "This address is for operators only. Log in with the link that `millpond page` prints, or send the header "
    "Authorization: Bearer <token> with the channel's token."
)

Handler = Callable[[Request], Awaitable[Response]]
Only = Callable[[Handler], Handler]
"""``Operators.only``, for packages whose endpoints are for operators."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """The operator that made a request."""

    who: str
    """A visitor's short id, or ``token``."""
    renewed: str = ""
    """A ``Set-Cookie`` for the response, which extends the log-in of the visitor."""


class Operators:
    """The operators of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._token = site.config.token
        self.logins = Logins(site.process.bus)

    async def of(self, scope: Scope) -> Operator | None:
        """The operator of a request; None if it comes from no operator. Errors as for ``Logins``."""
        if "operator" not in scope:
            scope["operator"] = await self._found(scope)
        operator: Operator | None = scope["operator"]
        return operator

    def only(self, handler: Handler) -> Handler:
        """``handler`` for operators, and 401 for all other clients."""

        async def checked(request: Request) -> Response:
            if await self.of(request.scope) is None:
                return unauthorized()
            return await handler(request)

        return checked

    def has_token(self, headers: Headers) -> bool:
        """Whether the request has the channel's token. False for a channel without a token."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Compared as bytes: headers may contain any byte, and compare_digest only accepts ASCII text.
        right = secrets.compare_digest(given.strip().encode("latin-1"), self._token.reveal().encode())
        return right and kind.lower() == "bearer" and bool(self._token)

    async def _found(self, scope: Scope) -> Operator | None:
        headers = Headers(scope=scope)
        if self.has_token(headers):
            return Operator(who=TOKEN)
        cookie = cookie_in(scope)
        if cookie is None or not may_be_ours(headers):
            return None
        visit = await self.logins.visit(cookie.secret)
        if visit is None or visit.channel != self._name:
            return None
        return Operator(who=short_id(cookie.secret), renewed=cookie.given() if visit.renewed else "")


def unauthorized() -> Response:
    """The response to a client that is no operator but must be one."""
    return problem(401, "unauthorized", UNKNOWN, headers={"WWW-Authenticate": "Bearer"})
