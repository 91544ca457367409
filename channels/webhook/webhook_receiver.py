"""The address to which a bridge posts messages of people. Every process with the role ``channels`` serves it."""

import base64
import hashlib
import hmac
import weakref
from collections.abc import Mapping
from typing import Annotated, Literal

import anyio
import msgspec
import structlog
from msgspec import Meta
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.arrival import Arrival, Sender, reacted
from channels.base import Intake
from channels.http import listen, read_body, serving
from daemon import metrics
from daemon.config import Secret, WebhookChannelConfig, signing_key
from daemon.errors import BusUnavailable, brief
from daemon.events import Attachment, Quote
from daemon.process import Process

# Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over id, time and body. Pure.

ID, TIME, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""Names of the headers."""

VERSION = "v1"
TOLERANCE_S = 300.0
"""Largest difference between the sender's clock and this one, as the specification proposes."""

TIME_MAX_DIGITS = 12
"""More than 30,000 years."""

ID_MAX_CHARS = 256


def signed(secret: Secret, message_id: str, body: bytes, *, now_s: float) -> dict[str, str]:
    """The headers of a request. ``now_s``: seconds since 1970."""
    time = str(int(now_s))
    return {ID: message_id, TIME: time, SIGNATURE: f"{VERSION},{_signature(secret, message_id, time, body)}"}


def problem_of(secret: Secret, headers: Mapping[str, str], body: bytes, *, now_s: float) -> str:
    """The reason why a request is not accepted; empty if its signature is valid."""
    message_id, time = headers.get(ID, ""), headers.get(TIME, "")
    if not 0 < len(message_id) <= ID_MAX_CHARS or not time or not headers.get(SIGNATURE):
        return f"The {ID}, {TIME} and {SIGNATURE} headers are required. {ID} has at most {ID_MAX_CHARS} characters."
    if not (_is_number(time) and abs(int(time) - now_s) <= TOLERANCE_S):
        return (
            f"{TIME} must be the current Unix time in seconds, accurate to within {TOLERANCE_S:g} s. Check the "
            "sender's clock."
        )
    right = _signature(secret, message_id, time, body).encode()
    for given in headers[SIGNATURE].split():
        version, _, value = given.partition(",")
        if version == VERSION and hmac.compare_digest(value.encode("utf-8", "replace"), right):
            return ""
    return f"{SIGNATURE} is not valid. Sign <id>.<timestamp>.<body> with the channel's secret."


def _is_number(time: str) -> bool:
    """Whether ``time`` can be seconds since 1970. Longer numbers fit into no float."""
    return time.isascii() and time.isdigit() and len(time) <= TIME_MAX_DIGITS


def _signature(secret: Secret, message_id: str, time: str, body: bytes) -> str:
    content = f"{message_id}.{time}.".encode() + body
    return base64.b64encode(hmac.digest(signing_key(secret), content, hashlib.sha256)).decode()


# A message of a person as a bridge posts it. Pure.

Id = Annotated[str, Meta(min_length=1, max_length=256)]

FORM = (
    "A message must be an object {chat, sender, text, id?, type?, thread?, group?, mentioned?, reply_to?, files?}; see "
    "docs/webhook-channel.md."
)


class _Sender(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Id
    name: str = ""
    bot: bool = False


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=2_048)]
    name: Annotated[str, Meta(max_length=256)] = ""
    kind: Literal["image", "document", "audio", "video", "voice"] = "document"
    bytes: Annotated[int, Meta(ge=0)] = 0


class _Quote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    sender: str = ""


class _Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    type: Literal["message", "edit", "delete", "reaction", "reaction_removed"] = "message"
    chat: Id
    sender: Id | _Sender
    text: str = ""
    id: Id | None = None
    """Unset: the id of the request."""
    thread: Annotated[str, Meta(max_length=256)] = ""
    group: bool = False
    chat_name: Annotated[str, Meta(max_length=256)] = ""
    mentioned: bool = True
    """In a group, whether the message is for the bot."""
    reply_to: Annotated[str, Meta(max_length=256)] = ""
    quote: _Quote | None = None
    files: Annotated[tuple[_File, ...], Meta(max_length=20)] = ()
    emoji: Annotated[str, Meta(max_length=64)] = ""
    """Of a reaction: the emoji with which the bot's message ``id`` was marked."""
    order: float | None = None
    """Rises in a chat; unset: the time of the request."""


REACTION_REMOVED = "reaction_removed"
REACTIONS = ("reaction", REACTION_REMOVED)

_decode = msgspec.json.Decoder(_Message).decode


def arrival_of(body: bytes, request_id: str, *, now_s: float) -> Arrival:
    """The message in ``body``.

    Args:
        body: JSON in UTF-8.
        request_id: the id of the request, by which a repetition is recognised.
        now_s: seconds since 1970.

    Raises:
        UnicodeDecodeError, msgspec.DecodeError, RecursionError: it is not such a message.
    """
    found = _decode(body)
    sender = found.sender if isinstance(found.sender, _Sender) else _Sender(id=found.sender)
    if found.type in REACTIONS:
        if not (found.id and found.emoji):
            raise msgspec.ValidationError("a reaction must contain the ID of the bot's message and an emoji")
        return reacted(
            chat=found.chat,
            message=found.id,
            emoji=found.emoji,
            sender=Sender(id=sender.id, name=sender.name, is_bot=sender.bot),
            chat_kind="group" if found.group else "direct",
            removed=found.type == REACTION_REMOVED,
        )
    return Arrival(
        seen_as=request_id,
        id=found.id or request_id,
        order=now_s if found.order is None else found.order,
        chat=found.chat,
        thread=found.thread,
        chat_kind="group" if found.group else "direct",
        chat_name=found.chat_name,
        sender=Sender(id=sender.id, name=sender.name, is_bot=sender.bot),
        text=found.text,
        mentioned=found.mentioned or not found.group,
        attachments=tuple([_attachment(file) for file in found.files]),
        reply_to=found.reply_to,
        quote=None if found.quote is None else Quote(text=found.quote.text, sender_name=found.quote.sender),
        edited=found.type == "edit",
        deleted=found.type == "delete",
    )


def _attachment(file: _File) -> Attachment:
    return Attachment(kind=file.kind, name=file.name, size_bytes=file.bytes, source=file.url)


BODY_MAX_BYTES = 4 * 1024 * 1024
"""Largest message, without its files: the longest text of other platforms is a hundredth of it."""

RETRY_AFTER_S = 5
"""``Retry-After`` while Redis is unavailable."""

_log = structlog.get_logger()


class Receiver:
    """The address of one channel instance."""

    def __init__(self, process: Process, name: str, config: WebhookChannelConfig, intake: Intake) -> None:
        self._process = process
        self._name = name
        self._config = config
        self._intake = intake
        self._turns: weakref.WeakValueDictionary[str, anyio.Lock] = weakref.WeakValueDictionary()

    async def serve(self) -> None:
        """Serve until cancelled.

        Raises:
            ConfigError: the configured address is not available.
        """
        config = self._config
        listening = await listen(f"channels.{self._name}", config.host, config.port)
        with listening:
            async with serving(self.application(), listening):
                _log.info("webhook.started", channel=self._name)
                await anyio.sleep_forever()

    def application(self) -> Starlette:
        """The ASGI application."""
        # Compared instead of routed, so that special characters of the address have no meaning.
        return Starlette(
            routes=[Route("/{path:path}", self._take, methods=["POST"])], exception_handlers={HTTPException: _refused}
        )

    async def _take(self, request: Request) -> Response:
        if request.url.path != self._config.path:
            return _problem(404, f"This address was not found. Post messages to {self._config.path}.")
        body = await read_body(request, max_bytes=BODY_MAX_BYTES)
        now_s = self._process.clock.now().timestamp()
        if problem := problem_of(self._config.secret, request.headers, body, now_s=now_s):
            metrics.UPDATES.labels(self._name, "refused").inc()
            return _problem(401, problem)
        try:
            arrival = arrival_of(body, request.headers[ID], now_s=now_s)
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
            metrics.UPDATES.labels(self._name, "unreadable").inc()
            # The sender gets the whole reason; the log gets its kind only, since the reason may quote a text.
            _log.warning("update.unreadable", channel=self._name, reason=type(error).__name__)
            return _problem(400, f"{error}. {FORM}")
        return await self._hand_in(arrival)

    async def _hand_in(self, arrival: Arrival) -> Response:
        turn = self._turns.get(arrival.chat)
        if turn is None:
            turn = self._turns[arrival.chat] = anyio.Lock()
        try:
            async with turn:
                await self._intake.take(arrival)
        except BusUnavailable as error:
            _log.warning("update.waits", channel=self._name, reason=brief(error))
            text = "Redis does not respond. Send the message again with the same webhook-id."
            return _problem(503, text, {"Retry-After": str(RETRY_AFTER_S)})
        return Response(status_code=204)


async def _refused(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return _problem(error.status_code, error.detail)


def _problem(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    body = msgspec.json.encode({"error": {"message": text}})
    return Response(body, status, headers, media_type="application/json")
