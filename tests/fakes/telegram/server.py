"""The fake Bot API on loopback: long polls, webhooks, calls and downloads."""

import json
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
from anyio.abc import TaskStatus

from tests.fakes.faults import Cut, Hang, Page, Slow, reset
from tests.fakes.platform import HANG_MAX_S, FakeServer, served, tell
from tests.fakes.telegram.calls import Call, Failed, bad
from tests.fakes.telegram.faults import Fault, Floods, Refuse
from tests.fakes.telegram.methods import Methods, allow
from tests.fakes.telegram.world import Bot, Chat, File, Json, Message, Person, Poll, World
from tests.fakes.wire import GONE, Garbage, Request, Wire
from tests.limits import HANG_S

POLL_MAX_S = 50
HOOK_TIMEOUT_S = 10.0
HOOK_PAUSE_S = 0.05  # between two tries of an update that was not taken; the real one waits longer
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
HOOKED = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


class FakeTelegram(FakeServer):
    """A running server with one bot, ``bot``; more of them by ``new_bot``."""

    def __init__(self, *, floods: bool = True, rich: bool = True) -> None:
        super().__init__()
        self.world = World()
        self.floods = Floods() if floods else None
        self.methods = Methods(self.world, self.floods, rich_known=rich)
        self.methods.hooked = self._hooked
        self.webhook_at = ""
        """Where on this machine webhooks are listened for, ``http://127.0.0.1:port``: names are not looked up."""
        self.bot = self.new_bot("pond_bot")

    # What tests and people do

    def new_bot(self, username: str, *, privacy: bool = False) -> Bot:
        return self.world.bot(username, privacy=privacy)

    def person(self, first_name: str, *, username: str = "", is_bot: bool = False, id: int = 0) -> Person:
        return self.world.person(first_name, username=username, is_bot=is_bot, id=id)

    def direct(self, person: Person) -> Chat:
        return self.world.private(self.bot, person)

    def group(self, *bots: Bot, kind: Any = "supergroup", title: str = "Lake", forum: bool = False) -> Chat:
        return self.world.chat(bots or [self.bot], kind=kind, title=title, forum=forum)

    def file(self, kind: str, data: bytes = b"\x89PNG", **more: Any) -> File:
        return self.world.file(kind, data, **more)

    def sent(self) -> list[Message]:
        """What bots have said anywhere, oldest first; also what is gone again."""
        people = {bot.person for bot in self.world.bots.values()}
        chats = {id(chat): chat for chat in self.world.chats.values()}.values()
        said = [message for chat in chats for message in chat.messages.values() if message.by in people]
        return sorted(said, key=lambda message: message.at)

    def oddities(self) -> list[str]:
        return [f"{call.method}: {name}" for call in self.calls for name in sorted(call.unknown) if call.acted]

    async def said(self, chat: Chat, number: int = 1, *, within_s: float = HANG_S) -> list[str]:
        """Wait until bots have said so much in a chat; their texts."""
        await self.until(lambda: len(chat.shown()) >= number, within_s=within_s)
        return chat.texts()

    async def polled(self, *, within_s: float = HANG_S) -> None:
        await self.until(lambda: self.bot.poll is not None, within_s=within_s)

    # The server

    async def serve(self, port: int = 0, *, task_status: TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
            self.base_url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            async with anyio.create_task_group() as self._tasks:
                task_status.started()
                await listener.serve(self._connection, self._tasks)

    async def _serve(self, wire: Wire, request: Request, last: list[Call]) -> bool:
        parts = request.path.strip("/").split("/")
        if parts[0] == "file":
            return await self._download(wire, parts[1:])
        if parts[0] == "control":
            from tests.fakes.telegram.control import control  # noqa: PLC0415 - which knows this module

            await wire.respond(200, json.dumps(control(self, request.params)).encode())
            return True
        if len(parts) != 2 or not parts[0].startswith("bot") or ":" not in parts[0]:
            await wire.respond(404, _failed(Failed(404, "Not Found")))
            return True
        call = Call(parts[0].removeprefix("bot"), parts[1], request.params, request.files)
        last.append(call)
        return await self._answer(wire, call)

    def _refused_garbage(self, error: Garbage, status: int) -> tuple[int, bytes]:
        return status or 400, _failed(Failed(status or 400, str(error)))

    async def _answer(self, wire: Wire, call: Call) -> bool:
        fault: Fault | None = self.faults.decide(call)
        call.fault = fault
        polling = call.method == "getUpdates"
        self.open += not polling
        try:
            if isinstance(fault, Slow) and not fault.acted_first:
                await fault.wait()
            if isinstance(fault, Refuse):
                call.answer = _refused(fault)
                self._note(call)
            elif fault is not None and not getattr(fault, "acted", True):
                self._note(call)
            elif not await self._act(wire, call):
                return False
            retry = call.answer.get("parameters", {}).get("retry_after")
            headers = {"retry_after": str(retry)} if retry else {}
            whole = json.dumps(call.answer, ensure_ascii=False).encode()
            usable = await tell(wire, call, call.answer.get("error_code", 200), whole, **headers)
            self.on_answered(call)
            return usable
        finally:
            self.open -= not polling
            self.world.changed()

    async def _act(self, wire: Wire, call: Call) -> bool:
        """Do what a call asks for; False: its client is gone."""
        try:
            bot = self.world.bots.get(call.token)
            if bot is None:
                raise Failed(401, "Unauthorized")
            if call.method == "getUpdates":
                updates = await self._updates(wire, bot, call)
                if updates is None:
                    self._note(call)
                    return False
                result: Any = updates
            elif self.methods.knows(call.method):
                result = self.methods.act(bot, call)
            else:
                raise Failed(404, "Not Found: method not found")
            call.acted = True
            call.answer = {"ok": True, "result": result}
        except Failed as error:
            call.answer = json.loads(_failed(error))
        self._note(call)
        return True

    def _note(self, call: Call) -> None:
        self.calls.append(call)
        self.on_call(call)
        self.world.changed()

    # Updates

    async def _updates(self, wire: Wire, bot: Bot, call: Call) -> list[Json] | None:
        offset, limit = call.integer("offset", 0), min(max(call.integer("limit", 100), 1), 100)
        timeout_s = min(max(call.integer("timeout", 0), 0), POLL_MAX_S)
        if bot.hook.url:
            raise Failed(409, HOOKED)
        if bot.poll is not None:
            # The one that came first is the one that is ended.
            bot.poll.reason = CONFLICT
            bot.poll.ended.set()
            bot.poll = None
        allow(bot, call)
        if offset > 0:
            bot.confirm_below(offset)
        elif offset < 0:
            bot.confirm_below(min((update.id for update in bot.updates[offset:]), default=0))
        if not bot.updates and timeout_s and not await self._wait(wire, bot, timeout_s):
            return None
        return [update.said() for update in bot.order(bot.updates[:limit])]

    async def _wait(self, wire: Wire, bot: Bot, timeout_s: int) -> bool:
        """Until there is an update, or the time is over; False: the client is gone, or this poll was ended."""
        poll = bot.poll = Poll()
        self.world.changed()
        gone = False

        async def watch(what: Any) -> None:
            nonlocal gone
            await what()
            gone = gone or what == wire.left
            tasks.cancel_scope.cancel()

        with anyio.move_on_after(timeout_s):
            async with anyio.create_task_group() as tasks:
                for what in (wire.left, poll.ended.wait, bot.arrived.wait):
                    tasks.start_soon(watch, what)
        if bot.poll is poll:
            bot.poll = None
            self.world.changed()
        if poll.reason:
            raise Failed(409, poll.reason)
        return not gone

    # Webhooks

    def _hooked(self, bot: Bot) -> None:
        if bot.hook.url and self._tasks is not None:
            self._tasks.start_soon(self._call_hook, bot, bot.hook.generation)

    async def _call_hook(self, bot: Bot, generation: int) -> None:
        while bot.hook.generation == generation:
            if not bot.updates:
                with anyio.move_on_after(0.5):
                    await bot.arrived.wait()
                continue
            update = bot.order(bot.updates[:1])[0]
            bot.hook.tries += 1
            if await self._delivered(bot, update.said()):
                bot.hook.failed = ""
                bot.confirm_below(update.id + 1)
            else:
                await anyio.sleep(HOOK_PAUSE_S)

    async def _delivered(self, bot: Bot, update: Json) -> bool:
        try:
            status, _ = await self.press_hook(bot, update)
        except (OSError, TimeoutError, *GONE) as error:
            bot.hook.failed = f"Connection failed: {type(error).__name__}"
            return False
        bot.hook.failed = "" if 200 <= status < 300 else f"Wrong response from the webhook: {status}"
        return not bot.hook.failed

    async def press_hook(self, bot: Bot, update: object, *, secret: str | None = None) -> tuple[int, bytes]:
        """Send one update to a bot's webhook, with its secret or with another; what is answered."""
        url = urlsplit(bot.hook.url)
        at = urlsplit(self.webhook_at or bot.hook.url)
        key = bot.hook.secret if secret is None else secret
        body = update if isinstance(update, bytes) else json.dumps(update).encode()
        lines = [f"POST {url.path or '/'} HTTP/1.1", f"Host: {url.netloc}", "Content-Type: application/json"]
        lines += [f"X-Telegram-Bot-Api-Secret-Token: {key}"] if key else []
        lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
        answer = b""
        with anyio.fail_after(HOOK_TIMEOUT_S):
            async with await anyio.connect_tcp(at.hostname or "127.0.0.1", at.port or 80) as stream:
                await stream.send("\r\n".join(lines).encode() + body)
                try:
                    while True:
                        answer += await stream.receive()
                except anyio.EndOfStream:
                    pass
        if not answer:
            raise ConnectionError("nothing was answered")
        return int(answer.split(b" ")[1]), answer.partition(b"\r\n\r\n")[2]

    # Files

    async def _download(self, wire: Wire, parts: list[str]) -> bool:
        token = parts[0].removeprefix("bot") if parts else ""
        call = Call(token, "download", {"path": "/".join(parts[1:])}, {})
        fault: Fault | None = self.faults.decide(call)
        call.fault = fault
        found = self.world.files.get(parts[-1]) if token in self.world.bots and len(parts) == 3 else None
        self._note(call)
        if isinstance(fault, Cut):
            reset(wire.stream)
            return False
        if isinstance(fault, Hang):
            with anyio.move_on_after(HANG_MAX_S):
                await wire.left()
            return False
        if isinstance(fault, Refuse | Page):
            await wire.respond(fault.code, _refusal(fault), content_type="text/html")
        elif found is None:
            await wire.respond(404, _failed(Failed(404, "Not Found")))
        else:
            if isinstance(fault, Slow):
                await fault.wait()
            await wire.respond(200, found.data, content_type="application/octet-stream")
        return True


def _failed(error: Failed) -> bytes:
    said: Json = {"ok": False, "error_code": error.code, "description": error.description}
    return json.dumps(said | ({"parameters": error.parameters} if error.parameters else {})).encode()


def _refused(fault: Refuse) -> Json:
    retry = {"retry_after": fault.retry_after if fault.retry_after is not None else 1} if fault.code == 429 else {}
    usual = {429: f"Too Many Requests: retry after {retry.get('retry_after')}", 500: "Internal Server Error"}
    description = fault.description or usual.get(fault.code, bad("refused").description)
    answer: Json = {"ok": False, "error_code": fault.code, "description": description}
    parameters = {**retry, **fault.parameters}
    return answer | ({"parameters": parameters} if parameters else {})


def _refusal(fault: Refuse | Page) -> bytes:
    return fault.body if isinstance(fault, Page) else json.dumps(_refused(fault)).encode()


fake_telegram = partial(served, FakeTelegram)
"""A Bot API for the length of a block; without ``floods`` as much may be sent as one likes."""
