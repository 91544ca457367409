"""However many want through at once, the event loop goes round between any two of them."""

import time

import anyio
from anyio.lowlevel import checkpoint

from daemon.model.event_stream import SLICE_S, Turnstile
from tests.limits import HANG_S


async def rounds_of(count: int, turnstile: Turnstile) -> list[int]:
    """The round of the event loop in which each of ``count`` tasks came through."""
    found: list[int] = []
    number = 0

    async def go_through() -> None:
        await turnstile.through()
        found.append(number)

    async with anyio.create_task_group() as tg:
        for _ in range(count):
            tg.start_soon(go_through)
        while len(found) < count:
            number += 1
            await checkpoint()
    return found


async def test_no_two_come_through_in_the_same_round() -> None:
    rounds = await rounds_of(20, Turnstile())

    assert len(set(rounds)) == 20


async def test_who_comes_alone_does_not_wait() -> None:
    turnstile, rounds = Turnstile(), list[int]()
    number = 0

    async def go_through() -> None:
        for _ in range(3):
            began = number
            await turnstile.through()
            rounds.append(number - began)
            await checkpoint()
            await checkpoint()

    async with anyio.create_task_group() as tg:
        tg.start_soon(go_through)
        while len(rounds) < 3:
            number += 1
            await checkpoint()

    assert rounds == [0, 0, 0]


async def test_who_comes_again_in_the_same_round_waits() -> None:
    turnstile, others = Turnstile(), list[str]()
    async with anyio.create_task_group() as tg:
        await turnstile.through()
        tg.start_soon(_note, others)

        await turnstile.through()

        assert others == ["ran"]


async def _note(others: list[str]) -> None:
    others.append("ran")


async def test_who_leaves_before_being_let_through_holds_up_nobody() -> None:
    turnstile = Turnstile()
    async with anyio.create_task_group() as tg:
        for _ in range(3):
            tg.start_soon(turnstile.through)
        await checkpoint()
        tg.cancel_scope.cancel()

    with anyio.fail_after(HANG_S):
        assert len(await rounds_of(2, turnstile)) == 2


async def test_one_may_work_on_for_a_moment() -> None:
    began = time.perf_counter()

    assert await Turnstile().through() >= began + SLICE_S
