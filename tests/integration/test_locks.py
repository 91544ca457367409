"""The consolidation lock of a session: who holds it writes, who lost it does not, what comes late does nothing."""

import pytest

from daemon.errors import LockLost
from daemon.events import Continuity
from daemon.session import ConsolidationLock, ConsolidationLocks
from tests.conftest import Lab

SESSION = "web:ann"
NOTED = ("failures", "flushed", "unflushed")


async def begun(lab: Lab) -> tuple[ConsolidationLocks, ConsolidationLock]:
    for message_id in ("a", "b"):
        await lab.publish(message_id)
        await lab.commit(await lab.claim())
    return ConsolidationLocks(lab.bus, lab.queue, worker="one"), await taken(lab)


async def taken(lab: Lab) -> ConsolidationLock:
    lock = await ConsolidationLocks(lab.bus, lab.queue, worker="one").take(SESSION)
    assert lock is not None
    return lock


async def run_out(lab: Lab, by_ms: int = -3_600_000) -> None:
    await lab.bus.call("HINCRBY", lab.bus.keys.lock(SESSION), "lease", by_ms)


async def settled(lab: Lab, lock: ConsolidationLock, upto: int = 2, *, flushed: bool = True) -> None:
    entries = await lab.bus.call("LRANGE", lab.bus.keys.log(SESSION), 0, -1)
    tokens = sum(entry.tokens for entry in (await lab.log())[lock.cursor : upto])
    await ConsolidationLocks(lab.bus, lab.queue, worker="one").settle(
        lock, upto=upto, last=entries[upto - 1], tokens=tokens, continuity=Continuity(text="so far"), flushed=flushed
    )


async def due(lab: Lab) -> float | None:
    score = await lab.bus.call("ZSCORE", lab.bus.keys.of(SESSION).unsettled, SESSION)
    return None if score is None else float(score)


async def test_one_holds_a_lock_until_it_is_given_back(lab: Lab) -> None:
    locks, lock = await begun(lab)
    assert await locks.take(SESSION) is None

    await locks.give_back(lock, again_in_s=None)

    assert (await taken(lab)).fence == lock.fence + 1


async def test_a_session_that_never_was_has_no_lock_and_is_not_looked_for_again(lab: Lab) -> None:
    await lab.bus.call("ZADD", lab.bus.keys.of(SESSION).unsettled, 1, SESSION)

    assert await ConsolidationLocks(lab.bus, lab.queue, worker="one").take(SESSION) is None

    assert await due(lab) is None
    assert await lab.bus.call("EXISTS", lab.bus.keys.session(SESSION), lab.bus.keys.lock(SESSION)) == 0


async def test_a_lock_that_ran_out_is_taken_and_its_old_holder_writes_nothing_more(lab: Lab) -> None:
    locks, old = await begun(lab)
    await run_out(lab)
    new = await taken(lab)
    before = await lab.dump()

    for write in (
        lambda: locks.renew(old),
        lambda: locks.again(old),
        lambda: settled(lab, old),
        *[lambda what=what: locks.note(old, what, 9) for what in NOTED],
    ):
        with pytest.raises(LockLost):
            await write()
    await locks.give_back(old, again_in_s=0)

    assert new.fence == old.fence + 1
    assert await lab.dump() == before


async def test_a_lock_that_was_lost_is_not_taken_by_asking_for_the_positions(lab: Lab) -> None:
    locks, old = await begun(lab)
    await run_out(lab)
    await locks.give_back(await taken(lab), again_in_s=None)

    with pytest.raises(LockLost):
        await locks.again(old)


async def test_a_lock_that_ran_out_and_that_nobody_took_is_still_its_holders(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await run_out(lab)

    await lab.bus.call("ZADD", lab.bus.keys.of(SESSION).unsettled, 1, SESSION)

    await locks.renew(lock)

    assert await locks.take(SESSION) is None
    assert (await due(lab) or 0) > await lab.server_ms(), "nobody looks at it before it has run out again"


async def test_a_lock_taken_before_the_clock_went_back_does_not_last_for_ever(lab: Lab) -> None:
    await begun(lab)
    await run_out(lab, 3_600_000)

    await taken(lab)


async def test_a_fence_rises_above_what_the_memory_has_seen(lab: Lab) -> None:
    locks, lock = await begun(lab)

    again = await locks.again(lock, above=41)

    assert (again.fence, again.nonce) == (42, lock.nonce)
    assert (await locks.again(again)).fence == 42
    await locks.give_back(again, again_in_s=None)
    assert (await taken(lab)).fence == 43


async def test_a_lock_that_was_given_back_is_not_taken_again_by_a_command_that_comes_late(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await locks.give_back(lock, again_in_s=None)

    await lab.bus.repeat("lock.lua")

    await taken(lab)


async def test_a_cursor_moves_once_however_often_it_is_said(lab: Lab) -> None:
    _, lock = await begun(lab)
    await settled(lab, lock)
    before = await lab.dump()

    assert await lab.bus.repeat("settle.lua") == b"done"

    assert await lab.dump() == before
    state = await lab.state()
    log = await lab.log()
    assert (state.cursor, state.start, state.head) == (2, 2, 4)
    assert state.tokens == state.tokens_start == sum(entry.tokens for entry in log[2:])
    assert state.continuity is not None


async def test_a_cursor_never_moves_from_elsewhere_nor_back_nor_past_the_head(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await settled(lab, lock)
    before = await lab.dump()
    elsewhere, now = lock, await locks.again(lock)
    assert now.cursor == 2

    with pytest.raises(LockLost):
        await settled(lab, elsewhere, 4)
    with pytest.raises(LockLost):
        await settled(lab, now, 2)
    await lab.bus.call("HSET", lab.bus.keys.session(SESSION), "head", 3)  # the rest is a journal
    with pytest.raises(LockLost):
        await settled(lab, now, 4)
    await lab.bus.call("HSET", lab.bus.keys.session(SESSION), "head", 4)

    assert await lab.dump() == before


async def test_what_was_not_flushed_is_remembered_from_its_beginning(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await settled(lab, lock, flushed=False)
    await settled(lab, await locks.again(lock), 4, flushed=False)

    assert (await locks.again(lock)).unflushed == (0, 4)


async def test_a_session_that_grew_under_the_lock_is_signalled_when_it_is_given_back(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await lab.publish("c")
    await lab.commit(await lab.claim())
    stream = lab.bus.keys.of(SESSION).grew
    events = await lab.bus.call("XLEN", stream)

    await locks.give_back(lock, again_in_s=None)

    assert await lab.bus.call("XLEN", stream) == events + 1
    assert await due(lab) is not None
    assert await lab.bus.repeat("unlock.lua") == b"done"
    assert await lab.bus.call("XLEN", stream) == events + 1


async def test_a_session_that_rests_is_not_signalled_and_found_when_its_time_has_come(lab: Lab) -> None:
    locks, lock = await begun(lab)
    stream = lab.bus.keys.of(SESSION).grew
    events = await lab.bus.call("XLEN", stream)
    await locks.give_back(lock, again_in_s=0.3)
    partition = lab.bus.keys.partition(SESSION)

    assert await lab.bus.call("XLEN", stream) == events
    assert await locks.due(partition) == []
    await lab.bus.call("ZINCRBY", lab.bus.keys.of(SESSION).unsettled, -1_000, SESSION)
    assert await locks.due(partition) == [SESSION]
    assert await locks.due(partition) == []  # put off


async def test_a_session_put_off_before_the_clock_went_back_is_found(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await locks.give_back(lock, again_in_s=0.3)
    await lab.bus.call("ZINCRBY", lab.bus.keys.of(SESSION).unsettled, 3_600_000, SESSION)

    assert await locks.due(lab.bus.keys.partition(SESSION)) == [SESSION]


async def test_a_session_whose_holder_died_is_found_when_the_lock_has_run_out(lab: Lab) -> None:
    locks, lock = await begun(lab)
    await locks.renew(lock)
    partition = lab.bus.keys.partition(SESSION)
    assert await locks.due(partition) == []

    await lab.bus.call("ZINCRBY", lab.bus.keys.of(SESSION).unsettled, -1_000 * lab.queue.lease_s, SESSION)

    assert await locks.due(partition) == [SESSION]
