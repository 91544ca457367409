"""Log-in and log-out of browsers, the current operator, and the audit."""

from collections import deque

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from channels.command_menu import menu
from channels.web.access.browser_headers import cookie_in, new_cookie
from channels.web.access.request_operator import Operator, Operators, audited
from channels.web.error_response import problem
from channels.web.message_endpoints import FILES_MAX
from channels.web.request_params import decoded, json_response, limit_of
from channels.web.site import Site
from daemon.access import is_listed
from daemon.clock import Clock
from daemon.config import BotConfig, transcription_of
from daemon.memory.memory_merge import home_of
from daemon.operators import OperatorAudit, short_id
from daemon.scope import person_scope
from daemon.version import __version__

WRONG_MAX = 10
"""Wrong codes within ``WRONG_S`` in one process and channel that are recorded in the audit. Further ones would push the
actions of operators out of it. A right code is accepted all the same, or anybody could keep operators out; nobody
guesses its 128 bits."""
WRONG_S = 600.0

CODE_MAX = 100
"""Longest text that is checked as a code."""

BAD_LOGIN = (
    "This link has already been used, is older than ten minutes, or belongs to another channel. Run `millpond page` "
    "to print a new link."
)
TOO_MANY = (
    f"{BAD_LOGIN} Because too many wrong codes were entered, this login attempt was not recorded in the audit log."
)


class _Login(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST /api/login``."""

    code: str


class Login:
    """The endpoints of one site."""

    def __init__(self, site: Site, operators: Operators) -> None:
        self._site = site
        self._operators = operators
        self._tries = LoginAttempts(site.process.clock)
        self._audit = OperatorAudit(site.process.bus)

    async def login(self, request: Request) -> Response:
        """Exchange a code for a cookie."""
        code = (await decoded(request, _Login, 'A login request must have the body {"code": "<string>"}.')).code
        secret = ""
        if 0 < len(code) <= CODE_MAX:
            secret = await self._operators.logins.redeem(code, self._site.name)
        wait_s = 0.0 if secret else self._tries.wait_s()
        if wait_s:
            return problem(429, "too_many_logins", TOO_MANY, headers={"Retry-After": str(round(wait_s) + 1)})
        who = short_id(secret) if secret else ""
        async with audited(request, "login", self._site.name, who=who) as doing:
            doing.outcome = "done" if secret else "refused"
        if not secret:
            self._tries.wrong()
            return problem(403, "bad_login", BAD_LOGIN)
        return Response(status_code=204, headers={"Set-Cookie": new_cookie(secret, request.headers).given()})

    async def logout(self, request: Request) -> Response:
        """Forget the browser."""
        cookie, operator = cookie_in(request.scope), await self._operators.of(request.scope)
        request.scope["operator"] = None
        if cookie is None:
            return Response(status_code=204)
        if operator is not None and operator.who == short_id(cookie.secret):
            async with audited(request, "logout", self._site.name, who=operator.who):
                await self._operators.logins.forget(cookie.secret)
        return Response(status_code=204, headers={"Set-Cookie": cookie.taken()})

    async def me(self, request: Request) -> Response:
        """The current operator, and the channel, bot and version of this site.

        ``approves`` tells whether the operator may approve commands that wait for it. ``files`` gives the limits of
        the files that a message may have, and whether voice messages are transcribed.
        ``?language=`` selects the language of the commands' descriptions, by default the language of the bot.
        """
        operator: Operator = request.scope["operator"]
        site = self._site
        bot = site.process.config.bots.get(site.config.bot)
        language = request.query_params.get("language") or (bot.language if bot else "en")
        return json_response(
            {
                "operator": True,
                "who": operator.who,
                "person": operator.person,
                "memory": await self._memory(operator),
                "channel": site.name,
                "bot": site.config.bot,
                "approves": bot is not None and may_approve(site, bot, operator.person),
                "offline": bot is not None and bot.model.offline,
                "address": site.address,
                "files": {
                    "max": FILES_MAX,
                    "max_bytes": site.process.config.agent.attachment_max_bytes,
                    "voice": bot is not None and transcription_of(bot) is not None,
                },
                "commands": [{"name": f"/{name}", "text": text} for name, text in menu(language).items()],
                "version": __version__,
            }
        )

    async def _memory(self, operator: Operator) -> str:
        """The scope of the memory that all conversations of an operator share; empty for the token."""
        if not operator.person:
            return ""
        return await home_of(
            self._site.process.bus, person_scope(self._site.config.bot, self._site.name, operator.person)
        )

    async def audit(self, request: Request) -> Response:
        """The actions of operators, the newest first."""
        deeds = await self._audit.newest(limit=limit_of(request))
        return json_response({"audit": [msgspec.to_builtins(deed) for deed in deeds]})


def may_approve(site: Site, bot: BotConfig, person: str) -> bool:
    """Whether commands of ``bot`` wait for approval, which an operator may give; with the token alone nobody may."""
    return bot.exec.approval and bool(person) and is_listed(bot, channel=site.name, sender=person)


class LoginAttempts:
    """The wrong codes of the last ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: deque[float] = deque(maxlen=WRONG_MAX)

    def wrong(self) -> None:
        """Count a wrong code."""
        self._wrong.append(self._clock.monotonic())

    def wait_s(self) -> float:
        """Seconds until a wrong code is recorded again; 0 if it is recorded now."""
        if len(self._wrong) < WRONG_MAX:
            return 0.0
        return max(0.0, self._wrong[0] + WRONG_S - self._clock.monotonic())
