"""Several replicas share what only one process can do at a time: who holds many leases gives some away."""

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
import anyio.abc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels import leader_election
from channels.leader_election import NOBODY, Leader, Lease, LeaseBalance, LeaseTerms
from daemon.bus import Bus
from daemon.config import QueueConfig
from daemon.process import Process
from tests.conftest import server_ms
from tests.limits import HANG_S, until

COUNT = 6
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.02)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader_election, "STANDBY_S", 0.02)
    monkeypatch.setattr(leader_election, "CEDED_PAUSE_S", 0.1)
    monkeypatch.setattr(leader_election, "CEDE_EVERY_S", 0.2)
    monkeypatch.setattr(leader_election, "WISH_S", 0.2)


@dataclass
class Replica:
    process: Process
    led: set[str] = field(default_factory=set[str])
    taken: int = 0  # how often it became the leader of something

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with anyio.create_task_group() as tg:
            for key in keys_of(self.process.bus):
                tg.start_soon(self._lead, key)
            task_status.started()

    async def _lead(self, key: str) -> None:
        leading = Leader(self.process, key=key, channel="lake", longest_s=0.1)

        async def work(given: Lease) -> None:
            async with leading.kept(given):
                self.led.add(key)
                self.taken += 1
                try:
                    await leading.until_ending(given, anyio.sleep_forever)
                finally:
                    self.led.discard(key)

        await leading.run(work)


def keys_of(bus: Bus) -> Sequence[str]:
    return [bus.keys.leader(0, f"lake-{number}") for number in range(COUNT)]


@asynccontextmanager
async def replicas(process: Process, *names: str) -> AsyncGenerator[list[Replica]]:
    """One after the other: the first of them has everything before the second begins."""
    made = [Replica(replace(process, name=name, stopping=anyio.Event())) for name in names]
    async with anyio.create_task_group() as tg:
        for each in made:
            await tg.start(each.run)
            await until(lambda: sum(len(one.led) for one in made) == COUNT)
        yield made
        tg.cancel_scope.cancel()


@pytest.mark.usefixtures("soon")
async def test_replicas_that_come_later_get_their_share_and_then_nothing_moves(process: Process) -> None:
    async with replicas(process, "a", "b", "c") as made:
        with anyio.fail_after(HANG_S):
            taken = 0
            while taken != sum(each.taken for each in made):
                await until(lambda: [len(each.led) for each in made] == [2, 2, 2])
                taken = sum(each.taken for each in made)
                await anyio.sleep(0.4)

        assert set.union(*(each.led for each in made)) == set(keys_of(process.bus))


@pytest.mark.usefixtures("soon")
async def test_what_the_one_that_stops_held_is_taken_by_the_others(process: Process) -> None:
    async with replicas(process, "a", "b") as (first, second):
        await until(lambda: len(second.led) == COUNT // 2)
        first.process.stopping.set()

        await until(lambda: len(second.led) == COUNT)
        assert not first.led


@pytest.mark.usefixtures("soon")
async def test_alone_a_replica_keeps_everything(process: Process) -> None:
    async with replicas(process, "a") as (alone,):
        await anyio.sleep(0.2)

        assert alone.taken == COUNT


def leases_of(bus: Bus, queue: QueueConfig, *counts: int) -> list[Lease]:
    found: list[Lease] = []
    for number, count in enumerate(counts):
        held_now = LeaseBalance()
        held_now.count = count
        terms = LeaseTerms(
            key=bus.keys.leader(0, "lake"),
            lease_s=queue.lease_s,
            renew_s=queue.renew_s,
            worker=f"w{number}",
            leads=held_now,
        )
        found.append(Lease(bus=bus, terms=terms))
    return found


async def test_a_lease_lasts_longer_each_time_that_it_is_renewed(bus: Bus, queue: QueueConfig) -> None:
    (mine,) = leases_of(bus, queue, 1)
    await mine.ask()
    key = mine.terms.key
    asked = await server_ms(bus)
    for _ in range(3):
        await bus.call("HINCRBY", key, "deadline", -round(queue.lease_s * 900))  # nine tenths of it have gone by

        await mine._lead(leader_election.RENEW_ONLY)

        assert int(await bus.call("HGET", key, "deadline")) >= asked + queue.lease_s * 1000


@pytest.mark.parametrize("order", list(itertools.permutations([0, 1, 2])))
async def test_of_those_who_wish_for_it_the_one_with_the_fewest_counts(
    bus: Bus, queue: QueueConfig, order: Sequence[int]
) -> None:
    holder, *others = leases_of(bus, queue, 3, 1, 2, 5)
    await holder.ask()
    for number in order:
        assert await others[number].ask() > 0

    assert await bus.call("HGET", bus.keys.leader(0, "lake"), "wish") == b"1"


@pytest.mark.parametrize("shift_ms", [-20_000, 3_600_000])
async def test_a_wish_is_forgotten_with_time_and_when_clocks_step(bus: Bus, queue: QueueConfig, shift_ms: int) -> None:
    holder, other, third = leases_of(bus, queue, 5, 0, 4)
    await holder.ask()
    await other.ask()
    await bus.call("HINCRBY", bus.keys.leader(0, "lake"), "wish_until", shift_ms)

    assert not await ends(holder)
    await third.ask()
    assert await bus.call("HGET", bus.keys.leader(0, "lake"), "wish") == b"4"


async def test_who_holds_one_more_keeps_it_and_who_holds_two_more_gives_it_away(bus: Bus, queue: QueueConfig) -> None:
    for theirs, given_away in ((4, False), (3, True)):
        holder, other = leases_of(bus, queue, 5, theirs)
        await holder.ask()
        await other.ask()

        assert await ends(holder) is given_away
        await holder.resign(channel=bus.keys.leaders, said="")


async def ends(given: Lease) -> bool:
    """Whether its holder gives it away at one of the next renewals."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(given.keep)
        with anyio.fail_after(HANG_S):
            for _ in range(3):
                await given._renewed.wait()
        tg.cancel_scope.cancel()
    return given.ending.is_set()


async def test_who_holds_more_than_before_says_so(bus: Bus, queue: QueueConfig) -> None:
    holder, other = leases_of(bus, queue, 5, 0)
    await holder.ask()
    await other.ask()
    other.terms.leads.count = 4
    await other.ask()

    assert not await ends(holder)


@given(st.integers(0, 50), st.integers(NOBODY, 50))
def test_what_is_given_away_never_leaves_its_giver_with_less_than_the_other(mine: int, theirs: int) -> None:
    held_now = LeaseBalance()
    held_now.count = mine
    if held_now.cedes(theirs):
        assert theirs != NOBODY
        assert mine - 1 >= theirs + 1
        assert not held_now.cedes(theirs), "the next one has to wait"
    else:
        assert theirs == NOBODY or mine - theirs < 2
