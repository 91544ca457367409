"""Posts each part as JSON: ``{session, reply, part, text, attempt, attachments?}``.

The answer ``{"id": ...}`` names what was sent.

429 and 5xx are refused (``Retry-After`` in seconds), every other status but 2xx is rejected.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import msgspec

from channels.base import Part
from channels.outbox import split
from daemon.config import TestingConfig
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey

NOTHING_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.ProxyError,
)
"""Failures of the library before the first byte of the request left; after all others nobody knows."""

CHATS_MAX = 1_000
"""Connections at once; more chats than that are never sent to at a time."""


class _Post(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is posted."""

    session: str
    reply: str
    part: int
    text: str
    attempt: str
    attachments: tuple[Attachment, ...] = ()


class _Posted(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered."""

    id: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Posted).decode


class TestingChannel:
    """One channel instance of type ``testing``."""

    __test__ = False  # not a class of tests, whatever its name begins with

    def __init__(self, name: str, config: TestingConfig, client: httpx2.AsyncClient) -> None:
        self.name = name
        self._config = config
        self._client = client

    def split(self, text: str) -> list[str]:
        """Parts of at most ``part_max_chars``."""
        return split(text, self._config.part_max_chars)

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Post a part; the id that the server gave it. Errors as for ``Channel.send``."""
        post = _Post(
            session=str(chat),
            reply=part.reply,
            part=part.number,
            text=part.text,
            attempt=part.attempt,
            attachments=part.attachments,
        )
        try:
            response = await self._client.post(
                self._config.url,
                content=_encode(post),
                headers={"Content-Type": "application/json"},
                timeout=timeout_s,
            )
        except NOTHING_SENT as error:
            raise SendRefused(f"{self._config.url} cannot be reached: {error}") from error
        except httpx2.HTTPError as error:
            raise SendUnknown(f"{self._config.url}: {type(error).__name__} after sending") from error
        return _id_in(response)


@asynccontextmanager
async def connect(process: Process, name: str, config: TestingConfig) -> AsyncGenerator[TestingChannel]:
    """The channel for the length of the block; ``process`` is the one that it is a part of."""
    # A connection for each part: one that the other side has closed meanwhile would look like a cut request.
    limits = httpx2.Limits(max_connections=CHATS_MAX, max_keepalive_connections=0)
    async with httpx2.AsyncClient(limits=limits, trust_env=False) as client:
        yield TestingChannel(name, config, client)


def _id_in(response: httpx2.Response) -> str:
    status = response.status_code
    if status == 429 or status >= 500:
        raise SendRefused(f"the server answers {status}", retry_after_s=_retry_after_s(response))
    if not response.is_success:
        raise SendRejected(f"the server answers {status}")
    try:
        return _decode(response.content).id
    except msgspec.DecodeError:
        return ""  # it took it, and that is what counts


def _retry_after_s(response: httpx2.Response) -> float | None:
    try:
        return float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
