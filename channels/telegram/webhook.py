"""Updates over a webhook: every process serves the address, and one of them registers it with the platform."""

import hashlib
import random
import secrets
from functools import partial
from urllib.parse import unquote, urlsplit

import anyio
import msgspec
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.http import listen, read_body, serving
from channels.leader_election import Leader, Lease
from channels.telegram.api import Api
from channels.telegram.api_types import WebhookInfo
from channels.telegram.event_inlet import EventInlet
from channels.telegram.updates import kinds_of
from daemon.config import TelegramConfig
from daemon.errors import UNREADABLE, BusUnavailable, ChannelError, brief
from daemon.process import Process

HEADER = "X-Telegram-Bot-Api-Secret-Token"

UPDATE_MAX_BYTES = 4_194_304
"""Largest update that is read; the largest real ones have some 100 kB."""

TIMEOUT_S = 10.0
"""Time limit for registering the webhook."""

LOOK_S = 300.0
"""How often the registration is checked: a person may have removed it."""

RETRY_S = 15.0
"""Delay after a failure, minus up to half of it at random."""

RETRY_AFTER_S = 5
"""``Retry-After`` while Redis is unavailable."""

_info = msgspec.json.Decoder(WebhookInfo).decode
_log = structlog.get_logger()


def secret_of(config: TelegramConfig) -> str:
    """The secret that the platform sends with every update, so that only the platform can send one."""
    given = config.webhook.secret.reveal()
    return given or hashlib.sha256(f"millpond webhook {config.token.reveal()}".encode()).hexdigest()


class Webhook:
    """The webhook of one channel instance."""

    def __init__(self, process: Process, name: str, config: TelegramConfig, api: Api) -> None:
        self._process = process
        self._name = name
        self._config = config
        self._api = api
        self._secret = secret_of(config)

    async def run(self, leader: Leader, inlet: EventInlet) -> None:
        """Serve and keep the webhook registered until the process stops.

        Raises:
            ConfigError: it cannot listen where it is configured to.
        """
        webhook = self._config.webhook
        listening = await listen(f"channels.{self._name}.webhook", webhook.host, webhook.port)
        with listening:
            async with serving(self.application(inlet), listening):
                _log.info("webhook.started", channel=self._name)
                await leader.run(partial(self._lead, leader))

    def application(self, inlet: EventInlet) -> Starlette:
        """The application that answers the platform's calls."""

        # Compared instead of routed, so that special characters of the address have no meaning.
        path = unquote(urlsplit(self._config.webhook.url).path) or "/"

        async def brought(request: Request) -> Response:
            if request.url.path != path:
                return Response(status_code=404)
            shown = request.headers.get(HEADER, "")
            if not secrets.compare_digest(shown.encode(), self._secret.encode()):
                return Response(
                    "The request's secret token is not valid. Only Telegram may send requests to this address.\n",
                    403,
                    media_type="text/plain",
                )
            body = await read_body(request, max_bytes=UPDATE_MAX_BYTES)
            try:
                await inlet.take(body)
            except BusUnavailable as error:
                _log.warning("update.waits", channel=self._name, reason=brief(error))
                return Response(status_code=503, headers={"Retry-After": str(RETRY_AFTER_S)})
            return Response()

        return Starlette(routes=[Route("/{path:path}", brought, methods=["POST"])])

    async def _lead(self, leader: Leader, lease: Lease) -> None:
        async with leader.kept(lease):
            await leader.until_ending(lease, self._keep_known)

    async def _keep_known(self) -> None:
        known = False
        while True:
            try:
                # Always at the start: the secret or the kinds of updates may have changed.
                if not known or await self._is_forgotten():
                    await self._tell()
                known = True
                await anyio.sleep(LOOK_S)
            except ChannelError as error:
                _log.warning("webhook.failed", channel=self._name, reason=brief(error))
                await anyio.sleep(RETRY_S * random.uniform(0.5, 1.0))

    async def _is_forgotten(self) -> bool:
        try:
            info = _info(await self._api.call("getWebhookInfo", timeout_s=TIMEOUT_S))
        except UNREADABLE:
            return False
        if info.last_error_message:
            _log.warning("webhook.unreachable", channel=self._name, reason=info.last_error_message)
        return info.url != self._config.webhook.url

    async def _tell(self) -> None:
        params = {
            "url": self._config.webhook.url,
            "secret_token": self._secret,
            "allowed_updates": kinds_of(self._config),
            "drop_pending_updates": False,
        }
        await self._api.call("setWebhook", params, timeout_s=TIMEOUT_S)
        _log.info("webhook.set", channel=self._name)
