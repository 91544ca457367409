"""A consolidation cut short at every call it makes, to the session's server or the memory's; another one ends it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from daemon.bus import Bus, Script, open_bus
from daemon.config import RedisConfig
from daemon.errors import BusUnavailable
from daemon.process import Process
from daemon.testing import FailingBus
from tests.apart import SESSION, Apart, Copy, NoThreads, Teller, alone, another_server, at_once, lock_shifted, watched
from tests.conftest import Lab, check_and_remove_keys
from tests.cut_short import CutBus, Died, DyingBus, Made, NotingBus, StoppingBus, noting, to_cut
from tests.limits import HANG_S
from tests.memorylab import SCOPE
from tests.tables import each_row
from workers.consolidation import BACKGROUND, ConsolidationRequest

MOST = 300  # no consolidation makes so many calls: a loop that gets there goes on for ever
KINDS = ("versions", "history", "notes")
CALLS = 10
"""Calls of a consolidation at least: lock, memory, log, flush, summary, archive, cursor, and the same to look again."""


@pytest.fixture(scope="module")
def far_dir() -> Iterator[Path]:
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
    monkeypatch.setattr("daemon.memory.file_sync.LOCK_WAIT_S", 0.0)
    monkeypatch.setattr("daemon.archive.local_storage.Threads", NoThreads)
    # Else some consolidations would make more calls than others, and some of those at the same time as others.
    monkeypatch.setattr("workers.consolidation.lock_holder.LOOK_S", HANG_S)
    monkeypatch.setattr("daemon.memory.scope_lists.KEPT", dict.fromkeys(KINDS, 100_000))
    monkeypatch.setattr("daemon.memory.scope_lists.SHELVED", dict.fromkeys(KINDS, 1))
    return Apart(replace(process, config=alone(process.config)), lab, far, Teller())


@pytest.fixture
def aged(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> Apart:
    """Of its memory only the last record of each list stays in Redis: all others go to the archive with each range."""
    monkeypatch.setattr("daemon.memory.scope_lists.KEPT", dict.fromkeys(KINDS, 1))
    return apart


async def grown(apart: Apart) -> ConsolidationRequest:
    """More was said than a prompt should hold: flush, summary, cursor."""
    await apart.grow(2)
    return BACKGROUND


async def waited_for(apart: Apart) -> ConsolidationRequest:
    """A turn waits: no time for a flush."""
    await apart.grow(2)
    return ConsolidationRequest(at="budget")


async def begun_anew(apart: Apart) -> ConsolidationRequest:
    """Somebody said ``/new``: all that lay before goes."""
    await apart.grow()
    await apart.grow(over=True)
    return BACKGROUND


async def given_up(apart: Apart) -> ConsolidationRequest:
    """It failed so often that it goes in as it is."""
    await apart.grow(2)
    await fail_thrice(apart)
    return BACKGROUND


async def fail_thrice(apart: Apart) -> None:
    await apart.lab.bus.call("HSET", apart.lab.bus.keys.session(SESSION), "failures", 3)


async def ahead(apart: Apart) -> ConsolidationRequest:
    """The memory has it, and the cursor does not follow: whoever wrote it died, or a failover took it back."""
    await apart.grow(2)
    copy = await Copy.of(apart.lab.bus)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.lab.bus)
    return BACKGROUND


async def forgotten(apart: Apart) -> ConsolidationRequest:
    copy = await Copy.of(apart.far)
    await apart.grow(2)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.far)
    return BACKGROUND


async def otherwise(apart: Apart) -> ConsolidationRequest:
    """A failover took messages back that the memory has, and others came in their place."""
    copy = await Copy.of(apart.lab.bus)
    await apart.grow(3)
    await apart.consolidator.consolidate(SESSION)
    await copy.takes_over(apart.lab.bus)
    await apart.grow(4)
    return BACKGROUND


BEGINNINGS = [grown, waited_for, begun_anew, given_up]
FAILED_OVER = [ahead, forgotten, otherwise]
Begin = Callable[[Apart], Awaitable[ConsolidationRequest]]
Happen = Callable[[], Awaitable[None]]
Happening = dict[int | str, Happen]
Called = tuple[Bus, Script, Sequence[str], Sequence[Any]]


def together(kind: type[FailingBus], near: Bus, far: Bus, **options: Any) -> tuple[FailingBus, FailingBus]:
    """Connections to both servers whose calls are counted together."""
    calls = [0]

    def count(_self: object, number: int) -> None:
        calls[0] = number

    counting = type(kind.__name__, (kind,), {"calls": property(lambda _self: calls[0], count)})
    return counting(near, **options), counting(far, **options)


async def cut_short(
    apart: Apart, want: ConsolidationRequest, kind: type[FailingBus], *, at: int, carried_out: bool = False
) -> FailingBus:
    with anyio.CancelScope() as scope, capture_logs(), suppress(Died, BusUnavailable):
        cancel = scope if kind is StoppingBus else None
        near, far = together(kind, apart.process.bus, apart.far, at=at, carried_out=carried_out, cancel=cancel)
        with anyio.fail_after(HANG_S):
            await apart.through(near, far).consolidate(SESSION, want)
    return near


async def each_call(
    apart: Apart, begin: Begin, kind: type[FailingBus], *, carried_out: bool, seen: set[Any], every: int = 1
) -> AsyncIterator[tuple[int, int]]:
    """Cut a consolidation short at each call at which it matters, and have it ended; the number of the call, and of all
    calls.

    With ``every``, at some of these calls alone: the first, the last, and others with each beginning.
    """
    await check_and_remove_keys(apart.process.bus)
    await check_and_remove_keys(apart.far)
    await apart.settled_once()
    want = await begin(apart)
    begin_again = await apart.kept()
    numbers = to_cut(await made(apart, want), kind, carried_out=carried_out, seen=seen)
    others = numbers[1 + (BEGINNINGS + FAILED_OVER).index(begin) % every : -1 : every]
    for at in (numbers[0], *others, numbers[-1]):
        await begin_again()
        bus = await cut_short(apart, want, kind, at=at, carried_out=carried_out)
        yield at, bus.calls
        with capture_logs():
            await apart.settle()
        assert begin is otherwise or set((await apart.flushed()).values()) <= {1}
    assert len(numbers) >= CALLS
    assert bus.calls < at, "the last one is not cut short"


async def made(apart: Apart, want: ConsolidationRequest) -> list[Made]:
    """What calls this consolidation makes."""
    options = noting(apart.process.bus, apart.far, folder=apart.process.data_dir)
    near, far = together(NotingBus, apart.process.bus, apart.far, **options)
    with capture_logs(), anyio.fail_after(HANG_S):
        await apart.through(near, far).consolidate(SESSION, want)
    return options["made"]


def slowly(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture
def seen() -> set[Any]:
    """See ``to_cut``; shared by the rows of a table."""
    return set()


WAYS = [slowly(kind, carried_out, 1) for kind in (FailingBus, StoppingBus, DyingBus) for carried_out in (True, False)]


@pytest.mark.parametrize(
    ("kind", "carried_out", "every"), [(FailingBus, True, 2), (StoppingBus, False, 2), (DyingBus, True, 2), *WAYS]
)
@each_row("begin", BEGINNINGS)
async def test_a_consolidation_cut_short_at_any_call_is_ended_by_the_next_worker(
    apart: Apart, seen: set[Any], begin: Begin, kind: type[FailingBus], carried_out: bool, every: int
) -> None:
    await is_ended(apart, seen, begin, kind, carried_out=carried_out, every=every)


@pytest.mark.parametrize(("kind", "carried_out", "every"), [(DyingBus, True, 2), *WAYS])
@each_row("begin", FAILED_OVER)
async def test_a_consolidation_cut_short_after_a_failover_is_ended_by_the_next_worker(
    apart: Apart, seen: set[Any], begin: Begin, kind: type[FailingBus], carried_out: bool, every: int
) -> None:
    await is_ended(apart, seen, begin, kind, carried_out=carried_out, every=every)


async def is_ended(
    apart: Apart, seen: set[Any], begin: Begin, kind: type[FailingBus], *, carried_out: bool, every: int
) -> None:
    held: list[str] = []
    async for at, calls in each_call(apart, begin, kind, carried_out=carried_out, seen=seen, every=every):
        is_free, failures = await asyncio.gather(apart.free(), apart.failures())
        if not is_free:
            held.append("took" if at == 1 else "gives back" if at == calls else "works")
        # Nobody has failed but Redis, and whoever stopped the worker.
        assert kind is DyingBus or failures in (0, 3 if begin is given_up else 0), at

    # The lock waits for its end only when its holder died, never heard that he has it, or could not give it back.
    if kind is not DyingBus:
        assert held == (["took"] if carried_out else ["gives back"] if kind is FailingBus else [])


@pytest.mark.parametrize("begin", [grown, slowly(ahead), slowly(forgotten), slowly(otherwise)])
@pytest.mark.parametrize(
    ("kind", "carried_out"),
    [(DyingBus, True), slowly(DyingBus, False), slowly(FailingBus, True), slowly(StoppingBus, False)],
)
async def test_what_is_old_of_a_memory_is_moved_by_the_next_worker_when_one_is_cut_short(
    aged: Apart, seen: set[Any], begin: Begin, kind: type[FailingBus], carried_out: bool
) -> None:
    async for _ in each_call(aged, begin, kind, carried_out=carried_out, seen=seen):
        pass

    await aged.grow(2)
    await aged.consolidator.consolidate(SESSION)
    await aged.memories.shelve(SCOPE)
    keys = aged.far.keys
    for key in (keys.versions(SCOPE), keys.history(SCOPE), keys.notes(SCOPE)):
        assert await aged.far.call("LLEN", key) == 1


class EventfulBus(CutBus):
    """Things happen before certain calls, by number or by name; every script call is remembered and watched."""

    def __init__(self, bus: Bus, *, happening: Happening, called: list[Called], **options: Any) -> None:
        super().__init__(bus, at=0, **options)
        self._happening = happening
        self._called = called
        self._under = bus

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        await self._happen(self.calls)
        return await call()

    async def _happen(self, before: int | str) -> None:
        if happen := self._happening.pop(before, None):
            await happen()

    async def call(self, *command: Any) -> Any:
        await self._happen(command[0])
        return await super().call(*command)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        await self._happen(script.name)
        answer = await self.passing(lambda: watched(self._under, script, keys, args))
        self._called.append((self._under, script, keys, args))
        return answer


async def disturbed(apart: Apart, happening: Happening, *, called: list[Called] | None = None) -> None:
    """One worker, to whom things happen before some of his calls; what is left of them happened too late."""
    called = [] if called is None else called
    near, far = together(EventfulBus, apart.process.bus, apart.far, happening=happening, called=called)
    with capture_logs(), anyio.fail_after(HANG_S), suppress(BusUnavailable):
        await apart.through(near, far).consolidate(SESSION)


async def another_takes_over(apart: Apart) -> None:
    """The worker pauses for longer than his lock lasts, and another one comes and ends it."""
    await apart.expire()
    await apart.consolidator.consolidate(SESSION)


async def another_holds_it(apart: Apart) -> None:
    """He pauses for longer than his lock lasts, and another one has only just come."""
    await apart.expire()
    lock = await apart.stores.locks.take(SESSION)
    assert lock is not None
    await apart.memories.open(SCOPE, SESSION, fence=lock.fence, nonce=lock.nonce)


async def another_is_turned_away(apart: Apart) -> None:
    if not await apart.free():
        assert (await apart.consolidator.consolidate(SESSION)).outcome == "busy"


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


Disturb = Callable[[Apart], Awaitable[None]]
DISTURBANCES: list[Disturb] = [
    another_takes_over, another_takes_over_and_dies, another_holds_it, another_is_turned_away, a_person_edits,
    somebody_begins_anew, a_lot_is_said, the_clock_is_set_back,
]  # fmt: skip


@pytest.mark.parametrize("every", [3, slowly(1)])
@pytest.mark.parametrize("disturb", DISTURBANCES)
async def test_whatever_happens_before_any_call_nothing_is_lost(apart: Apart, disturb: Disturb, every: int) -> None:
    """A consolidation for each of its calls, before which something happens; then another one ends it.

    With ``every``, each disturbance has calls of its own.
    """
    await apart.settled_once()
    await apart.grow(4 if disturb is somebody_begins_anew else 2)
    begin_again = await apart.kept()
    numbers = to_cut(await made(apart, BACKGROUND), EventfulBus, carried_out=False, seen=set())
    for at in dict.fromkeys((*numbers[DISTURBANCES.index(disturb) % every :: every], numbers[-1])):
        await begin_again()
        happening: Happening = {at: partial(disturb, apart)}
        await disturbed(apart, happening)
        with capture_logs():
            await apart.settle()
    assert at > CALLS
    assert happening, "nothing happens to the last one"


@pytest.mark.slow
@pytest.mark.parametrize("disturb", DISTURBANCES)
async def test_whatever_happens_before_any_call_nothing_is_lost_of_what_is_old(aged: Apart, disturb: Disturb) -> None:
    await test_whatever_happens_before_any_call_nothing_is_lost(aged, disturb, every=1)


@pytest.mark.slow
async def test_copies_of_earlier_calls_change_nothing_of_what_is_old_when_they_arrive_late(aged: Apart) -> None:
    await copies_arrive_late(aged)


@pytest.mark.parametrize("every", [12, slowly(1)])
async def test_copies_of_earlier_calls_change_nothing_when_they_arrive_late(apart: Apart, every: int) -> None:
    await copies_arrive_late(apart, every=every)


async def copies_arrive_late(apart: Apart, *, every: int = 2) -> None:
    """Before some calls of a consolidation of several rounds all calls that it made arrive once more."""

    async def repeat() -> None:
        for bus, script, keys, args in list(called):
            await watched(bus, script, keys, args)

    await apart.settled_once()
    await apart.grow(8)
    await apart.grow(over=True)
    await apart.grow(4)
    begin_again = await apart.kept()
    for fails in (False, True):
        await begin_again()
        if fails:
            # The first range goes in as it is: nothing but its position keeps it from going in twice.
            await fail_thrice(apart)
        begin_so = await apart.kept()
        numbers = to_cut(await made(apart, BACKGROUND), DyingBus, carried_out=False, seen=set())
        for at in dict.fromkeys((*numbers[fails * every // 2 :: every], numbers[-1])):
            await begin_so()
            called: list[Called] = []
            await disturbed(apart, {at: repeat}, called=called)
            await repeat()
            with capture_logs():
                await apart.settle()
        assert at > CALLS


@pytest.mark.parametrize("every", [12, slowly(1)])
async def test_copies_of_earlier_calls_change_nothing_while_nothing_leaves_redis(apart: Apart, every: int) -> None:
    """The same while nothing leaves Redis, for somebody uses another archive: else a late move finds no message."""
    await apart.lab.bus.call("HSET", apart.lab.bus.keys.archives, "another", "{}")
    await copies_arrive_late(apart, every=every)


PARTS = 8
"""Of the first calls of pairs, each tried by a test of its own."""


async def each_pair(apart: Apart, copied: Bus, *, turns: int, then: int, part: int) -> None:
    """A server is copied before one call of a consolidation, and the copy takes over before another, for all pairs."""
    copy = Copy({})

    async def follow() -> None:
        nonlocal copy
        copy = await Copy.of(copied)
        await apart.grow(turns)

    async def fail_over() -> None:
        await copy.takes_over(copied)
        await apart.grow(then)

    for first in range(1 + part, MOST, PARTS):
        # A new session each time, or its log would grow and grow.
        await check_and_remove_keys(apart.process.bus)
        await check_and_remove_keys(apart.far)
        await apart.grow(2)
        for second in range(first + 1, MOST):
            await apart.grow(2)
            happening: Happening = {first: follow, second: fail_over}
            await disturbed(apart, happening)
            with capture_logs():
                await apart.settle()
            if happening:
                break
        if first in happening:
            break
    assert CALLS < first < MOST - PARTS


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("copied", ["session", "memory"])
@pytest.mark.parametrize(("turns", "then"), [(0, 6), (4, 6)])
async def test_a_failover_between_any_two_calls_is_made_good(
    apart: Apart, copied: str, turns: int, then: int, part: int
) -> None:
    bus = apart.process.bus if copied == "session" else apart.far
    await each_pair(apart, bus, turns=turns, then=then, part=part)


async def test_a_cursor_that_was_set_back_follows_with_where_the_conversation_stood(apart: Apart) -> None:
    """The mark does not hold it any more: the session did."""
    await apart.grow(3)
    before = await Copy.of(apart.lab.bus)
    await apart.consolidator.consolidate(SESSION)
    stood = (await apart.state()).continuity
    assert stood is not None
    assert "continuity" not in (await apart.memories.open(SCOPE, SESSION, fence=99, nonce="n")).mark
    await before.takes_over(apart.lab.bus)

    await apart.consolidator.consolidate(SESSION)

    found = (await apart.state()).continuity
    assert found is not None
    assert (found.text, (await apart.state()).cursor) == (stood.text, 2)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
async def test_a_failover_between_any_two_calls_is_made_good_though_what_is_old_lies_in_the_archive(
    aged: Apart, part: int
) -> None:
    await each_pair(aged, aged.far, turns=0, then=6, part=part)


async def test_a_cursor_moves_over_no_messages_that_came_in_place_of_others(apart: Apart) -> None:
    """A failover leaves a worker his lock and the cursor, and puts others in place of the messages he took in."""
    copy = Copy({})

    async def take() -> None:
        happening["lock.lua"] = follow

    async def follow() -> None:
        nonlocal copy
        copy = await Copy.of(apart.process.bus)
        await apart.grow(4)
        happening["settle.lua"] = fail_over

    async def fail_over() -> None:
        await copy.takes_over(apart.process.bus)
        await apart.grow(6)

    happening: Happening = {"lock.lua": take}
    await apart.grow(3)
    await disturbed(apart, happening)
    assert not happening
    await apart.settle()


async def test_a_log_read_after_a_failover_is_not_taken_for_what_follows_in_the_memory(apart: Apart) -> None:
    copy = Copy({})

    async def follow() -> None:
        nonlocal copy
        copy = await Copy.of(apart.process.bus)
        await apart.grow(6)
        await apart.grow(over=True)  # so that they go in one round, and what follows in the next
        await apart.grow(6)
        happening["open.lua"] = second

    async def second() -> None:
        happening["open.lua"] = third

    async def third() -> None:
        happening["LRANGE"] = fail_over

    async def fail_over() -> None:
        await copy.takes_over(apart.process.bus)
        await apart.grow(14)

    happening: Happening = {"open.lua": follow}
    await apart.grow(3)
    await disturbed(apart, happening)
    assert not happening
    await apart.settle()


async def test_a_worker_that_is_stopped_while_the_model_answers_has_not_failed(apart: Apart) -> None:
    async def stop() -> None:
        scope.cancel()
        await checkpoint()

    apart.model.answer = stop
    await apart.grow(4)
    for want in (BACKGROUND, ConsolidationRequest(at="budget")):  # in the flush, and in the summary
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
        await killing.killed(ConsolidationRequest(at="budget"))
        assert await apart.failures() == number

    await apart.consolidator.consolidate(
        SESSION, ConsolidationRequest(at="budget")
    )  # the model would kill again: it is not asked

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

    await apart.consolidator.consolidate(SESSION)  # the model would kill again: it is not asked

    assert await apart.flushed() == {}
    assert [entry.kind for entry in await apart.history()] == ["raw"]
    apart.model.answer = at_once
    await apart.settle()


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
    await apart.consolidator.consolidate(SESSION, ConsolidationRequest(at="budget"))
    assert apart.model.flushes == 0
    assert SESSION in await apart.unsettled(apart.lab.bus)

    await apart.settle()

    assert (await apart.flushed())[0] == 1


async def test_a_flush_that_a_turn_could_not_wait_for_comes_before_the_next_one(apart: Apart) -> None:
    await apart.grow(4)
    await apart.consolidator.consolidate(SESSION, ConsolidationRequest(at="budget"))
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

    async def killed(self, want: ConsolidationRequest) -> None:
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
