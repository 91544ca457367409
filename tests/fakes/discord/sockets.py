"""The gateway: connections, sessions, heartbeats, and the events on them."""

import json
import secrets
import struct
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.fakes.discord.world import GUILDS, MESSAGE_CONTENT, Bot, Event, Session, World
from tests.fakes.faults import reset
from tests.fakes.websockets import CLOSE, PING, PONG, TEXT, frame, read_message
from tests.fakes.wire import GONE, Wire

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
NOT_AUTHENTICATED, WRONG_TOKEN, SHARDING_REQUIRED, DISALLOWED_INTENTS = 4_003, 4_004, 4_011, 4_014


@dataclass(eq=False)
class Socket:
    world: World
    wire: Wire
    gateway: str  # the address that a session is resumed at
    heartbeat_s: float
    bot: Bot | None = None
    session: Session | None = None
    mute: bool = False
    """Nothing is said on it any more: the way is gone, and nobody has said so."""
    closed: anyio.Event = field(default_factory=anyio.Event)
    close_code: int | None = None  # with which the client closed it
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outbox: deque[Event] = field(default_factory=deque[Event])
    _awake: anyio.Event = field(default_factory=anyio.Event)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    def wake(self) -> None:
        awake, self._awake = self._awake, anyio.Event()
        awake.set()

    # What the gateway says

    async def serve(self) -> None:
        if self.world.greetings:
            await self.tell(self.world.greetings.pop(0))
        else:
            odd = self.world.heartbeats
            await self.tell(HELLO, {"heartbeat_interval": odd.pop(0) if odd else self.heartbeat_s * 1_000})
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._bring)
            await self._listen()
            tg.cancel_scope.cancel()
        self._leave()

    async def tell(self, op: int, content: Any = None, **more: Any) -> None:
        await self._send(TEXT, json.dumps({"op": op, "d": content, "s": None, "t": None} | more).encode())

    async def reconnect(self) -> None:
        await self.tell(RECONNECT)

    async def invalidate(self, *, resumable: bool) -> None:
        if not resumable and self.bot is not None and self.session is not None:
            self.bot.sessions.pop(self.session.id, None)
        await self.tell(INVALID, resumable)

    async def close(self, code: int) -> None:
        await self._send(CLOSE, struct.pack("!H", code))
        self._leave()

    async def cut(self) -> None:
        reset(self.wire.stream)
        self._leave()
        await self.wire.stream.aclose()

    async def _bring(self) -> None:
        while not self.closed.is_set():
            awake = self._awake
            while self.outbox:
                event = self.outbox.popleft()
                content = event.content
                if isinstance(content, bytes):
                    await self._send(TEXT, content)
                else:
                    await self.tell(DISPATCH, content, s=event.number, t=event.kind)
                    self.world.on_event(event)
            await awake.wait()

    async def _send(self, kind: int, content: bytes) -> None:
        if self.mute or self.closed.is_set():
            return
        async with self._lock:
            try:
                await self.wire.stream.send(frame(kind, content))
            except GONE:
                self.closed.set()

    def _leave(self) -> None:
        self.closed.set()
        if self.session is not None and self.session.socket is self:
            self.session.socket = None
        self.world.changed()

    # What the client says

    async def _listen(self) -> None:
        try:
            while not self.closed.is_set():
                kind, content = await read_message(self.wire)
                if kind == CLOSE:
                    self.close_code = struct.unpack("!H", content[:2])[0] if content else 1_000
                    self._end_session_after(self.close_code)
                    await self._send(CLOSE, content[:2])
                    return
                if self.mute:
                    continue
                if kind == PING:
                    await self._send(PONG, content)
                elif kind == TEXT:
                    await self._heard(json.loads(content))
                self.world.changed()
        except GONE:
            return

    def _end_session_after(self, code: int) -> None:
        if code in (1_000, 1_001) and self.bot is not None and self.session is not None:
            self.bot.sessions.pop(self.session.id, None)

    async def _heard(self, payload: dict[str, Any]) -> None:
        self.said.append(payload)
        op, content = payload["op"], payload["d"]
        if op == HEARTBEAT:
            if self.session is not None:
                self.session.acknowledged = max(self.session.acknowledged, content or 0)
            await self.tell(ACK)
        elif op in (IDENTIFY, RESUME) and self.world.silent_logins:
            self.world.silent_logins -= 1
        elif op == RESUME and self.world.refused_resumes:
            self.world.refused_resumes -= 1
            await self.tell(INVALID, True)
        elif op == IDENTIFY:
            await self._identified(content)
        elif op == RESUME:
            await self._resumed(content)
        else:
            await self.close(NOT_AUTHENTICATED)

    async def _identified(self, content: dict[str, Any]) -> None:
        bot = self.bot = self.world.bots.get(content["token"])
        if bot is None:
            return await self.close(WRONG_TOKEN)
        intents = content["intents"]
        if intents & MESSAGE_CONTENT and not bot.flags:
            return await self.close(DISALLOWED_INTENTS)
        assert intents & GUILDS and set(content["properties"]) == {"os", "browser", "device"}
        shard = tuple(content.get("shard", (0, 1)))
        bot.starts_left -= 1
        if shard[1] < self.world.shards_min:
            return await self.close(SHARDING_REQUIRED)
        if bot.refusals:
            bot.refusals -= 1
            return await self.tell(INVALID, False)
        session = self.session = Session(secrets.token_hex(8), intents, shard)
        bot.sessions[session.id] = session
        session.socket = self
        ready = {"v": 10, "user": bot.person.said(), "guilds": [], "session_id": session.id}
        ready |= {"resume_gateway_url": self.gateway, "application": {"id": bot.app_id, "flags": bot.flags}}
        session.add("READY", ready)
        for guild in filter(lambda each: session.has(each.id), self.world.guilds.values()):
            session.add("GUILD_CREATE", guild.said())
        return None

    async def _resumed(self, content: dict[str, Any]) -> None:
        bot = self.bot = self.world.bots.get(content["token"])
        if bot is None:
            return await self.close(WRONG_TOKEN)
        session = bot.sessions.get(content["session_id"])
        if session is None or content["seq"] > session.number:
            return await self.tell(INVALID, False)
        if session.shard[1] < self.world.shards_min:
            return await self.close(SHARDING_REQUIRED)
        if session.socket is not None:
            await session.socket.close(4_000)
        self.session, session.socket = session, self
        session.acknowledged = max(session.acknowledged, content["seq"])
        self.outbox.extend(event for event in session.events if event.number > content["seq"])
        session.add("RESUMED", {})
        return None
