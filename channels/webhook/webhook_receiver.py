"""The address to which a bridge posts messages of people. Every process with the role ``channels`` serves it."""

import weakref

import anyio
import msgspec
import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.arrival import Arrival
from channels.base import Intake
from channels.http import listen, read_body, serving
from channels.webhook.bridge_message import FORM, arrival_of
from channels.webhook.webhook_signature import ID, problem_of
from daemon import metrics
from daemon.config import WebhookChannelConfig
from daemon.errors import BusUnavailable, brief
from daemon.process import Process

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
