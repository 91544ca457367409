"""Marks of parts: about to be sent, sent, or unknown.

Marks are made many at once: those that come up while a script is under way share the next one.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal

import anyio
import msgspec
import structlog

from daemon.bus import Bus, Part, load_script, pack
from daemon.errors import BusError, BusUnavailable, LeaseLost, brief
from daemon.events import Reply
from daemon.traces import KEPT_MAX, Delivered, Span, encode

MARKS = load_script(__file__, "marks.lua")
DEAD = load_script(__file__, "dead.lua")

OPEN_TTL_MS = 7 * 86_400_000
"""TTL of marks of an undelivered reply: longer than outages of platforms."""

DELIVERED_TTL_MS = 86_400_000
"""Marks of a delivered reply: longer than a command is late."""

UNKNOWN_MAX = 10_000
UNKNOWN_TTL_MS = 7 * 86_400_000

LAST_S = 3.0
"""Limit for writing outcomes at the end: within the time of a stopping process beyond its grace time."""

RETRY_PAUSE_S = 0.1
"""Pause between attempts while Redis is unavailable; the bus itself has retried for some seconds."""

Asking = Literal["sending", "asking", "looked"]
"""``sending``: nobody can look for what is unknown; ``asking``: it can be looked for; ``looked``: it is not there."""

Noted = Literal["sent", "refused", "edited", "dropped", "found", "seen", "unseen"]
"""``edited``: the preview is the part now; ``dropped``: it is no more, and the part has to be sent; ``found``: what was
in doubt is there; ``seen``, ``unseen``: so is a preview, or it is not."""

_log = structlog.get_logger()


# Made for every part, and several times as fast to make as dataclasses.


class Place(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One part of a reply."""

    stream_id: bytes
    """Of the reply, in ``out``."""
    reply: Reply
    part: int
    last: bool
    """Whether the reply ends with this part."""


class Step(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One attempt at sending one part."""

    place: Place
    attempt: int
    """From 1 for each part."""
    mark: str
    """Names this attempt alone."""


class NextStep(Enum):
    """The next step for a part."""

    SEND = auto()
    SEND_AGAIN = auto()
    """Send it; an earlier attempt may have arrived."""
    OVER = auto()
    """It was sent, or given up, before."""
    GIVEN_UP = auto()
    """Its outcome has just become unknown once too often."""


class Shown(msgspec.Struct, frozen=True):
    """The part's beginning is shown already: that message is to be edited, and says the part then."""

    platform_id: str


class UnknownAttempt(msgspec.Struct, frozen=True):
    """An attempt with unknown result: look for its message."""

    number: int
    """Of the attempt, or of the preview."""
    preview: bool = False
    """It is the preview that may be there."""

    def of(self, step: Step) -> Step:
        """The step that records the result of looking."""
        return msgspec.structs.replace(step, attempt=self.number)


@dataclass(eq=False, slots=True)
class _Batch:
    """Steps that share a script."""

    keys: list[str] = field(default_factory=list[str])
    args: list[str | int] = field(default_factory=list[str | int])
    waiters: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    results: list[Any] = field(default_factory=list[Any])
    error: BusError | None = None

    count: int = 0

    def add(self, keys: Sequence[str], args: Sequence[str | int]) -> int:
        """Add a step; its place."""
        self.keys += keys
        self.args += args
        self.count += 1
        return self.count - 1

    async def done(self) -> None:
        """Wait until it was carried out, or refused."""
        waiter: asyncio.Future[None] = self.loop.create_future()
        self.waiters.append(waiter)
        await waiter

    def settle(self) -> None:
        """Let all go on that wait for it."""
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)


class DeliveryState:
    """Marks in the name of one leader; they are carried out inside ``kept``."""

    def __init__(self, bus: Bus, *, partition: int, channel: str, nonce: str, attempts_max: int) -> None:
        """``attempts_max``: so often a part is sent whose outcome stays unknown though it is looked for."""
        self._bus = bus
        self._leader = bus.keys.leader(partition, channel)
        self._out = bus.keys.out(partition, channel)
        self._unknown = bus.keys.unknown(partition)
        self._dead = bus.keys.dead(partition)
        self._nonce = nonce
        self._attempts_max = attempts_max
        self._open = _Batch()
        self._asked = anyio.Event()
        self._writing = False

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Write marks during the block, and its remaining ones for some seconds after it."""
        # Shielded: what was sent was sent, and a shutdown may delay the note of it, never take it away.
        writing = anyio.CancelScope(shield=True)

        async def write() -> None:
            with writing:
                await self._write()

        async with anyio.create_task_group() as tg:
            tg.start_soon(write)
            try:
                yield
            finally:
                with anyio.move_on_after(LAST_S, shield=True):
                    await self.written()
                writing.cancel()

    @property
    def idle(self) -> bool:
        """Whether all that was asked and noted is written."""
        return not self._open.keys and not self._writing

    async def entry(self, stream_id: bytes) -> dict[bytes, bytes] | None:
        """The fields of an entry of ``out``; None when it has left.

        Raises:
            BusUnavailable: Redis is away.
        """
        found: list[tuple[bytes, dict[bytes, bytes]]] = await self._bus.call("XRANGE", self._out, stream_id, stream_id)
        return found[0][1] if found else None

    async def sending(self, step: Step, asking: Asking = "sending") -> NextStep | Shown | UnknownAttempt | int:
        """Mark a part before it is sent; a number is that of the attempt that was made last: ask with the next one.

        What is shown already is not marked: an edit may be repeated. Nor is what is in doubt, when ``asking``.

        Raises:
            LeaseLost: somebody else sends now.
            BusError: Redis refuses the script.
        """
        batch, place = self._add(asking, step)
        await batch.done()
        if batch.error is not None:
            raise batch.error
        status, number = batch.results[2 * place : 2 * place + 2]
        if status == b"stale":
            raise _lost(self._leader)
        if status == b"attempt":
            return int(number)
        if status == b"send":
            return NextStep.SEND_AGAIN if number else NextStep.SEND
        if status == b"edit":
            return Shown(number.decode())
        if status in (b"look", b"preview"):
            return UnknownAttempt(int(number), status == b"preview")
        return NextStep.OVER if status == b"over" else NextStep.GIVEN_UP

    def note(self, step: Step, outcome: Noted, platform_id: str = "", span: Span | None = None) -> None:
        """Record the result of a part; written soon, in order with all later calls."""
        trace = encode(Delivered(turn=step.place.reply.turn, span=span)).decode() if span else ""
        self._add(outcome, step, platform_id, trace)

    async def written(self) -> None:
        """Wait until all that was noted so far is written."""
        batch = self._open
        self._asked.set()
        await batch.done()

    async def bury(self, stream_id: bytes, reply: Reply | None, *, reason: str, attempts: int) -> None:
        """Make a dead letter of a reply, or, without a ``reason``, only take it out of ``out``.

        ``reply`` is None when it cannot be read.

        Raises:
            LeaseLost: somebody else sends now.
            BusUnavailable: Redis is away; the same may be asked again.
        """
        session, reply_id = (reply.session, reply.id) if reply else ("", "")
        status = await self._bus.run(
            DEAD,
            [self._leader, self._out, self._dead],
            [self._nonce, stream_id, reason, attempts, session, reply_id],
        )
        if status == b"stale":
            raise _lost(self._leader)

    def _add(self, what: str, step: Step, platform_id: str = "", trace: str = "") -> tuple[_Batch, int]:
        batch, place = self._open, step.place
        keys = self._bus.keys.delivering(place.reply.session, place.reply.id)
        if not batch.keys:
            self._asked.set()
        return batch, batch.add(
            keys,
            (what, place.stream_id.decode(), place.part, step.attempt, step.mark, int(place.last), platform_id, trace),
        )

    async def _write(self) -> None:
        while True:
            await self._asked.wait()
            self._asked = anyio.Event()
            batch, self._open = self._open, _Batch()
            if batch.keys:
                self._writing = True
                await self._carry_out(batch)
                self._writing = False
            batch.settle()

    async def _carry_out(self, batch: _Batch) -> None:
        keys = [self._leader, self._out, self._unknown, *batch.keys]
        args: list[Part] = [
            self._nonce,
            OPEN_TTL_MS,
            DELIVERED_TTL_MS,
            UNKNOWN_MAX,
            UNKNOWN_TTL_MS,
            self._attempts_max,
            KEPT_MAX,
            pack(batch.args),
        ]
        while True:
            try:
                batch.results = await self._bus.run(MARKS, keys, args)
            except BusUnavailable as error:
                # Repeated as it is: each step knows itself again.
                _log.warning("mark.delayed", count=batch.count, reason=brief(error))
                await anyio.sleep(RETRY_PAUSE_S)
            except BusError as error:
                _log.error("mark.refused", count=batch.count, reason=brief(error))
                batch.error = error
                return
            else:
                return


def _lost(key: str) -> LeaseLost:
    return LeaseLost(f"{key}: another Millpond process now sends this channel's replies")
