"""The fake Discord on loopback: the REST API under ``/api/v10``, the gateway, and the files."""

import json
from functools import partial
from typing import Any

import anyio
import anyio.abc
from anyio.abc import TaskStatus

from tests.fakes.discord.calls import Call, Failed, Refuse, method_of
from tests.fakes.discord.rest import Rest
from tests.fakes.discord.sockets import Socket
from tests.fakes.discord.world import Bot, Chat, File, Guild, Json, Message, Person, Session, World
from tests.fakes.faults import Cut, Hang, Page, Slow, reset
from tests.fakes.platform import HANG_MAX_S, Buckets, FakeServer, served, tell
from tests.fakes.websockets import accepted
from tests.fakes.wire import Garbage, Request, Wire
from tests.limits import HANG_S

AGENT = "DiscordBot ("


class FakeDiscord(FakeServer):
    """A running server with one bot, ``bot``, in one server, ``guild``."""

    def __init__(self, *, limits: bool = True, heartbeat_s: float = 41.25) -> None:
        super().__init__()
        self.world = World()
        self.rest = Rest(self.world, Buckets() if limits else None)
        self.heartbeat_s = heartbeat_s
        self.sockets: list[Socket] = []
        """All that were ever opened, oldest first."""
        self.bot: Bot = self.world.bot("Pond")
        self.guild: Guild = self.world.guild("Lakes")
        self.odd: list[str] = []

    def person(self, name: str, *, id: str = "", is_bot: bool = False) -> Person:
        return self.world.person(name, id=id, is_bot=is_bot)

    def direct(self, person: Person) -> Chat:
        return self.world.direct(person)

    def channel(self, name: str = "general") -> Chat:
        return self.world.channel(self.guild, name)

    def file(self, data: bytes, name: str = "said.bin", content_type: str = "") -> File:
        return self.world.file(data, name, content_type)

    @property
    def session(self) -> Session | None:
        """The newest session of the bot."""
        return next(reversed(self.bot.sessions.values()), None)

    def open_sessions(self) -> list[Session]:
        """The sessions of the bot that are connected."""
        return [each for each in self.bot.sessions.values() if each.socket is not None]

    def sharded(self, count: int) -> list[Chat]:
        """A channel of a server of each of so many shards."""
        found = dict[int, Chat]()
        for chat in self.world.chats.values():
            if chat.guild is not None:
                found.setdefault((int(chat.guild.id) >> 22) % count, chat)
        number = 0
        while len(found) < count:
            number += 1
            guild = self.world.guild(f"Lakes {number}", id=str(((number + count) << 22) + number))
            found.setdefault((number + count) % count, self.world.channel(guild, "general"))
        return list(found.values())

    @property
    def socket(self) -> Socket:
        """The newest connection."""
        return self.sockets[-1]

    def sent(self) -> list[Message]:
        said = [each for chat in self.world.chats.values() for each in chat.messages.values()]
        return sorted((each for each in said if each.by is self.bot.person), key=lambda each: int(each.id))

    async def said(self, chat: Chat, number: int = 1, *, within_s: float = HANG_S) -> list[str]:
        """Wait until the bot has said so much in a chat; its texts."""
        await self.until(lambda: len(chat.shown()) >= number, within_s=within_s)
        return chat.texts()

    async def connected(self, *, within_s: float = HANG_S) -> None:
        await self.until(lambda: self.session is not None and self.session.socket is not None, within_s=within_s)

    def unsettled(self) -> bool:
        return any(each.acknowledged < each.number for each in self.bot.sessions.values())

    def oddities(self) -> list[str]:
        return self.odd

    # The server

    async def serve(self, port: int = 0, *, task_status: TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
            place = f"127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            self.base_url, self.rest.gateway = f"http://{place}/api/v10", f"ws://{place}/gateway"
            self.world.base_url = f"http://{place}"
            async with anyio.create_task_group() as self._tasks:
                task_status.started()
                await listener.serve(self._connection, self._tasks)

    async def _serve(self, wire: Wire, request: Request, last: list[Call]) -> bool:
        parts = tuple(request.path.strip("/").split("/"))
        if parts[0] == "gateway":
            return await self._socket(wire, request)
        if parts[0] == "attachments":
            return await self._download(wire, parts, request)
        if parts[:2] != ("api", "v10"):
            await wire.respond(404, b"<html>Not Found</html>", content_type="text/html")
            return True
        if not request.headers.get("user-agent", "").startswith(AGENT):
            self.odd.append("no user agent of a bot")
        parts = parts[2:]
        token = request.headers.get("authorization", "").removeprefix("Bot ")
        call = Call(token, method_of(request.verb, parts), request.params, path=parts, files=request.files)
        last.append(call)
        return await self._answer(wire, call)

    def _refused_garbage(self, error: Garbage, status: int) -> tuple[int, bytes]:
        return status or 400, json.dumps({"message": str(error), "code": 0}).encode()

    async def _answer(self, wire: Wire, call: Call) -> bool:
        fault: Any = self.faults.decide(call)
        call.fault, headers = fault, dict[str, str]()
        self.open += 1
        try:
            if isinstance(fault, Slow) and not fault.acted_first:
                await fault.wait()
            if isinstance(fault, Refuse):
                call.status, call.answer, headers = _refused(fault)
            elif fault is None or getattr(fault, "acted", True):
                headers = self._act(call)
            self.calls.append(call)
            self.on_call(call)
            self.world.changed()
            whole = b"" if call.status == 204 else json.dumps(call.result if call.acted else call.answer).encode()
            usable = await tell(wire, call, call.status, whole, **headers)
            self.on_answered(call)
            return usable
        finally:
            self.open -= 1
            self.world.changed()

    def _act(self, call: Call) -> dict[str, str]:
        headers = dict[str, str]()
        try:
            bot = self.world.bots.get(call.token)
            if bot is None:
                raise Failed(401, 0, "401: Unauthorized")
            headers = self.rest.limited(bot, call)
            call.result = self.rest.act(bot, call)
            call.status = 204 if call.result is None else 200
            call.acted = True
        except Failed as error:
            call.status, call.answer = error.status, error.answer
            if error.status == 429:
                headers["retry_after"] = str(error.answer["retry_after"])
        return headers

    # The gateway and the files

    async def _socket(self, wire: Wire, request: Request) -> bool:
        call = Call("", "connect", request.params)
        fault = call.fault = self.faults.decide(call)
        if fault is not None and not isinstance(fault, Slow):
            status, answer, headers = _refused(fault) if isinstance(fault, Refuse) else (502, {}, {})
            return await tell(wire, call, status, json.dumps(answer).encode(), **headers)
        if (request.params.get("v"), request.params.get("encoding")) != ("10", "json"):
            self.odd.append(f"gateway with {request.params}")
        await wire.switch(accepted(request))
        socket = Socket(self.world, wire, self.rest.gateway, self.heartbeat_s)
        self.sockets.append(socket)
        await socket.serve()
        return False

    async def _download(self, wire: Wire, parts: tuple[str, ...], request: Request) -> bool:
        call = Call("", "download", request.params)
        fault = self.faults.decide(call)
        self.calls.append(call)
        if "authorization" in request.headers:
            self.odd.append("the token was sent to the file server")
        if isinstance(fault, Cut):
            reset(wire.stream)
            return False
        file = self.world.files.get(parts[2]) if len(parts) == 4 else None
        if isinstance(fault, Hang):
            if fault.half and file is not None:
                await wire.respond(200, file.data, half=True)
            with anyio.move_on_after(HANG_MAX_S):
                await wire.left()
            return False
        if isinstance(fault, Refuse | Page):
            await wire.respond(fault.status if isinstance(fault, Refuse) else fault.code, b"", content_type="text/html")
        elif file is None or request.params.get("hm") != file.key:
            await wire.respond(404, b"This content is no longer available.", content_type="text/plain")
        else:
            await wire.respond(200, file.data, content_type="application/octet-stream")
        return True


def _refused(fault: Refuse) -> tuple[int, Json, dict[str, str]]:
    if fault.status != 429:
        return fault.status, {"message": f"{fault.status}", "code": fault.code}, {}
    after = 1.0 if fault.retry_after is None else fault.retry_after
    answer: Json = {"message": "You are being rate limited.", "retry_after": after, "global": fault.is_global}
    headers = {"retry_after": str(round(after)), **({"x_ratelimit_global": "true"} if fault.is_global else {})}
    return 429, answer, headers


fake_discord = partial(served, FakeDiscord)
"""A Discord for the length of a block; without ``limits`` as much may be sent as one likes."""
