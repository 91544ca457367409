"""The journal: finished steps of a turn survive its worker, and are written once, in their place."""

import pytest

from daemon.errors import BusUnavailable, LeaseLost
from daemon.session import Sessions
from daemon.testing import FailingBus
from tests.conftest import Lab, an_entry

STEPS = [an_entry(0, text=f"step {number}") for number in range(4)]


async def stored(lab: Lab) -> list[str]:
    return [entry.decode() for entry in await lab.bus.call("LRANGE", lab.bus.keys.log("web:ann"), 0, -1)]


async def test_journalled_steps_are_no_part_of_the_log_until_the_commit(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()

    await lab.sessions.journal(claim, step=0, entries=STEPS[:2])

    assert await lab.log() == [] and (await lab.state()).head == 0
    await lab.commit(claim, journalled=STEPS[:2])
    assert (await lab.log())[:2] == STEPS[:2] and (await lab.state()).head == 3


async def test_a_successor_sees_the_journal_and_goes_on_after_it(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:1])
    await lab.sessions.journal(claim, step=1, entries=STEPS[1:3])
    await lab.expire()

    successor = await lab.claim()

    begun = successor.begun
    assert (begun.step, begun.head, begun.attempts) == (3, 0, 1)
    assert await lab.reader.log("web:ann", first=begun.head, upto=begun.head + begun.step, base=0) == STEPS[:3]
    await lab.sessions.journal(successor, step=3, entries=STEPS[3:])
    await lab.commit(successor, journalled=STEPS)
    assert (await lab.log())[:4] == STEPS


@pytest.mark.parametrize("count", [1, 3])
async def test_steps_that_arrive_twice_stand_there_once(lab: Lab, count: int) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:count])
    before = await lab.dump()

    await lab.sessions.journal(claim, step=0, entries=STEPS[:count])

    assert await lab.dump() == before


async def test_steps_sent_again_after_a_lost_reply_stand_there_once(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    away = Sessions(FailingBus(lab.bus, at=1, carried_out=True), lab.queue, worker="worker")
    with pytest.raises(BusUnavailable):
        await away.journal(claim, step=0, entries=STEPS[:1])

    await away.journal(claim, step=0, entries=STEPS[:1])

    assert len(await stored(lab)) == 1


async def test_steps_that_arrive_after_later_ones_change_nothing(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:1])
    await lab.sessions.journal(claim, step=1, entries=STEPS[1:2])
    before = await lab.dump()

    assert await lab.bus.repeat("journal.lua", back=2) == b"stale"

    assert await lab.dump() == before


@pytest.mark.parametrize("step", [1, 3, -1])
async def test_steps_at_another_place_are_refused(lab: Lab, step: int) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:2])
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await lab.sessions.journal(claim, step=step, entries=STEPS[2:3])

    assert await lab.dump() == before


async def test_steps_that_arrive_in_the_next_turn_of_the_same_lease_change_nothing(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.publish("m2")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:1])
    following = await lab.commit(claim, journalled=STEPS[:1])
    assert following is not None and following.nonce == claim.nonce
    before = await lab.dump()

    assert await lab.bus.repeat("journal.lua") == b"stale"

    assert await lab.dump() == before


async def test_a_journalled_step_is_progress_and_starts_the_count_of_attempts_afresh(lab: Lab) -> None:
    await lab.publish("m1")
    for _ in range(2):
        await lab.sessions.back_off(await lab.claim(), delay_s=0.0)
    await lab.claim()
    await lab.expire()
    claim = await lab.claim()
    assert (claim.begun.attempts, claim.begun.deaths) == (3, 1)

    await lab.sessions.journal(claim, step=0, entries=STEPS[:1])
    state = await lab.state()
    assert (state.attempts, state.deaths) == (0, 0)

    await lab.expire()
    begun = (await lab.claim()).begun
    assert (begun.attempts, begun.deaths) == (1, 1)


async def test_a_hand_over_after_a_journalled_step_takes_nothing_off_the_count(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=STEPS[:1])

    await lab.sessions.hand_over(claim)

    assert (await lab.state()).attempts == 0
    assert (await lab.claim()).begun.attempts == 1
