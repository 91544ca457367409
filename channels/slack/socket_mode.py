"""Receiving an app's events over sockets (Socket Mode): connections are opened, watched and replaced.

Slack closes a connection every few hours and says so before (``disconnect``): the next one is opened at once, and what
comes by the old one is taken until it is closed. Both belong to the app, so nothing is lost: what was not acknowledged
by one connection Slack says again by another.
"""

import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import anyio
import anyio.abc
import msgspec
import structlog

from channels.event_queue import EventQueue, QueuedEvent
from channels.slack.api import Api
from channels.slack.workspaces import Address, App, Kind, address_of
from channels.websocket_client import WebSocket, opened, websocket_session
from daemon import metrics
from daemon.errors import ChannelError, SendRefused, SendRejected, brief

# Envelopes that came over a socket, on their way to the section that they belong to.

_KINDS: Mapping[str, Kind] = {
    "events_api": "events_api",
    "slash_commands": "slash_commands",
    "interactive": "interactive",
}


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What comes over a socket, be it an envelope or a word about the connection."""

    type: str = ""
    envelope_id: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    reason: Any = ""
    """Of ``disconnect``: why."""
    num_connections: Any = 0
    """Of ``hello``: how many the app has now."""


class Envelopes:
    """Takes envelopes of one app, whichever of its connections they come by."""

    def __init__(self, app: App, tg: anyio.abc.TaskGroup, *, channel: str) -> None:
        """``tg`` has a task for each chat with something that waits."""
        self._app = app
        self._queue = EventQueue(tg, channel=channel)

    def put(self, envelope: Envelope, acknowledge: Callable[[], Awaitable[None]]) -> None:
        """Have it taken behind those of its chat that wait already; returns at once.

        ``acknowledge`` is called when it was taken; it does not raise.
        """
        address = _address_of(envelope)
        self._queue.put(
            QueuedEvent(
                chat=address.chat,
                order=address.order,
                size_bytes=len(bytes(envelope.payload)),
                take=lambda: self._app.take(_kind(envelope), envelope.payload),
                acknowledge=acknowledge,
            )
        )


def _kind(envelope: Envelope) -> Kind:
    return _KINDS.get(envelope.type, "other")


def _address_of(envelope: Envelope) -> Address:
    try:
        return address_of(envelope.payload)
    except (ValueError, RecursionError):
        return Address(type="", teams=(), chat=b"")


OPEN_S = 10.0
"""How long asking for an address may take, and connecting to it."""

PING_S = 10.0
"""Interval of our pings; Slack's answers and its own pings show that the connection works."""

SILENT_S = 30.0
"""A connection that is silent for so long is dead, though the system may not notice for hours."""

WRITE_S = 5.0
"""How long the other side may take to let something be written."""

CLOSE_S = 0.5
"""How long closing may take: the other side may read nothing any more."""

LINGER_S = 60.0
"""How long an old connection is served beside its successor; Slack closes it within seconds."""

MESSAGE_MAX_BYTES = 4_194_304
"""Largest message that is read; the largest real ones have some 100 kB."""

STEADY_S = 30.0
"""A connection that lasted so long was a good one: its end is no failure."""

PAUSE_MIN_S, PAUSE_MAX_S = 0.5, 30.0
"""Rest after a failure, doubled with each one more, less up to a half; Slack allows few openings a minute."""

GREETED_MAX_S = 3.0
"""Longest pause after a connection on which Slack had greeted: it accepts connections, and events are pending."""

CROWDED_S = 20.0
"""Rest when the app has ten connections already, less up to a half; one of them may be an old one of ours."""

DISABLED_S = 60.0
"""Rest when only a person can help."""

DISABLED = "Socket Mode is off for the app. Turn Socket Mode on at https://api.slack.com/apps, under Socket Mode."

LIVELY = frozenset({aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.PING, aiohttp.WSMsgType.PONG, aiohttp.WSMsgType.BINARY})
"""Messages behind which others come; Slack sends no binary ones, which are passed over."""

_read = msgspec.json.Decoder(Envelope).decode
_log = structlog.get_logger()


class Connection:
    """One connection, from its opening to its end."""

    def __init__(self, ws: WebSocket, envelopes: Envelopes, *, channel: str) -> None:
        self.over = anyio.Event()
        """Set when another connection is needed: at the latest when this one has ended."""
        self.welcome = anyio.Event()
        """Set when Slack has greeted: from then on this one is given events."""
        self.reason = "closed"
        """Why it is over."""
        self.began_at = anyio.current_time()
        self._ws = ws
        self._envelopes = envelopes
        self._channel = channel
        self._scope = anyio.CancelScope()

    async def serve(self) -> None:
        """Pass on messages until the connection ends, which is never an error."""
        try:
            with self._scope:
                async with anyio.create_task_group() as tg:
                    tg.start_soon(self._ping)
                    await self._listen()
                    tg.cancel_scope.cancel()
        finally:
            self.over.set()
            _log.info("socket.closed", channel=self._channel, reason=self.reason)
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._ws.close()

    def retire(self) -> None:
        """It has a successor: end soon."""
        self._scope.deadline = min(self._scope.deadline, anyio.current_time() + LINGER_S)

    async def _listen(self) -> None:
        there_is_more = True
        while there_is_more:
            with anyio.move_on_after(SILENT_S) as patience:
                there_is_more = await self._hear()
            if patience.cancelled_caught:
                self.reason, there_is_more = "silent", False
                metrics.UPDATES.labels(self._channel, "silent").inc()
                _log.warning("socket.silent", channel=self._channel, waited_s=SILENT_S)

    async def _hear(self) -> bool:
        """Take in the next message; False: the connection has ended."""
        message = await self._ws.receive()
        if message.type is aiohttp.WSMsgType.TEXT:
            self._take(message.data)
        elif message.type is aiohttp.WSMsgType.PING:
            await self._written(self._ws.pong(message.data))
        return message.type in LIVELY

    async def _ping(self) -> None:
        while True:
            await anyio.sleep(PING_S)
            await self._written(self._ws.ping())

    def _take(self, found: bytes) -> None:
        try:
            said = _read(found)
        except (ValueError, RecursionError) as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            # Of the error no more than its kind: its text may quote what a person wrote.
            _log.warning("event.unreadable", channel=self._channel, reason=type(error).__name__)
            return
        if said.type == "hello":
            self.welcome.set()
            _log.info("socket.opened", channel=self._channel, count=said.num_connections)
        elif said.type == "disconnect":
            # Whatever it is told for a reason, it has to go.
            self.reason = said.reason if isinstance(said.reason, str) else "disconnect"
            self.over.set()
        elif said.envelope_id:
            self._envelopes.put(said, lambda: self._acknowledge(said.envelope_id))

    async def _acknowledge(self, envelope_id: str) -> None:
        # By a connection that has ended nothing can be acknowledged: Slack says it again, and it is a repetition.
        await self._written(self._ws.send_str(msgspec.json.encode({"envelope_id": envelope_id}).decode()))

    async def _written(self, writing: Awaitable[None]) -> None:
        """Send a message; the reader soon notices a broken connection."""
        with anyio.move_on_after(WRITE_S):
            with suppress(aiohttp.ClientError, OSError):
                await writing


class SocketMode:
    """Receiving one app's events: a connection is open, or being opened."""

    def __init__(self, api: Api, envelopes: Envelopes, *, channel: str) -> None:
        """``api`` has the app's token."""
        self._api = api
        self._envelopes = envelopes
        self._channel = channel
        self._failures = 0
        self._connections: set[Connection] = set()

    async def run(self) -> None:
        """Receive events until cancelled."""
        async with websocket_session(self._api.address) as session, anyio.create_task_group() as tg:
            while True:
                try:
                    connection: Connection = await tg.start(self._connected, session)
                except ChannelError as error:
                    rest_s = self._failed(error)
                else:
                    await connection.over.wait()
                    rest_s = self._rest_after(connection)
                await anyio.sleep(rest_s)

    async def _connected(
        self, session: aiohttp.ClientSession, *, task_status: anyio.abc.TaskStatus[Connection]
    ) -> None:
        """Open a connection and serve it. Raises: ChannelError, before it is there."""
        ws = await opened(
            session, await self._address(), platform="Slack", timeout_s=OPEN_S, max_bytes=MESSAGE_MAX_BYTES
        )
        connection = Connection(ws, self._envelopes, channel=self._channel)
        self._connections.add(connection)
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._retire_others, connection)
                task_status.started(connection)
                await connection.serve()
                tg.cancel_scope.cancel()
        finally:
            self._connections.remove(connection)

    async def _retire_others(self, connection: Connection) -> None:
        await connection.welcome.wait()
        for other in self._connections - {connection}:
            other.retire()

    async def _address(self) -> str:
        found = await self._api.call("apps.connections.open", timeout_s=OPEN_S)
        address = found.get("url")
        if not isinstance(address, str) or not address.startswith(("wss://", "ws://")):
            raise SendRefused("Slack returned no WebSocket address")
        if not self._api.is_at_home(address):
            raise SendRefused("Slack returned a WebSocket address that does not belong to Slack")
        return address

    def _failed(self, error: ChannelError) -> float:
        """How long to rest after no connection was opened."""
        rest_s = self._backoff()
        if isinstance(error, SendRejected):
            # The wrong kind of token, a missing scope, Socket Mode switched off: only a person can help.
            rest_s = DISABLED_S
        elif isinstance(error, SendRefused):
            rest_s = max(rest_s, error.retry_after_s or 0.0)
        _log.warning("socket.refused", channel=self._channel, waited_s=round(rest_s, 3), reason=brief(error))
        return rest_s

    def _rest_after(self, connection: Connection) -> float:
        """How long to rest before another connection is opened."""
        if connection.reason == "link_disabled":
            _log.error("socket.disabled", channel=self._channel, waited_s=DISABLED_S, reason=DISABLED)
            return DISABLED_S
        if connection.reason == "too_many_websockets":
            rest_s = CROWDED_S * random.uniform(0.5, 1.0)
            _log.warning("socket.crowded", channel=self._channel, waited_s=round(rest_s, 3), reason=connection.reason)
            return rest_s
        if anyio.current_time() - connection.began_at < STEADY_S:
            rest_s = self._backoff()
            return min(rest_s, GREETED_MAX_S) if connection.welcome.is_set() else rest_s
        self._failures = 0
        return 0.0

    def _backoff(self) -> float:
        rest_s = random.uniform(0.5, 1.0) * min(PAUSE_MAX_S, PAUSE_MIN_S * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return rest_s
