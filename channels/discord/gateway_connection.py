"""One connection to the gateway: the greeting, the session, heartbeats and events, until it ends."""

import random
from typing import Any

import aiohttp
import anyio
import anyio.abc
import msgspec
import structlog

from channels.discord.event_inlet import EventInlet
from channels.discord.gateway_session import INVALID, Close, GatewaySession, GatewaySessions, Remedy, close_of
from channels.websocket_client import WebSocket
from daemon import metrics
from daemon.config.secret import Secret
from daemon.errors import UNREADABLE

GREETING_S = 10.0
"""How long Discord may take to greet."""

LOGIN_S = 30.0
"""How long Discord may send nothing of a session that was asked for, before it has begun or was resumed."""

BEAT_MAX_S = 600.0
"""Longest interval of heartbeats that is believed; Discord's is 41 s."""

WRITE_S = 5.0
"""How long the other side may take to let something be written."""

CLOSE_S = 0.5
"""How long closing may take: the other side may read nothing any more."""

KEEP_SESSION = 4_000
"""Code with which we close: 1000 and 1001 would end the session (Gateway, "Initiating a Disconnect")."""

_DISPATCH, _HEARTBEAT, _IDENTIFY, _RESUME, _RECONNECT, _INVALID, _HELLO, _ACK = 0, 1, 2, 6, 7, 9, 10, 11
_SILENT, _RECONNECTS = Close(reason="silent"), Close(reason="reconnect")
_UNANSWERED = Close(reason="Discord did not respond to the login", remedy="identify")


class Payload(msgspec.Struct, frozen=True):
    """A message of the gateway."""

    op: int
    d: msgspec.Raw = msgspec.Raw(b"null")
    s: int | None = None
    t: str | None = None


class _Hello(msgspec.Struct, frozen=True):
    heartbeat_interval: float
    """Milliseconds."""


class _Ready(msgspec.Struct, frozen=True):
    session_id: str
    resume_gateway_url: str


_payload = msgspec.json.Decoder(Payload).decode
_hello = msgspec.json.Decoder(_Hello).decode
_ready = msgspec.json.Decoder(_Ready).decode
_log = structlog.get_logger()


class GatewayLogin(msgspec.Struct, frozen=True, kw_only=True):
    """The bot's credentials at the gateway."""

    token: Secret
    intents: int


class _Over(Exception):
    def __init__(self, close: Close) -> None:
        super().__init__(close.reason)
        self.close = close


class GatewayConnection:
    """One connection, from its opening to its end."""

    def __init__(
        self, ws: WebSocket, login: GatewayLogin, sessions: GatewaySessions, inlet: EventInlet, *, channel: str
    ) -> None:
        self.is_steady = False
        """Whether the session has begun or was resumed on it."""
        self._ws = ws
        self._login = login
        self._sessions = sessions
        self._inlet = inlet
        self._channel = channel
        self._is_acknowledged = True
        """Whether Discord has answered the last heartbeat."""

    async def serve(self, work: anyio.abc.TaskGroup) -> Close:
        """Receive events until the connection ends: why. They are handled in ``work``, which may last longer."""
        ending = Close(reason="closed")
        try:
            interval_s = await self._greeted()
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._beat, interval_s)
                try:
                    await self._log_in()
                    await self._logged_in(work)
                    while True:
                        await self._take(await self._next(), work)
                except _Over as over:
                    ending = over.close
                tg.cancel_scope.cancel()
        except _Over as over:
            ending = over.close
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._ws.close(code=KEEP_SESSION)
        _log.info("gateway.closed", channel=self._channel, reason=ending.reason)
        return ending

    async def _greeted(self) -> float:
        """The interval of the heartbeats."""
        with anyio.move_on_after(GREETING_S):
            while True:
                payload = await self._next()
                if payload.op == _RECONNECT:
                    raise _Over(_RECONNECTS)
                if payload.op == _HELLO:
                    return self._interval_s(payload)
        raise _Over(_SILENT)

    def _interval_s(self, hello: Payload) -> float:
        try:
            interval_s = _hello(hello.d).heartbeat_interval / 1_000
        except UNREADABLE as error:
            raise _Over(Close(reason="unreadable greeting")) from error
        if not 0 < interval_s <= BEAT_MAX_S:
            raise _Over(Close(reason="unreadable greeting"))
        return interval_s

    async def _logged_in(self, work: anyio.abc.TaskGroup) -> None:
        """Take the events until the session has begun or was resumed, or nothing of it arrives for too long."""
        deadline = anyio.current_time() + LOGIN_S
        while not self.is_steady:
            payload: Payload | None = None
            with anyio.move_on_at(deadline):
                payload = await self._next()
            if payload is None:
                raise _Over(_UNANSWERED)
            await self._take(payload, work)
            if payload.op == _DISPATCH:  # also of those that a resumed session missed
                deadline = anyio.current_time() + LOGIN_S

    async def _log_in(self) -> None:
        token, sessions = self._login.token.reveal(), self._sessions
        if sessions.id:
            resumed = {"token": token, "session_id": sessions.id, "seq": sessions.progress.received}
            await self._send(_RESUME, resumed)
            return
        properties = {"os": "linux", "browser": "millpond", "device": "millpond"}
        identity: dict[str, Any] = {"token": token, "intents": self._login.intents, "properties": properties}
        if sessions.shards > 1:
            identity["shard"] = [sessions.shard, sessions.shards]
        await self._send(_IDENTIFY, identity)

    async def _next(self) -> Payload:
        while True:
            message = await self._ws.receive()
            if message.type is aiohttp.WSMsgType.PING:
                await self._written(self._ws.pong(message.data))
            elif message.type is aiohttp.WSMsgType.TEXT:
                try:
                    return _payload(message.data)
                except UNREADABLE as error:
                    metrics.UPDATES.labels(self._channel, "unreadable").inc()
                    # Of the error no more than its kind: its text may quote what a person wrote.
                    _log.warning("event.unreadable", channel=self._channel, reason=type(error).__name__)
            elif message.type not in (aiohttp.WSMsgType.PONG, aiohttp.WSMsgType.BINARY):
                raise _Over(close_of(message.data if message.type is aiohttp.WSMsgType.CLOSE else None))

    async def _take(self, payload: Payload, work: anyio.abc.TaskGroup) -> None:
        try:
            if payload.op == _DISPATCH:
                await self._dispatched(payload, work)
            elif payload.op == _HEARTBEAT:
                await self._heartbeat()
            elif payload.op == _ACK:
                self._is_acknowledged = True
            elif payload.op == _RECONNECT:
                raise _Over(_RECONNECTS)
            elif payload.op == _INVALID:
                remedy: Remedy = "resume" if bytes(payload.d) == b"true" else "identify"
                raise _Over(Close(reason=INVALID, remedy=remedy))
        except UNREADABLE as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            _log.warning("event.unreadable", channel=self._channel, reason=type(error).__name__)

    async def _dispatched(self, payload: Payload, work: anyio.abc.TaskGroup) -> None:
        sequence, kind = payload.s or 0, payload.t or ""
        if kind == "READY":
            ready = _ready(payload.d)
            self._sessions.begin(
                GatewaySession(
                    id=ready.session_id, url=ready.resume_gateway_url, sequence=sequence, intents=self._login.intents
                )
            )
            # Of a session that is saved nowhere, all events are lost with this process.
            await self._sessions.save_now()
        progress = self._sessions.progress
        if kind in ("READY", "RESUMED"):
            self.is_steady = True
            progress.received = max(progress.received, sequence)
            _log.info("gateway.opened", channel=self._channel, kind=kind.lower())
            return
        if sequence > progress.received:  # else a repetition
            await self._inlet.put(work, kind, bytes(payload.d), sequence=sequence, progress=progress)

    async def _beat(self, interval_s: float) -> None:
        await anyio.sleep(interval_s * random.random())
        while True:
            if not self._is_acknowledged:
                # The connection is dead, though the system may not notice for hours.
                metrics.UPDATES.labels(self._channel, "silent").inc()
                _log.warning("gateway.silent", channel=self._channel, waited_s=interval_s)
                with anyio.move_on_after(CLOSE_S):
                    await self._ws.close(code=KEEP_SESSION)
                return
            self._is_acknowledged = False
            await self._heartbeat()
            await anyio.sleep(interval_s)

    async def _heartbeat(self) -> None:
        """Tell Discord the number of the last event before which all are handled."""
        await self._send(_HEARTBEAT, self._sessions.progress.acknowledged or None)

    async def _send(self, op: int, data: Any) -> None:
        await self._written(self._ws.send_str(msgspec.json.encode({"op": op, "d": data}).decode()))

    async def _written(self, writing: Any) -> None:
        """Send a message; the reader soon notices a broken connection."""
        with anyio.move_on_after(WRITE_S):
            try:
                await writing
            except (aiohttp.ClientError, OSError):
                return
