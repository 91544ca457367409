"""A channel for tests of other programs: each part of a reply is posted as JSON, messages are polled.

The answer is ``{"updates": [{"number", "arrival"}, ...]}``, oldest first; asking for what comes after N says that all
up to N are dealt with. Two processes that ask get the same: it is taken once, by its ``seen_as``.

The answer ``{"id": ...}`` names what was sent. What is no message of its own has a ``kind``:
``{kind: "edit", id, ...}`` with the fields of a part, ``{kind: "remove", session, id}``, ``{kind: "typing", session}``,
``{kind: "react", session, id, sign}``, ``{kind: "fetch", source}``, answered with the file itself, and
``{kind: "health"}``, answered with ``{"name": ...}``.

429 and 5xx are refused (``Retry-After`` in seconds), every other status but 2xx is rejected; 404 and 410 say that a
message is gone.

``{kind: "find", session, reply, part, preview}`` is answered with ``{"id": ...}`` of what was sent, empty: nothing was;
``{kind: "before", session, id}`` with ``{"said": [...]}``, what was said in the thread before the message of this id.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Literal, NoReturn

import anyio
import httpx2
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.batch import take_all
from channels.http_post import check, post_once
from daemon.config import TestingConfig
from daemon.errors import ChannelError, SendRefused, SendRejected, SendUnknown, brief
from daemon.events import Attachment, Inbound, Overheard
from daemon.process import Process
from daemon.sessionkey import SessionKey

# What the test's server has people say: ``GET <updates_url>?after=N&wait_s=S``, answered once there is something.

WAIT_S = 5.0
"""How long the server may wait for something to say."""

ANSWER_S = 2.0
"""How much longer its answer may take."""

AWAY_PAUSE_S = 0.1
"""Pause when the server, or Redis, is away."""


class _Update(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    arrival: msgspec.Raw = msgspec.Raw()


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    updates: tuple[msgspec.Raw, ...] = ()


_log = structlog.get_logger()
_decode_answer = msgspec.json.Decoder(_Answer).decode
_decode_update = msgspec.json.Decoder(_Update).decode
_decode_arrival = msgspec.json.Decoder(Arrival).decode


class Updates:
    """The updates of one channel instance."""

    def __init__(self, channel: str, url: str, client: httpx2.AsyncClient) -> None:
        self._channel = channel
        self._url = url
        self._client = client
        self._after = 0

    async def hand_in(self, intake: Intake) -> NoReturn:
        """Hand in what is said, for ever."""
        while True:
            try:
                found = await self._ask()
            except (httpx2.HTTPError, msgspec.DecodeError) as error:
                _log.warning("updates.away", channel=self._channel, reason=type(error).__name__)
                await anyio.sleep(AWAY_PAUSE_S)
                continue
            taken = await take_all(intake, [arrival for _, arrival in found])
            if taken:
                self._after = found[taken - 1][0]
            if taken < len(found):
                await anyio.sleep(AWAY_PAUSE_S)

    async def _ask(self) -> list[tuple[int, Arrival | None]]:
        """The number of each update, and what it says; None when that is nothing we know."""
        query = {"after": self._after, "wait_s": WAIT_S}
        response = await self._client.get(self._url, params=query, timeout=WAIT_S + ANSWER_S)
        response.raise_for_status()
        found: list[tuple[int, Arrival | None]] = []
        for raw in _decode_answer(response.content).updates:
            try:
                update = _decode_update(raw)
            except msgspec.DecodeError:
                continue  # without its number it cannot be told from others, nor confirmed but with the next one
            found.append((update.number, self._arrival(update)))
        return found

    def _arrival(self, update: _Update) -> Arrival | None:
        try:
            return _decode_arrival(update.arrival)
        except msgspec.DecodeError as error:
            _log.warning("update.unknown", channel=self._channel, reason=brief(error))
            return None


# Posts each part as JSON: ``{session, reply, part, text, attempt, document?, attachments?, reply_to?, preview?}``.

EDIT_EVERY_S = 0.1
TYPING_LASTS_S = 2.0
FETCH_MAX_BYTES = 1_000_000
SEND_MAX_BYTES = 5_000_000

HEALTH_TIMEOUT_S = 5.0

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


class _Post(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part."""

    kind: Literal["", "edit"] = ""
    id: str = ""
    session: str
    reply: str
    part: int
    text: str
    attempt: str
    document: str = ""
    attachments: tuple[Attachment, ...] = ()
    reply_to: str = ""
    preview: bool = False


class _Act(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything else that is posted."""

    kind: Literal["remove", "typing", "react", "fetch", "health"]
    session: str = ""
    id: str = ""
    sign: str | None = None
    source: str = ""


class _Posted(msgspec.Struct, frozen=True, kw_only=True):
    """The server's answer."""

    id: str = ""
    name: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Posted).decode


class TestingChannel:
    """One channel instance of type ``testing``."""

    __test__ = False  # not a class of tests, whatever its name begins with

    def __init__(self, name: str, config: TestingConfig, client: httpx2.AsyncClient) -> None:
        self.name = name
        self.limits = Limits(
            part_max=config.part_max_chars,
            edit_every_s=EDIT_EVERY_S,
            group_edit_every_s=EDIT_EVERY_S,
            typing_lasts_s=TYPING_LASTS_S,
            fetch_max_bytes=FETCH_MAX_BYTES,
            send_max_bytes=SEND_MAX_BYTES,
        )
        self._config = config
        self._client = client

    async def receive(self, intake: Intake) -> None:
        """See ``Channel``; without ``updates_url`` no messages arrive."""
        if self._config.updates_url:
            await Updates(self.name, self._config.updates_url, self._client).hand_in(intake)
        await anyio.sleep_forever()

    def length(self, text: str) -> int:
        """Its characters."""
        return len(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As configured."""
        config = self._config
        given = (("all", config.sends_per_s), (f"chat:{chat.chat}", config.chat_sends_per_s))
        return tuple(Rate(bucket=bucket, count=count, per_s=1.0) for bucket, count in given if count)

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Post a part; the id that the server gave it. Errors as for ``Channel.send``."""
        response = await self.post(_post(chat, part), timeout_s)
        check(response)
        try:
            return _decode(response.content).id
        except msgspec.DecodeError:
            return ""  # it took it, and that is what counts

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """Post the part again, with the ID of the message that it replaces."""
        post = msgspec.structs.replace(_post(chat, part), kind="edit", id=platform_id)
        check(await self.post(post, timeout_s))

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """Have the server forget a message."""
        response = await self.post(_Act(kind="remove", session=str(chat), id=platform_id), timeout_s)
        if response.status_code not in _GONE:
            check(response)

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """Say that an answer is being written."""
        check(await self.post(_Act(kind="typing", session=str(chat)), timeout_s))

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """Mark a message."""
        check(await self.post(_Act(kind="react", session=str(chat), id=message_id, sign=sign), timeout_s))

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """The file that the server gives for its ``source``."""
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(_too_large(attachment.size_bytes))
        content = _encode(_Act(kind="fetch", source=attachment.source))
        try:
            with anyio.fail_after(timeout_s):
                async with self._client.stream("POST", self._config.url, content=content, timeout=timeout_s) as answer:
                    check(answer)
                    return await _bounded(answer)
        except TimeoutError as error:
            raise SendRefused(f"the file from {self._config.url} did not arrive within {timeout_s:g} s") from error
        except httpx2.HTTPError as error:
            raise SendRefused(
                f"the file could not be downloaded from {self._config.url}: {type(error).__name__}"
            ) from error

    async def health(self) -> Health:
        """The server's name."""
        try:
            response = await self.post(_Act(kind="health"), HEALTH_TIMEOUT_S)
            check(response)
            return Health(ok=True, text=_decode(response.content).name)
        except (ChannelError, msgspec.DecodeError) as error:
            return Health(
                ok=False, text=f"{error}. channels.{self.name}.url must be the address of the test's own server."
            )

    async def post(self, post: msgspec.Struct, timeout_s: float) -> httpx2.Response:
        """Post it once, and have the answer. Errors as for ``channels.http_post.post``."""
        headers = {"Content-Type": "application/json"}
        return await post_once(self._client, self._config.url, _encode(post), headers=headers, timeout_s=timeout_s)


def _post(chat: SessionKey, part: Part) -> _Post:
    return _Post(
        session=str(chat),
        reply=part.reply,
        part=part.number,
        text=part.text,
        attempt=part.attempt,
        document=part.document,
        attachments=part.attachments,
        reply_to=part.reply_to,
        preview=part.preview,
    )


async def _bounded(response: httpx2.Response) -> bytes:
    """The body, unless it is too large."""
    content = bytearray()
    async for some in response.aiter_bytes():
        content += some
        if len(content) > FETCH_MAX_BYTES:
            raise SendRejected(_too_large(len(content)))
    return bytes(content)


def _too_large(size_bytes: int) -> str:
    return f"the file is at least {size_bytes:,} bytes, but downloads are limited to {FETCH_MAX_BYTES:,} bytes"


# A testing channel whose server remembers: what was sent, and what was said in a thread.


class _Find(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="find"):
    session: str
    reply: str
    part: int
    preview: bool


class _Before(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="before"):
    session: str
    id: str


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    id: str = ""
    said: tuple[Overheard, ...] = ()


_decode_found = msgspec.json.Decoder(_Found).decode


class LookingChannel(TestingChannel):
    """One channel instance of type ``testing`` with ``looks``."""

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """See ``channels.base.Finds``."""
        asked = _Find(session=str(chat), reply=part.reply, part=part.number, preview=part.preview)
        return (await self._ask(asked, timeout_s)).id

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """See ``channels.base.LooksBack``."""
        if not inbound.thread:
            return ()
        return (await self._ask(_Before(session=str(inbound.session), id=inbound.id), timeout_s)).said

    async def _ask(self, asked: Any, timeout_s: float) -> _Found:
        try:
            response = await self.post(asked, timeout_s)
            check(response)
            return _decode_found(response.content)
        except (SendUnknown, msgspec.DecodeError) as error:
            raise SendRefused(f"the test platform did not answer a query: {error}") from error


# Opening a testing channel.

CHATS_MAX = 1_000
"""Connections at once; more chats than that are never sent to at a time."""


@asynccontextmanager
async def connect(process: Process, name: str, config: TestingConfig) -> AsyncGenerator[TestingChannel]:
    """The channel for the length of the block; ``process`` is the one that it is a part of."""
    # A connection for each part: one that the other side has closed meanwhile would look like a cut request.
    limits = httpx2.Limits(max_connections=CHATS_MAX, max_keepalive_connections=0)
    # Making the certificates ready costs 20 ms, which a server that is spoken to in the clear does not need.
    verify = any(url.startswith("https:") for url in (config.url, config.updates_url))
    async with httpx2.AsyncClient(limits=limits, trust_env=False, verify=verify) as client:
        yield (LookingChannel if config.looks else TestingChannel)(name, config, client)
