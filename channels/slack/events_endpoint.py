"""Signed events from Slack over HTTP: every process serves the address, and responds once an event is stored."""

import math
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
import msgspec
import structlog
from slack_sdk.signature import Clock as SlackClock
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from channels.http import listen, read_body, serving
from channels.log_throttle import LogThrottle
from channels.slack.workspaces import App, Kind
from daemon import metrics
from daemon.clock import Clock
from daemon.config import SlackConfig

TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"

OLD_S = 300
"""Largest difference between the time of a signature and our clock (Slack, "Verifying requests")."""

TAKE_S = 2.5
"""Time limit for storing an event: Slack waits 3 s for a response, and then sends the event again."""

LAST_S = 0.5
"""The same limit once the process stops; Slack sends events again that are not stored by then."""

EVENT_MAX_BYTES = 4_194_304
"""Largest body that is read; the largest real ones have some 100 kB."""

FIELDS_MAX = 100
"""Most fields of a slash command; a real one has some 15."""

RETRY_AFTER_S = 5
"""``Retry-After`` while Redis is unavailable; Slack uses intervals of its own."""

FORM = "application/x-www-form-urlencoded"

_encode = msgspec.json.encode
_log = structlog.get_logger()


class EventsEndpoint:
    """The endpoint of one app."""

    def __init__(self, name: str, config: SlackConfig, app: App, *, clock: Clock) -> None:
        self._name = name
        self._config = config
        self._app = app
        self._clock = clock
        self._seldom = LogThrottle()
        self._takes: set[anyio.CancelScope] = set()
        self._until = math.inf
        self._verifier = SignatureVerifier(config.signing_secret.reveal(), clock=_Seconds(clock))

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
        """The application that answers Slack's calls."""
        # Compared instead of routed, so that special characters of the address have no meaning.
        path = unquote(urlsplit(self._config.events.url).path) or "/"

        async def brought(request: Request) -> Response:
            if request.url.path != path:
                return Response(status_code=404)
            if SIGNATURE not in request.headers or TIMESTAMP not in request.headers:
                return PlainTextResponse(
                    "The request has no Slack signature. Send the X-Slack-Signature and X-Slack-Request-Timestamp "
                    "headers.\n",
                    401,
                )
            body = await read_body(request, max_bytes=EVENT_MAX_BYTES)
            if problem := self._problem(request, body):
                self._note(problem)
                return PlainTextResponse(f"{problem}\n", 403)
            return await self._answered(request, body)

        return Starlette(routes=[Route("/{path:path}", brought, methods=["POST"])])

    def _problem(self, request: Request, body: bytes) -> str:
        """The problem of a signature; empty if it is valid."""
        stamped, signature = request.headers[TIMESTAMP], request.headers[SIGNATURE]
        try:
            if abs(self._clock.now().timestamp() - int(stamped)) > OLD_S:
                return (
                    f"The signature's timestamp differs from this machine's clock by more than {OLD_S} s. Check the "
                    "clock."
                )
            valid = self._verifier.is_valid(body, stamped, signature)
        except (ValueError, TypeError, OverflowError):  # other values than numbers and ASCII, and very large numbers
            valid = False
        return "" if valid else "The request's Slack signature is not valid. Check the signing secret."

    def _note(self, problem: str) -> None:
        metrics.UPDATES.labels(self._name, "refused").inc()
        if self._seldom.now(problem):  # anyone may call, at any rate
            _log.warning("events.refused", channel=self._name, reason=problem)

    async def _answered(self, request: Request, body: bytes) -> Response:
        if again := request.headers.get("X-Slack-Retry-Num"):
            why = request.headers.get("X-Slack-Retry-Reason", "")
            _log.info("event.repeated", channel=self._name, count=again[:8], reason=why[:64])
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
            kind, payload = _of_form(body)
        else:
            if challenge := _challenge(body):
                return PlainTextResponse(challenge)
            kind, payload = "events_api", body
        with anyio.move_on_at(min(anyio.current_time() + TAKE_S, self._until)) as take:
            self._takes.add(take)
            try:
                if await self._app.take(kind, payload):
                    return Response()
            finally:
                self._takes.remove(take)
        return Response(status_code=503, headers={"Retry-After": str(RETRY_AFTER_S)})


class _Seconds(SlackClock):
    """The clock of the process in the form of slack-sdk."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Seconds since 1970."""
        return self._clock.now().timestamp()


class _Asked(msgspec.Struct, frozen=True):
    type: str = ""
    challenge: str = ""


_read_asked = msgspec.json.Decoder(_Asked).decode


def _challenge(body: bytes) -> str:
    """The challenge that Slack sends when the address is entered in the app's settings; empty for other requests."""
    try:
        asked = _read_asked(body)
    except (ValueError, RecursionError):
        return ""
    return asked.challenge if asked.type == "url_verification" else ""


def _of_form(body: bytes) -> tuple[Kind, bytes]:
    """The fields of a slash command as JSON, or the payload of a click."""
    try:
        fields = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=FIELDS_MAX))
    except ValueError:  # more fields than any real form has
        return "other", b"{}"
    if "command" in fields:
        return "slash_commands", _encode(fields)
    return "interactive", fields.get("payload", "{}").encode()
