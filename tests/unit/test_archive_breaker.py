"""The circuit breaker of the archive."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from daemon.archive import archive_breaker as breakers
from daemon.archive.archive_breaker import PAUSE_MAX_S, PAUSE_MIN_S, SLOW_S, ArchiveBreaker
from daemon.archive.local_storage import LocalStorage
from daemon.errors import ArchiveMissing, ArchiveUnavailable
from daemon.testing import ManualClock
from tests.limits import HANG_S

Fault = Callable[[], Awaitable[Any]]


class Store(LocalStorage):
    """A storage whose every call first does what the test says."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.calls = 0
        self.fault: Fault | None = None

    async def get(self, name: str, **more: Any) -> bytes:
        self.calls += 1
        if self.fault is not None:
            await self.fault()
        return await super().get(name, **more)


class Place:
    def __init__(self, root: Path) -> None:
        self.clock = ManualClock()
        self.store = Store(root)
        self.breaker = ArchiveBreaker(self.store, self.clock)

    async def fails(self, *, after_s: float) -> None:
        """A call that fails after so long."""

        async def fault() -> None:
            self.clock.advance(after_s)
            raise ArchiveUnavailable("the store hangs")

        self.store.fault = fault
        with pytest.raises(ArchiveUnavailable, match="the store hangs"):
            await self.breaker.get("a")

    async def is_refused(self) -> bool:
        """Whether a call fails without reaching the storage."""
        before = self.store.calls
        with pytest.raises((ArchiveUnavailable, ArchiveMissing)):
            await self.breaker.get("a")
        return self.store.calls == before


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_after_a_slow_failure_calls_fail_at_once_until_one_succeeds(place: Place) -> None:
    await place.fails(after_s=SLOW_S)
    assert await place.is_refused()
    place.clock.advance(PAUSE_MIN_S - 0.1)
    assert await place.is_refused()

    place.clock.advance(0.1)
    place.store.fault = None
    assert not await place.is_refused()  # the store answers that there is no such file
    assert not await place.is_refused()


async def test_a_fast_failure_opens_nothing(place: Place) -> None:
    await place.fails(after_s=SLOW_S - 0.01)
    await place.fails(after_s=0)


async def test_a_caller_that_gives_up_on_a_slow_call_opens_it(place: Place) -> None:
    async def hang() -> None:
        place.clock.advance(SLOW_S)
        scope.cancel()
        await anyio.sleep(HANG_S)

    place.store.fault = hang
    with anyio.CancelScope() as scope:
        await place.breaker.get("a")
    assert await place.is_refused()


async def test_one_call_at_a_time_finds_out_whether_the_storage_is_back(place: Place) -> None:
    await place.fails(after_s=SLOW_S)
    place.clock.advance(PAUSE_MIN_S)

    async def others_are_refused() -> None:
        place.store.fault = None
        assert await place.is_refused()

    place.store.fault = others_are_refused
    with pytest.raises(ArchiveMissing):
        await place.breaker.get("a")


async def test_the_pause_doubles_up_to_a_limit(place: Place) -> None:
    await place.fails(after_s=SLOW_S)
    pause_s = PAUSE_MIN_S
    for _ in range(6):
        place.clock.advance(pause_s)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
        await place.fails(after_s=0)
        place.clock.advance(pause_s - 0.1)
        assert await place.is_refused()
        place.clock.advance(0.1 - pause_s)


async def test_a_background_probe_spares_every_other_call(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakers, "PAUSE_MAX_S", 0.0)
    reached, back = anyio.Event(), anyio.Event()

    async def until_back() -> None:
        reached.set()
        await back.wait()

    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(place.breaker.probe)
            await anyio.wait_all_tasks_blocked()
            place.breaker._pause_s = 0.0
            await place.fails(after_s=SLOW_S)
            place.store.fault = until_back
            await reached.wait()
            place.clock.advance(10 * PAUSE_MAX_S)
            assert await place.is_refused()

            place.store.fault = None
            back.set()
            while await place.is_refused():
                await anyio.lowlevel.checkpoint()
            tg.cancel_scope.cancel()
