"""What is kept in memory is read again before somebody waits for it, and never because nobody asks."""

import anyio
import pytest

from daemon.access.access_list import AccessCache
from daemon.errors import BusError, BusUnavailable
from tests.limits import HANG_S

LONG_S = 600.0


class Source:
    """Something that changes: it says how often it was read."""

    def __init__(self, *, fresh_s: float = LONG_S) -> None:
        self.cached = AccessCache(self._read, fresh_s=fresh_s)
        self.reads = 0
        self.free = anyio.Event()
        self.free.set()
        self.is_away = False
        self.is_broken = False

    async def _read(self) -> int:
        self.reads += 1
        read = self.reads
        await self.free.wait()
        if self.is_away:
            raise BusUnavailable("Redis is away")
        if self.is_broken:
            raise BusError("Redis refuses it")
        return read


async def test_many_who_ask_at_once_share_a_read_which_holds_until_it_has_changed():
    source = Source()
    found: list[int] = []

    async def ask() -> None:
        found.append(await source.cached.get())

    async with anyio.create_task_group() as tg:
        for _ in range(5):
            tg.start_soon(ask)
    assert (found, source.reads) == ([1] * 5, 1)

    source.cached.changed()
    assert (await source.cached.get(), await source.cached.get()) == (2, 2)


async def test_while_it_is_renewed_nobody_waits():
    source = Source()
    await source.cached.get()
    source.free = anyio.Event()
    async with anyio.create_task_group() as tg:
        tg.start_soon(source.cached.renew)
        await anyio.wait_all_tasks_blocked()

        with anyio.fail_after(HANG_S):
            assert (source.reads, await source.cached.get()) == (2, 1)
        source.free.set()

    assert await source.cached.get() == 2


async def test_what_nobody_asks_for_is_not_renewed():
    source = Source()
    await source.cached.renew()
    assert source.reads == 0

    await source.cached.get()
    await source.cached.renew()
    await source.cached.renew()
    assert source.reads == 2


async def test_what_has_changed_while_it_was_read_is_read_again():
    source = Source()
    source.free = anyio.Event()
    async with anyio.create_task_group() as tg:
        tg.start_soon(source.cached.get)
        await anyio.wait_all_tasks_blocked()
        source.cached.changed()
        source.free.set()

    assert await source.cached.get() == 2


async def test_what_cannot_be_read_is_told_to_who_asks_and_ends_no_renewing():
    source = Source(fresh_s=0.0)
    await source.cached.get()
    source.is_broken = True

    await source.cached.renew()
    with pytest.raises(BusError):
        await source.cached.get()


async def test_while_redis_is_away_the_last_one_holds():
    source = Source(fresh_s=0.0)
    assert await source.cached.get() == 1
    source.is_away = True

    await source.cached.renew()
    assert await source.cached.get() == 1

    nothing = Source()
    nothing.is_away = True
    with pytest.raises(BusUnavailable):
        await nothing.cached.get()
