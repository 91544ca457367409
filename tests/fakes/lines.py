"""A fake server of Lines, the made-up platform of the example in docs/channels-example.md."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

KEY = "sesame"
LINE_MAX_BYTES = 10_000_000

Request = dict[str, Any]


@dataclass(frozen=True)
class Answered:
    """Nothing is done; this is answered instead."""

    line: bytes


@dataclass(frozen=True)
class Dropped:
    done: bool
    hangs: bool = False


@dataclass
class LinesServer:
    """What was written to it, what people say there, and what is to go wrong."""

    decide: Callable[[Request], Answered | Dropped | None] = lambda _request: None
    key: str = KEY
    port: int = 0
    messages: dict[str, Request] = field(default_factory=dict)  # what the bot wrote, by id, as it stands now
    acts: list[Request] = field(default_factory=list)  # everything that was done
    said: list[tuple[int, Any]] = field(default_factory=list)  # what nobody has dealt with, by number
    files: dict[str, bytes] = field(default_factory=dict)
    _numbers: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def say(self, said: Any) -> None:
        """Have it said; a dict gets its number."""
        self._numbers += 1
        self.said.append((self._numbers, {"number": self._numbers, **said} if isinstance(said, dict) else said))
        self._tell()

    async def until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            await self._changed.wait()

    async def serve(self, *, task_status: TaskStatus[None]) -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener:
            self.port = listener.extra(SocketAttribute.local_address)[1]
            task_status.started()
            await listener.serve(self._connection)

    async def _connection(self, stream: SocketStream) -> None:
        async with stream:
            try:
                line = await BufferedByteReceiveStream(stream).receive_until(b"\n", LINE_MAX_BYTES)
                fault = self.decide(request := json.loads(line))
                if isinstance(fault, Answered):
                    await stream.send(fault.line + b"\n")
                    return
                answer = await self._do(request) if fault is None or fault.done else {}
                if fault is None:
                    await stream.send(json.dumps(answer).encode() + b"\n")
                elif fault.hangs:
                    await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.IncompleteRead):
                return

    async def _do(self, request: Request) -> Request:
        if request["key"] != self.key:
            return {"never": "wrong key"}
        if request["do"] == "listen":
            return await self._listen(request)
        self.acts.append(request)
        answer = self._act(request)
        self._tell()
        return answer

    def _act(self, request: Request) -> Request:
        number = request.get("id", "")
        match request["do"]:
            case "change" | "take_back" if number not in self.messages:
                return {"gone": True}
            case "say":
                number = f"b{len(self.acts)}"
                self.messages[number] = request
            case "change":
                self.messages[number] = {**self.messages[number], "text": request["text"]}
            case "take_back":
                del self.messages[number]
            case "file" if number not in self.files:
                return {"never": "no such file"}
            case "file":
                return {"content": base64.b64encode(self.files[number]).decode()}
            case "who_am_i":
                return {"nick": "pond"}
            case _:
                pass
        return {"id": number}

    async def _listen(self, request: Request) -> Request:
        self.said = [(number, said) for number, said in self.said if number > request["after"]]
        self._tell()
        with anyio.move_on_after(request["wait_s"]):
            await self.until(lambda: bool(self.said))
        return {"said": [said for _, said in self.said]}

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
