"""The few calls of Slack's Web API that setting up needs; the channel itself has a client of its own.

A socket's address lets whoever knows it hear, and a token does all else, so no text of the HTTP library's is shown.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import aiohttp
import anyio
import msgspec

from daemon.config import Secret
from daemon.config.address import is_slacks
from daemon.errors import MillpondError
from daemon.proxies import connector_of, http_proxy_of

CALL_S = 15.0
"""How long an answer may take."""

NO_PREVIEW = {"unfurl_links": "false", "unfurl_media": "false"}

ANSWER_MAX_BYTES = 1_048_576
"""Largest answer that is read; the answers used here have a few hundred bytes."""


class SlackSaysNo(MillpondError):
    """Slack cannot be asked, or refuses."""

    def __init__(self, message: str, *, code: str = "", retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.code = code
        """Slack's code for the error; empty without an answer of Slack."""
        self.retry_after_s = retry_after_s


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The app's identity in its workspace."""

    team_id: str
    team: str = ""
    """Name of the workspace."""
    url: str = ""
    """The workspace's address, ``https://acme.slack.com/``."""
    user_id: str
    user: str = ""
    bot_id: str = ""
    scopes: tuple[str, ...] = ()
    """The token's permissions."""
    app_id: str = ""
    """Empty: Slack does not say."""


class _Bot(msgspec.Struct, frozen=True):
    app_id: str = ""


class _BotFound(msgspec.Struct, frozen=True):
    bot: _Bot = _Bot()


class _Profile(msgspec.Struct, frozen=True):
    display_name: str = ""
    real_name: str = ""


class _User(msgspec.Struct, frozen=True):
    profile: _Profile = _Profile()
    name: str = ""


class _UserFound(msgspec.Struct, frozen=True):
    user: _User = _User()


class _Socket(msgspec.Struct, frozen=True):
    url: str


class _Answer(msgspec.Struct, frozen=True):
    ok: bool = False
    error: str = ""
    needed: str = ""


_decode = msgspec.json.Decoder(_Answer).decode

TOKEN_CODES = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"}
)
"""Codes for a token that will not do, whatever is asked with it."""


class SlackApi:
    """Slack's Web API, with any token."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        self.session = session
        self._base_url = base_url.rstrip("/")

    async def me(self, token: Secret) -> Me:
        """The owner of a bot token.

        Raises:
            SlackSaysNo: the token is none, or Slack cannot be asked.
        """
        content, headers = await self._asked(token, "auth.test")
        granted = headers.get("X-OAuth-Scopes", "").split(",")
        try:
            me = msgspec.json.decode(content, type=Me)
        except msgspec.MsgspecError:
            raise SlackSaysNo(
                f"{self._base_url} responded, but the response does not state which bot the token belongs to. "
                "Correct --slack-url."
            ) from None
        scopes = tuple(scope.strip() for scope in granted if scope.strip())
        return msgspec.structs.replace(me, scopes=scopes, app_id=await self._app_id(token, me.bot_id))

    async def _app_id(self, token: Secret, bot_id: str) -> str:
        """The app that a bot belongs to; empty when Slack does not say, without users:read for example."""
        try:
            content, _ = await self._asked(token, "bots.info", bot=bot_id)
            return msgspec.json.decode(content, type=_BotFound).bot.app_id
        except (SlackSaysNo, msgspec.MsgspecError):
            return ""

    async def socket_url(self, app_token: Secret) -> str:
        """Where a socket is opened, once and soon. Errors as for ``me``."""
        content, _ = await self._asked(app_token, "apps.connections.open")
        try:
            url = msgspec.json.decode(content, type=_Socket).url
        except msgspec.MsgspecError:
            raise SlackSaysNo(
                f"{self._base_url} responded, but did not return a WebSocket address. Correct --slack-url."
            ) from None
        if not is_slacks(url, self._base_url):
            raise SlackSaysNo(
                f"{self._base_url} returned a WebSocket address that does not belong to Slack. Correct --slack-url."
            )
        return url

    async def name_of(self, token: Secret, user_id: str) -> str:
        """A person's name; empty if Slack does not return it."""
        try:
            content, _ = await self._asked(token, "users.info", user=user_id)
            user = msgspec.json.decode(content, type=_UserFound).user
        except (SlackSaysNo, msgspec.MsgspecError):
            return ""
        return user.profile.display_name or user.profile.real_name or user.name

    async def say(self, token: Secret, *, channel: str, thread: str, text: str) -> None:
        """Post a message. Errors as for ``me``."""
        place = {"thread_ts": thread} if thread else {}
        await self._asked(token, "chat.postMessage", channel=channel, text=text, **place, **NO_PREVIEW)

    async def _asked(self, token: Secret, method: str, **params: str) -> tuple[bytes, Mapping[str, str]]:
        # Only characters that a token can have: anything else would be another header.
        if not all(sign.isascii() and (sign.isalnum() or sign in "-._") for sign in token.reveal()):
            raise SlackSaysNo("this is not a Slack token", code="invalid_auth")
        headers = {"Authorization": f"Bearer {token.reveal()}"}
        url = f"{self._base_url}/{method}"
        try:
            with anyio.fail_after(CALL_S):
                async with self.session.post(url, data=params, headers=headers, allow_redirects=False) as response:
                    content = await _body(response)
        except TimeoutError:
            raise SlackSaysNo(f"{self._base_url} did not respond within {CALL_S:g} s. Check the network.") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reason = type(error).__name__
            raise SlackSaysNo(
                f"{self._base_url} cannot be reached ({reason}). Check the network, and the proxy if you use one."
            ) from None
        self._judge(method, response, content)
        return content, response.headers

    def _judge(self, method: str, response: aiohttp.ClientResponse, content: bytes) -> None:
        if response.status == 429:
            after = response.headers.get("Retry-After", "")
            raise SlackSaysNo(
                "Slack is rate-limiting requests. Try again in a minute.",
                code="ratelimited",
                retry_after_s=float(after) if after.isdecimal() else 1.0,
            )
        try:
            answer = _decode(content)
        except msgspec.MsgspecError:
            text = (
                f"{self._base_url} is not a Slack Web API (it responded with HTTP status {response.status}). Correct "
                "--slack-url."
            )
            raise SlackSaysNo(text) from None
        if answer.ok:
            return
        error = answer.error[:100]
        if error in TOKEN_CODES:
            raise SlackSaysNo(f"Slack rejected the token ({error}). Copy the whole token again.", code=error)
        needed = f". Add the scope {answer.needed[:100]}" if answer.needed else ""
        raise SlackSaysNo(f"Slack rejected {method} ({error or response.status}){needed}", code=error)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The beginning of an answer: one that is longer is none that is understood here."""
    found = bytearray()
    async for piece in response.content.iter_chunked(65_536):
        found += piece
        if len(found) > ANSWER_MAX_BYTES:
            break
    return bytes(found)


async def _refuse_redirect(_session: object, _context: object, _params: object) -> None:
    raise aiohttp.ClientError("the server redirected the request, which Slack never does")


@asynccontextmanager
async def slack_api(base_url: str) -> AsyncGenerator[SlackApi]:
    """The Web API for the length of a block."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)  # opening a socket has no parameter for it
    proxy = http_proxy_of(base_url)
    async with aiohttp.ClientSession(connector=connector_of(base_url), proxy=proxy, trace_configs=[tracing]) as session:
        yield SlackApi(session, base_url)
