"""The few calls to Feishu that set an app up, for a person who waits: each failure is a sentence."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import httpx2
import msgspec

from daemon.config import Secret
from daemon.config.address import is_feishus
from daemon.errors import UNREADABLE, MillpondError
from daemon.proxies import http_client
from daemon.setup.platforms.feishu_scopes import missing_of

TIMEOUT_S = 15.0
"""How long an answer may take."""


class _Bot(msgspec.Struct, frozen=True):
    app_name: str = ""
    open_id: str = ""


class _Scope(msgspec.Struct, frozen=True):
    scope_name: str = ""
    grant_status: int = 0


class _User(msgspec.Struct, frozen=True):
    name: str = ""


class _Data(msgspec.Struct, frozen=True):
    url: str = msgspec.field(default="", name="URL")
    scopes: tuple[_Scope, ...] = ()
    user: _User = _User()


class _Answer(msgspec.Struct, frozen=True):
    """What any of the methods answers."""

    code: int
    msg: str = ""
    tenant_access_token: str = ""
    bot: _Bot = _Bot()
    data: _Data = _Data()


_decode = msgspec.json.Decoder(_Answer).decode


class FeishuSaysNo(MillpondError):
    """Feishu refuses something, or cannot be asked."""


class Me(msgspec.Struct, frozen=True, kw_only=True):
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
        if not found.tenant_access_token:
            raise FeishuSaysNo("Feishu did not return an access token")
        return Secret(found.tenant_access_token)

    async def me(self, token: Secret) -> Me:
        """Who the app is. Raises: FeishuSaysNo."""
        found = await self._asked("GET", "/open-apis/bot/v3/info", token=token)
        if not found.bot.open_id:
            raise FeishuSaysNo(
                "the app does not include a bot. Add the bot capability to the app, and publish a new "
                "version of the app"
            )
        return Me(name=found.bot.app_name, open_id=found.bot.open_id, missing=await self._missing(token))

    async def _missing(self, token: Secret) -> tuple[str, ...]:
        try:
            found = await self._asked("GET", "/open-apis/application/v6/scopes", token=token)
        except FeishuSaysNo:
            return ()
        granted = [each.scope_name for each in found.data.scopes if each.grant_status == 1]
        return tuple(missing_of(granted)) if granted else ()

    async def socket_url(self, app_id: str, app_secret: Secret) -> str:
        """Where a long connection is opened; a secret. Raises: FeishuSaysNo."""
        body = {"AppID": app_id, "AppSecret": app_secret.reveal()}
        found = await self._asked("POST", "/callback/ws/endpoint", body=body)
        url = found.data.url
        if not url.startswith(("ws://", "wss://")) or not is_feishus(url, self._base):
            raise FeishuSaysNo("Feishu returned no address for a long-lived connection")
        return url

    async def name_of(self, token: Secret, open_id: str) -> str:
        """What a person is called; empty if Feishu does not tell."""
        try:
            found = await self._asked("GET", f"/open-apis/contact/v3/users/{open_id}?user_id_type=open_id", token=token)
        except FeishuSaysNo:
            return ""
        return found.data.user.name

    async def say(self, token: Secret, *, chat: str, text: str) -> None:
        """Send a text. Raises: FeishuSaysNo."""
        content = msgspec.json.encode({"text": text}).decode()
        body = {"receive_id": chat, "msg_type": "text", "content": content}
        await self._asked("POST", "/open-apis/im/v1/messages?receive_id_type=chat_id", body=body, token=token)

    async def _asked(
        self, verb: str, path: str, *, body: Mapping[str, str] | None = None, token: Secret | None = None
    ) -> _Answer:
        headers = {"Authorization": f"Bearer {token.reveal()}"} if token else {}
        try:
            answer = await self._client.request(verb, self._base + path, json=body, headers=headers, timeout=TIMEOUT_S)
            found = _decode(answer.content)
        except httpx2.HTTPError as error:
            raise FeishuSaysNo(f"{self._base} cannot be reached: {type(error).__name__}") from None
        except UNREADABLE:
            raise FeishuSaysNo(f"{self._base} is not the address of Feishu's API. Check the address.") from None
        if found.code != 0:
            detail = f" ({found.msg[:200]})" if found.msg else ""
            raise FeishuSaysNo(f"Feishu responded with error {found.code}{detail}")
        return found


@asynccontextmanager
async def feishu_api(base_url: str) -> AsyncGenerator[FeishuApi]:
    """A server of Feishu for the length of the block."""
    async with http_client(base_url, httpx2.AsyncClient) as client:
        yield FeishuApi(base_url, client)
