"""The operator or the member that made a request. An operator is looked up once, on demand.

Operators may use everything. Members use the sessions of their channel, each as the person whom the session is named
after: clients with the channel's member token, with its completions token (below ``/v1/`` only), and every client of an
open channel.
"""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import msgspec
import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from channels.web.access.browser_headers import cookie_in, may_be_ours
from channels.web.error_response import problem
from channels.web.site import Site
from daemon.config import Secret
from daemon.errors import BusError, ConfigError, brief
from daemon.operators import LoginCodes, OperatorAudit, short_id
from daemon.people import operator_sender

TOKEN = "token"  # noqa: S105 - a name in the audit
"""Name in the audit of a client that sends the channel's token."""

MEMBER = "member"
"""Name of all clients that send the channel's member token; a visitor's short id has other letters."""

COMPLETIONS = "/v1/"
"""The addresses that accept the channel's completions token."""

UNKNOWN = (
    "Requests to this address must include an Authorization: Bearer <token> header. If no token is configured "
    "for this channel, the api.header file in the data directory contains the header (for curl, use -H "
    "@FILE). In a browser, log in with the link that `millpond page` prints."
)
OPERATORS_ONLY = (
    "This address is for operators only. Send the operator token in an Authorization: Bearer <token> header, or log "
    "in with the link that `millpond page` prints."
)

Handler = Callable[[Request], Awaitable[Response]]
Only = Callable[[Handler], Handler]
"""``Operators.only``, for packages whose endpoints are for operators."""


class Operator(msgspec.Struct, frozen=True, kw_only=True):
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
        self.logins = LoginCodes(site.process.bus)

    async def of(self, scope: Scope) -> Operator | None:
        """The operator of a request; None if it comes from no operator. Errors as for ``LoginCodes``."""
        if "operator" not in scope:
            scope["operator"] = await self._found(scope)
        operator: Operator | None = scope["operator"]
        return operator

    async def admits(self, scope: Scope) -> bool:
        """Whether a request comes from an operator or a member. Errors as for ``LoginCodes``."""
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


# Recording the actions of operators.

NOTE_S = 5.0
"""Time limit for recording an action."""

_log = structlog.get_logger()


class AuditedAction:
    """An action of an operator."""

    outcome: str = "done"
    """Its outcome in a word or two; never a text of a conversation."""


@asynccontextmanager
async def audited(request: Request, action: str, target: str = "", *, who: str = "") -> AsyncGenerator[AuditedAction]:
    """Run the block, and record its success or its failure.

    ``target``: a name, a key or an id; never a text. ``who``: the author of a request without an operator.
    """
    operator: Operator | None = request.scope.get("operator")
    doing, audit = AuditedAction(), OperatorAudit(request.app.state.bus)
    by = who or (operator.who if operator else "")
    try:
        yield doing
    except (Exception, anyio.get_cancelled_exc_class()) as error:
        await _note(audit, by, action, target, _failure(error))
        raise
    await _note(audit, by, action, target, doing.outcome)


def _failure(error: BaseException) -> str:
    """The outcome of a failed or cancelled action."""
    if isinstance(error, HTTPException):
        return f"rejected: {error.status_code}"
    return f"{'failed' if isinstance(error, Exception) else 'cut short'}: {type(error).__name__}"


async def _note(audit: OperatorAudit, who: str, action: str, target: str, outcome: str) -> None:
    """Record an action. An outage in between does not undo it and is logged."""
    with anyio.move_on_after(NOTE_S, shield=True) as limit:
        try:
            await audit.note(who=who, action=action, target=target, outcome=outcome)
        except BusError as error:
            _log.warning("audit.missed", kind=action, reason=brief(error))
    if limit.cancelled_caught:
        _log.warning("audit.missed", kind=action, reason=f"the audit entry was not written within {NOTE_S:g} s")
