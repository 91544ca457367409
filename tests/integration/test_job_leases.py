"""How long a job is held: from each take, each save and each renewal on; and how long it is known afterwards."""

from collections.abc import AsyncIterator

import pytest

from daemon.jobs import Jobs
from daemon.testing import ManualClock
from tests.conftest import Lab

LEASE_S = 60.0


@pytest.fixture
async def jobs(lab: Lab, clock: ManualClock) -> AsyncIterator[Jobs]:
    yield Jobs(lab.bus, lease_s=LEASE_S, worker="worker", clock=clock)
    await lab.bus.call("UNLINK", lab.bus.keys.jobs)


async def test_a_job_is_held_longer_by_each_take_save_and_renewal(jobs: Jobs, lab: Lab) -> None:
    await jobs.create("count", {}, job_id="a")
    now_ms = await lab.server_ms()
    held = await jobs.take("a")
    assert held is not None
    steps = [lambda: jobs.renew(held), lambda: jobs.save(held, {}, step=1), lambda: jobs.renew(held)]
    for step in (None, *steps):
        if step is not None:
            await lab.bus.call("ZADD", lab.bus.keys.jobs, now_ms - 1, "a")  # its lease has run out
            await step()

        assert await lab.bus.call("ZSCORE", lab.bus.keys.jobs, "a") >= now_ms + LEASE_S * 1000
        assert await jobs.due() == []
        assert await jobs.take("a") is None


async def test_a_job_that_is_handed_over_has_no_fewer_attempts_than_none(jobs: Jobs) -> None:
    await jobs.create("count", {}, job_id="a")
    held = await jobs.take("a")
    assert held is not None
    await jobs.save(held, {}, step=1)

    await jobs.put_off(held, delay_s=0, counts=False)

    again = await jobs.take("a")
    assert again is not None
    assert again.attempts == 1


async def test_jobs_that_ended_long_ago_are_forgotten_with_the_next_that_ends(jobs: Jobs, lab: Lab) -> None:
    ended = lab.bus.keys.jobs_ended
    await lab.bus.call("ZADD", ended, 1, "long ago", await lab.server_ms() - 1, "just now")
    await jobs.create("count", {}, job_id="a")
    held = await jobs.take("a")
    assert held is not None

    await jobs.finish(held, {})

    assert await lab.bus.call("ZRANGE", ended, 0, -1) == [b"just now", b"a"]
