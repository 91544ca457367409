"""A turn with tools that is cut short at every point there is, one after the other; the next worker ends it."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from daemon.bus import Bus
from daemon.concurrency import Slots
from daemon.config import BotConfig, Config
from daemon.errors import ModelUnavailable
from daemon.events import LogEntry
from daemon.model import LASTS_S, Answer, Chunk, Model, Request, TextChunk, ToolCall
from daemon.process import Process
from daemon.session import Sessions
from daemon.testing import FailingBus
from tests.apart import kept
from tests.conftest import Lab
from tests.cut_short import CutBus, Died, DyingBus, InterludeBus, StoppingBus
from tests.fakes.said import said as words_of
from tests.integration.test_turns import notices_of, parked_for, wire
from tests.limits import HANG_S
from tests.tables import each_row
from workers.agent.turn import Turns
from workers.session_consumer import SessionConsumer
from workers.tools import Registry, Tool, ToolContext

SESSION = "web:ann"
MOST = 1_000  # no turn has so many awaits: a loop that gets there goes on for ever
CALLS = 6  # calls to Redis of such a turn at least: claim, log, three journals, commit
WORKERS = 3  # at most so many come after the one that was cut short
NOTHING = (0, "", 0, None, [])  # what is left over when all is answered
AWAITS = 8
"""Awaits of such a turn's own task at least: those calls, two of the model, one for the tools, which run beside it."""

INTERRUPTED = "Error: interrupted, outcome unknown"


async def a_moment() -> None:
    """Wait for something, as a model and a tool do: not a mere checkpoint."""
    event = anyio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    await event.wait()


class PayThenLook(Model):
    """Asks for one tool that must not run twice and one that may, then answers; awaits as a real model does."""

    name = "pay-then-look"

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        await a_moment()
        last = msgspec.json.decode(request.messages[-1])
        if last["role"] == "user":
            arguments = msgspec.json.encode({"bill": words_of(last["content"])}).decode()
            calls = [ToolCall(id=name, name=name, arguments=arguments) for name in ("pay", "look")]
            yield Answer(text="", tool_calls=tuple(calls))
            return
        yield TextChunk("paid")
        await a_moment()
        yield Answer(text="paid", model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class Shop:
    """What the tools did: bills by how often they were paid."""

    process: Process  # whose bot has these tools and the model above
    paid: Counter[str]


@pytest.fixture
def shop(process: Process, monkeypatch: pytest.MonkeyPatch) -> Shop:
    async def pay(arguments: Mapping[str, Any], _context: ToolContext) -> str:
        await a_moment()
        paid[arguments["bill"]] += 1
        await a_moment()
        return "paid"

    async def look(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        await a_moment()
        return "seen"

    async def connect(_config: object, *, language: str) -> Model:
        return PayThenLook()

    paid: Counter[str] = Counter()
    tools = (Tool(name="pay", description="", run=pay), Tool(name="look", description="", run=look, repeatable=True))
    monkeypatch.setattr("workers.agent.bot_runtime.BUILTIN", Registry(tools))
    bots = {"pond": BotConfig(tools=("pay", "look"))}
    config: Config = msgspec.structs.replace(process.config, bots=bots)
    return Shop(process=replace(process, config=config, connect_model=connect), paid=paid)


def work(process: Process, bus: Bus) -> Coroutine[Any, Any, None]:
    """A consumer that works off one wake-up on ``bus``."""
    process = replace(process, bus=bus)
    sessions = Sessions(bus, process.config.queue, worker="one")
    return SessionConsumer(process, sessions, Turns(process, sessions), slots=1).work([SESSION])


async def ended_by_the_next(shop: Shop, lab: Lab, *ids: str) -> list[str]:
    """Let the next worker end these turns, and see that all is as promised; what became of each payment."""
    await work_off(shop, lab)
    log = (await lab.log())[-5 * len(ids) :]
    return [see_one_turn(shop, log[5 * at : 5 * at + 5], message_id) for at, message_id in enumerate(ids)]


async def work_off(shop: Shop, lab: Lab) -> None:
    """Let other workers claim what waits, as often as they may have to; nothing may be left then."""
    for _ in range(WORKERS):
        if (await lab.state()).waiting:
            await lab.expire()
            await limited(work(shop.process, lab.bus))
    assert await left_over(lab) == NOTHING


def see_one_turn(shop: Shop, entries: Sequence[LogEntry], message_id: str) -> str:
    assert [wire(entry)["role"] for entry in entries] == ["user", "assistant", "tool", "tool", "assistant"]
    assert (entries[0].id, entries[-1].answers) == (message_id, (message_id,))
    # In the order in which the calls ended: they run side by side.
    results = {wire(entry)["tool_call_id"]: str(wire(entry)["content"]) for entry in entries[2:4]}
    payment, look = results["pay"], results["look"]
    times = shop.paid[f"text of {message_id}"]
    assert (payment, times) in (("paid", 1), (INTERRUPTED, 1), (INTERRUPTED, 0))
    assert look == "seen"
    return payment


async def limited(work: Awaitable[None]) -> None:
    with anyio.fail_after(HANG_S):
        await work


async def left_over(lab: Lab) -> tuple[int, str, int, int | None, list[str]]:
    """What waits, who holds the session, and what stands in ``in``, ``due`` and ``ready``."""
    state = await lab.state()
    inbox = await lab.bus.call("XLEN", lab.bus.keys.inbox(0))
    return state.waiting, state.worker, inbox, await lab.due(), await lab.ready()


async def see_all_in_order(lab: Lab, expected: Sequence[str]) -> None:
    log = await lab.log()
    assert [message_id for entry in log for message_id in entry.answers] == expected
    assert [entry.id for entry in log if entry.id] == expected


async def a_whole_turn(shop: Shop, lab: Lab, bus: FailingBus) -> None:
    await lab.publish("first")
    await limited(work(shop.process, bus))
    assert await left_over(lab) == NOTHING
    assert await ended_by_the_next(shop, lab, "first") == ["paid"]


@pytest.mark.parametrize("carried_out", [False, True])
@pytest.mark.parametrize("kind", [FailingBus, StoppingBus, DyingBus])
async def test_a_turn_cut_short_at_any_call_to_redis_is_ended_by_the_next_worker(
    shop: Shop, lab: Lab, kind: type[FailingBus], carried_out: bool
) -> None:
    counting = FailingBus(shop.process.bus, at=0)
    await a_whole_turn(shop, lab, counting)
    expected, held = ["first"], []

    for at in range(1, counting.calls + 1):
        await lab.publish(f"m{at}")
        with anyio.CancelScope() as scope, capture_logs(), suppress(Died):
            cancel = scope if kind is StoppingBus else None
            bus = kind(shop.process.bus, at=at, carried_out=carried_out, cancel=cancel)
            await limited(work(shop.process, bus))
        held += [at] if (await lab.state()).worker else []
        await ended_by_the_next(shop, lab, f"m{at}")
        expected.append(f"m{at}")

    assert counting.calls >= CALLS
    await see_all_in_order(lab, expected)
    # Nothing waits for a lease to run out, unless its holder died, or never heard that it holds the session.
    if kind is not DyingBus:
        assert held == ([1] if kind is FailingBus and carried_out else [])


@pytest.mark.parametrize("what", ["flush", "kill"])
async def test_a_script_cache_flushed_and_a_server_killed_between_any_two_steps_are_not_noticed(
    shop: Shop, lab: Lab, what: str
) -> None:
    async def interlude() -> None:
        about = await lab.bus.call("INFO", "server")
        happened.append(about["process_id"])
        if what == "flush":
            await lab.bus.call("SCRIPT", "FLUSH")
        else:
            os.kill(about["process_id"], signal.SIGKILL)

    happened: list[int] = []
    counting = FailingBus(shop.process.bus, at=0)
    await a_whole_turn(shop, lab, counting)

    for at in range(1, counting.calls + 1):
        await lab.publish(f"m{at}")
        await limited(work(shop.process, InterludeBus(shop.process.bus, at=at, interlude=interlude)))
        # Ended by the very worker that began it.
        assert await left_over(lab) == NOTHING
        assert await ended_by_the_next(shop, lab, f"m{at}") == ["paid"]

    assert len(happened) == counting.calls
    assert len(set(happened)) == (1 if what == "flush" else counting.calls)
    await see_all_in_order(lab, ["first", *(f"m{at}" for at in range(1, counting.calls + 1))])


class Stepped:
    """A coroutine, step by step: ``happen`` is called when it is about to wait for the ``at``-th time.

    ``happen`` returns what is raised in the coroutine when that wait is over, or None. With ``checkpoints``, those
    count as waits: a cancellation can come there, an error cannot.
    """

    def __init__(
        self, work: Coroutine[Any, Any, None], *, at: int, happen: Callable[[], BaseException | None], checkpoints: bool
    ) -> None:
        self._work = work
        self._at = at
        self._happen = happen
        self._checkpoints = checkpoints
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[], Any] = partial(self._work.send, None)
        while True:
            try:
                waited_for = step()
            except StopIteration:
                return
            counts = self._checkpoints or waited_for is not None
            self.steps += counts
            error = self._happen() if counts and self.steps == self._at else None
            try:
                yield waited_for
            except BaseException as raised:  # noqa: BLE001 - a cancellation, on its way into the coroutine
                error = raised
            step = partial(self._work.send, None) if error is None else partial(self._work.throw, error)


class Bug(Exception):
    """What nobody expects to be raised where it is raised."""


async def each_await(
    shop: Shop, lab: Lab, happen: Callable[[anyio.CancelScope], BaseException | None], *, checkpoints: bool
) -> AsyncGenerator[tuple[int, str, list[str]]]:
    """Cut two turns of one claim short at each of their awaits; where, who held the session then,
    and what became of the payments."""
    expected: list[str] = []
    for at in range(1, MOST):
        ids = [f"m{at}-1", f"m{at}-2"]
        for message_id in ids:
            await lab.publish(message_id)
        with anyio.CancelScope() as scope, capture_logs(), suppress(Bug):
            stepped = Stepped(
                work(shop.process, shop.process.bus), at=at, happen=partial(happen, scope), checkpoints=checkpoints
            )
            await limited(stepped)
        holder = (await lab.state()).worker
        yield at, holder, await ended_by_the_next(shop, lab, *ids)
        expected += ids
        if stepped.steps < at:
            break
    assert 2 * AWAITS < at < MOST - 1
    await see_all_in_order(lab, expected)


async def test_a_turn_cancelled_at_any_await_is_handed_over_and_ended_by_the_next_worker(shop: Shop, lab: Lab) -> None:
    results: Counter[str] = Counter()

    async for _, holder, payments in each_await(shop, lab, lambda scope: scope.cancel(), checkpoints=True):
        # It lets go by itself: no lease has to run out.
        assert holder == ""
        results.update(payments)

    # Between the record of the call and that of its result lie few of the awaits.
    assert 2 <= results[INTERRUPTED] < results["paid"]


async def test_a_turn_that_fails_at_any_await_is_tried_again_and_ended_by_the_next_worker(shop: Shop, lab: Lab) -> None:
    held = [at async for at, holder, _ in each_await(shop, lab, lambda _: Bug("a bug"), checkpoints=False) if holder]

    assert held == [1], "only a claim whose answer was lost has to wait for its lease to run out"


class Away(PayThenLook):
    """A model that cannot be reached."""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        await a_moment()
        raise ModelUnavailable("away")
        yield


async def stopped(lab: Lab, message_id: str) -> tuple[str, ...]:
    await lab.publish(message_id)
    await lab.publish(f"{message_id}-stop", command="stop")
    return (message_id, f"{message_id}-stop")


async def given_up(lab: Lab, message_id: str) -> tuple[str, ...]:
    await lab.publish(message_id)
    await lab.bus.call("HSET", lab.bus.keys.session(SESSION), "attempts", lab.queue.attempts_max)
    return (message_id,)


async def parked(lab: Lab, message_id: str) -> tuple[str, ...]:
    await lab.publish(message_id)
    await parked_for(lab, LASTS_S)
    return (message_id,)


@pytest.mark.parametrize("begin", [stopped, given_up, parked])
async def test_a_turn_that_ends_otherwise_and_is_cancelled_at_any_await_is_ended_once_by_the_next_worker(
    shop: Shop, lab: Lab, begin: Callable[[Lab, str], Awaitable[tuple[str, ...]]]
) -> None:
    async def connect(_config: object, *, language: str) -> Model:
        return Away()

    away = replace(shop.process, connect_model=connect)
    expected: list[tuple[str, ...]] = []
    for at in range(1, MOST):
        expected.append(await begin(lab, f"m{at}"))
        with anyio.CancelScope() as scope, capture_logs():
            stepped = Stepped(work(away, away.bus), at=at, happen=scope.cancel, checkpoints=True)
            await limited(stepped)
        assert (await lab.state()).worker == ""
        await work_off(shop, lab)
        if stepped.steps < at:
            break

    log = await lab.log()
    assert [entry.answers or entry.dead for entry in log if entry.answers or entry.dead] == expected
    assert [entry.id for entry in log if entry.id] == [ids[0] for ids in expected]
    assert {entry.stopped for entry in log if entry.answers} <= {begin is stopped}
    letters = [fields[b"id"].decode() for _, fields in await lab.bus.call("XRANGE", lab.bus.keys.dead(0), "-", "+")]
    assert letters == [ids[0] for ids in expected if begin is given_up]
    told = Counter(notice.message_id for notice in await notices_of(lab))
    assert set(told.values()) == ({1} if begin is parked else set())


TOGETHER = [f"web:t{number}" for number in range(3)]


async def consume(process: Process, bus: Bus) -> None:
    """A whole consumer, until it is cut short or all is answered."""
    process = replace(process, bus=bus, stopping=anyio.Event())
    sessions = Sessions(bus, process.config.queue, worker="many")
    consumer = SessionConsumer(process, sessions, Turns(process, sessions), slots=len(TOGETHER))
    async with anyio.create_task_group() as tg:
        tg.start_soon(consumer.run)
        while await bus.client.execute_command("XLEN", bus.keys.inbox(0)):  # noqa: ASYNC110 - it happens on the server
            await anyio.sleep(0.001)
        tg.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("kind", "carried_out"),
    [
        (StoppingBus, False),
        pytest.param(StoppingBus, True, marks=pytest.mark.slow),
        pytest.param(DyingBus, False, marks=pytest.mark.slow),
        (DyingBus, True),
    ],
)
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
async def test_sessions_claimed_together_are_all_handed_over_or_ended_by_the_next_worker_wherever_it_is_cut_short(
    shop: Shop, lab: Lab, monkeypatch: pytest.MonkeyPatch, kind: type[CutBus], carried_out: bool, every: int
) -> None:
    # A read that blocks is never cancelled, and would be waited for each time.
    monkeypatch.setattr("daemon.bus.wakeups.BLOCK_S", 0.01)
    for session in TOGETHER:
        await lab.publish(f"{session}-first", session=session)
    await limited(consume(shop.process, lab.bus))
    for session in TOGETHER:
        await lab.publish(f"{session}-next", session=session)
    begin_again = await kept(lab.bus)
    for at in range(1 + carried_out % every, MOST, every):
        await begin_again()
        shop.paid.clear()
        with anyio.CancelScope() as scope, capture_logs():
            bus = kind(shop.process.bus, at=at, carried_out=carried_out, cancel=scope)
            try:
                await limited(consume(shop.process, bus))
            except* Died:
                pass
        held = [session for session in TOGETHER if (await lab.state(session)).worker]
        for session in TOGETHER if kind is DyingBus else ():
            await lab.expire(session)
        await limited(consume(shop.process, lab.bus))

        assert kind is DyingBus or held == []
        assert await lab.ready() == []
        assert await lab.bus.call("ZCARD", lab.bus.keys.due(0)) == 0
        for session in TOGETHER:
            log = await lab.log(session)
            answers = [message_id for entry in log for message_id in entry.answers]
            assert answers == [f"{session}-first", f"{session}-next"]
            assert [entry.id for entry in log if entry.id] == answers
        assert max(shop.paid.values(), default=0) <= 1
        if bus.calls < at:
            break

    assert CALLS < at < MOST - every
    assert shop.paid.total() == len(TOGETHER)


@each_row("idle", [False, True])
@each_row("given_first", [False, True])
async def test_work_given_in_the_moment_in_which_its_slot_is_cancelled_is_begun_so_that_it_can_be_handed_over(
    idle: bool, given_first: bool
) -> None:
    async def begin(item: str) -> None:
        begun.append(item)
        await checkpoint()

    begun: list[str] = []
    slots = Slots(begin)
    async with anyio.create_task_group() as tg:
        slots.open(tg)
        if idle:
            slots.give("first")
            await anyio.wait_all_tasks_blocked()
        steps = [partial(slots.give, "second"), tg.cancel_scope.cancel]
        for step in steps if given_first else reversed(steps):
            step()

    assert begun == (["first", "second"] if idle else ["second"])
