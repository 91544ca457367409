"""A fake bridge for channels of type ``webhook``: it checks signatures, shows messages, and posts those of people.

Its faults are those of ``tests.fakes.sink``. It recognises a repeated ``webhook-id``, as a bridge should.
"""

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskGroup, TaskStatus
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.http import listen, serving
from channels.webhook.webhook_receiver import ID, problem_of, signed
from daemon.clock import SystemClock
from daemon.config import Secret
from tests.fakes.sink import Cut, Fault, Hang, Page, Post, Refuse
from tests.limits import HANG_S, until

SECRET = Secret("whsec_" + "c2VjcmV0IG9mIGEgYnJpZGdl" * 2)


CUT = {"x-cut": "1"}


class Bridge:
    def __init__(self, tasks: TaskGroup, decide: Callable[[Post], Fault | None]) -> None:
        self.url = ""
        self.secret = SECRET
        self.messages: dict[str, Post] = {}  # what people see, by id
        self.acts: list[Post] = []
        self.files: dict[str, bytes] = {}
        self._decide = decide
        self._known: dict[tuple[str, str, str], str] = {}  # ids of messages, by ``webhook-id``, chat and text
        self._name = ""
        self._said = 0
        self._tasks = tasks
        self.address = ""  # of Millpond
        self.waiting: dict[str, list[tuple[str, Any]]] = {}  # by chat; not taken yet

    async def serve(self, *, task_status: TaskStatus[None]) -> None:
        routes = [
            Route("/", self._posted, methods=["POST"]),
            Route("/files/{name}", self._file),
        ]
        listening = await listen("bridge", "127.0.0.1", 0)
        with listening:
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            async with serving(_Cutting(Starlette(routes=routes)), listening):
                task_status.started()
                await anyio.sleep_forever()

    def say(self, chat: str, message: Any) -> None:
        """Have a person say something: it is posted until it is taken, in the order of its chat."""
        self._said += 1
        waiting = self.waiting.setdefault(chat, [])
        waiting.append((f"w{self._said}", message))
        if len(waiting) == 1:
            self._tasks.start_soon(self._bring, chat)

    async def settled(self) -> None:
        await until(lambda: not any(self.waiting.values()))

    async def _bring(self, chat: str) -> None:
        while self.waiting[chat]:
            name, message = self.waiting[chat][0]
            if await self._is_dealt_with(name, message):
                self.waiting[chat].pop(0)
            else:
                await anyio.sleep(0.02)

    async def _is_dealt_with(self, name: str, message: Any) -> bool:
        if self._decide({"type": "said"}) is not None:
            return False  # something in between failed
        try:
            answer = await self.post(message, name=name)
        except httpx2.HTTPError:
            return False
        return answer.is_success or answer.status_code == 400

    async def post(self, message: Any, *, name: str, **more: str) -> httpx2.Response:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        headers = {**signed(self.secret, name, body, now_s=SystemClock().now().timestamp()), **more}
        async with httpx2.AsyncClient(verify=False, timeout=HANG_S) as client:
            return await client.post(self.address, content=body, headers=headers)

    async def _posted(self, request: Request) -> Response:
        body = await request.body()
        self._name = request.headers.get(ID, "")
        if problem_of(self.secret, request.headers, body, now_s=SystemClock().now().timestamp()):
            return Response(status_code=401)
        post = json.loads(body)
        return await self._answered(self._decide(post), lambda: self._done(post))

    def _done(self, post: Post) -> Response:
        number, chat = post.get("id", ""), post.get("chat")
        gone = self.messages.get(number, {"chat": None})["chat"] != chat
        match post["type"]:
            case "message":
                number = self._known.setdefault((self._name, chat, post["text"]), f"b{len(self._known) + 1}")
                self.messages[number] = post
            case "edit" | "remove" if gone:
                return Response(status_code=404)
            case "edit":
                self.messages[number] = {**self.messages[number], "text": post["text"]}
            case "remove":
                del self.messages[number]
            case _:
                self.acts.append(post)
        return Response(json.dumps({"id": number, "name": "a fake bridge"}))

    async def _file(self, request: Request) -> Response:
        content = self.files.get(request.path_params["name"])
        found = Response(status_code=404) if content is None else Response(content)
        return await self._answered(self._decide({"type": "fetch"}), lambda: found)

    async def _answered(self, fault: Fault | None, act: Callable[[], Response]) -> Response:
        match fault:
            case Refuse(status, retry_after_s):
                return Response(
                    status_code=status, headers={"Retry-After": f"{retry_after_s}"} if retry_after_s else {}
                )
            case Page(status):
                return Response("<!doctype html>", status, media_type="text/html")
            case Cut(delivered=False):
                return Response(headers=CUT)
            case Hang(delivered=False):
                await anyio.sleep_forever()
            case _:
                answer = act()
        if isinstance(fault, Cut):
            return Response(headers=CUT)
        if isinstance(fault, Hang):
            await anyio.sleep_forever()
        return answer


class _Cutting:
    """An application whose connection is cut where its response says so, without a whole answer."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_cut = False

        async def sent(message: Any) -> None:
            nonlocal is_cut
            is_cut = is_cut or (b"x-cut", b"1") in message.get("headers", ())
            if not is_cut:
                await send(message)

        await self._app(scope, receive, sent)
        if is_cut:
            # The server closes a connection whose application ends before the body is whole.
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
