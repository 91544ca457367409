"""A consolidation cut short at every call it makes, to the session's server or the memory's; another one ends it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from daemon.errors import BusUnavailable
from daemon.process import Process
from daemon.testing import FailingBus
from tests.apart import SESSION, Apart, Copy, Teller, alone, another_server, at_once, lock_shifted
from tests.conftest import Lab, check_and_remove_keys
from tests.cut_short import CutBus, Died, DyingBus, StoppingBus
from tests.memorylab import SCOPE
from workers.consolidation import BACKGROUND, Want

pytestmark = pytest.mark.anyio

LIMIT_S = 10.0
MOST = 300
"""No consolidation makes so many calls: a loop that gets there goes on for ever."""
CALLS = 10
"""Calls of a consolidation at least: lock, memory, log, flush, summary, archive, cursor, and the same to look again."""


@pytest.fixture(scope="module")
def far_dir() -> Iterator[Path]:
    """A server for memories alone."""
    with another_server() as data:
        yield data


@pytest.fixture
async def far(far_dir: Path, prefix: str) -> AsyncIterator[Bus]:
    async with open_bus(RedisConfig(prefix=prefix), far_dir) as bus:
        yield bus
        await check_and_remove_keys(bus)


@pytest.fixture
def apart(process: Process, lab: Lab, far: Bus, monkeypatch: pytest.MonkeyPatch) -> Apart:
    # A worker may pause with the lock of the files in hand; others wait for that in real time.
    monkeypatch.setattr("daemon.memory.projection.LOCK_WAIT_S", 0.01)
    return Apart(replace(process, config=alone(process.config)), lab, far, Teller())


# What there is to do when a worker begins


async def grown(apart: Apart) -> Want:
    """More was said than a prompt should hold: flush, summary, cursor."""
    await apart.grow(2)
    return BACKGROUND


async def waited_for(apart: Apart) -> Want:
    """A turn waits: no time for a flush."""
    await apart.grow(2)
    return Want(at="budget")


async def begun_anew(apart: Apart) -> Want:
    """Somebody said ``/new``: all that lay before goes."""
    await apart.grow()
    await apart.grow(over=True)
    return BACKGROUND


async def given_up(apart: Apart) -> Want:
    """It failed so often that it goes in as it is."""
    await apart.grow(2)
    await apart.lab.bus.call("HSET", apart.lab.bus.keys.session(SESSION), "failures", 3)
    return BACKGROUND


async def ahead(apart: Apart) -> Want:
    """The memory has it, and the cursor does not follow: whoever wrote it died, or a failover took it back."""
    await apart.grow(2)
    copy = await Copy.of(apart.lab.bus)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.lab.bus)
    return BACKGROUND


async def forgotten(apart: Apart) -> Want:
    """A failover took back what the memory had of the session."""
    copy = await Copy.of(apart.far)
    await apart.grow(2)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.far)
    return BACKGROUND


async def otherwise(apart: Apart) -> Want:
    """A failover took messages back that the memory has, and others came in their place."""
    copy = await Copy.of(apart.lab.bus)
    await apart.grow(3)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.lab.bus)
    await apart.grow(4)
    return BACKGROUND


BEGINNINGS = [grown, waited_for, begun_anew, given_up, ahead, forgotten, otherwise]
Begin = Callable[[Apart], Awaitable[Want]]
Happen = Callable[[], Awaitable[None]]


def together(kind: type[FailingBus], near: Bus, far: Bus, **options: Any) -> tuple[FailingBus, FailingBus]:
    """Connections to both servers whose calls are counted together."""
    calls = [0]

    def count(_self: object, number: int) -> None:
        calls[0] = number

    counting = type(kind.__name__, (kind,), {"calls": property(lambda _self: calls[0], count)})
    return counting(near, **options), counting(far, **options)


async def cut_short(
    apart: Apart, want: Want, kind: type[FailingBus], *, at: int, carried_out: bool = False
) -> FailingBus:
    """One worker, which is cut short at one of its calls."""
    with anyio.CancelScope() as scope, capture_logs(), suppress(Died, BusUnavailable):
        cancel = scope if kind is StoppingBus else None
        near, far = together(kind, apart.process.bus, apart.far, at=at, carried_out=carried_out, cancel=cancel)
        with anyio.fail_after(LIMIT_S):
            await apart.through(near, far).consolidate(SESSION, want)
    return near


async def each_call(
    apart: Apart, begin: Begin, kind: type[FailingBus], *, carried_out: bool
) -> AsyncIterator[tuple[int, int]]:
    """Cut a consolidation short at each of its calls, and have it ended; the number of the call, and of all calls."""
    for at in range(1, MOST):
        want = await begin(apart)
        bus = await cut_short(apart, want, kind, at=at, carried_out=carried_out)
        yield at, bus.calls
        with capture_logs():
            await apart.settle()
        assert begin is otherwise or set((await apart.flushed()).values()) <= {1}
        if bus.calls < at:
            break
    assert CALLS < at < MOST - 1


def slowly(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize("begin", BEGINNINGS)
@pytest.mark.parametrize(
    ("kind", "carried_out"),
    [
        (FailingBus, True),
        slowly(FailingBus, False),
        slowly(StoppingBus, True),
        (StoppingBus, False),
        (DyingBus, True),
        slowly(DyingBus, False),
    ],
)
async def test_a_consolidation_cut_short_at_any_call_is_ended_by_the_next_worker(
    apart: Apart, begin: Begin, kind: type[FailingBus], carried_out: bool
) -> None:
    held: list[str] = []
    async for at, calls in each_call(apart, begin, kind, carried_out=carried_out):
        if not await apart.free():
            held.append("took" if at == 1 else "gives back" if at == calls else "works")
        if kind is not DyingBus:
            # Nobody has failed but Redis, and whoever stopped the worker.
            assert await apart.failures() in (0, 3 if begin is given_up else 0), at

    # The lock waits for its end only when its holder died, never heard that he has it, or could not give it back.
    if kind is not DyingBus:
        assert held == (["took"] if carried_out else ["gives back"] if kind is FailingBus else [])


# Something else happens before any call


class EventfulBus(CutBus):
    """Things happen before certain calls."""

    def __init__(self, bus: Bus, *, happening: dict[int, Happen], **options: Any) -> None:
        super().__init__(bus, at=0, **options)
        self._happening = happening

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        happen = self._happening.pop(self.calls, None)
        if happen is not None:
            await happen()
        return await call()


async def disturbed(apart: Apart, want: Want, happening: dict[int, Happen]) -> None:
    """One worker, to whom things happen before some of his calls; what is left of them happened too late."""
    near, far = together(EventfulBus, apart.process.bus, apart.far, happening=happening)
    with capture_logs(), anyio.fail_after(LIMIT_S):
        await apart.through(near, far).consolidate(SESSION, want)


async def another_takes_over(apart: Apart) -> None:
    """The worker pauses for longer than his lock lasts, and another one comes and ends it."""
    await apart.expire()
    await apart.consolidator.consolidate(SESSION)


async def another_takes_over_and_dies(apart: Apart) -> None:
    await apart.expire()
    await cut_short(apart, BACKGROUND, DyingBus, at=12)


async def a_person_edits(apart: Apart) -> None:
    current = await apart.memories.current(SCOPE)
    text = f"by hand, after {current.version}"
    await apart.memories.edit(SCOPE, of=current.version, text=text, by="ann", time="2026-11-20T09:00:00.000Z")


async def somebody_begins_anew(apart: Apart) -> None:
    await apart.grow(over=True)


async def a_lot_is_said(apart: Apart) -> None:
    await apart.grow(3)


async def the_clock_is_set_back(apart: Apart) -> None:
    """By an hour: every deadline is further off than it can be."""
    await lock_shifted(apart.lab.bus, SESSION, 3_600_000)


DISTURBANCES = [
    another_takes_over,
    another_takes_over_and_dies,
    a_person_edits,
    somebody_begins_anew,
    a_lot_is_said,
    the_clock_is_set_back,
]


@pytest.mark.parametrize("disturb", DISTURBANCES)
async def test_whatever_happens_before_any_call_nothing_is_lost(
    apart: Apart, disturb: Callable[[Apart], Awaitable[None]]
) -> None:
    for at in range(1, MOST):
        await apart.grow(4 if disturb is somebody_begins_anew else 2)
        happening: dict[int, Happen] = {at: partial(disturb, apart)}
        await disturbed(apart, BACKGROUND, happening)
        with capture_logs():
            await apart.settle()
        if happening:
            break
    assert CALLS < at < MOST - 1


async def each_pair(apart: Apart, copied: Bus, *, then: int, turns: int, every: int) -> None:
    """A server is copied before one call of a consolidation, and the copy takes over before another, for all pairs."""
    copy = Copy({})

    async def follow() -> None:
        nonlocal copy
        copy = await Copy.of(copied)
        await apart.grow(turns)

    async def fail_over() -> None:
        await copy.takes_over(copied)
        await apart.grow(then)

    for first in range(1, MOST, every):
        for second in range(first + 1, MOST, every):
            await apart.grow(2)
            happening: dict[int, Happen] = {first: follow, second: fail_over}
            await disturbed(apart, BACKGROUND, happening)
            with capture_logs():
                await apart.settle()
            if happening:
                break
        if first in happening:
            break
    assert CALLS < first < MOST - 1


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("copied", ["session", "memory"])
@pytest.mark.parametrize(("turns", "then"), [(0, 0), (0, 6), (4, 6), (12, 16)])
async def test_a_failover_between_any_two_calls_is_made_good(apart: Apart, copied: str, turns: int, then: int) -> None:
    bus = apart.process.bus if copied == "session" else apart.far
    await each_pair(apart, bus, turns=turns, then=then, every=1)


# What the model does


async def test_a_worker_that_is_stopped_while_the_model_answers_has_not_failed(apart: Apart) -> None:
    async def stop() -> None:
        scope.cancel()
        await checkpoint()

    apart.model.answer = stop
    await apart.grow(4)
    for want in (BACKGROUND, Want(at="budget")):  # in the flush, and in the summary
        with anyio.CancelScope() as scope:
            await apart.consolidator.consolidate(SESSION, want)
        assert scope.cancelled_caught
        assert (await apart.failures(), await apart.free()) == (0, True)

    apart.model.answer = at_once
    await apart.settle()


async def test_what_kills_its_workers_goes_in_as_it_is(apart: Apart) -> None:
    await apart.grow(4)
    killing = Killing(apart)
    for number in range(1, 4):
        # Somebody waits: without a flush it is the summary that kills.
        await killing.killed(Want(at="budget"))
        assert await apart.failures() == number

    await apart.consolidator.consolidate(SESSION, Want(at="budget"))  # the model would kill again: it is not asked

    assert [entry.kind for entry in await apart.history()] == ["raw"]
    assert ((await apart.state()).cursor, await apart.failures()) == (4, 0)
    apart.model.answer = at_once
    await apart.settle()


async def test_a_flush_that_kills_its_workers_is_left_out(apart: Apart) -> None:
    await apart.grow(3)
    killing = Killing(apart)
    for number in range(1, 4):
        await killing.killed(BACKGROUND)
        assert await apart.failures() == number

    await apart.settle()  # the model would kill again: it is not asked

    assert await apart.flushed() == {}
    assert [entry.kind for entry in await apart.history()] == ["raw"]


async def test_a_memory_taken_in_again_does_not_count_as_failing(apart: Apart) -> None:
    empty = await Copy.of(apart.far)
    for _ in range(6):
        await apart.grow(2)
        await apart.settle()
    await empty.takes_over(apart.far)

    await apart.settle()

    assert {entry.kind for entry in await apart.history()} == {"summary"}


async def test_a_flush_that_a_turn_could_not_wait_for_follows_at_once(apart: Apart) -> None:
    await apart.grow(4)
    await apart.consolidator.consolidate(SESSION, Want(at="budget"))
    assert apart.model.flushes == 0
    assert SESSION in await apart.unsettled(apart.lab.bus)

    await apart.settle()

    assert (await apart.flushed())[0] == 1


async def test_a_flush_that_a_turn_could_not_wait_for_comes_before_the_next_one(apart: Apart) -> None:
    await apart.grow(4)
    await apart.consolidator.consolidate(SESSION, Want(at="budget"))
    await apart.grow(3)

    await apart.settle()

    assert set(await apart.flushed()) == {0, 4}


class Killing:
    """A model whose every question kills whoever asks: after it not even ``finally`` blocks reach Redis."""

    def __init__(self, apart: Apart) -> None:
        self._apart = apart
        self._dead = False
        apart.model.answer = self.answer

    async def answer(self) -> None:
        self._dead = True
        raise Died

    async def killed(self, want: Want) -> None:
        """One more worker is; then his lock ends."""
        self._dead = False
        with suppress(Died):
            await self._apart.through(self._of(self._apart.process.bus), self._of(self._apart.far)).consolidate(
                SESSION, want
            )
        assert self._dead
        assert not await self._apart.free()
        await self._apart.expire()

    def _of(self, bus: Bus) -> Bus:
        killing = self

        class Mortal(CutBus):
            async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
                if killing._dead:
                    raise Died
                return await call()

        return Mortal(bus, at=0)
