"""Threads whose places count until they have ended."""

import random
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from daemon.archive import local_storage
from daemon.concurrency import Threads, _Job
from daemon.memory import MemoryFiles, memory_files
from daemon.recall.index import indexes
from daemon.recall.index.index_files import IndexGone
from tests.limits import HANG_S, until

Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class Disk:
    def __init__(self) -> None:
        self.begun = 0
        self.goes_on = threading.Event()

    def read(self) -> str:
        """Blocking."""
        self.begun += 1
        assert self.goes_on.wait(2 * HANG_S)
        return "read"


async def given_up(run: Run, work: Callable[[], Any]) -> None:
    """Have a thread do something, and wait for it no longer than until it has been asked to."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(run, work)
        await anyio.wait_all_tasks_blocked()
        tg.cancel_scope.cancel()


async def hanging(run: Run, disk: Disk) -> None:
    """Have a thread read a disk that hangs, and wait until it does and no longer."""
    begun = disk.begun
    async with anyio.create_task_group() as tg:
        tg.start_soon(run, disk.read)
        await until(lambda: disk.begun > begun)
        tg.cancel_scope.cancel()


async def test_what_a_thread_gives_and_raises_comes_back() -> None:
    threads = Threads(1)

    assert await threads.run(divmod, 7, 3) == (2, 1)
    with pytest.raises(ZeroDivisionError):
        await threads.run(divmod, 7, 0)
    assert await threads.run(divmod, 7, 2) == (3, 1)


async def test_a_thread_that_nobody_waits_for_counts_until_it_has_ended() -> None:
    threads, disk, other = Threads(1), Disk(), Disk()
    await hanging(threads.run, disk)
    await given_up(threads.run, other.read)
    begun = disk.begun, other.begun

    disk.goes_on.set()
    with anyio.fail_after(HANG_S):
        assert await threads.run(str, 5) == "5"

    # What was given up before it had begun is never done.
    assert begun == (disk.begun, other.begun) == (1, 0)


async def test_what_is_left_before_its_thread_begins_is_not_done() -> None:
    places, done = anyio.CapacityLimiter(1), list[int]()
    job = _Job(done.append, (1,), places)
    await places.acquire_on_behalf_of(job)

    job.leave()
    job()

    assert (done, places.borrowed_tokens) == ([], 0)


@pytest.mark.parametrize("what", ["index", "archive"])
async def test_a_disk_that_hangs_holds_up_only_so_many_threads(what: str, tmp_path: Path) -> None:
    runs: dict[str, tuple[Run, int]] = {
        "index": (indexes.Indexes(tmp_path).run, indexes.THREADS),
        "archive": (partial(local_storage.LocalStorage(tmp_path)._run, name="a"), local_storage.THREADS),
    }
    run, most = runs[what]
    disk = Disk()
    for _ in range(most):
        await hanging(run, disk)

    for _ in range(most):
        await given_up(run, disk.read)
    begun = disk.begun

    disk.goes_on.set()
    with anyio.fail_after(HANG_S):
        assert await run(disk.read) == "read"
    assert begun == most


async def test_an_index_is_closed_though_searches_hang(tmp_path: Path) -> None:
    found, disk = indexes.Indexes(tmp_path), Disk()
    async with found.held("pond:person:web:ann"):
        index = await found.open("pond:person:web:ann", forgets=0)
    for _ in range(indexes.THREADS):
        await hanging(found.run, disk)

    with anyio.fail_after(HANG_S / 2):
        await found.aclose()

    with pytest.raises(IndexGone):
        index.ask(lambda connection: connection)
    disk.goes_on.set()


async def test_a_bot_whose_disk_hangs_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = {"slow": Disk(), "quick": Disk()}
    disks["quick"].goes_on.set()

    class Read:
        def __init__(self, root: Path, *_: Any, **__: Any) -> None:
            self.looked = memory_files.FolderState()
            self._disk = disks[root.name]

        def sync(self, _: Any) -> None:
            self._disk.read()

    monkeypatch.setattr(memory_files, "FileSync", Read)
    nobody: Any = None
    files = MemoryFiles(nobody, workspace_of=lambda bot: tmp_path / bot)

    reasons = [await files.failure("slow:person:web:ann", within_s=0.02) for _ in range(memory_files.THREADS + 3)]
    begun = disks["slow"].begun
    other = await files.failure("quick:person:web:ann", within_s=HANG_S / 2)
    disks["slow"].goes_on.set()

    assert set(reasons) == {"the disk is too slow"}
    assert begun <= memory_files.THREADS
    assert other == ""


async def test_whoever_gives_up_whenever_no_place_is_lost_and_none_is_used_twice() -> None:
    threads, dice, lock = Threads(3), random.Random(7), threading.Lock()
    now = most = 0

    def work(takes_s: float) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(takes_s)
        with lock:
            now -= 1

    async def somebody(waits_s: float, takes_s: float) -> None:
        with anyio.move_on_after(waits_s):
            await threads.run(work, takes_s)

    async with anyio.create_task_group() as tg:
        for _ in range(300):
            tg.start_soon(somebody, dice.uniform(0.0, 0.2), dice.uniform(0.0, 0.003))
    disk = Disk()
    async with anyio.create_task_group() as tg:
        for _ in range(3):
            tg.start_soon(threads.run, disk.read)
        await until(lambda: disk.begun == 3)
        disk.goes_on.set()

    assert most == 3


def test_a_thread_may_end_after_its_event_loop() -> None:
    disk, threads, ended = Disk(), Threads(1), threading.Event()

    def read() -> None:
        disk.read()
        ended.set()

    async def leave() -> None:
        async with anyio.create_task_group() as tg:
            tg.start_soon(threads.run, read)
            await until(lambda: disk.begun == 1)
            tg.cancel_scope.cancel()

    anyio.run(leave)
    disk.goes_on.set()

    assert ended.wait(HANG_S)
    left = [each for each in threading.enumerate() if each.name.startswith("AnyIO")]
    for thread in left:
        thread.join(HANG_S)
    assert not any(thread.is_alive() for thread in left)
