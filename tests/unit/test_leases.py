"""How long holders believe in their leases: from the question on, renewal after renewal, and never beyond the end."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from channels import leader_election as lease
from channels.leader_election import Leader, Lease, LeaseTerms
from daemon.config import QueueConfig
from daemon.errors import BusUnavailable, LeaseLost, LockLost
from daemon.testing import ManualClock
from tests.limits import HANG_S
from tests.tables import each_row
from workers import lease_upkeep
from workers.consolidation import lock_holder
from workers.lease_upkeep import ClaimHold, LeaseUpkeep

LEASE_S = 15.0
AWAY = BusUnavailable("away")


class Asked:
    """Answers questions one after the other; each takes some seconds of the clock."""

    def __init__(self, clock: ManualClock, *answers: Any, takes_s: float = 4.0) -> None:
        self.lease_s = LEASE_S
        self.asked: list[Any] = []
        self.left_s: list[float] = []
        """How long the lease seemed to last when each question was asked."""
        self.look: Callable[[], float] = float
        self._clock = clock
        self._answers = list(answers)
        self.takes_s = takes_s

    async def run(self, _script: Any, _keys: Any, args: Sequence[Any] = ()) -> Any:
        self.asked.append(args)
        self.left_s.append(self.look())
        self._clock.advance(self.takes_s)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def renew(self, claim: Any) -> Any:
        return await self.run(None, None, [claim])

    async def give_back(self, lock: Any, *, again_in_s: float | None) -> None:
        self.asked.append(("given back", lock, again_in_s))


class Told:
    """The library with another clock."""

    def __init__(self, clock: ManualClock) -> None:
        self.current_time = clock.monotonic

    def __getattr__(self, name: str) -> Any:
        return getattr(anyio, name)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """The monotonic clock of all that holds leases."""
    clock = ManualClock()
    told = Told(clock)
    monkeypatch.setattr(lease, "time", SimpleNamespace(monotonic=clock.monotonic))
    monkeypatch.setattr(lease_upkeep, "anyio", told)
    monkeypatch.setattr(lock_holder, "anyio", told)
    return clock


def a_lease(bus: Any) -> Lease:
    bus.look = lambda: made.left_s
    made = Lease(bus=bus, terms=LeaseTerms(key="leader", lease_s=LEASE_S, renew_s=0.001, worker="w"))
    return made


def answer(status: bytes) -> list[Any]:
    return [status, 7, 0, -1]


async def test_a_leaders_lease_counts_from_the_question_at_first_and_at_each_renewal(clock: ManualClock) -> None:
    bus = Asked(clock, *[answer(b"held")] * 4, answer(b"busy"))
    mine = a_lease(bus)

    await mine.ask()
    assert mine.left_s == LEASE_S - 4
    assert mine.outlasts(LEASE_S - 4)
    assert not mine.outlasts(LEASE_S - 3)
    with anyio.fail_after(HANG_S):
        await mine.keep()

    assert bus.left_s[1:] == [LEASE_S - 4] * 4
    assert [args[1] for args in bus.asked] == [0, -1, -1, -1, -1]


async def test_a_leader_whose_renewals_fail_is_one_until_its_lease_ends_and_no_longer(clock: ManualClock) -> None:
    bus = Asked(clock, answer(b"held"), AWAY, answer(b"held"), *[AWAY] * 9)
    mine = a_lease(bus)
    await mine.ask()

    with anyio.fail_after(HANG_S):
        await mine.keep()

    assert bus.left_s[1:] == [11.0, 7.0, 11.0, 7.0, 3.0]
    assert mine.left_s <= 0


async def test_a_lease_that_is_given_back_is_over_at_once_though_the_server_is_away(clock: ManualClock) -> None:
    bus = Asked(clock, answer(b"held"), AWAY)
    mine = a_lease(bus)
    await mine.ask()

    await mine.resign(channel="leaders", said="leader")

    assert bus.left_s[1] <= 0


async def test_a_lease_under_another_fence_is_asked_for_with_the_fence_that_was_seen(clock: ManualClock) -> None:
    bus = Asked(clock, answer(b"free"), answer(b"held"))
    mine = a_lease(bus)

    assert await mine.ask() == 0.0
    assert [args[1] for args in bus.asked] == [0, 7]


async def test_a_send_that_the_lease_would_not_outlast_begins_once_it_is_renewed(clock: ManualClock) -> None:
    bus = Asked(clock, answer(b"held"), answer(b"held"), answer(b"held"), answer(b"busy"))
    mine = a_lease(bus)
    await mine.ask()
    bus.takes_s = 1.0

    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(mine.outlasting, LEASE_S - 1)
            tg.start_soon(mine.keep)


def a_leader(**more: Any) -> Leader:
    queue = QueueConfig(lease_s=LEASE_S, renew_s=5.0)
    process: Any = SimpleNamespace(
        config=SimpleNamespace(queue=queue), name="w", shared=lambda kind: kind(), stopping=anyio.Event(), **more
    )
    return Leader(process, key="leader", channel="lake", longest_s=3.0)


async def test_the_work_of_a_leader_that_lost_its_lease_is_cut_short(clock: ManualClock) -> None:
    bus = Asked(clock, answer(b"held"), answer(b"busy"))
    mine = a_lease(bus)
    await mine.ask()

    with anyio.fail_after(HANG_S):
        async with a_leader().kept(mine) as scope:
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert not mine.ending.is_set()


@each_row(("longest_s", "renew_s"), [(3.0, 4.0), (0.0, 5.0), (9.0, 2.0)])
async def test_a_leader_renews_often_enough_for_its_longest_step(longest_s: float, renew_s: float) -> None:
    leader = a_leader()

    assert Leader(leader._process, key="k", channel="lake", longest_s=longest_s)._terms.renew_s == renew_s


async def test_a_claim_is_lost_when_its_lease_ends_counted_from_the_last_question(clock: ManualClock) -> None:
    claim: Any = SimpleNamespace(session="web:ann", begun=SimpleNamespace(waiting=()))
    sessions: Any = Asked(clock, "", *[AWAY] * 2, "", *[AWAY] * 3)
    hold = ClaimHold(claim, held_until=LEASE_S)
    process: Any = SimpleNamespace(config=SimpleNamespace(queue=SimpleNamespace(lease_s=LEASE_S)))
    keeper = LeaseUpkeep(process, sessions, {})
    clock.advance(-clock.monotonic())

    lost: list[bool] = []
    for _ in range(7):
        await keeper._renew_one(hold)
        lost.append(hold._lost)

    # Asked at 0 and 12 s: held until 15 s, then until 27 s; it is 8, 12, 20, 24 and 28 s when the failures are seen.
    assert lost == [False] * 6 + [True]


async def test_a_claim_that_somebody_else_has_is_lost_at_once(clock: ManualClock) -> None:
    claim: Any = SimpleNamespace(session="web:ann", begun=SimpleNamespace(waiting=()))
    hold = ClaimHold(claim, held_until=LEASE_S)
    process: Any = SimpleNamespace(config=SimpleNamespace(queue=SimpleNamespace(lease_s=LEASE_S)))
    sessions: Any = Asked(clock, "", LeaseLost("lost"))
    keeper = LeaseUpkeep(process, sessions, {})

    await keeper._renew_one(hold)
    assert not hold._lost
    await keeper._renew_one(hold)
    assert hold._lost


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([None, None, None, LockLost("lost")], 4),
        # Asked at 0 and 8 s: held until 23 s; the last failure is seen at 24 s.
        ([None, AWAY, None, *[AWAY] * 9], 6),
        # Never renewed: held for as long as when it was taken.
        ([AWAY] * 9, 4),
    ],
)
async def test_a_lock_is_lost_when_it_is_refused_or_its_lease_ends_counted_from_the_last_question(
    clock: ManualClock, answers: list[Any], asked: int
) -> None:
    locks: Any = Asked(clock, *answers)
    lock: Any = SimpleNamespace(session="web:ann")

    with anyio.fail_after(HANG_S), pytest.raises(LockLost):
        await lock_holder.hold(locks, lock, lambda _ended: anyio.sleep_forever(), renew_s=0.001, rest_s=1.0)

    assert len(locks.asked) == asked, "a lock that is lost is not given back"
