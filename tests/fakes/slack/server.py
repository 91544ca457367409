"""The fake Slack on loopback: calls, sockets, uploads and downloads; and what it brings by HTTP."""

import json
from functools import partial
from typing import Any

import anyio
import anyio.abc
from anyio.abc import TaskStatus

from tests.fakes.faults import Slow
from tests.fakes.platform import FakeServer, served, tell
from tests.fakes.slack.apps import App, Bot
from tests.fakes.slack.bringing import Pressing
from tests.fakes.slack.calls import Call, Failed
from tests.fakes.slack.faults import Fault, Floods, Refuse
from tests.fakes.slack.methods import Methods
from tests.fakes.slack.sockets import Bringing, Socket
from tests.fakes.slack.world import Channel, File, Message, Person, Team, World
from tests.fakes.websockets import PING, accepted
from tests.fakes.wire import Garbage, Request, Wire
from tests.limits import HANG_S

REPEAT_S = 0.5  # after which time what was not acknowledged is brought again; Slack waits longer, more each time
PING_S = 5.0  # between two pings of Slack's on a socket
FILES = ("upload", "download")
USUAL = {"ratelimited": 429, "service_unavailable": 503}  # the status of what is no 200
SIGN_IN = (
    b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to your workspace</body></html>"
)
"""What who may not have a file is shown, with 200."""


class FakeSlack(FakeServer):
    """A running server with one workspace, ``team``, one app, ``app``, and its bot there, ``bot``."""

    def __init__(self, *, floods: bool = True, repeat_s: float = REPEAT_S, ping_s: float = PING_S) -> None:
        super().__init__()
        self.world = World()
        self.floods = Floods() if floods else None
        self.methods = Methods(self.world, self.floods)
        self.repeat_s = repeat_s
        self.ping_s = ping_s
        self.brought_at = ""
        """Where on this machine events are listened for, ``http://127.0.0.1:port``: names are not looked up."""
        self.pressing: dict[str, Pressing] = {}
        """By the app's id: who brings by HTTP."""
        self._sockets: list[Socket] = []
        self.team = self.world.team()
        self.app = self.new_app()
        self.bot = self.install(self.app, self.team)

    # What tests and people do

    def new_app(self, name: str = "millpond", **more: Any) -> App:
        app = self.world.app(name, **more)
        self._serve_app(app)
        return app

    def new_team(self, name: str = "Globex") -> Team:
        return self.world.team(name)

    def install(self, app: App, team: Team, **more: Any) -> Bot:
        return app.install(team, **more)

    def person(self, real_name: str, *, id: str = "", is_bot: bool = False, **more: Any) -> Person:
        return self.team.person(real_name, id=id, is_bot=is_bot, **more)

    def direct(self, person: Person) -> Channel:
        return self.bot.direct(person)

    def channel(self, *people: Person, name: str = "lake", kind: Any = "channel", id: str = "") -> Channel:
        """A channel of ``team`` with ``bot`` and these; without any named, with all of the workspace."""
        members = [*people, self.bot.person] if people else []
        return self.team.channel(*members, name=name, kind=kind, id=id)

    def file(self, data: bytes = b"\x89PNG", *, name: str = "said.bin", **more: Any) -> File:
        return self.world.file(data, name=name, **more)

    def sent(self) -> list[Message]:
        """What the apps' bots have said anywhere, oldest first; also what is gone again."""
        people = {bot.person for bot in self.world.bots()}
        channels = [channel for team in self.world.teams.values() for channel in team.channels.values()]
        said = [message for channel in channels for message in channel.messages.values() if message.by in people]
        return sorted(said, key=lambda message: message.at)

    def oddities(self) -> list[str]:
        """Arguments that no documentation knows, of calls so far; and what was said on sockets that nobody knows."""
        odd = [f"{call.method}: {name}" for call in self.calls for name in sorted(call.unknown) if call.acted]
        return odd + [f"socket: {text[:80]}" for text in self.odd_frames]

    @property
    def odd_frames(self) -> list[str]:
        """What apps have said on sockets and that is no acknowledgement of anything."""
        return [text for each in self._sockets for text in each.said]

    async def said(self, channel: Channel, number: int = 1, *, within_s: float = HANG_S, **where: Any) -> list[str]:
        """Wait until bots have said so much in a channel; their texts."""
        await self.until(lambda: len(channel.shown(**where)) >= number, within_s=within_s)
        return channel.texts(**where)

    async def connected(self, number: int = 1, *, app: App | None = None, within_s: float = HANG_S) -> list[Socket]:
        """Wait until an app has so many sockets; they."""
        of = app or self.app
        await self.until(lambda: len(of.sockets) >= number, within_s=within_s)
        return of.sockets

    async def settled(self, *, app: App | None = None, within_s: float = HANG_S) -> None:
        of = app or self.app
        await self.until(lambda: not of.waiting, within_s=within_s)

    async def bring(self, body: Any, *, app: App | None = None, **more: Any) -> tuple[int, bytes]:
        """Bring anything to an app's URL by HTTP, as ``Pressing.bring``: with wrong and old signatures too."""
        return await self.pressing[(app or self.app).id].bring(body, **more)

    async def verify_url(self, *, app: App | None = None) -> bool:
        """Whether the app answers as Slack wants when its URL is entered in its settings."""
        status, body = await self.bring(
            {"token": "verification", "challenge": "3eZb", "type": "url_verification"}, app=app
        )
        return status == 200 and b"3eZb" in body

    # The server

    async def serve(self, port: int = 0, *, task_status: TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
            self.world.base = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            self.base_url = f"{self.world.base}/api"
            async with anyio.create_task_group() as self._tasks:
                for app in self.world.apps.values():
                    self._start_app(app)
                task_status.started()
                await listener.serve(self._connection, self._tasks)

    def _serve_app(self, app: App) -> None:
        self.pressing[app.id] = Pressing(app, self.repeat_s, lambda: self.brought_at)
        self._start_app(app)

    def _start_app(self, app: App) -> None:
        if self._tasks is not None:
            self._tasks.start_soon(Bringing(app, self.faults, self.repeat_s).run)
            self._tasks.start_soon(self.pressing[app.id].run, self._tasks)

    async def _serve(self, wire: Wire, request: Request, last: list[Call]) -> bool:
        first, _, rest = request.path.strip("/").partition("/")
        if first == "link":
            await self._socket(wire, request)
            return False
        if first == "control":
            from tests.fakes.slack.control import control  # noqa: PLC0415 - which knows this module

            await wire.respond(200, _json(control(self, request.params)))
            return True
        kinds = {"upload": "upload", "files-pri": "download"}
        if first != "api" and first not in kinds:
            await wire.respond(404, b"not found", content_type="text/html")
            return True
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or str(request.params.get("token", ""))
        params = {"path": rest} if first in kinds else request.params
        call = Call(token, kinds.get(first, rest), params, request.headers.get("content-type", ""))
        last.append(call)
        return await self._answer(wire, request, call)

    def _refused_garbage(self, error: Garbage, status: int) -> tuple[int, bytes]:
        return status or 200, _json(Failed("invalid_json").said())

    async def _answer(self, wire: Wire, request: Request, call: Call) -> bool:
        fault: Fault | None = self.faults.decide(call)
        call.fault = fault
        self.open += 1
        try:
            if isinstance(fault, Slow) and not fault.acted_first:
                await fault.wait()
            if getattr(fault, "acted", True):
                self._act(request, call)
            if isinstance(fault, Refuse):
                _refuse(call, fault)
            self.calls.append(call)
            self.on_call(call)
            self.world.changed()
            usable = await self._tell(wire, call)
            self.on_answered(call)
            return usable
        finally:
            self.open -= 1
            self.world.changed()

    def _act(self, request: Request, call: Call) -> None:
        try:
            if call.method == "upload":
                found = self._upload(request, call)
            elif call.method == "download":
                found = self._download(call)
            else:
                found = {"ok": True, **self.methods.act(call)}
            call.acted = True
            call.answer = found
        except Failed as error:
            call.answer, call.status = error.said(), error.status

    async def _tell(self, wire: Wire, call: Call) -> bool:
        whole = call.answer["body"] if "body" in call.answer else _json(call.answer)
        return await tell(wire, call, call.status, whole, **self._headers(call))

    def _headers(self, call: Call) -> dict[str, Any]:
        headers = {"content_type": str(call.answer.get("type", "application/json; charset=utf-8"))}
        if call.answer.get("error") == "ratelimited":
            headers["retry_after"] = str(call.answer.get("retry_after", 1))
        bot = self.world.bot(call.token)
        if bot is not None and call.method not in FILES:
            headers["x_oauth_scopes"] = ",".join(sorted(bot.scopes))
        return headers

    # Sockets

    async def _socket(self, wire: Wire, request: Request) -> None:
        app = self.world.apps.get(str(request.params.get("app_id", "")))
        call = Call("", "connect", request.params)
        fault: Fault | None = self.faults.decide(call)
        call.fault = fault
        ticket = str(request.params.get("ticket", ""))
        if isinstance(fault, Slow):
            await fault.wait()
        elif fault is not None:
            _refuse(call, fault if isinstance(fault, Refuse) else Refuse("internal_error"))
            await self._tell(wire, call)
            return
        if app is None or ticket not in app.tickets or "sec-websocket-key" not in request.headers:
            await wire.respond(404, b"no such ticket", content_type="text/plain")
            return
        app.tickets.remove(ticket)  # it is good for one connection
        await wire.switch(accepted(request))
        found = Socket(app, wire, self.faults, number=len(app.sockets) + 1)
        self._sockets.append(found)
        if len(app.sockets) >= app.sockets_max:
            await found.disconnect("too_many_websockets")
            return
        await found.hello()
        app.sockets.append(found)
        app.arrive()
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._ping, found)
            await found.listen()
            tg.cancel_scope.cancel()

    async def _ping(self, found: Socket) -> None:
        while True:
            await anyio.sleep(self.ping_s)
            await found.send(PING, b"Ping from applink-1")

    # Files

    def _upload(self, request: Request, call: Call) -> dict[str, Any]:
        found = self.world.files.get(str(call.params["path"]).rpartition("/")[2])
        call.ignored("path")
        if found is None or found.uploaded:
            raise Failed("file_not_found", 404)
        found.data = next((file.data for file in request.files.values()), request.body)
        if found.claims_bytes is not None and len(found.data) != found.claims_bytes:
            raise Failed("length_mismatch", 400)
        found.uploaded = True
        return {"ok": True, "body": f"OK - {len(found.data)}".encode(), "type": "text/plain"}

    def _download(self, call: Call) -> dict[str, Any]:
        call.ignored("path")
        bot = self.world.bot(call.token)
        parts = str(call.params["path"]).split("/")
        found = self.world.files.get(parts[0].partition("-")[2])
        if bot is None or bot.revoked or "files:read" not in bot.scopes:
            return {"ok": False, "body": SIGN_IN, "type": "text/html; charset=utf-8"}
        if found is None or (found.by is not None and found.by.team is not bot.team):
            raise Failed("file_not_found", 404)
        return {"ok": True, "body": found.data, "type": found.mimetype}


def _refuse(call: Call, fault: Refuse) -> None:
    more = {"retry_after": fault.retry_after} if fault.error == "ratelimited" else {}
    call.answer = Failed(fault.error, **more, **fault.more).said()
    call.status = fault.status or USUAL.get(fault.error, 404 if call.method in FILES else 200)


def _json(answer: dict[str, Any]) -> bytes:
    shown = {name: value for name, value in answer.items() if not isinstance(value, bytes)}
    return json.dumps(shown, ensure_ascii=False).encode()


fake_slack = partial(served, FakeSlack)
"""A Slack for the length of a block; without ``floods`` methods may be called as often as one likes."""
