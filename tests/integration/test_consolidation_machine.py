"""Any order of steps by two workers, people, late copies, lost events, crashes and failovers: no message is lost.

The session lies on one server and its memory on another; each may be set back by itself. Workers stand before each of
their calls, to either server or to the model, until the machine lets them go on, so that steps of several mix in any
order. Messages and summaries name what they hold (``tests/apart.py``), so what is looked at are the promises, not the
steps: each message in exactly one place.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run
from structlog.testing import capture_logs

from daemon.bus import Bus, Listener, Script, open_bus
from daemon.config import Config, RedisConfig, summary_model_of
from daemon.errors import MillpondError, ModelUnavailable
from daemon.process import Process
from daemon.testing import ManualClock
from tests.apart import (
    FAILURES_MOST,
    SESSION,
    Apart,
    Copy,
    NoThreads,
    Teller,
    alone,
    another_server,
    at_once,
    lock_shifted,
    names_in,
    names_of,
    watched,
)
from tests.conftest import QUEUE, Lab, check_and_remove_keys
from tests.cut_short import CutBus, Died
from tests.limits import HANG_S
from tests.memorylab import SCOPE
from tests.oneloop import OneLoop, one_loop
from workers.consolidation import BACKGROUND, ConsolidationRequest
from workers.consolidation.summary.summary_calls import breaker_of

WORKERS = (0, 1)
HOUR_MS = 3_600_000
BREAKER_FAILURES = 2  # in a row: from then on the model is not asked any more, until it is said to be well
TIME = "2026-11-20T09:00:00.000Z"
TO_THE_END = 200  # more calls than any consolidation makes
BACK = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5, 8, 13])  # which call's copy arrives late: how many calls ago
WANTS = (
    BACKGROUND,
    BACKGROUND,
    BACKGROUND,
    ConsolidationRequest(at="budget"),
    ConsolidationRequest(at="now", focus="numbers"),
)


class Gate:
    """Where one worker stands before each call, until he may go on, dies, or has ended."""

    def __init__(self) -> None:
        self.left = 0
        """So many more calls he may make."""
        self.doomed = ""
        """'before' or 'after': the next call is his last, and is carried out or not."""
        self.ended = False
        self.work: asyncio.Task[None]
        self._moved = anyio.Event()
        self._idle = anyio.Event()

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        await self.stand()
        if self.doomed == "after":
            await call()
        if self.doomed:
            self.doomed = "before"
            raise Died
        return await call()

    async def stand(self) -> None:
        while not self.left and not self.doomed:
            self._idle.set()
            self._moved = anyio.Event()
            await self._moved.wait()
        self.left -= 1

    async def go(self, calls: int) -> None:
        """Let him make so many calls, and wait until he stands again."""
        self.left, self._idle = calls, anyio.Event()
        self._moved.set()
        with anyio.fail_after(HANG_S):
            await self._idle.wait()

    def end(self) -> None:
        self.ended = True
        self._idle.set()


class GatedBus(CutBus):
    """What one worker has of a server; every script call is remembered."""

    def __init__(self, bus: Bus, gate: Gate, late: list[tuple[Any, ...]]) -> None:
        super().__init__(bus, at=0)
        self._gate = gate
        self._late = late
        self._under = bus

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        return await self._gate.passing(call)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        answer = await self.passing(lambda: watched(self._under, script, keys, args))
        self._late.append((self._under, script, keys, args))
        return answer


class NoFiles:
    """In place of the files in the workspace, which have tests of their own."""

    async def sync(self, scope: str, *, at_once: bool = False) -> None:
        """Nothing is written."""


@dataclass
class World:
    loop: OneLoop
    apart: Apart


@dataclass
class Replica:
    """What the other server of a pair has, and what was true then."""

    copy: Copy
    cursor: int
    log: list[str] = field(default_factory=list)


class ConsolidationMachine(RuleBasedStateMachine):
    world: World  # set by ``machine``

    def __init__(self) -> None:
        super().__init__()
        self.apart = self.world.apart
        self.gates: dict[int, Gate] = {}
        self.late: list[tuple[Any, ...]] = []
        self.copies: dict[str, Copy] = {}
        self.moods: list[str] = []
        self.cursor = 0
        self.seen: tuple[int, int] | None = None
        """Cursor and head, as a turn read them that has yet to read the memory."""
        self.torn = False
        """A server was set back, and nobody has made it good yet."""

    def do(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return self.world.loop.call(function, *args, **options)

    @initialize()
    def empty_databases(self) -> None:
        for bus in (self.near, self.far):
            self.do(check_and_remove_keys, bus)
        self.apart.model.answer = at_once
        self.the_model_is_well()
        self.grow(3, over=False)

    @property
    def near(self) -> Bus:
        return self.apart.process.bus

    @property
    def far(self) -> Bus:
        return self.apart.far

    # People

    @rule(turns=st.sampled_from([1, 1, 2, 4, 9]), over=st.sampled_from([False] * 7 + [True]))
    def grow(self, turns: int, over: bool) -> None:
        self.do(self.apart.grow, turns, over=over)

    @rule(back=st.sampled_from([0, 0, 1]), lines=st.sampled_from([1, 1, 100]))
    def edit(self, back: int, lines: int) -> None:
        """A long MEMORY.md is not given up for what the model makes of it: that is rejected."""
        self.do(self._edit, back, lines)

    async def _edit(self, back: int, lines: int) -> None:
        memories = self.apart.memories
        current = await memories.current(SCOPE)
        of, text = max(0, current.version - back), f"by hand after {current.version}\n" * lines
        await memories.edit(SCOPE, of=of, text=text, by="ann", time=TIME)

    # Workers

    @rule(number=st.sampled_from(WORKERS), want=st.sampled_from(WANTS), calls=st.sampled_from([1, 3, 9, TO_THE_END]))
    def begin(self, number: int, want: ConsolidationRequest, calls: int) -> None:
        if number not in self.gates:
            self.gates[number] = gate = Gate()
            gate.work = self.world.loop.start(self._work(gate, want))
        self.go(number, calls)

    async def _work(self, gate: Gate, want: ConsolidationRequest) -> None:
        async def answered() -> None:
            await gate.stand()
            if gate.doomed:
                raise Died
            self._answer()

        model = Teller()
        model.answer = answered
        near, far = (GatedBus(bus, gate, self.late) for bus in (self.near, self.far))
        worker = self.apart.through(near, far, kits=self.apart.kits_of(model), files=NoFiles())
        try:
            with suppress(Died, MillpondError):
                await worker.consolidate(SESSION, want)
        finally:
            gate.end()

    def _answer(self) -> None:
        if self.moods and self.moods.pop(0) == "fails":
            raise ModelUnavailable("away")

    @precondition(lambda self: self.gates)
    @rule(data=st.data(), calls=st.integers(1, 12))
    def step(self, data: Any, calls: int) -> None:
        self.go(data.draw(st.sampled_from(sorted(self.gates))), calls)

    @precondition(lambda self: self.gates)
    @rule(data=st.data(), calls=st.integers(0, 25), how=st.sampled_from(["before", "after"]), expires=st.booleans())
    def crash(self, data: Any, calls: int, how: str, expires: bool) -> None:
        """After so many more calls a worker is gone; his lock ends at once, or later."""
        number = data.draw(st.sampled_from(sorted(self.gates)))
        if calls:
            self.go(number, calls)
        if number in self.gates:
            self.gates[number].doomed = how
            self.go(number, TO_THE_END)
        if expires:
            self.do(self.apart.expire)

    def go(self, number: int, calls: int) -> None:
        gate = self.gates[number]
        self.do(gate.go, calls)
        if gate.ended:
            self.gates.pop(number).work.result()

    @rule(moods=st.lists(st.sampled_from(["fails", "fails", "well"]), min_size=1, max_size=6))
    def the_model_answers_badly(self, moods: list[str]) -> None:
        self.moods = moods

    @rule()
    def the_model_is_well(self) -> None:
        config = self.apart.process.config
        breaker_of(summary_model_of(config.bots["pond"]), config.consolidation).succeeded()
        self.moods = []

    # Time and the network

    @rule(how=st.sampled_from(["ends", "ends", "back"]))
    def time_passes(self, how: str) -> None:
        """Every deadline is over, or the server's clock is set back by an hour: further off than it can be."""
        self.do(lock_shifted, self.apart.lab.bus, SESSION, -HOUR_MS if how == "ends" else HOUR_MS)

    @rule(what=st.sampled_from(["lost", "twice", "garbage"]))
    def events(self, what: str) -> None:
        """``session-grew`` is a hint."""
        stream = self.near.keys.grew(0)
        match what:
            case "lost":
                self.do(self.near.call, "DEL", stream)
            case "twice":
                event = f'{{"type":"session-grew","session":"{SESSION}","head":1}}'
                self.do(self.near.call, "XADD", stream, "*", "event", event)
            case _:
                self.do(self.near.call, "XADD", stream, "*", "event", "{")

    @rule(number=st.sampled_from(WORKERS))
    def sweep(self, number: int) -> None:
        self.do(lock_shifted, self.apart.lab.bus, SESSION, -HOUR_MS)
        for session in self.do(self.apart.stores.locks.due, 0):
            assert session == SESSION
            self.begin(number, BACKGROUND, TO_THE_END)

    @precondition(lambda self: self.late)
    @rule(back=BACK)
    def a_copy_arrives_late(self, back: int) -> None:
        self.do(watched, *self.late[-1 - back % len(self.late)])

    # Failovers

    @rule(which=st.sampled_from(["near", "far"]))
    def a_replica_follows(self, which: str) -> None:
        self.copies[which] = self.do(Copy.of, getattr(self, which))

    @precondition(lambda self: self.copies)
    @rule(data=st.data(), turns=st.sampled_from([0, 1, 3, 7]))
    def a_server_fails_over(self, data: Any, turns: int) -> None:
        """What came after the copy is lost, and nobody is told; calls that were under way have failed."""
        which = data.draw(st.sampled_from(sorted(self.copies)))
        self.do(self.copies.pop(which).takes_over, getattr(self, which))
        self.late = [call for call in self.late if call[0] is not getattr(self, which)]
        self.torn, self.seen = True, None
        if which == "near":
            # One of a pair at a time: two that are set back in turn can lose what nobody can know of.
            self.copies.pop("far", None)
            self.cursor = self.do(self.apart.state).cursor
        if turns:
            self.grow(turns, over=False)

    # What must hold

    @rule()
    def all_is_settled(self) -> None:
        for number in sorted(self.gates):
            self.gates[number].doomed = "before"
            self.go(number, TO_THE_END)
        self.the_model_is_well()
        self.do(self.apart.settle)
        assert self.do(self.apart.position) == self.do(self.apart.state).cursor
        self.torn = False

    @rule()
    def a_turn_reads_the_log(self) -> None:
        state = self.do(self.apart.state)
        self.seen = (state.cursor, state.head)

    @invariant()
    def all_is_as_promised(self) -> None:
        self.do(self._look)

    async def _look(self) -> None:
        apart = self.apart
        reads = (apart.state(), apart.log(), apart.position(), apart.failures(), apart.memory_tiles())
        # At once: nobody writes meanwhile, and it is read thousands of times.
        state, log, upto, failures, entries, _ = await asyncio.gather(*reads, apart.memory_is_a_version())
        assert self.cursor <= state.cursor <= state.start <= state.head == len(log)
        self.cursor = state.cursor
        assert state.tokens == sum(entry.tokens for entry in log[state.cursor :])
        assert state.tokens_start == sum(entry.tokens for entry in log[state.start :])
        assert failures <= FAILURES_MOST
        if self.torn:
            return
        # Whoever read the cursor before finds in the memory what lies before it.
        assert max(state.cursor, self.seen[0] if self.seen else 0) <= upto <= len(log)
        for entry in entries:
            assert names_of(log[entry.first : entry.upto]).keys() == set(names_in(entry.text)), entry

    def teardown(self) -> None:
        """Whatever was left in whatever state is brought to its end."""
        if sys.exc_info()[0] is None:
            self.all_is_settled()
            self.all_is_as_promised()
        for gate in self.gates.values():
            gate.doomed = "before"
            self.do(gate.go, TO_THE_END)
        super().teardown()


QUICK = settings(
    max_examples=8, stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
THOROUGH = settings(QUICK, max_examples=1_000, stateful_step_count=80)


@pytest.fixture(scope="module")
def far_dir() -> Iterator[Path]:
    with another_server() as data:
        yield data


@dataclass(frozen=True)
class Ground:
    near_dir: Path
    far_dir: Path
    prefix: str
    data_dir: Path


@pytest.fixture
def ground(server_dir: Path, far_dir: Path, prefix: str, tmp_path: Path) -> Iterator[Ground]:
    with capture_logs():
        yield Ground(server_dir, far_dir, prefix, tmp_path)


@contextmanager
def machine(ground: Ground) -> Iterator[type[ConsolidationMachine]]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("daemon.archive.local_storage.Threads", NoThreads)
        # What is old of a memory goes to the archive all the time.
        patch.setattr("daemon.memory.scope_lists.KEPT", {"versions": 3, "history": 2, "notes": 1})
        patch.setattr("daemon.memory.scope_lists.SHELVED", {"versions": 2, "history": 1, "notes": 1})
        loop = stack.enter_context(one_loop())
        config = RedisConfig(prefix=ground.prefix)
        near, far = (
            stack.enter_context(loop.entered(open_bus(config, folder))) for folder in (ground.near_dir, ground.far_dir)
        )
        process = Process(
            config=alone(Config(queue=QUEUE), breaker_failures=BREAKER_FAILURES, breaker_probe_s=3_600.0),
            data_dir=ground.data_dir,
            bus=near,
            listener=Listener(near),
            clock=ManualClock(),
        )
        apart = Apart(process, Lab(near, QUEUE), far, Teller())
        yield type("Machine", (ConsolidationMachine,), {"world": World(loop, apart)})
        for bus in (near, far):
            loop.call(check_and_remove_keys, bus)


def test_each_message_is_in_the_log_or_in_one_entry_of_the_memory(ground: Ground) -> None:
    with machine(ground) as found:
        run(found, settings=QUICK)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(1_800)
def test_each_message_is_in_the_log_or_in_one_entry_however_long_it_goes_on(ground: Ground) -> None:
    with machine(ground) as found:
        run(found, settings=THOROUGH)
