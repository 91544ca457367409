"""The bare wire of Slack: sockets frame by frame, and what has to be asked before one opens.

``tests.fakes.slack`` behaves as Slack does; this does what a test says, at the moment it says so.
"""

import itertools
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from aiohttp import WSMsgType, web

from tests.limits import HANG_S

TEAMS = {"xoxb-acme": "T0ACME", "xoxb-beta": "T0BETA"}  # the workspaces of the app, by the bot's token in each


def message(text: str, *, channel: str = "D0ANN", team: str = "T0ACME", ts: str = "", **more: Any) -> dict[str, Any]:
    """The body of an event: somebody says something."""
    stamp = ts or f"{next(_numbers)}.000100"
    said = {"type": "message", "channel": channel, "channel_type": "im", "user": "U0ANN", "text": text, "ts": stamp}
    return {
        "type": "event_callback",
        "team_id": team,
        "context_team_id": team,
        "api_app_id": "A0POND",
        "event_id": f"Ev{next(_numbers)}",
        "event": {**said, "event_ts": stamp, **more},
        "authorizations": [{"team_id": team, "user_id": "U0POND", "is_bot": True}],
    }


def command(text: str, *, team: str = "T0ACME", channel: str = "D0ANN") -> dict[str, str]:
    who = {"user_id": "U0ANN", "user_name": "ann", "team_id": team, "channel_id": channel}
    return {**who, "command": "/millpond", "text": text, "trigger_id": f"{next(_numbers)}.2.x", "api_app_id": "A0POND"}


_numbers = itertools.count(1_790_000_000)


@dataclass(eq=False)
class Link:
    ws: web.WebSocketResponse
    request: web.Request
    answers_pings: bool = True
    acknowledged: list[str] = field(default_factory=list[str])
    pinged: int = 0
    ponged: list[bytes] = field(default_factory=list[bytes])
    closed: bool = False
    changed: Callable[[], None] = lambda: None

    async def send(self, said: dict[str, Any] | str | bytes) -> None:
        if isinstance(said, bytes):
            await self.ws.send_bytes(said)
        else:
            await self.ws.send_str(said if isinstance(said, str) else json.dumps(said))

    async def send_raw(self, frames: bytes) -> None:
        assert self.request.transport is not None
        self.request.transport.write(frames)

    async def hello(self) -> None:
        await self.send({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A0POND"}})

    async def disconnect(self, reason: str) -> None:
        await self.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-1"}})

    async def say(self, payload: dict[str, Any], *, kind: str = "events_api", id: str = "") -> str:
        """An envelope; its id."""
        envelope_id = id or f"e-{next(_numbers)}"
        more = {"accepts_response_payload": False, "retry_attempt": 0, "retry_reason": ""}
        await self.send({"envelope_id": envelope_id, "type": kind, "payload": payload, **more})
        return envelope_id

    def cut(self, begun: bytes = b"") -> None:
        transport = self.request.transport
        assert transport is not None
        transport.write(begun)
        transport.close() if begun else transport.abort()


@dataclass(eq=False)
class Wire:
    base_url: str = ""
    links: list[Link] = field(default_factory=list[Link])
    greets: bool = True  # whether a new connection is told ``hello`` at once
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The calls of methods: which, with which token."""
    answers: dict[str, list[web.Response]] = field(default_factory=dict[str, list[web.Response]])
    """What is answered to the next calls of a method instead."""
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def changed(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, true: Callable[[], object]) -> None:
        with anyio.fail_after(HANG_S):
            while not true():
                await self._changed.wait()

    async def link(self, number: int = 0) -> Link:
        await self.until(lambda: len(self.links) > number)
        return self.links[number]

    async def acknowledged(self, *ids: str) -> None:
        await self.until(lambda: set(ids) <= {each for link in self.links for each in link.acknowledged})

    async def method(self, request: web.Request) -> web.Response:
        name, token = request.match_info["name"], request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.asked.append((name, token))
        self.changed()
        if waiting := self.answers.get(name):
            return waiting.pop(0)
        if name == "auth.test":
            who = {"team_id": TEAMS[token], "user_id": "U0POND", "bot_id": "B0POND", "user": "pond"}
            return web.json_response({"ok": True, **who})
        if name == "apps.connections.open":
            address = self.base_url.replace("http", "ws", 1).removesuffix("/api")
            return web.json_response({"ok": True, "url": f"{address}/link?ticket=secret"})
        return web.json_response({"ok": False, "error": "user_not_found"})

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        link = Link(ws, request, changed=self.changed)
        if self.greets:
            await link.hello()
        self.links.append(link)
        self.changed()
        async for said in ws:
            if said.type is WSMsgType.TEXT:
                link.acknowledged.append(json.loads(said.data)["envelope_id"])
            elif said.type is WSMsgType.PING:
                link.pinged += 1
                if link.answers_pings:
                    await ws.pong(said.data)
            elif said.type is WSMsgType.PONG:
                link.ponged.append(said.data)
            self.changed()
        link.closed = True
        self.changed()
        return ws


@asynccontextmanager
async def slack_wire() -> AsyncGenerator[Wire]:
    wire = Wire()
    app = web.Application()
    app.add_routes([web.post("/api/{name}", wire.method), web.get("/link", wire.socket)])
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    wire.base_url = f"http://{host}:{port}/api"
    try:
        yield wire
    finally:
        with anyio.CancelScope(shield=True):
            await runner.cleanup()
