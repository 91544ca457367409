"""Stand-ins for tests: a clock turned by hand, a model that says what a test scripted, a bus that fails on call."""

import datetime as dt
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from daemon.bus import Bus, Script
from daemon.bus.pipeline_connection import Part
from daemon.bus.script_batch import ScriptRequest, Shared, arguments
from daemon.errors import BusUnavailable, MillpondError
from daemon.model import Answer, Chunk, Request, TextChunk

START = dt.datetime(2026, 11, 20, 9, 0, tzinfo=dt.UTC)
"""What a manual clock shows at first."""


class ManualClock:
    """A ``Clock`` that stands still until a test turns it."""

    def __init__(self, start: dt.datetime = START) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> dt.datetime:
        """The time it was turned to, UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds it was advanced by; ``set_back`` does not change them."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += dt.timedelta(seconds=seconds)
        self._monotonic += seconds

    def set_back(self, seconds: float) -> None:
        """Turn the wall clock back, as an administrator might."""
        self._now -= dt.timedelta(seconds=seconds)


class Gate:
    """Holds a scripted stream open until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = anyio.Event()
        self._opened = anyio.Event()

    async def reached(self, *, within_s: float = 120.0) -> None:
        """Wait until a stream stands at the gate.

        Raises:
            TimeoutError: none came.
        """
        with anyio.fail_after(within_s):
            await self._reached.wait()

    def open(self) -> None:
        """Let through whoever stands here, or will come."""
        self._opened.set()

    async def pass_through(self) -> None:
        """Stand here until the gate is open; what a stream does."""
        self._reached.set()
        await self._opened.wait()


Step = str | Gate | Answer | MillpondError
"""A piece of text, a gate to stand at, the whole answer, or the failure that a stream ends with."""

Call = Step | Sequence[Step]
"""What one call does; one that ends neither in an answer nor in a failure ends in an answer with the text so far."""


class ScriptedModel:
    """A ``Model`` that does what it is told, call by call, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, *calls: Call, then: Call = "ok") -> None:
        self._calls = list(calls)
        self._then = then
        self.requests: list[Request] = []
        """Every request so far."""
        self.closed = False

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The next call of the script; ``then`` when there is none left. Errors are those of the script."""
        self.requests.append(request)
        call = self._calls.pop(0) if self._calls else self._then
        text = ""
        for step in _steps(call):
            if isinstance(step, MillpondError):
                raise step
            if isinstance(step, Gate):
                await step.pass_through()
            elif isinstance(step, Answer):
                yield step
                return
            else:
                text += step
                yield TextChunk(step)
        yield Answer(text=text, model=self.name)

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True


def _steps(call: Call) -> Sequence[Step]:
    return [call] if isinstance(call, str | Gate | Answer | MillpondError) else call


class FailingBus(Bus):
    """The same connection as another bus, whose ``at``-th call (from 1) fails, as if Redis were away.

    Reading ``calls`` after a run without a failure (``at=0``) tells how many points there are to fail at.
    """

    def __init__(
        self, bus: Bus, *, at: int, carried_out: bool = False, cancel: anyio.CancelScope | None = None
    ) -> None:
        """Nothing happens yet.

        Args:
            bus: what carries the calls.
            at: number of the call that fails; 0 for none.
            carried_out: whether the server carries it out, so that only its reply is lost.
            cancel: cancelled at that point, instead of an error.
        """
        # Not a connection of its own: it has no tasks, and ends with the other.
        self.__dict__.update(bus.__dict__)
        self._at = at
        self._carried_out = carried_out
        self._cancel = cancel
        self.calls = 0

    async def call(self, *command: Part) -> Any:
        """See ``Bus.call``."""
        if not self._fails():
            return await super().call(*command)
        if self._carried_out:
            await super().call(*command)
        return await self._fail()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        """See ``Bus.run``."""
        if not self._fails():
            return await super().run(script, keys, args)
        if self._carried_out:
            await super().run(script, keys, args)
        return await self._fail()

    async def share(self, script: Script, shared: Shared, own: ScriptRequest) -> Any:
        """See ``Bus.share``; nobody else's is run with it, so that each is a call of its own."""
        [result] = await self.run(script, *arguments(shared, [own]))
        return result

    def _fails(self) -> bool:
        self.calls += 1
        return self.calls == self._at

    async def _fail(self) -> None:
        if self._cancel is None:
            raise BusUnavailable(f"call {self._at} fails because the test requested a failure")
        self._cancel.cancel()
        await anyio.lowlevel.checkpoint()
