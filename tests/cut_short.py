"""Connections to Redis that are cut short at one call, as those of a process that dies, is stopped or disturbed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from anyio.lowlevel import checkpoint

from daemon.bus import Bus, Part, Script
from daemon.testing import FailingBus


class Died(BaseException):
    """The process is dead: not even its ``finally`` blocks reach Redis."""


class CutBus(FailingBus):
    """Has every call go through ``passing``."""

    async def call(self, *command: Part) -> Any:
        return await self.passing(lambda: Bus.call(self, *command))

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        return await self.passing(lambda: Bus.run(self, script, keys, args))

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        raise NotImplementedError


class DyingBus(CutBus):
    """The ``at``-th call is the last that a process makes, and may or may not be carried out."""

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if 0 < self._at <= self.calls:
            if self.calls == self._at and self._carried_out:
                await call()
            raise Died
        return await call()


class StoppingBus(CutBus):
    """Cancels before or after its ``at``-th call; what is shielded goes on all the same."""

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        assert self._cancel is not None
        hit = self._fails()
        if hit and not self._carried_out:
            self._cancel.cancel()
            await checkpoint()
        result = await call()
        if hit:
            self._cancel.cancel()
            await checkpoint()
        return result


class InterludeBus(CutBus):
    """Something happens before the ``at``-th call."""

    def __init__(self, bus: Bus, *, at: int, interlude: Callable[[], Awaitable[None]]) -> None:
        super().__init__(bus, at=at)
        self._interlude = interlude

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        if self._fails():
            await self._interlude()
        return await call()
