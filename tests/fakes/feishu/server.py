"""The fake Feishu on loopback: calls, long connections, and events by HTTP, encrypted and signed."""

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.abc
import httpx2
from anyio.abc import TaskGroup, TaskStatus
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from daemon.setup.platforms.feishu_socket import CONTROL, DATA, Frame, decoded, encoded
from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow, reset
from tests.fakes.feishu.methods import Methods
from tests.fakes.feishu.world import App, Delivery, Failed, World
from tests.fakes.platform import Call, FakeServer, served, tell
from tests.fakes.websockets import BINARY, CLOSE, PING, PONG, accepted, frame, read_message
from tests.fakes.wire import GONE, Garbage, Request, Wire
from tests.limits import HANG_S

REPEAT_S = 0.5  # after which what was not acknowledged comes again; Feishu waits for 15 s, 5 minutes, 1 hour, 6 hours
PART_BYTES = 600  # of an event in one frame; Feishu's are larger
PING_S = 120


@dataclass(frozen=True)
class Refuse:
    """An error of the API; nothing is done."""

    code: int = 99991400
    status: int = 400
    retry_after: int = 0  # seconds, said as ``x-ogw-ratelimit-reset``
    acted: bool = False


Fault = Refuse | Page | Garbled | Cut | Hang | Slow

ROUTES: list[tuple[str, str, str]] = [
    ("POST", "/im/v1/messages", "messages.create"),
    ("GET", "/im/v1/messages", "messages.list"),
    ("POST", "/im/v1/messages/(?P<message_id>[^/]+)/reply", "messages.reply"),
    ("PATCH", "/im/v1/messages/(?P<message_id>[^/]+)", "messages.patch"),
    ("DELETE", "/im/v1/messages/(?P<message_id>[^/]+)", "messages.delete"),
    ("GET", "/im/v1/messages/(?P<message_id>[^/]+)", "messages.get"),
    ("GET", "/im/v1/messages/(?P<message_id>[^/]+)/resources/(?P<file_key>[^/]+)", "resources.get"),
    ("POST", "/im/v1/messages/(?P<message_id>[^/]+)/reactions", "reactions.create"),
    ("GET", "/im/v1/messages/(?P<message_id>[^/]+)/reactions", "reactions.list"),
    ("DELETE", "/im/v1/messages/(?P<message_id>[^/]+)/reactions/(?P<reaction_id>[^/]+)", "reactions.delete"),
    ("POST", "/im/v1/images", "images.create"),
    ("POST", "/im/v1/files", "files.create"),
    ("POST", "/cardkit/v1/cards/id_convert", "cards.id_convert"),
    ("PUT", "/cardkit/v1/cards/(?P<card_id>[^/]+)/elements/(?P<element_id>[^/]+)/content", "cards.content"),
    ("DELETE", "/cardkit/v1/cards/(?P<card_id>[^/]+)/elements/(?P<element_id>[^/]+)", "cards.element_delete"),
    ("PUT", "/cardkit/v1/cards/(?P<card_id>[^/]+)", "cards.update"),
    ("GET", "/im/v1/chats/(?P<chat_id>[^/]+)", "chats.get"),
    ("GET", "/contact/v3/users/(?P<user_id>[^/]+)", "users.get"),
    ("GET", "/bot/v3/info", "bot.info"),
    ("GET", "/application/v6/scopes", "scopes.list"),
    ("POST", "/auth/v3/tenant_access_token/internal", "token"),
]


@dataclass(eq=False)
class Socket:
    wire: Wire
    mute: bool = False  # the way is gone, and nobody has said so
    closed: anyio.Event = field(default_factory=anyio.Event)
    pings: int = 0
    told: dict[str, Delivery] = field(default_factory=dict[str, Delivery])  # by the id of a frame's message
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def send(self, content: bytes, kind: int = BINARY) -> None:
        if self.mute or self.closed.is_set():
            return
        async with self._lock:
            try:
                await self.wire.stream.send(frame(kind, content))
            except GONE:
                self.closed.set()

    async def cut(self) -> None:
        reset(self.wire.stream)
        self.closed.set()
        await self.wire.stream.aclose()


class FakeFeishu(FakeServer):
    """A running server with one tenant and one app."""

    def __init__(self, *, repeat_s: float = REPEAT_S) -> None:
        super().__init__()
        self.world = World()
        self.methods = Methods(self.world)
        self.repeat_s = repeat_s
        self.pong_s = PING_S
        """The interval of pings that the answer to one asks for."""
        self.delivered_at = ""
        """Where on this machine events are listened for, ``http://127.0.0.1:port``."""
        self.sockets: list[Socket] = []
        self.tickets: set[str] = set()
        self.answers: list[int] = []
        """The status of each event sent by HTTP; 0: there was none."""

    @property
    def app(self) -> App:
        return self.world.app

    async def settled(self) -> None:
        await self.until(lambda: not self.app.waiting, within_s=HANG_S)

    async def serve(self, port: int = 0, *, task_status: TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
            self.base_url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._deliver, self._tasks)
                task_status.started()
                await listener.serve(self._connection, self._tasks)

    # Calls

    async def _serve(self, wire: Wire, request: Request, last: list[Any]) -> bool:
        if request.path == "/ws/v2":
            await self._socket(wire, request)
            return False
        method, ids = _routed(request)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        call = Call(token, method, {**request.params, **ids})
        last.append(call)
        fault = call.fault = self.faults.decide(call)
        status, whole, headers = 200, b"", {"content_type": "application/json; charset=utf-8"}
        self.open += 1
        try:
            if isinstance(fault, Slow) and not fault.acted_first:
                await fault.wait()
            if getattr(fault, "acted", True):
                status, whole, kind = self._act(request, call)
                headers["content_type"] = kind
            if isinstance(fault, Refuse):
                status, whole = fault.status, _json(Failed(fault.code).said())
                if fault.retry_after:
                    headers["x_ogw_ratelimit_reset"] = str(fault.retry_after)
            self.calls.append(call)
            self.on_call(call)
            self.world.changed()
            usable = await tell(wire, call, status, whole, **headers)
            self.on_answered(call)
            return usable
        finally:
            self.open -= 1
            self.world.changed()

    def _act(self, request: Request, call: Call) -> tuple[int, bytes, str]:
        usual = "application/json; charset=utf-8"
        try:
            if call.method == "token":
                answer: Any = self.methods.token(call.params)
            elif call.method == "ws.endpoint":
                answer = self._endpoint(call.params)
            elif call.method:
                if self.app.tokens.get(call.token, 0.0) <= self.world.now():
                    raise Failed(
                        99991663, "Invalid access token for authorization. Please make a test with token attached."
                    )
                answer = self.methods.act(call, request.files)
                if isinstance(answer, bytes):
                    call.acted = True
                    return 200, answer, "application/octet-stream"
                found = {"bot": answer} if call.method == "bot.info" else {"data": answer}
                answer = {"code": 0, "msg": "success", **found}
            else:
                return 404, b"404 page not found", "text/plain"
        except Failed as error:
            call.answer = error.said()
            return error.status, _json(call.answer), usual
        call.acted, call.answer = True, {**answer, "ok": True}
        return 200, _json(answer), usual

    def _refused_garbage(self, error: Garbage, status: int) -> tuple[int, bytes]:
        return status or 400, _json(Failed(9499, str(error)).said())

    def _endpoint(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("AppID") != self.app.id or params.get("AppSecret") != self.app.secret:
            raise Failed(1000040344, "app_id or app_secret is invalid", status=200)
        ticket = secrets.token_hex(8)
        self.tickets.add(ticket)
        url = f"{self.base_url.replace('http', 'ws', 1)}/ws/v2?device_id=7&service_id=33554678&ticket={ticket}"
        config = {"ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 30, "PingInterval": PING_S}
        return {"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": config}}

    # Long connections

    async def _socket(self, wire: Wire, request: Request) -> None:
        ticket = str(request.params.get("ticket", ""))
        if ticket not in self.tickets or "sec-websocket-key" not in request.headers:
            await wire.respond(403, b"", handshake_status="403", handshake_msg=f"forbidden: {ticket}")
            return
        self.tickets.remove(ticket)
        await wire.switch(accepted(request))
        found = Socket(wire)
        self.sockets.append(found)
        self.app.arrive()
        try:
            while not found.closed.is_set():
                kind, content = await read_message(wire)
                if kind == CLOSE:
                    await found.send(content[:2], CLOSE)
                    return
                if kind == PING:
                    await found.send(content, PONG)
                elif kind == BINARY and not found.mute:
                    await self._heard(found, decoded(content))
        except GONE:
            return
        finally:
            found.closed.set()
            self.sockets.remove(found)
            for delivery in found.told.values():
                delivery.due = 0.0  # what was not acknowledged comes again by another one
            self.app.arrive()
            self.world.changed()

    async def _heard(self, socket: Socket, said: Frame) -> None:
        if said.method == CONTROL and said.kind == "ping":
            socket.pings += 1
            config = _json({"PingInterval": self.pong_s})
            await socket.send(encoded(Frame(service=said.service, headers={"type": "pong"}, payload=config)))
        elif said.method == DATA:
            delivery = socket.told.pop(said.headers.get("message_id", ""), None)
            told = json.loads(said.payload)
            if delivery is not None and delivery in self.app.waiting and told.get("code") == 200:
                delivery.answer = base64.b64decode(told["data"], validate=True) if "data" in told else b"{}"
                self._done(delivery)
        self.world.changed()

    async def _deliver(self, tasks: TaskGroup) -> None:
        """Tell the app what waits, again and again until it is acknowledged."""
        while True:
            arrived, now = self.app.arrived, anyio.current_time()
            for delivery in list(self.app.waiting):
                is_due = delivery.due <= now and not (delivery.once and delivery.tries)
                if is_due and not delivery.under_way and delivery in self.app.waiting:
                    if self.app.url:
                        if not self._held(delivery):
                            delivery.under_way = True
                            await tasks.start(self._post, delivery)
                    elif sockets := [each for each in self.sockets if not each.closed.is_set()]:
                        delivery.due = now + self.repeat_s
                        await self._frame(sockets[-1], delivery)
            waiting = [each for each in self.app.waiting if each.due > now and not (each.once and each.tries)]
            due = min((each.due for each in waiting), default=None)
            with anyio.move_on_after(None if due is None else max(0.0, due - anyio.current_time())):
                await arrived.wait()

    def _held(self, delivery: Delivery) -> bool:
        """What was not taken at the first try is overtaken by nothing of its chat; Feishu does not promise it."""
        before = self.app.waiting[: self.app.waiting.index(delivery)]
        return any(each.tries and each.chat == delivery.chat for each in before)

    async def _frame(self, socket: Socket, delivery: Delivery) -> None:
        delivery.tries += 1
        message_id = secrets.token_hex(8)
        socket.told[message_id] = delivery
        parts = [delivery.body[at : at + PART_BYTES] for at in range(0, len(delivery.body), PART_BYTES)] or [b""]
        for number, part in enumerate(parts):
            headers = {
                "type": "event",
                "message_id": message_id,
                "trace_id": "t",
                "sum": str(len(parts)),
                "seq": str(number),
            }
            await socket.send(
                encoded(Frame(seq_id=7, log_id=2**40, service=33554678, method=DATA, headers=headers, payload=part))
            )

    # Events by HTTP

    async def _post(self, delivery: Delivery, *, task_status: TaskStatus[None]) -> None:
        delivery.tries += 1
        task_status.started()
        status, delivery.answer = await self.post(delivery.body)
        delivery.under_way = False
        if status == 200 or (delivery.once and status):
            self._done(delivery)
        else:
            if delivery.once:
                delivery.tries = 0  # nobody listens yet
            delivery.due = anyio.current_time() + self.repeat_s
        self.app.arrive()
        self.world.changed()

    async def post(self, payload: bytes, *, signed: bool = True, key: str = "", **change: str) -> tuple[int, bytes]:
        """Send an event; status and answer, 0 if there is none."""
        if self.faults.decide(Call("", "event", {})) is not None:
            return 0, b""
        key = key or self.app.encrypt_key
        body = _json({"encrypt": encrypted(key, payload)})
        stamp, nonce = str(int(self.world.now())), secrets.token_hex(8)
        headers = {"Content-Type": "application/json"}
        if signed:
            signature = hashlib.sha256(f"{stamp}{nonce}{key}".encode() + body).hexdigest()
            names = ("X-Lark-Request-Timestamp", "X-Lark-Request-Nonce", "X-Lark-Signature")
            headers |= dict(zip(names, (stamp, nonce, signature), strict=True)) | change
        try:
            async with httpx2.AsyncClient(timeout=HANG_S) as client:
                address = self.delivered_at + re.sub(r"^https://[^/]+", "", self.app.url)
                answer = await client.post(address, content=body, headers=headers)
        except httpx2.HTTPError:
            self.answers.append(0)
            return 0, b""
        self.answers.append(answer.status_code)
        return answer.status_code, answer.content

    def _done(self, delivery: Delivery) -> None:
        if delivery in self.app.waiting:
            self.app.waiting.remove(delivery)
        self.world.changed()


def encrypted(key: str, payload: bytes) -> str:
    padding = 16 - len(payload) % 16
    start = secrets.token_bytes(16)
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(start)).encryptor()
    return base64.b64encode(start + cipher.update(payload + bytes([padding]) * padding) + cipher.finalize()).decode()


def _routed(request: Request) -> tuple[str, dict[str, str]]:
    if (request.verb, request.path) == ("POST", "/callback/ws/endpoint"):
        return "ws.endpoint", {}
    for verb, pattern, method in ROUTES:
        if verb == request.verb and (found := re.fullmatch("/open-apis" + pattern, request.path)):
            return method, found.groupdict()
    return "", {}


def _json(answer: Any) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode()


fake_feishu = partial(served, FakeFeishu)
"""A Feishu for the length of a block."""
