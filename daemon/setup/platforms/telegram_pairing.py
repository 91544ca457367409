"""Identifying the owner: the person who sends the bot a code that only this terminal shows.

The token stands in every address, so no text of the HTTP library's is ever shown.
"""

import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
import httpx2
import msgspec

from daemon.config import Secret
from daemon.config.secret import without
from daemon.errors import MillpondError
from daemon.proxies import http_client
from daemon.setup.answers import Owner

# The few calls of Telegram's Bot API that setting up needs; the channel itself has a client of its own.

CONFLICT = 409
"""Another program asks for the bot's messages, or a webhook is set."""
CALL_S = 15.0
"""Limit for an answer, in addition to the waiting time of the call itself."""


class TelegramSaysNo(MillpondError):
    """Telegram cannot be asked, or refuses."""

    def __init__(self, message: str, *, code: int = 0, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.code = code
        """Status of the answer; 0 without an answer."""
        self.retry_after_s = retry_after_s


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The bot's identity."""

    id: int
    username: str = ""
    first_name: str = ""
    can_read_all_group_messages: bool = False

    @property
    def link(self) -> str:
        """Where people find it."""
        return f"https://t.me/{self.username}"


class _Webhook(msgspec.Struct, frozen=True):
    url: str = ""


class _Parameters(msgspec.Struct, frozen=True):
    retry_after: float = 0.0


class _Answer(msgspec.Struct, frozen=True):
    ok: bool = False
    result: msgspec.Raw = msgspec.Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: _Parameters = _Parameters()


_decode = msgspec.json.Decoder(_Answer).decode


class BotApi:
    """One bot at one Bot API server."""

    def __init__(self, client: httpx2.AsyncClient, token: Secret, base_url: str) -> None:
        self._client = client
        self._token = token
        self._base_url = base_url.rstrip("/")

    async def me(self) -> Me:
        """The bot's identity.

        Raises:
            TelegramSaysNo: the token is none, or Telegram cannot be asked.
        """
        return msgspec.json.decode(await self.call("getMe"), type=Me)

    async def webhook(self) -> str:
        """The address that Telegram calls for the bot; empty: none. Errors as for ``me``."""
        return msgspec.json.decode(await self.call("getWebhookInfo"), type=_Webhook).url

    async def updates(self, *, offset: int | None, wait_s: int) -> list[dict[str, Any]]:
        """The bot's pending updates. ``offset`` deletes all earlier ones permanently. Errors as for ``me``."""
        params: dict[str, object] = {"timeout": wait_s, "limit": 100}
        if offset is not None:
            params["offset"] = offset
        found: object = msgspec.json.decode(await self.call("getUpdates", params, wait_s=wait_s))
        listed = cast("list[object]", found) if isinstance(found, list) else []
        return [cast("dict[str, Any]", update) for update in listed if isinstance(update, dict)]

    async def call(self, method: str, params: dict[str, object] | None = None, *, wait_s: float = 0.0) -> msgspec.Raw:
        """Ask once. Errors as for ``me``."""
        # Only characters that a token can have: anything else would be another address.
        if not all(sign.isascii() and (sign.isalnum() or sign in ":_-") for sign in self._token.reveal()):
            raise TelegramSaysNo("this is not a bot token. Tokens from BotFather look like 123456789:AbCd…", code=404)
        url = f"{self._base_url}/bot{self._token.reveal()}/{method}"
        try:
            with anyio.fail_after(CALL_S + wait_s):
                response = await self._client.post(url, json=params or {})
        except TimeoutError:
            raise TelegramSaysNo(
                f"{self._base_url} did not respond within {CALL_S + wait_s:g} s. Check the network."
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            reason = type(error).__name__
            raise TelegramSaysNo(
                f"{self._base_url} cannot be reached ({reason}). Check the network, and the proxy if you use one."
            ) from None
        return self._result(response)

    def _result(self, response: httpx2.Response) -> msgspec.Raw:
        try:
            answer = _decode(response.content)
        except msgspec.MsgspecError:
            raise TelegramSaysNo(
                f"{self._base_url} is not a Bot API server (it responded with HTTP status {response.status_code}). "
                "Correct --telegram-url."
            ) from None
        if answer.ok:
            return answer.result
        code = answer.error_code or response.status_code
        if code in (401, 404):
            raise TelegramSaysNo("Telegram rejected the token. Copy the whole token from BotFather again.", code=code)
        said = without(answer.description, self._token)[:300]
        raise TelegramSaysNo(
            f"Telegram rejected the request ({code}): {said}", code=code, retry_after_s=answer.parameters.retry_after
        )


@asynccontextmanager
async def bot_api(token: Secret, base_url: str) -> AsyncGenerator[BotApi]:
    """The Bot API for the length of a block."""
    async with http_client(base_url, httpx2.AsyncClient, timeout=None, follow_redirects=False) as client:
        yield BotApi(client, token, base_url)


SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two look alike."""
LENGTH = 12
"""Of 30 signs each."""
WAIT_S = 300.0
"""How long a person may take to open the link."""
POLL_S = 10
"""Time for which Telegram delays an answer while it has no new updates."""
LOOK_S = 1.0
"""Time between two looks while other messages wait, with which Telegram answers at once."""
PAUSE_S = 2.0
"""Time between two tries when Telegram fails."""
FULL = 100
"""Updates in one answer: later ones cannot be seen without deleting these."""


def new_code() -> str:
    """A code that cannot be guessed."""
    return "".join(secrets.choice(SIGNS) for _ in range(LENGTH))


async def wait_for_owner(api: BotApi, code: str, *, say: Callable[[str], None], wait_s: float = WAIT_S) -> Owner | None:
    """The person who sends ``code`` in a direct chat; None if that does not happen in time.

    What other people wrote stays with Telegram for the daemon: the message with the code is taken away only when it
    is the oldest one.

    Raises:
        TelegramSaysNo: another program asks for the bot's messages, or Telegram cannot be asked.
    """
    is_told = False
    with anyio.move_on_after(wait_s):
        while True:
            updates = await _asked(api)
            if updates is None:
                if not is_told:
                    say("Telegram is not responding right now. Still trying.")
                is_told = True
                await anyio.sleep(PAUSE_S)
                continue
            for place, update in enumerate(updates):
                owner = _sender_of(update, code)
                if owner is not None:
                    if place == 0:
                        await _confirm(api, int(update["update_id"]))
                    return owner
            if len(updates) >= FULL:
                raise TelegramSaysNo(
                    f"Telegram already has {FULL} pending messages for this bot and shows only the oldest, so your "
                    "message is not visible yet. Identify yourself with --owner ID (bots such as @userinfobot show "
                    "your ID), or run Millpond first."
                )
            if updates:
                await anyio.sleep(LOOK_S)
    say("The code did not arrive in time.")
    return None


async def _confirm(api: BotApi, update_id: int) -> None:
    """Delete an update. If that fails, the daemon gets it and answers it like any ``/start``."""
    with suppress(TelegramSaysNo):
        await api.updates(offset=update_id + 1, wait_s=0)


async def greet(api: BotApi, owner: Owner, text: str) -> None:
    """Tell the owner that it worked; no matter when that fails."""
    quiet = {"link_preview_options": {"is_disabled": True}}
    try:
        await api.call("sendMessage", {"chat_id": int(owner.id), "text": text, **quiet})
    except (TelegramSaysNo, ValueError):
        return


async def _asked(api: BotApi) -> list[dict[str, Any]] | None:
    """Pending updates; None: Telegram is unavailable right now."""
    try:
        return await api.updates(offset=None, wait_s=POLL_S)
    except TelegramSaysNo as error:
        if not error.code or error.code >= 500:
            return None
        if error.code == 429:
            await anyio.sleep(max(LOOK_S, error.retry_after_s))
            return []
        if error.code != CONFLICT:
            raise
        raise TelegramSaysNo(
            "another program reads this bot's messages, or the bot has a webhook. Stop that "
            "program (another Millpond, nanobot, OpenClaw …) and try again, or identify yourself with --owner ID.",
            code=CONFLICT,
        ) from error


def _sender_of(update: dict[str, Any], code: str) -> Owner | None:
    """The sender of the code; None for any other update."""
    message = _table(update.get("message"))
    sender, chat, text = _table(message.get("from")), _table(message.get("chat")), message.get("text")
    if not isinstance(text, str) or chat.get("type") != "private" or sender.get("is_bot"):
        return None
    if code not in text.upper().split() or not isinstance(sender.get("id"), int):
        return None
    names = [str(sender[key]) for key in ("first_name", "last_name") if sender.get(key)]
    return Owner(id=str(sender["id"]), name=" ".join(names))


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
