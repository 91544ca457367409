"""Limits of waits that share a timer."""

from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.lowlevel import checkpoint

from channels.testing.loop_clock import put_forward, run_fast
from daemon.concurrency import SharedTimeout
from tests.limits import HANG_S

SHORT_S = 20.0  # by the loop's clock, which ``fast`` puts forward


@pytest.fixture(autouse=True)
async def fast() -> AsyncIterator[None]:
    async with anyio.create_task_group() as tg:
        tg.start_soon(run_fast)
        yield
        tg.cancel_scope.cancel()


async def test_what_takes_too_long_is_cancelled() -> None:
    limit = SharedTimeout(SHORT_S)

    with limit() as scope:
        await anyio.sleep_forever()

    assert scope.cancelled_caught
    with pytest.raises(TimeoutError, match="longer than"):
        limit.late(scope)


async def test_what_ends_in_time_is_left_alone_and_so_is_all_that_comes_after() -> None:
    limit = SharedTimeout(HANG_S)

    with limit() as scope:
        await checkpoint()
    put_forward()
    await checkpoint()

    assert not scope.cancel_called
    limit.late(scope)


async def test_each_of_many_has_its_own_time() -> None:
    limit, took = SharedTimeout(5 * SHORT_S), list[float]()

    async def wait(pause_s: float) -> None:
        await anyio.sleep(pause_s)
        began = anyio.current_time()
        with limit():
            await anyio.sleep_forever()
        took.append(anyio.current_time() - began)

    async with anyio.create_task_group() as tg:
        for pause_s in (0.0, SHORT_S, 2 * SHORT_S):
            tg.start_soon(wait, pause_s)
        with limit():
            await checkpoint()  # its end must not take along the timer of those that wait

    assert len(took) == 3 and all(each >= 4.9 * SHORT_S for each in took)


async def test_a_limit_can_be_used_again_after_it_rang() -> None:
    limit = SharedTimeout(SHORT_S)
    for _ in range(3):
        with limit() as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught


async def test_a_shielded_wait_within_is_not_cut_short() -> None:
    limit, over = SharedTimeout(SHORT_S), False

    with limit() as scope:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(3 * SHORT_S)
            over = True
        await anyio.sleep_forever()

    assert over and scope.cancelled_caught


async def test_who_is_cancelled_from_outside_is_cancelled_there() -> None:
    limit = SharedTimeout(5 * SHORT_S)

    with anyio.move_on_after(SHORT_S) as outer, limit() as scope:
        await anyio.sleep_forever()

    assert outer.cancelled_caught and not scope.cancelled_caught
