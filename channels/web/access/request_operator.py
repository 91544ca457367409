"""The operator or the member that made a request. An operator is looked up once, on demand.

Operators may use everything. Members use the sessions of their channel, each as the person whom the session is named
after: clients with the channel's member token, with its completions token (below ``/v1/`` only), and every client of an
open channel.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from channels.web.access.cookies import cookie_in
from channels.web.access.origin import may_be_ours
from channels.web.error_response import problem
from channels.web.site import Site
from daemon.config import Secret
from daemon.errors import ConfigError
from daemon.operators import Logins, short_id
from daemon.people import operator_sender

TOKEN = "token"  # noqa: S105 - a name in the audit
"""Name in the audit of a client that sends the channel's token."""

MEMBER = "member"
"""Name of all clients that send the channel's member token; a visitor's short id has other letters."""

COMPLETIONS = "/v1/"
"""The addresses that accept the channel's completions token."""

UNKNOWN = (
    "Requests to this address must contain the header Authorization: Bearer <token>. If the configuration of the "
    "channel sets no token, the file api.header in the data directory contains this header (use curl -H @FILE). In a "
    "browser, log in with "
    "the link that `millpond page` prints."
)
OPERATORS_ONLY = (
    "This address is for operators only. Send the operators' token in the header Authorization: Bearer <token>, or log "
    "in with the link that `millpond page` prints."
)

Handler = Callable[[Request], Awaitable[Response]]
Only = Callable[[Handler], Handler]
"""``Operators.only``, for packages whose endpoints are for operators."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """The operator that made a request."""

    who: str
    """A visitor's short id, or ``token``."""
    person: str = ""
    """The sender ID of messages from the operator's browsers; empty for a client that sends the token."""
    renewed: str = ""
    """A ``Set-Cookie`` for the response, which extends the log-in of the visitor."""


class Operators:
    """The operators of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._token = site.config.token
        self._member_token = site.config.member_token
        self._completions_token = site.config.completions_token
        self._is_open = site.config.open
        self._process = site.process
        self.logins = Logins(site.process.bus)

    async def of(self, scope: Scope) -> Operator | None:
        """The operator of a request; None if it comes from no operator. Errors as for ``Logins``."""
        if "operator" not in scope:
            scope["operator"] = await self._found(scope)
        operator: Operator | None = scope["operator"]
        return operator

    async def admits(self, scope: Scope) -> bool:
        """Whether a request comes from an operator or a member. Errors as for ``Logins``."""
        return await self.of(scope) is not None or self._is_open or self._is_member(scope)

    def only(self, handler: Handler) -> Handler:
        """``handler`` for operators, and 401 for all other clients."""

        async def checked(request: Request) -> Response:
            if await self.of(request.scope) is None:
                return unauthorized(OPERATORS_ONLY)
            return await handler(request)

        return checked

    def has_token(self, headers: Headers) -> bool:
        """Whether the request has a token of the channel."""
        return any(_bears(token, headers) for token in (self._token, self._member_token, self._completions_token))

    def name_of(self, scope: Scope) -> str:
        """The name under which the requests of a client are counted; empty if only its address is known."""
        operator: Operator | None = scope.get("operator")
        if operator is not None:
            return operator.who
        return MEMBER if self._is_member(scope) else ""

    def _is_member(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        if _bears(self._member_token, headers):
            return True
        return scope["path"].startswith(COMPLETIONS) and _bears(self._completions_token, headers)

    async def _found(self, scope: Scope) -> Operator | None:
        headers = Headers(scope=scope)
        if _bears(self._token, headers):
            return Operator(who=TOKEN)
        cookie = cookie_in(scope)
        if cookie is None or not may_be_ours(headers):
            return None
        visit = await self.logins.visit(cookie.secret)
        if visit is None or visit.channel != self._name:
            return None
        try:
            person = operator_sender(self._process.config, self._name, visit.person)
        except ConfigError:  # the configuration has changed since the link was made
            person = operator_sender(self._process.config, self._name, "")
        return Operator(who=short_id(cookie.secret), person=person, renewed=cookie.given() if visit.renewed else "")


def unauthorized(text: str = UNKNOWN) -> Response:
    """The response to a client without the rights that it needs."""
    return problem(401, "unauthorized", text, headers={"WWW-Authenticate": "Bearer"})


def _bears(token: Secret, headers: Headers) -> bool:
    """Whether a request has this token. False for a token that is not set."""
    kind, _, given = headers.get("authorization", "").partition(" ")
    # Compared as bytes: headers may contain any byte, and compare_digest only accepts ASCII text.
    right = secrets.compare_digest(given.strip().encode("latin-1"), token.reveal().encode())
    return right and kind.lower() == "bearer" and bool(token)
