"""The few calls to Feishu that set an app up, for a person who waits: each failure is a sentence."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from daemon.config import Secret
from daemon.config.address import is_feishus
from daemon.errors import UNREADABLE, MillpondError
from daemon.proxies import http_client
from daemon.setup.feishu_scopes import missing_of

TIMEOUT_S = 15.0
"""How long an answer may take."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class FeishuSaysNo(MillpondError):
    """Feishu refuses something, or cannot be asked."""


@dataclass(frozen=True, kw_only=True)
class Me:
    """Who the app is."""

    name: str
    open_id: str
    missing: tuple[str, ...] = ()
    """Permissions that it lacks, as far as Feishu tells."""


class FeishuApi:
    """A server of Feishu; opened by ``feishu_api``."""

    def __init__(self, base_url: str, client: httpx2.AsyncClient) -> None:
        self._base = base_url.rstrip("/")
        self._client = client

    async def token(self, app_id: str, app_secret: Secret) -> Secret:
        """An access token of the app.

        Raises:
            FeishuSaysNo: Feishu refuses the secret, or cannot be asked.
        """
        body = {"app_id": app_id, "app_secret": app_secret.reveal()}
        found = await self._asked("POST", "/open-apis/auth/v3/tenant_access_token/internal", body=body)
        token = found.get("tenant_access_token")
        if not isinstance(token, str):
            raise FeishuSaysNo("Feishu returned no access token")
        return Secret(token)

    async def me(self, token: Secret) -> Me:
        """Who the app is. Raises: FeishuSaysNo."""
        found = await self._asked("GET", "/open-apis/bot/v3/info", token=token)
        bot = found.get("bot")
        told: dict[str, Any] = bot if isinstance(bot, dict) else {}  # pyright: ignore
        name, open_id = told.get("app_name"), told.get("open_id")
        if not isinstance(open_id, str):
            raise FeishuSaysNo(
                "the app has no bot. Add the bot capability to the app, and publish a version of the app"
            )
        return Me(name=name if isinstance(name, str) else "", open_id=open_id, missing=await self._missing(token))

    async def _missing(self, token: Secret) -> tuple[str, ...]:
        try:
            found = await self._asked("GET", "/open-apis/application/v6/scopes", token=token)
        except FeishuSaysNo:
            return ()
        data = found.get("data")
        scopes = data.get("scopes") if isinstance(data, dict) else None  # pyright: ignore
        listed: list[Any] = scopes if isinstance(scopes, list) else []  # pyright: ignore
        granted = [
            str(each.get("scope_name")) for each in listed if isinstance(each, dict) and each.get("grant_status") == 1
        ]
        return tuple(missing_of(granted)) if granted else ()

    async def socket_url(self, app_id: str, app_secret: Secret) -> str:
        """Where a long connection is opened; a secret. Raises: FeishuSaysNo."""
        body = {"AppID": app_id, "AppSecret": app_secret.reveal()}
        found = await self._asked("POST", "/callback/ws/endpoint", body=body)
        data = found.get("data")
        url = data.get("URL") if isinstance(data, dict) else None  # pyright: ignore
        if not isinstance(url, str) or not url.startswith(("ws://", "wss://")) or not is_feishus(url, self._base):
            raise FeishuSaysNo("Feishu returned no address for a long connection")
        return url

    async def name_of(self, token: Secret, open_id: str) -> str:
        """What a person is called; empty if Feishu does not tell."""
        try:
            found = await self._asked("GET", f"/open-apis/contact/v3/users/{open_id}?user_id_type=open_id", token=token)
        except FeishuSaysNo:
            return ""
        data = found.get("data")
        user = data.get("user") if isinstance(data, dict) else None  # pyright: ignore
        name = user.get("name") if isinstance(user, dict) else None  # pyright: ignore
        return name if isinstance(name, str) else ""

    async def say(self, token: Secret, *, chat: str, text: str) -> None:
        """Send a text. Raises: FeishuSaysNo."""
        content = msgspec.json.encode({"text": text}).decode()
        body = {"receive_id": chat, "msg_type": "text", "content": content}
        await self._asked("POST", "/open-apis/im/v1/messages?receive_id_type=chat_id", body=body, token=token)

    async def _asked(
        self, verb: str, path: str, *, body: Mapping[str, str] | None = None, token: Secret | None = None
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token.reveal()}"} if token else {}
        try:
            answer = await self._client.request(verb, self._base + path, json=body, headers=headers, timeout=TIMEOUT_S)
            found = _decode(answer.content)
        except httpx2.HTTPError as error:
            raise FeishuSaysNo(f"{self._base} cannot be reached: {type(error).__name__}") from None
        except UNREADABLE:
            raise FeishuSaysNo(f"{self._base} is not the address of Feishu's API. Check the address.") from None
        if (code := found.get("code")) != 0:
            said = found.get("msg")
            detail = f" ({said[:200]})" if isinstance(said, str) and said else ""
            raise FeishuSaysNo(f"Feishu answered with the error {code}{detail}")
        return found


@asynccontextmanager
async def feishu_api(base_url: str) -> AsyncGenerator[FeishuApi]:
    """A server of Feishu for the length of the block."""
    async with http_client(base_url, httpx2.AsyncClient) as client:
        yield FeishuApi(base_url, client)
