"""The adapter of a webhook channel: each action is one signed request to the bridge.

The body is ``{type, chat, thread?, ...}`` with the type ``message``, ``edit``, ``remove``, ``typing``, ``reaction`` or
``ping``. A message that is sent again has the same ``webhook-id``, so that the bridge can recognise it.
"""

import base64
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import msgspec

from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.file_transfer import content_of
from channels.http_post import check, post_once
from channels.webhook.webhook_receiver import Receiver, signed
from daemon.config import WebhookChannelConfig
from daemon.errors import ChannelError, SendRefused, SendRejected
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey

FILE_MAX_BYTES = 20_000_000
"""Largest file in either direction; a file that is sent is a third larger in Base64."""

EDIT_EVERY_S, GROUP_EDIT_EVERY_S = 1.0, 3.0
"""As often as the slowest of the common platforms accepts edits (Telegram)."""

TYPING_LASTS_S = 5.0
HEALTH_TIMEOUT_S = 5.0

CONNECTIONS_MAX = 1_000
"""Requests at once; more chats than that are never sent to at the same time."""

DOCUMENT_NAME = "reply.md"

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the bridge; it may also be empty."""

    id: str = ""
    name: str = ""


_decode = msgspec.json.Decoder(_Answer).decode


class WebhookChannel:
    """One channel instance of type ``webhook``."""

    def __init__(self, process: Process, name: str, config: WebhookChannelConfig, client: httpx2.AsyncClient) -> None:
        self.name = name
        can = config.supports
        self.limits = Limits(
            part_max=config.part_max_chars,
            edit_every_s=EDIT_EVERY_S if "edits" in can else 0.0,
            group_edit_every_s=GROUP_EDIT_EVERY_S if "edits" in can else 0.0,
            typing_lasts_s=TYPING_LASTS_S if "typing" in can else 0.0,
            fetch_max_bytes=FILE_MAX_BYTES,
            send_max_bytes=FILE_MAX_BYTES if "files" in can else 0,
        )
        self._process = process
        self._config = config
        self._client = client

    @property
    def _workspace(self) -> Path:
        return self._process.workspace(self._config.bot)

    async def receive(self, intake: Intake) -> None:
        """See ``Channel``."""
        await Receiver(self._process, self.name, self._config, intake).serve()

    def length(self, text: str) -> int:
        """Its characters."""
        return len(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As configured."""
        config = self._config
        given = (("all", config.sends_per_s), (f"chat:{chat.chat}", config.chat_sends_per_s))
        return tuple(Rate(bucket=bucket, count=count, per_s=1.0) for bucket, count in given if count)

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Post a part; the id that the bridge gave it, or else its ``webhook-id``. Errors as for ``Channel.send``."""
        more: dict[str, Any] = {"reply_to": part.reply_to} if part.reply_to else {}
        if files := await self._files(part):
            more["files"] = files
        if part.preview:
            more["preview"] = True
        name = f"{part.reply}/{part.number}{'/preview' if part.preview else ''}"
        answer = await self._post(name, timeout_s, "message", chat, text=part.text, **more)
        return answer.id or name

    async def _files(self, part: Part) -> list[dict[str, str]]:
        found = [(DOCUMENT_NAME, "document", part.document.encode("utf-8", "replace"))] if part.document else []
        for each in part.attachments:
            content = await content_of(self._workspace, each, max_bytes=FILE_MAX_BYTES)
            found.append((each.name or "file", each.kind, content))
        return [
            {"name": name, "kind": kind, "content": base64.b64encode(content).decode()} for name, kind, content in found
        ]

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """Post the new text of a message."""
        await self._post(_once(), timeout_s, "edit", chat, id=platform_id, text=part.text, preview=part.preview)

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """Have the bridge delete a message."""
        await self._post(_once(), timeout_s, "remove", chat, id=platform_id)

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """Tell that an answer is being written."""
        await self._post(_once(), timeout_s, "typing", chat)

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """Mark a message of a person with an emoji; an empty one removes the mark."""
        await self._post(_once(), timeout_s, "reaction", chat, id=message_id, emoji=sign)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """The file at the address that came with a message; only files from the server of the bridge are fetched."""
        if _server(attachment.source) != _server(self._config.url):
            raise SendRejected(
                f"the file was not downloaded because its URL is not on the server set in channels.{self.name}.url"
            )
        if attachment.size_bytes > FILE_MAX_BYTES:
            raise SendRejected(_too_large(attachment.size_bytes))
        headers = signed(self._config.secret, _once(), b"", now_s=self._now_s())
        try:
            with anyio.fail_after(timeout_s):
                async with self._client.stream("GET", attachment.source, headers=headers, timeout=timeout_s) as answer:
                    check(answer)
                    return await _bounded(answer)
        except TimeoutError as error:
            raise SendRefused(f"the file could not be downloaded within {timeout_s:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SendRefused(f"the file could not be downloaded: {type(error).__name__}") from error

    async def health(self) -> Health:
        """The name of the bridge, or its address."""
        try:
            answer = await self._post(_once(), HEALTH_TIMEOUT_S, "ping")
        except ChannelError as error:
            return Health(ok=False, text=f"{error}. Check channels.{self.name}.url and the bridge's secret.")
        return Health(ok=True, text=answer.name or self._config.url)

    async def _post(
        self, name: str, timeout_s: float, kind: str, chat: SessionKey | None = None, **fields: object
    ) -> _Answer:
        body: dict[str, object] = {"type": kind}
        if chat is not None:
            body |= {"chat": chat.chat, **({"thread": chat.thread} if chat.thread else {})}
        content = msgspec.json.encode(body | fields)
        headers = {
            "Content-Type": "application/json",
            **signed(self._config.secret, name, content, now_s=self._now_s()),
        }
        response = await post_once(self._client, self._config.url, content, headers=headers, timeout_s=timeout_s)
        if kind != "remove" or response.status_code not in _GONE:
            check(response)
        try:
            return _decode(response.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return _Answer()  # the status says that the request was accepted

    def _now_s(self) -> float:
        return self._process.clock.now().timestamp()


@asynccontextmanager
async def connect(process: Process, name: str, config: WebhookChannelConfig) -> AsyncGenerator[WebhookChannel]:
    """Open the adapter of the channel ``name``."""
    # A connection for each request: one that the other side has closed meanwhile would look like a cut request.
    limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=0)
    # Making the certificates ready costs 20 ms, which a server without TLS does not need.
    async with httpx2.AsyncClient(limits=limits, verify=config.url.startswith("https:")) as client:
        yield WebhookChannel(process, name, config, client)


def _once() -> str:
    return secrets.token_hex(8)


def _server(url: str) -> tuple[str, str, int | None] | None:
    with suppress(ValueError):  # it is no address
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port
    return None


async def _bounded(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for some in response.aiter_bytes():
        content += some
        if len(content) > FILE_MAX_BYTES:
            raise SendRejected(_too_large(len(content)))
    return bytes(content)


def _too_large(size_bytes: int) -> str:
    return f"the file is at least {size_bytes:,} bytes, but downloads are limited to {FILE_MAX_BYTES:,} bytes"
