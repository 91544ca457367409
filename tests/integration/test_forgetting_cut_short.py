"""The job that forgets, cut short at any call: whoever comes next does the rest, and nothing comes back."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from daemon.forget import ForgetOrder
from daemon.job_handlers import job_runner
from daemon.process import Process
from tests.apart import kept
from tests.conftest import Lab
from tests.cut_short import Died, DyingBus, NotingBus, StoppingBus, noting, to_cut
from tests.forgetlab import ANN, ANNS, CANARY, KEPT, SCOPE, Pond, pond, texts
from tests.memorylab import saves

CALLS_MAX = 400  # more than any of these jobs makes

ORDERS = [
    pytest.param(ForgetOrder(name=SCOPE, scopes=(SCOPE,), chat=ANN), id="text"),
    pytest.param(ForgetOrder(whole="session", name=ANN, session=ANN, scopes=(SCOPE,)), id="session"),
    pytest.param(ForgetOrder(whole="scope", name=SCOPE, scopes=(SCOPE,)), id="scope"),
]


async def a_little(world: Pond) -> None:
    """One conversation, part of which is memory, and another one."""
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.turn(ANN, f"And a {CANARY}, too.", answer="Yes.")
    await world.turn(ANN, "bye")
    memory = f"- a {CANARY}\n- a {CANARY} sings"
    await world.consolidate(ANN, saves(f"[2026-11-20 09:00] A {CANARY}.", memory=memory))
    await world.turn(ANNS, f"A {KEPT}.", answer=f"No {CANARY}?")


async def left_by_the_dead(world: Pond, job_id: str) -> None:
    keys = world.bus.keys
    for session in (ANN, ANNS):
        if await world.bus.call("HEXISTS", keys.lock(session), "lease"):
            await world.bus.call("HSET", keys.lock(session), "lease", 1)
    if await world.bus.call("ZSCORE", keys.jobs, job_id) is not None:
        await world.bus.call("ZADD", keys.jobs, 1, job_id)


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.forget.compaction.LOOK_S", 0.01)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("carried_out", "every"),
    [(True, 2), pytest.param(True, 1, marks=pytest.mark.slow), pytest.param(False, 1, marks=pytest.mark.slow)],
)
async def test_a_job_whose_process_dies_at_any_call_is_gone_on_with(
    process: Process, lab: Lab, tmp_path: Path, order: ForgetOrder, *, carried_out: bool, every: int
) -> None:
    world = Pond(pond(process, tmp_path), lab)
    await a_little(world)
    heads = [(await lab.state(session)).head for session in (ANN, ANNS)]
    job_id = await world.order(order=order)
    begin_again = await kept(lab.bus, folder=tmp_path)
    options = noting(world.bus, folder=tmp_path)
    await job_runner(replace(world.process, bus=NotingBus(world.bus, **options))).run_one(job_id)
    numbers = to_cut(options["made"], DyingBus, carried_out=carried_out, seen=set())
    assert len(numbers) > 20
    for at in numbers[::every]:
        await begin_again()
        dying = DyingBus(world.bus, at=at, carried_out=carried_out)
        try:
            await job_runner(replace(world.process, bus=dying)).run_one(job_id)
        except BaseException as error:
            if not _died(error):
                raise
        await left_by_the_dead(world, job_id)

        record = await world.done(job_id)

        assert record.status == "done", (at, record)
        left = await world.places()
        assert left == ([] if order.whole != "session" else [place for place in left if ANNS in place]), at
        if order.whole != "scope":
            assert KEPT in texts(await lab.log(ANNS)), at
        states = [await lab.state(session) for session in (ANN, ANNS)]
        assert [state.head for state in states] == heads
        await go_on(world)


async def go_on(world: Pond) -> None:
    before = await world.lab.state(ANN)
    for word in ("one", "two"):
        await world.turn(ANN, word)
    await world.consolidate(ANN, saves("[2026-11-20 10:00] went on", memory="- went on"))
    after = await world.lab.state(ANN)
    assert after.cursor > before.cursor
    assert after.head == before.head + 4
    kept = await world.lab.log(ANN)
    assert after.tokens == sum(entry.tokens for entry in kept[len(kept) - (after.head - after.cursor) :])


def _died(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_died(each) for each in error.exceptions)
    return isinstance(error, Died)


async def test_a_job_that_is_cancelled_at_any_call_gives_everything_back(process: Process, lab: Lab, tmp_path: Path):
    world = Pond(pond(process, tmp_path), lab)
    await a_little(world)
    job_id = await world.order()
    begin_again = await kept(lab.bus, folder=tmp_path)
    for at in range(1, CALLS_MAX, 17):
        await begin_again()
        with anyio.CancelScope() as scope:
            stopping = StoppingBus(world.bus, at=at, cancel=scope)
            await job_runner(replace(world.process, bus=stopping)).run_one(job_id)
        locks = [await world.bus.call("HEXISTS", world.bus.keys.lock(session), "nonce") for session in (ANN, ANNS)]
        assert not any(locks), at

        record = await world.done(job_id)

        assert (record.status, await world.places()) == ("done", []), at
        if not scope.cancelled_caught:
            return
    pytest.fail("it makes more calls than that")
