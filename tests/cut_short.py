"""Connections to Redis that are cut short at one call, as those of a process that dies, is stopped or disturbed."""

import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class Made:
    """A call to Redis that a process made."""

    number: int  # from 1
    stack: tuple[Any, ...]  # lines of code that wait for it
    before: Any  # what others can see of the process before it
    after: Any


class NotingBus(CutBus):
    """Notes every call, and what others see of the process before and after it."""

    def __init__(self, bus: Bus, *, visible: Callable[[], Awaitable[Any]], made: list[Made]) -> None:
        super().__init__(bus, at=0)
        self._visible = visible
        self._made = made

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        number, before = self.calls, await self._visible()
        stack = tuple((frame.f_code, line) for frame, line in traceback.walk_stack(None))
        answer = await call()
        self._made.append(Made(number, stack, before, await self._visible()))
        return answer


def noting(*buses: Bus, folder: Path) -> dict[str, Any]:
    """What a ``NotingBus`` is made with, when others see what is on the servers of ``buses`` and in ``folder``."""

    async def visible() -> Any:
        told = [await Bus.call(bus, "INFO", "persistence") for bus in buses]
        changes = [about["rdb_changes_since_last_save"] for about in told]
        return changes, files()

    def files() -> list[Any]:
        return sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))

    return {"visible": visible, "made": []}


def to_cut(made: Sequence[Made], kind: type[FailingBus], *, carried_out: bool, seen: set[Any]) -> list[int]:
    """The calls at which it makes a difference to be cut short, and the one past the last.

    Of a process that died others know only what they see: one death is enough for all calls between two changes. An
    error or a cancellation comes to different lines of code: once to each line, and wherever something is changed.
    ``seen``: the lines at which others were cut short before.
    """
    numbers, last = [], object()
    for each in sorted(made, key=lambda each: each.number):
        if kind is DyingBus:
            left = each.after if carried_out else each.before
            differs, last = left != last, left
        else:
            differs = each.before != each.after or each.stack not in seen
            seen.add(each.stack)
        numbers += [each.number] if differs else []
    return [*numbers, len(made) + 1]
