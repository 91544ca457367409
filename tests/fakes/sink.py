"""A fake platform for push channels of type ``testing``: real HTTP on loopback, and every way in which it goes wrong.

    async with sink([Refuse(429, retry_after_s=0.1), Cut()]) as platform:
        config = TestingConfig(url=platform.url)

A script is one fault a part, in order; None, and what comes after it is used up, is taken properly. A function from
the decoded post to a fault can stand in its place. ``others`` is the same for everything that is no part: edits,
removals, typing, reactions, files, health, and asking for updates (``{"kind": "updates", "after": ...}``).

People say something by ``say``; it is said again to whoever asks, until that one says that it is dealt with.

``python -m tests.fakes.sink PORT FILE [EVERY]`` runs it for other processes: one JSON line a delivery, and with EVERY
each so-many-th request meets one of the faults in turn.
"""

import itertools
import json
import math
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import msgspec
from anyio.abc import SocketStream, TaskStatus

from channels.arrival import Arrival
from daemon.sessionkey import SessionKey
from daemon.testing import Gate

REQUEST_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Refuse:
    """A status that refuses (429, 5xx) or rejects (other 4xx); nothing is delivered."""

    status: int = 429
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Cut:
    delivered: bool = True  # whether it was delivered before


@dataclass(frozen=True)
class Hang:
    delivered: bool = True


@dataclass(frozen=True)
class Slow:
    delay_s: float = 0.0
    gate: Gate | None = None  # answered when it is opened


@dataclass(frozen=True)
class Garbled:
    """Delivered, and answered with something that is no JSON."""


@dataclass(frozen=True)
class Page:
    """Answered by something in between, with a page for people."""

    status: int = 502
    delivered: bool = False


Fault = Refuse | Cut | Hang | Slow | Garbled | Page
Post = dict[str, Any]
Decide = Callable[[Post], Fault | None]


@dataclass(eq=False)
class Attempt:
    post: Post
    delivered: bool
    answered: bool = False  # whether its sender took in the whole answer. If not, it cannot know what became of it
    took_s: float = 0.0  # from its arrival until that was certain


@dataclass
class Sink:
    decide: Decide
    decide_others: Decide = lambda _post: None
    url: str = ""
    posts: list[Post] = field(default_factory=list)  # every part so far, delivered or not
    delivered: list[Post] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)  # the same parts, each with what its sender knows of it
    acts: list[Post] = field(default_factory=list)  # everything else that was asked and done, but for updates
    messages: dict[str, Post] = field(default_factory=dict)
    """What the chats show, by id: the parts as they were edited last, without those that were removed."""
    files: dict[str, bytes] = field(default_factory=dict)  # what can be fetched, by source
    updates: list[tuple[int, Any]] = field(default_factory=list)
    """What people said and nobody has dealt with, by number."""
    talk: list[Arrival] = field(default_factory=list)  # all that people said
    _changed: anyio.Event = field(default_factory=anyio.Event)
    on_delivery: Callable[[Post], None] = lambda _post: None
    _open: int = 0
    _said: int = 0

    @property
    def updates_url(self) -> str:
        return f"{self.url}updates"

    def say(self, arrival: Arrival | Any) -> None:
        """Have somebody say something; what is no ``Arrival`` is said as it is."""
        self._said += 1
        if isinstance(arrival, Arrival):
            self.talk.append(arrival)
        self.updates.append((self._said, msgspec.to_builtins(arrival)))
        self._tell()

    async def heard(self, *, within_s: float = 20.0) -> None:
        await self._until(lambda: not self.updates, within_s)

    def shown(self, session: str) -> list[str]:
        return [post["text"] for post in self.messages.values() if post["session"] == session]

    def acts_of(self, kind: str) -> list[Post]:
        return [post for post in self.acts if post["kind"] == kind]

    def texts(self, session: str = "") -> list[str]:
        """The texts that were delivered, of one session or of all, in order."""
        return [post["text"] for post in self.delivered if session in ("", post["session"])]

    async def count(self, number: int, *, within_s: float = 20.0) -> None:
        await self._until(lambda: len(self.delivered) >= number, within_s)

    async def asked(self, number: int, *, within_s: float = 20.0) -> None:
        await self._until(lambda: len(self.posts) >= number, within_s)

    async def settled(self, *, within_s: float = 20.0) -> None:
        await self._until(lambda: not self._open, within_s)

    async def _until(self, reached: Callable[[], bool], within_s: float) -> None:
        with anyio.fail_after(within_s):
            while not reached():
                await self._changed.wait()

    async def serve(self, port: int = 0, *, task_status: TaskStatus[None]) -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
        async with listener:
            host, number = listener.extra(anyio.abc.SocketAttribute.local_address)[:2]
            self.url = f"http://{host}:{number}/"
            task_status.started()
            await listener.serve(self._connection)

    async def _connection(self, stream: SocketStream) -> None:
        self._open += 1
        try:
            await self._serve_one(stream)
        finally:
            self._open -= 1
            self._tell()

    async def _serve_one(self, stream: SocketStream) -> None:
        async with stream:
            with anyio.move_on_after(REQUEST_TIMEOUT_S):
                try:
                    target, body = await _request(stream)
                    if not body:
                        await self._say_updates(stream, target)
                        return
                    attempt = self._take(json.loads(body))
                    came_at = anyio.current_time()
                    if await self._answer(stream, attempt):
                        attempt.answered = await _was_taken_in(stream)
                        attempt.took_s = anyio.current_time() - came_at
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return

    def _take(self, post: Post) -> "_Decided":
        part = "kind" not in post
        fault = (self.decide if part else self.decide_others)(post)
        attempt = _Decided(post=post, delivered=_delivers(fault), fault=fault)
        if part:
            self.posts.append(post)
            self.attempts.append(attempt)
        if attempt.delivered:
            attempt.body = self._deliver(post) if part else self._act(post)
        self._tell()
        return attempt

    def _deliver(self, post: Post) -> bytes:
        self.delivered.append(post)
        self.on_delivery(post)
        number = f"m{len(self.delivered)}"
        self.messages[number] = post
        return _json({"id": number})

    def _act(self, post: Post) -> bytes | None:
        """What is answered; None: there is no such thing."""
        self.acts.append(post)
        number = post.get("id", "")
        gone = self.messages.get(number, {"session": None})["session"] != post.get("session")
        match post["kind"]:
            case "edit" | "remove" if gone:
                return None
            case "edit":
                self.messages[number] = {key: value for key, value in post.items() if key not in ("kind", "id")}
            case "remove":
                del self.messages[number]
            case "fetch":
                return self.files.get(post["source"])
            case "find":
                return _json({"id": next((at for at, each in self.messages.items() if _is_it(each, post)), "")})
            case "before":
                return _json({"said": self._said_before(post["session"], post["id"])})
            case _:
                pass
        return _json({"id": number, "name": "a fake platform"})

    def _said_before(self, session: str, message_id: str) -> list[Post]:
        found: list[Post] = []
        key = SessionKey.parse(session)
        for each in self.talk:
            if (each.chat, each.thread) != (key.chat, key.thread) or each.edited or each.deleted:
                continue
            if each.id == message_id:
                break
            sender = {"sender_id": each.sender.id, "sender_name": each.sender.name}
            files = msgspec.to_builtins(each.attachments)
            found.append(
                {"id": each.id, "text": each.text, "at": "2026-11-20T12:00:00Z", "attachments": files, **sender}
            )
        return found

    async def _say_updates(self, stream: SocketStream, target: str) -> None:
        query = parse_qs(urlsplit(target).query)
        after = int(query["after"][0])
        fault = self.decide_others({"kind": "updates", "after": after})
        self.updates = [(number, said) for number, said in self.updates if number > after]
        self._open -= 1  # of what it asks nothing more becomes known
        self._tell()
        try:
            if fault is None:
                with anyio.move_on_after(float(query["wait_s"][0])):
                    await self._until(lambda: bool(self.updates), math.inf)
            said = [{"number": number, "arrival": arrival} for number, arrival in self.updates]
            await self._answer(stream, _Decided(post={}, delivered=True, fault=fault, body=_json({"updates": said})))
        finally:
            self._open += 1

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def _answer(self, stream: SocketStream, attempt: "_Decided") -> bool:
        match attempt.fault:
            case Cut():
                return False
            case Hang():
                await stream.receive()
                return False
            case Refuse(status, retry_after_s):
                more = f"Retry-After: {retry_after_s}\r\n" if retry_after_s is not None else ""
                await _respond(stream, status, b"{}", more)
            case Page(status):
                await _respond(
                    stream, status, b"<!doctype html><title>Bad gateway</title>", "Content-Type: text/html\r\n"
                )
            case Garbled():
                await _respond(stream, 200, b"<ok>")
            case Slow(delay_s, gate):
                await anyio.sleep(delay_s)
                if gate is not None:
                    await gate.pass_through()
                await _respond(stream, 200, attempt.body)
            case None:
                await _respond(stream, 200, attempt.body)
        return True


@dataclass(eq=False, kw_only=True)
class _Decided(Attempt):
    fault: Fault | None
    body: bytes | None = None


def _is_it(sent: Post, asked: Post) -> bool:
    """Whether something that was sent is the part that is asked for."""
    names = ("session", "reply", "part")
    return [sent[name] for name in names] == [asked[name] for name in names] and (
        sent.get("preview", False) == asked["preview"]
    )


def _delivers(fault: Fault | None) -> bool:
    return not isinstance(fault, Refuse) and getattr(fault, "delivered", True)


def _json(answer: Any) -> bytes:
    return json.dumps(answer).encode()


async def _request(stream: SocketStream) -> tuple[str, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
    while len(body) < sum(lengths):
        body += await stream.receive()
    return first.split(b" ")[1].decode(), body


async def _was_taken_in(stream: SocketStream) -> bool:
    """Whether the other side hangs up having read everything.

    Bytes that arrive at a socket which is closed, or stand unread in one that is being closed, are answered by a reset:
    so does the system of a sender that was killed, or had given up waiting.
    """
    await stream.send_eof()
    with suppress(anyio.EndOfStream):
        while True:
            await stream.receive()
    # After a half-closed connection was reset nothing more is read; the error waits at the socket.
    return not stream.extra(anyio.abc.SocketAttribute.raw_socket).getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


async def _respond(stream: SocketStream, status: int, body: bytes | None, more: str = "") -> None:
    """Answer; without a body, that there is no such thing."""
    if body is None:
        status, body = 404, b"{}"
    head = f"HTTP/1.1 {status} X\r\n{more}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    await stream.send(head.encode() + body)


@asynccontextmanager
async def sink(
    script: Iterable[Fault | None] | Decide = (), *, others: Iterable[Fault | None] | Decide = ()
) -> AsyncIterator[Sink]:
    platform = Sink(_decision(script), _decision(others))
    async with anyio.create_task_group() as tg:
        await tg.start(platform.serve)
        yield platform
        tg.cancel_scope.cancel()


def _decision(script: Iterable[Fault | None] | Decide) -> Decide:
    if callable(script):
        return script
    faults = itertools.chain(script, itertools.repeat(None))
    return lambda _post: next(faults)


def every(number: int) -> Decide:
    """Each ``number``-th request meets one of all faults, in turn."""
    # The worst one first: a short run meets few.
    faults = itertools.cycle([Cut(), Refuse(429, 0.05), Refuse(500), Cut(delivered=False), Slow(0.2), Garbled()])
    requests = itertools.count(1)
    return lambda _post: next(faults) if number and next(requests) % number == 0 else None


async def _main(port: int, file: str, number: int) -> None:
    with open(file, "a", encoding="utf-8") as lines:  # noqa: ASYNC230, PTH123 - a line is written faster than a thread is asked

        def note(post: Post) -> None:
            lines.write(json.dumps({**post, "at": time.time()}) + "\n")
            lines.flush()

        platform = Sink(every(number), on_delivery=note)
        async with anyio.create_task_group() as tg:
            await tg.start(platform.serve, port)
            print(platform.url, flush=True)


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
