"""A fake OpenAI-compatible server: real HTTP on loopback, real event streams, and every way in which they go wrong.

    async with fake_openai([Say("Hello"), Failure(429, headers={"Retry-After": "2"})]) as server:
        model = OpenAIModel(ModelConfig(base_url=server.base_url, name="fake"))

A script is one reply a request, in order; when it is used up, or without one, the last user message is echoed, and
texts to embed get ``letters``. A function from the decoded body to a reply can stand in its place.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
from anyio.abc import SocketStream

from tests.fakes.said import said
from tests.fakes.wire import Wire

REQUEST_TIMEOUT_S = 600.0
HANDSHAKE = b"\x16"
"""First byte of TLS (RFC 8446 5.1), which this server does not speak."""


@dataclass(frozen=True)
class Call:
    """A tool call in an answer; its arguments are streamed in two fragments."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True)
class Say:
    """An ordinary answer, streamed word by word, or whole when the request does not ask for a stream."""

    text: str = ""
    calls: Sequence[Call] = ()
    delay_s: float = 0.0  # before each event
    finish: str = ""  # finish_reason; empty: ``stop`` or ``tool_calls``
    cut_after: int | None = None  # close the connection properly after so many events: the stream ends early
    usage: tuple[int, int] = (10, 5)


@dataclass(frozen=True)
class Events:
    """A stream of payloads as they are; a number is a pause in seconds, and bytes go out unchanged."""

    items: Sequence[dict[str, object] | float | bytes]
    done: bool = True
    abort: bool = False  # cut the connection in the middle of the body instead of ending it


@dataclass(frozen=True)
class Failure:
    status: int
    message: str = "it went wrong"
    code: str | None = None
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plain:
    body: bytes
    content_type: str = "text/html"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """Nothing at all until the client goes."""


@dataclass(frozen=True)
class Embed:
    """Vectors for the texts of an embeddings request, by default as ``letters`` makes them."""

    vector_of: Callable[[str], Sequence[float]] | None = None
    forget: int = 0  # so many of the last texts get none
    backwards: bool = False  # in the other order; ``index`` says which is whose
    delay_s: float = 0.0


@dataclass(frozen=True)
class Rerank:
    """Scores for the texts of a rerank request, by default the share of the query's words that each contains."""

    score_of: Callable[[str, str], float] | None = None
    is_tei: bool = False  # a list, as Text Embeddings Inference sends it
    tokens: int = 0


Reply = Say | Events | Failure | Plain | Hang | Embed | Rerank
Script = Iterable[Reply] | Callable[[dict[str, object]], Reply]


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]  # names in small letters
    raw: bytes
    body: dict[str, object]  # of a form, as a recording comes in one, all of it as ``form``


class FakeOpenAI:
    def __init__(self, port: int, script: Script) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.requests: list[Received] = []
        self.connections = 0
        self.asked = anyio.Event()
        """A request has come."""
        self.client_left = anyio.Event()
        """A client closed its connection before its answer was whole."""
        self.models: Sequence[str] = ()
        """Names that it tells to whom asks for them, outside of the script; none: it knows no such question."""
        replies = iter(()) if callable(script) else iter(script)
        self._choose = script if callable(script) else lambda body: next(replies, None) or _natural(body)

    async def serve(self, stream: SocketStream) -> None:
        self.connections += 1
        async with stream:
            connection = _Connection(stream)
            try:
                while (request := await connection.received()) is not None:
                    if request.path.endswith("/models"):
                        await _answer(connection, self._models(), {})
                        continue
                    self.requests.append(request)
                    self.asked.set()
                    if not await _answer(connection, self.reply(request), request.body):
                        break
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.client_left.set()

    def reply(self, request: Received) -> Reply:
        return self._choose(request.body)

    def _models(self) -> Reply:
        if not self.models:
            return Failure(404)
        listed = [{"id": name, "object": "model"} for name in self.models]
        return Plain(json.dumps({"object": "list", "data": listed}).encode(), content_type="application/json")


class _Connection(Wire):
    async def received(self) -> Received | None:
        try:
            self._buffer = self._buffer or await self.stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return None  # between two requests a client may go
        if self._buffer[:1] == HANDSHAKE:
            await self.stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None
        request = await self.request()
        assert request is not None
        is_form = request.headers.get("content-type", "").startswith("multipart/")
        body = {"form": request.body.decode("latin-1")} if is_form else json.loads(request.body or b"{}")
        return Received(path=request.path, headers=request.headers, raw=request.body, body=body)

    async def chunk(self, data: bytes) -> None:
        """A chunk of a chunked body; an empty one ends it."""
        await self.stream.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def pause(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while True:
                self._buffer += await self.stream.receive()


async def _answer(connection: _Connection, reply: Reply, body: dict[str, object]) -> bool:
    """Send ``reply``; whether the connection can be used again."""
    match reply:
        case Failure():
            error = {"message": reply.message, "type": "error", "param": reply.param, "code": reply.code}
            content = json.dumps({"error": error}).encode()
            await connection.respond(reply.status, content, **reply.headers)
        case Plain():
            await connection.respond(reply.status, reply.body, content_type=reply.content_type, **reply.headers)
        case Hang():
            await connection.pause(REQUEST_TIMEOUT_S)
            return False
        case Embed():
            await connection.pause(reply.delay_s)
            await connection.respond(200, json.dumps(embedded(reply, body)).encode())
        case Rerank():
            await connection.respond(200, json.dumps(reranked(reply, body)).encode())
        case Events():
            return await _stream(connection, reply)
        case Say() if not body.get("stream"):
            await connection.respond(200, json.dumps(completion(reply)).encode())
        case Say():
            return await _stream(connection, _events(reply, body))
    return True


async def _stream(connection: _Connection, events: Events) -> bool:
    head = "HTTP/1.1 200 Fake\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
    await connection.stream.send(head.encode())
    for item in events.items:
        match item:
            case bytes():
                await connection.chunk(item)
            case float() | int():
                await connection.pause(item)
            case dict():
                await connection.chunk(b"data: " + json.dumps(item, ensure_ascii=False).encode() + b"\n\n")
    if events.abort:
        return False
    if events.done:
        await connection.chunk(b"data: [DONE]\n\n")
    await connection.chunk(b"")
    return True


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1", "choices": [choice]}


def completion(reply: Say) -> dict[str, object]:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in reply.calls
    ]
    message: dict[str, object] = {"role": "assistant", "content": reply.text or None}
    choice = {
        "index": 0,
        "message": {**message, "tool_calls": calls} if calls else message,
        "finish_reason": _finish(reply),
    }
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": "fake-1", "choices": [choice],
        "usage": _usage(reply),
    }  # fmt: skip


def letters(text: str) -> list[float]:
    """A vector that says how often each letter stands in ``text``."""
    return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


def embedded(reply: Embed, body: dict[str, object]) -> dict[str, object]:
    asked = body["input"]
    texts = asked if isinstance(asked, list) else [asked]
    vector_of = reply.vector_of or letters
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts[: len(texts) - reply.forget])
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {
        "object": "list", "model": body["model"], "data": data[::-1] if reply.backwards else data, "usage": usage,
    }  # fmt: skip


def _finish(reply: Say) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _usage(reply: Say) -> dict[str, int]:
    return {"prompt_tokens": reply.usage[0], "completion_tokens": reply.usage[1], "total_tokens": sum(reply.usage)}


def _events(reply: Say, body: dict[str, object]) -> Events:
    words = reply.text.split(" ")
    texts = [word if at == 0 else " " + word for at, word in enumerate(words)] if reply.text else []
    chunks = [delta(role="assistant", content=""), *(delta(content=text) for text in texts)]
    for index, call in enumerate(reply.calls):
        half = len(call.arguments) // 2
        begin = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        chunks.append(delta(tool_calls=[begin]))
        for part in (call.arguments[:half], call.arguments[half:]):
            chunks.append(delta(tool_calls=[{"index": index, "function": {"arguments": part}}]))
    chunks.append(delta(finish=_finish(reply)))
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        chunks.append({**delta(), "choices": [], "usage": _usage(reply)})
    kept = chunks[: reply.cut_after]
    items = [item for chunk in kept for item in ((reply.delay_s, chunk) if reply.delay_s else (chunk,))]
    return Events(items, done=reply.cut_after is None)


def _natural(body: dict[str, object]) -> Reply:
    return Embed() if "input" in body else _echo(body)


def _echo(body: dict[str, object]) -> Say:
    messages = body.get("messages")
    users = [m for m in messages if m["role"] == "user"] if isinstance(messages, list) else []
    return Say(f"echo: {said(users[-1]['content']) if users else 'nothing'}")


@asynccontextmanager
async def fake_openai(script: Script = (), *, port: int = 0) -> AsyncIterator[FakeOpenAI]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
        server = FakeOpenAI(listener.extra(anyio.abc.SocketAttribute.local_port), script)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.serve)
            yield server
            tasks.cancel_scope.cancel()


def shared_words(query: str, text: str) -> float:
    """The share of the words of ``query`` that ``text`` contains."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def reranked(reply: Rerank, body: dict[str, Any]) -> object:
    score_of = reply.score_of or shared_words
    texts = body["texts" if reply.is_tei else "documents"]
    name = "score" if reply.is_tei else "relevance_score"
    scores = [{"index": index, name: score_of(body["query"], text)} for index, text in enumerate(texts)]
    scores.sort(key=lambda scored: -scored[name])
    return scores if reply.is_tei else {"results": scores, "usage": {"total_tokens": reply.tokens}}
