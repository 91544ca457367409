"""Receiving an app's events over long connections: a connection is opened, watched and replaced when it ends.

Feishu gives an event to one of the app's connections, at most fifty, and gives it again when it was not acknowledged.
So every process opens one, and none of them has to lead.
"""

import base64
import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import aiohttp
import anyio
import anyio.abc
import msgspec
import structlog

from channels.event_queue import EventQueue, QueuedEvent
from channels.feishu.api import Api
from channels.feishu.event_inlet import Take, Taken, chat_of
from channels.feishu.feishu_events import milliseconds
from channels.shapes import nested
from daemon import metrics
from daemon.config.address import is_feishus
from daemon.errors import UNREADABLE, ChannelError, SendRefused, SendRejected, brief
from daemon.setup.platforms.feishu_socket import (
    CONTROL,
    DATA,
    Frame,
    decoded,
    encoded,
    opened,
    ping,
    service_of,
    socket_session,
)

OPEN_S = 10.0
"""How long asking for an address may take, and connecting to it."""

PING_S = 120.0
"""Interval of our pings, unless Feishu says otherwise (lark-oapi)."""

PING_MIN_S, PING_MAX_S = 5.0, 300.0
"""What Feishu may say."""

SILENT_PINGS = 2.5
"""A connection that is silent for so many intervals of pings is dead, though the system may not notice for hours."""

WRITE_S = 5.0
"""How long the other side may take to let something be written."""

CLOSE_S = 0.5
"""How long closing may take: the other side may read nothing any more."""

STEADY_S = 30.0
"""A connection that lasted so long was a good one: its end is no failure."""

PAUSE_MIN_S, PAUSE_MAX_S = 0.5, 60.0
"""Rest after a failure, doubled with each one more, less up to a half."""

DISABLED_S = 60.0
"""Rest when only a person can help."""

PARTIAL_MAX = 100
"""Events of which parts are missing; a part that is lost is said again with all others."""

LIVELY = frozenset({aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.PING, aiohttp.WSMsgType.PONG, aiohttp.WSMsgType.TEXT})
"""Messages behind which others come."""

Acknowledge = Callable[[bytes], Awaitable[None]]
"""Gives Feishu the answer to an event, as JSON."""

_Socket = "aiohttp.ClientWebSocketResponse[Literal[False]]"
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger()


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a connection is opened."""

    url: str
    """A secret."""
    service: int
    ping_s: float = PING_S


class LongConnection:
    """Receiving one app's events: a connection is open, or being opened."""

    def __init__(self, api: Api, take: Take, tg: anyio.abc.TaskGroup, *, channel: str) -> None:
        """``tg`` has a task for each chat with something that waits."""
        self._api = api
        self._take = take
        self._queue = EventQueue(tg, channel=channel)
        self._channel = channel
        self._failures = 0

    async def run(self) -> None:
        """Receive events until cancelled."""
        async with socket_session(self._api.address) as session:
            while True:
                try:
                    endpoint = await self._endpoint()
                    ws = await _opened(session, endpoint)
                except ChannelError as error:
                    rest_s = self._failed(error)
                else:
                    began_at = anyio.current_time()
                    await self._serve(ws, endpoint)
                    rest_s = self._rest_after(began_at)
                await anyio.sleep(rest_s)

    async def _serve(self, ws: Any, endpoint: Endpoint) -> None:
        """Pass on events until the connection ends, which is never an error."""
        connection = Connection(ws, endpoint, self._put, channel=self._channel)
        _log.info("socket.opened", channel=self._channel)
        try:
            await connection.serve()
        finally:
            _log.info("socket.closed", channel=self._channel, reason=connection.reason)

    def _put(self, payload: bytes, acknowledge: Acknowledge) -> None:
        taken: list[Taken] = []

        async def take() -> bool:
            if (each := await self._take(payload)) is not None:
                taken.append(each)
            return bool(taken)

        async def answer() -> None:
            await acknowledge(_encode(taken[0].answer) if taken[0].answer else b"")
            if taken[0].then is not None:
                await taken[0].then()

        chat, order = _place(payload)
        event = QueuedEvent(chat=chat, order=order, size_bytes=len(payload), take=take, acknowledge=answer)
        self._queue.put(event)

    async def _endpoint(self) -> Endpoint:
        found = await self._api.endpoint(timeout_s=OPEN_S)
        return endpoint_of(found, self._api.address)

    def _failed(self, error: ChannelError) -> float:
        """How long to rest after no connection was opened."""
        rest_s = self._backoff()
        if isinstance(error, SendRejected):
            rest_s = DISABLED_S
        elif isinstance(error, SendRefused):
            rest_s = max(rest_s, error.retry_after_s or 0.0)
        _log.warning("socket.refused", channel=self._channel, waited_s=round(rest_s, 3), reason=brief(error))
        return rest_s

    def _rest_after(self, began_at: float) -> float:
        if anyio.current_time() - began_at < STEADY_S:
            return self._backoff()
        self._failures = 0
        return 0.0

    def _backoff(self) -> float:
        rest_s = random.uniform(0.5, 1.0) * min(PAUSE_MAX_S, PAUSE_MIN_S * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return rest_s


class Connection:
    """One connection, from its opening to its end."""

    def __init__(
        self,
        ws: Any,
        endpoint: Endpoint,
        put: Callable[[bytes, Acknowledge], None],
        *,
        channel: str,
    ) -> None:
        self.reason = "closed"
        """Why it is over."""
        self._ws = ws
        self._endpoint = endpoint
        self._put = put
        self._channel = channel
        self._ping_s = self._told_s = endpoint.ping_s
        """Between this ping and the next one, and between those after it."""
        self._partial: OrderedDict[str, dict[int, bytes]] = OrderedDict()
        """Parts of events, by the event's id."""

    async def serve(self) -> None:
        """Pass on events until the connection ends."""
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._ping)
                await self._listen()
                tg.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._ws.close()

    async def _listen(self) -> None:
        there_is_more = True
        while there_is_more:
            with anyio.move_on_after(SILENT_PINGS * self._ping_s) as patience:
                message = await self._ws.receive()
                there_is_more = message.type in LIVELY
                if message.type is aiohttp.WSMsgType.BINARY:
                    self._hear(message.data)
            if patience.cancelled_caught:
                self.reason, there_is_more = "silent", False
                metrics.UPDATES.labels(self._channel, "silent").inc()
                _log.warning("socket.silent", channel=self._channel, waited_s=SILENT_PINGS * self._ping_s)

    async def _ping(self) -> None:
        while True:
            await self._written(ping(self._endpoint.service))
            await anyio.sleep(self._ping_s)
            # Now and no sooner: a shorter one would let the connection look silent before this ping was due.
            self._ping_s = self._told_s

    def _hear(self, content: bytes) -> None:
        try:
            frame = decoded(content)
            if frame.method == CONTROL:
                self._told_s = ping_s_of(frame.payload, self._told_s)
            elif frame.method == DATA and frame.kind == "event":
                payload = self._whole(frame)
                if payload is not None:
                    self._put(payload, partial(self._acknowledge, frame))
        except UNREADABLE as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            _log.warning("event.unreadable", channel=self._channel, reason=type(error).__name__)

    def _whole(self, frame: Frame) -> bytes | None:
        """The event of a frame; None: parts of it are missing."""
        count, number = frame.parts
        if count == 1:
            return frame.payload
        parts = self._partial.setdefault(frame.headers.get("message_id", ""), {})
        parts[number] = frame.payload
        while len(self._partial) > PARTIAL_MAX:
            self._partial.popitem(last=False)
        if len(parts) < count:
            return None
        self._partial.pop(frame.headers.get("message_id", ""), None)
        return b"".join(parts[each] for each in sorted(parts))

    async def _acknowledge(self, frame: Frame, response: bytes) -> None:
        # By a connection that has ended nothing can be acknowledged: Feishu says it again, and it is a repetition.
        answer = Frame(
            seq_id=frame.seq_id,
            log_id=frame.log_id,
            service=frame.service,
            method=frame.method,
            headers={**frame.headers, "biz_rt": "0"},
            payload_encoding=frame.payload_encoding,
            payload_type=frame.payload_type,
            payload=_encode({"code": 200} | ({"data": base64.b64encode(response).decode()} if response else {})),
            log_id_new=frame.log_id_new,
        )
        await self._written(encoded(answer))

    async def _written(self, content: bytes) -> None:
        """Send a frame; the reader soon notices a broken connection."""
        with anyio.move_on_after(WRITE_S), suppress(aiohttp.ClientError, OSError):
            await self._ws.send_bytes(content)


def endpoint_of(found: dict[str, Any], base_url: str) -> Endpoint:
    """Where a connection is opened, from the answer to ``callback/ws/endpoint``.

    Raises:
        SendRefused: it does not tell, or names an address of somebody else's.
    """
    url = nested(found, "data", "URL")
    if not isinstance(url, str) or not url.startswith(("wss://", "ws://")):
        raise SendRefused("Feishu returned no WebSocket address")
    if not is_feishus(url, base_url):
        raise SendRefused("Feishu returned a WebSocket address that does not belong to Feishu")
    ping_s = _ping_s(nested(found, "data", "ClientConfig", "PingInterval"), PING_S)
    return Endpoint(url=url, service=service_of(url), ping_s=ping_s)


def ping_s_of(payload: bytes, usual_s: float) -> float:
    """How often Feishu wants a ping, in its answer to one."""
    try:
        return _ping_s(_decode(payload).get("PingInterval") if payload else None, usual_s)
    except UNREADABLE:
        return usual_s


def _ping_s(told_s: Any, usual_s: float) -> float:
    return float(min(max(told_s, PING_MIN_S), PING_MAX_S)) if isinstance(told_s, int) and told_s > 0 else usual_s


async def _opened(session: aiohttp.ClientSession, endpoint: Endpoint) -> Any:
    """A connection. Raises: SendRefused."""
    failure, said = f"Feishu did not accept the connection within {OPEN_S:g} s", ""
    with anyio.move_on_after(OPEN_S):
        try:
            return await opened(session, endpoint.url)
        except aiohttp.WSServerHandshakeError as error:
            failure = f"status {error.status}"
            said = error.headers.get("handshake-msg", "") if error.headers else ""
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = type(error).__name__
    reason = f"the WebSocket cannot be opened: {failure}"
    raise SendRefused(f"{reason} {said[:200]}".strip(), brief=reason)


def _place(payload: bytes) -> tuple[bytes, float]:
    """The chat of an event, and the time of its message in milliseconds; empty and 0: none."""
    try:
        found = _decode(payload)
        time = nested(found, "event", "message", "create_time")
        return chat_of(found).encode(), milliseconds(time) if isinstance(time, str) else 0.0
    except UNREADABLE:
        return b"", 0.0
