"""Signed and encrypted events over HTTP: every process serves the address, and responds once an event is stored."""

import base64
import binascii
import hashlib
import hmac
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import msgspec
import structlog
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from channels.feishu.event_inlet import Take
from channels.http import listen, read_body, serving
from channels.log_throttle import LogThrottle
from daemon import metrics
from daemon.clock import Clock
from daemon.config import FeishuConfig, Secret
from daemon.errors import UNREADABLE

# Signature and encryption of events by HTTP (open.feishu.cn, "Receive events"). Pure.

TIME, NONCE, SIGNATURE = "X-Lark-Request-Timestamp", "X-Lark-Request-Nonce", "X-Lark-Signature"

BLOCK_BYTES = 16
"""Of AES, and of the initial vector before the text."""

OLD_S = 300
"""Largest difference between the time of a signature and our clock. Feishu signs a repetition anew."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def problem_of(key: Secret, headers: Mapping[str, str], body: bytes, *, now_s: float) -> str:
    """The reason why a request is not accepted; empty if its signature is valid."""
    stamped, nonce, signature = headers.get(TIME, ""), headers.get(NONCE, ""), headers.get(SIGNATURE, "")
    if not (stamped and nonce and signature):
        return (
            f"The request has no Feishu signature ({TIME}, {NONCE} and {SIGNATURE} headers). Feishu signs requests "
            "only if the app has an Encrypt Key. Set the same key in the app's settings and as encrypt_key."
        )
    right = signature_of(key, stamped, nonce, body).encode()
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), right):
        return "The request's Feishu signature is not valid. Check encrypt_key."
    if not (stamped.isascii() and stamped.isdigit() and len(stamped) <= 12 and abs(int(stamped) - now_s) <= OLD_S):
        return f"The signature's timestamp differs from this machine's clock by more than {OLD_S} s. Check the clock."
    return ""


def signature_of(key: Secret, stamped: str, nonce: str, body: bytes) -> str:
    """What Feishu writes into the header of a request."""
    return hashlib.sha256(f"{stamped}{nonce}{key.reveal()}".encode() + body).hexdigest()


def decrypted(key: Secret, body: bytes) -> bytes:
    """The event in an encrypted request, as JSON.

    Raises:
        ValueError: it is not encrypted, or with another key.
    """
    try:
        encrypted = base64.b64decode(_decode(body)["encrypt"], validate=True)
    except (*UNREADABLE, KeyError, TypeError, binascii.Error):
        raise ValueError("the request is not encrypted") from None
    start, content = encrypted[:BLOCK_BYTES], encrypted[BLOCK_BYTES:]
    if not content or len(content) % BLOCK_BYTES:
        raise ValueError("the encrypted event has an invalid size")
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.reveal().encode()).digest()), modes.CBC(start))
    decryptor = cipher.decryptor()
    plain = decryptor.update(content) + decryptor.finalize()
    padding = plain[-1]
    if not 1 <= padding <= BLOCK_BYTES or plain[-padding:] != bytes([padding]) * padding:
        raise ValueError("the event cannot be decrypted with the configured Encrypt Key")
    return plain[:-padding]


TAKE_S = 2.5
"""Time limit for storing an event: Feishu waits 3 s for a response, and then sends it again ("Event overview")."""

LAST_S = 0.5
"""The same limit once the process stops; Feishu sends events again that are not stored by then."""

EVENT_MAX_BYTES = 4_194_304
"""Largest body that is read; the largest real ones have some 300 kB."""

RETRY_AFTER_S = 5
"""``Retry-After`` while Redis is unavailable; Feishu repeats after 15 s, 5 minutes, 1 hour and 6 hours."""

_log = structlog.get_logger()


class _Asked(msgspec.Struct, frozen=True):
    type: str = ""
    challenge: str = ""


_read_asked = msgspec.json.Decoder(_Asked).decode


class EventsEndpoint:
    """The endpoint of one app."""

    def __init__(self, name: str, config: FeishuConfig, take: Take, *, clock: Clock) -> None:
        self._name = name
        self._config = config
        self._take = take
        self._clock = clock
        self._seldom = LogThrottle()
        self._takes: set[anyio.CancelScope] = set()
        self._until = math.inf

    async def run(self) -> None:
        """Serve until cancelled.

        Raises:
            ConfigError: it cannot listen where it is configured to.
        """
        events = self._config.events
        listening = await listen(f"channels.{self._name}.events", events.host, events.port)
        with listening:
            async with serving(self.application(), listening):
                _log.info("events.started", channel=self._name)
                try:
                    await anyio.sleep_forever()
                finally:
                    self._end_soon()

    def _end_soon(self) -> None:
        # The same moment for all events, also for later ones: no event is stored without the events before it.
        self._until = anyio.current_time() + LAST_S
        for take in self._takes:
            take.deadline = min(take.deadline, self._until)

    def application(self) -> Starlette:
        """The application that answers Feishu's calls."""
        # Compared instead of routed, so that special characters of the address have no meaning.
        path = unquote(urlsplit(self._config.events.url).path) or "/"

        async def delivered(request: Request) -> Response:
            if request.url.path != path:
                return Response(status_code=404)
            body = await read_body(request, max_bytes=EVENT_MAX_BYTES)
            return await self._answered(request, body)

        return Starlette(routes=[Route("/{path:path}", delivered, methods=["POST"])])

    async def _answered(self, request: Request, body: bytes) -> Response:
        key = self._config.encrypt_key
        problem = problem_of(key, request.headers, body, now_s=self._clock.now().timestamp())
        try:
            payload = decrypted(key, body)
        except ValueError as error:
            # Without a signature the answer is the same for every text: it would show which paddings are right.
            payload, problem = b"", problem or f"{error}. Check encrypt_key."
        if challenge := _challenge(payload):
            # It is encrypted with our key, and Feishu signs no request of this kind.
            return JSONResponse({"challenge": challenge})
        if problem:
            self._note(problem)
            return PlainTextResponse(f"{problem}\n", 403 if SIGNATURE in request.headers else 401)
        with anyio.move_on_at(min(anyio.current_time() + TAKE_S, self._until)) as take:
            self._takes.add(take)
            try:
                if (taken := await self._take(payload)) is not None:
                    return JSONResponse(taken.answer, background=BackgroundTask(taken.then) if taken.then else None)
            finally:
                self._takes.remove(take)
        return Response(status_code=503, headers={"Retry-After": str(RETRY_AFTER_S)})

    def _note(self, problem: str) -> None:
        metrics.UPDATES.labels(self._name, "refused").inc()
        if self._seldom.now(problem):  # anyone may call, at any rate
            _log.warning("events.refused", channel=self._name, reason=problem)


def _challenge(payload: bytes) -> str:
    """The challenge that Feishu sends when the address is entered in the app's settings; empty for other requests."""
    try:
        asked = _read_asked(payload)
    except (ValueError, RecursionError):
        return ""
    return asked.challenge if asked.type == "url_verification" else ""
