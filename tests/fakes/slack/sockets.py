"""The WebSockets of Socket Mode, as much of RFC 6455 as a server needs, and what is brought on them."""

import contextlib
import json
import struct
import uuid
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.fakes.faults import Cut, Faults, Garbled, Hang, Slow, reset
from tests.fakes.slack.apps import App, Delivery
from tests.fakes.slack.calls import Call
from tests.fakes.websockets import CLOSE, PING, PONG, TEXT, frame, read_message
from tests.fakes.wire import GONE, Wire

LIVES_S = 18_060  # how long Slack says that a connection will stand; the fake ends none by itself


@dataclass(eq=False)
class Socket:
    app: App
    wire: Wire
    faults: Faults
    number: int = 0  # how many the app had when it was opened, itself too
    mute: bool = False
    """Nothing is said on it any more, not even when it is pinged: the way is gone, and nobody has said so."""
    closed: anyio.Event = field(default_factory=anyio.Event)
    leaving: bool = False  # it was told to go, and gets nothing any more
    said: list[str] = field(default_factory=list[str])  # texts that came and that are no acknowledgement
    pings: int = 0  # how often its client has pinged
    pongs: int = 0
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def send(self, kind: int, content: bytes) -> None:
        """Say something; nothing when it is gone or mute."""
        if self.mute or self.closed.is_set():
            return
        async with self._lock:
            try:
                await self.wire.stream.send(frame(kind, content))
            except GONE:
                self.closed.set()

    async def tell(self, message: dict[str, Any]) -> None:
        await self.send(TEXT, json.dumps(message).encode())

    async def hello(self) -> None:
        debug = {"host": "applink-1", "build_number": 1, "approximate_connection_time": LIVES_S}
        info = {"app_id": self.app.id}
        await self.tell({"type": "hello", "num_connections": self.number, "debug_info": debug, "connection_info": info})

    async def disconnect(self, reason: str = "refresh_requested", *, after_s: float = 0.0) -> None:
        """Ask the client to go: ``warning`` (soon), ``refresh_requested``, ``link_disabled``, ``too_many_websockets``.

        After a warning it is served on. Else it gets nothing new, and is closed after ``after_s``.
        """
        await self.tell({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}})
        if reason == "warning":
            return
        self.leaving = True
        await anyio.sleep(after_s)
        await self.close()

    async def close(self, code: int = 1000) -> None:
        await self.send(CLOSE, struct.pack("!H", code))
        await self._end()

    async def cut(self, content: bytes = b"", *, half: bool = False) -> None:
        """End it by a reset; with ``half`` after the first half of a message."""
        if self.closed.is_set():
            return
        if half:
            whole = frame(TEXT, content or b'{"envelope_id":"' + b"x" * 500)
            async with self._lock:
                with contextlib.suppress(*GONE):
                    await self.wire.stream.send(whole[: len(whole) // 2])
                # What was sent is to arrive before the end does.
                await anyio.sleep(0.01)
        reset(self.wire.stream)
        await self._end()

    async def _end(self) -> None:
        self.closed.set()
        if self in self.app.sockets:
            self.app.sockets.remove(self)
        await self.wire.stream.aclose()
        self.app.arrive()

    # What its client says

    async def listen(self) -> None:
        try:
            while not self.closed.is_set():
                kind, content = await read_message(self.wire)
                if kind == CLOSE:
                    await self.send(CLOSE, content[:2])
                    return
                if self.mute:
                    continue
                if kind == PING:
                    self.pings += 1
                    await self.send(PONG, content)
                elif kind == PONG:
                    self.pongs += 1
                elif kind == TEXT:
                    await self._heard(content)
        except GONE:
            return
        finally:
            self.closed.set()
            if self in self.app.sockets:
                self.app.sockets.remove(self)
            self.app.arrive()

    async def _heard(self, content: bytes) -> None:
        try:
            message = json.loads(content)
            envelope_id = message["envelope_id"]
        except (ValueError, TypeError, KeyError):
            self.said.append(content.decode(errors="replace"))
            return
        fault = self.faults.decide(Call("", "acknowledge", message))
        if fault is None or isinstance(fault, Slow):
            if isinstance(fault, Slow):
                await fault.wait()
            if not self.app.acknowledge(envelope_id):
                self.said.append(content.decode())
        elif isinstance(fault, Cut):
            await self.cut()


class Bringing:
    """Brings what waits for an app to its sockets, again and again until it is acknowledged."""

    def __init__(self, app: App, faults: Faults, repeat_s: float) -> None:
        self.app = app
        self.faults = faults
        self.repeat_s = repeat_s

    async def run(self) -> None:
        while True:
            arrived, now = self.app.arrived, anyio.current_time()
            for delivery in list(self.app.waiting):
                if delivery.due <= now and delivery in self.app.waiting and (socket := self._socket()):
                    await self._bring(socket, delivery)
            due = min((each.due for each in self.app.waiting if each.due > now), default=None)
            with anyio.move_on_after(None if due is None else max(0.0, due - anyio.current_time())):
                await arrived.wait()

    def _socket(self) -> Socket | None:
        usable = [socket for socket in self.app.sockets if not socket.leaving and not socket.closed.is_set()]
        return usable[next(self.app.turn) % len(usable)] if usable and not self.app.url else None

    async def _bring(self, socket: Socket, delivery: Delivery) -> None:
        if delivery.raw is not None:
            self.app.waiting.remove(delivery)
            await socket.send(TEXT, delivery.raw)
            return
        if delivery.tries and (not delivery.repeats or delivery.tries == self.app.tries_max):
            self.app.give_up(delivery)
            return
        envelope = self.envelope(delivery)
        delivery.due = anyio.current_time() + self.repeat_s
        content = json.dumps(envelope).encode()
        match fault := self.faults.decide(Call("", "envelope", envelope)):
            case Cut(half=True):
                await socket.cut(content, half=True)
            case Cut(acted=False):
                await socket.cut()
            case Cut():
                await socket.send(TEXT, content)
                await anyio.sleep(0.01)  # it is to arrive before the end does
                await socket.cut()
            case Hang():
                socket.mute = True
            case Garbled(body):
                await socket.send(TEXT, body)
            case _:
                if isinstance(fault, Slow):
                    await fault.wait()
                await socket.send(TEXT, content)

    @staticmethod
    def envelope(delivery: Delivery) -> dict[str, Any]:
        """As it is sent the next time; each time with an id of its own, as a rule."""
        if delivery.same and delivery.ids:
            delivery.tries -= 1
        else:
            delivery.ids.append(str(uuid.uuid4()))
        delivery.same = False
        delivery.told.append(anyio.current_time())
        answers = delivery.kind != "events_api"
        envelope: dict[str, Any] = {"envelope_id": delivery.ids[-1], "payload": delivery.payload, "type": delivery.kind}
        envelope["accepts_response_payload"] = answers
        if not answers:
            envelope |= {"retry_attempt": delivery.tries, "retry_reason": "timeout" if delivery.tries else ""}
        delivery.tries += 1
        return envelope
