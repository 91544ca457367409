"""What the fakes of platforms share: a world that tells of its changes, calls, and a server that errs as it is told."""

import json
import math
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

import anyio
import anyio.abc
from anyio.abc import SocketStream, TaskGroup

from tests.fakes.faults import Cut, Faults, Garbled, Hang, Page, Slow, reset
from tests.fakes.wire import GONE, Garbage, Request, Wire
from tests.limits import HANG_S

HANG_MAX_S = 60.0

Served = TypeVar("Served", bound="FakeServer")


class Changing:
    def __init__(self) -> None:
        self._changed = anyio.Event()

    def changed(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, true: Callable[[], bool], *, within_s: float = HANG_S) -> None:
        """Wait until it is so; TimeoutError when it does not come about."""
        with anyio.fail_after(within_s):
            while not true():
                await self._changed.wait()


@dataclass
class _Bucket:
    room: float
    at: float


@dataclass
class Buckets:
    clock: Callable[[], float] = time.monotonic
    refused: int = 0  # how often somebody was told to wait
    _buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])

    def take(self, *wanted: tuple[str, int, float]) -> int:
        """Take one out of each bucket (name, burst, per second); else whole seconds to wait, and nothing is taken."""
        buckets = [self._filled(*each) for each in wanted]
        short = [
            (1 - bucket.room) / per_s for bucket, (_, _, per_s) in zip(buckets, wanted, strict=True) if bucket.room < 1
        ]
        if short:
            self.refused += 1
            return max(1, math.ceil(max(short)))
        for bucket in buckets:
            bucket.room -= 1
        return 0

    def _filled(self, name: str, burst: int, per_s: float) -> _Bucket:
        now = self.clock()
        bucket = self._buckets.setdefault(name, _Bucket(burst, now))
        bucket.room = min(float(burst), bucket.room + (now - bucket.at) * per_s)
        bucket.at = now
        return bucket


@dataclass(eq=False)
class Call:
    token: str
    method: str
    params: dict[str, Any]
    _: KW_ONLY
    at: float = field(default_factory=anyio.current_time)
    fault: Any = None
    acted: bool = False  # whether what was asked for was done
    answer: dict[str, Any] = field(default_factory=dict[str, Any])  # what was answered, or would have been
    answered: bool | None = None
    """Whether its sender took in the whole answer; None: not known yet. If not, it cannot know what became of it."""
    used: set[str] = field(default_factory=set[str])

    @property
    def ok(self) -> bool:
        return bool(self.answer.get("ok"))

    def tree(self, name: str, kind: type = dict) -> Any:
        """An object or an array, itself or as JSON text; None: not there."""
        value = self._value(name)
        if isinstance(value, str) and value:
            try:
                value = json.loads(value)
            except ValueError:
                raise self._no_tree(name, None) from None
        if value in (None, ""):
            return None
        if not isinstance(value, kind):
            raise self._no_tree(name, kind)
        return value

    def _no_tree(self, name: str, kind: type | None) -> Exception:
        raise NotImplementedError

    def ignored(self, *names: str) -> None:
        """Parameters that the method has and that change nothing here."""
        self.used.update(names)

    def _value(self, name: str) -> Any:
        self.used.add(name)
        return self.params.get(name)


class FakeServer:
    world: Changing

    def __init__(self) -> None:
        self.base_url = ""
        self.faults = Faults()
        self.calls: list[Any] = []
        """Every call of a method, in the order in which they came."""
        self.on_call: Callable[[Any], object] = lambda _call: None
        """Called when something was done, before it is answered."""
        self.on_answered: Callable[[Any], object] = lambda _call: None
        """Called when it was answered."""
        self.connections = 0
        self.open = 0
        """Requests under way, but for those that wait for something to come about."""
        self._tasks: TaskGroup | None = None

    def called(self, methods: str = "", *, ok: bool | None = None) -> list[Any]:
        """The calls of a method so far, or of those whose names begin so."""
        return [call for call in self.calls if call.method.startswith(methods) and ok in (None, call.ok)]

    async def until(self, true: Any, *, within_s: float = HANG_S) -> None:
        await self.world.until(true, within_s=within_s)

    async def _connection(self, stream: SocketStream) -> None:
        self.connections += 1
        stream.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        last: list[Call] = []
        async with stream:
            wire = Wire(stream)
            try:
                while (request := await wire.request()) is not None:
                    _know(last, answered=True)
                    if not await self._serve(wire, request, last):
                        return
                _know(last, answered=True)
            except Garbage as error:
                await wire.respond(*self._refused_garbage(error, 413 if "Large" in str(error) else 0))
            except GONE:
                _know(last, answered=False)
            finally:
                self.world.changed()

    async def _serve(self, wire: Wire, request: Request, last: list[Any]) -> bool:
        """Answer one request; whether the connection can be used again."""
        raise NotImplementedError

    def _refused_garbage(self, error: Garbage, status: int) -> tuple[int, bytes]:
        raise NotImplementedError


def _know(last: list[Call], *, answered: bool) -> None:
    """What comes after an answer tells whether it was taken in."""
    for call in last:
        if call.answered is None:
            call.answered = answered
    last.clear()


async def tell(wire: Wire, call: Call, status: int, whole: bytes, **headers: Any) -> bool:
    """Say what was answered, in the way that the fault leaves; whether the connection can be used again."""
    match call.fault:
        case Cut(half=True):
            call.answered = False
            await wire.respond(status, whole, half=True)
            return False
        case Cut():
            call.answered = False
            reset(wire.stream)
            return False
        case Hang():
            call.answered = False
            if call.fault.half:
                await wire.respond(status, whole, half=True, **headers)
            with anyio.move_on_after(HANG_MAX_S):
                await wire.left()
            return False
        case Page(code, _, body):
            await wire.respond(code, body, content_type="text/html")
        case Garbled(body):
            await wire.respond(200, body)
        case fault:
            if isinstance(fault, Slow) and fault.acted_first:
                await fault.wait()
            await wire.respond(status, whole, **headers)
    return True


@asynccontextmanager
async def served(kind: type[Served], **options: Any) -> AsyncIterator[Served]:
    server: Any = kind(**options)
    async with anyio.create_task_group() as tg:
        await tg.start(server.serve)
        yield server
        tg.cancel_scope.cancel()
