"""A dispatch that is cut short at every point there is, one after the other; the next dispatcher ends it."""

import asyncio
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from channels.base import Limits, Part, Purpose, Rate
from channels.outbox import Outbox, delivery_state
from daemon.bus import Bus
from daemon.config import Config, QueueConfig, TestingConfig
from daemon.errors import SendRefused
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus
from tests.cut_short import Died, DyingBus, InterludeBus, StoppingBus
from tests.integration.test_outbox import ANN, BOB, NAME, put, unknown, until_empty

CALLS = 7  # calls of such a dispatch at least: lease, marks before and after of three parts in a row, resignation
AWAITS = 20  # awaits of its tasks at least
MOST = 2_000  # no dispatch has so many awaits: a loop that gets there goes on for ever
EXPECTED = {ANN: ["one ", "two", "three"], BOB: ["four"]}
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.001, backoff_max_s=0.002)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted at the end waits for the task that writes it, and in a process that died there is none."""
    monkeypatch.setattr(delivery_state, "LAST_S", 0.05)


@dataclass
class Platform:
    """An adapter and its platform in one: refuses the third part once, and notes what arrived."""

    name: str = NAME
    arrived: list[tuple[str, str, int, str]] = field(default_factory=list[tuple[str, str, int, str]])
    """Session, reply, part and text."""
    refused: bool = False

    limits = Limits(
        part_max=5, edit_every_s=1.0, group_edit_every_s=1.0, typing_lasts_s=0.0, fetch_max_bytes=0, send_max_bytes=0
    )

    def length(self, text: str) -> int:
        return len(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        return ()

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        await a_moment()
        if part.text == "three" and not self.refused:
            self.refused = True
            raise SendRefused("not now")
        self.arrived.append((str(chat), part.reply, part.number, part.text))
        await a_moment()
        return f"m{len(self.arrived)}"

    def times(self) -> Counter[tuple[str, str]]:
        return Counter((reply, str(part)) for _, reply, part, _ in self.arrived)

    def order(self) -> dict[str, list[str]]:
        """The texts of each chat as they first arrived."""
        texts: dict[str, list[str]] = defaultdict(list)
        for session, _, _, text in self.arrived:
            if text not in texts[session]:
                texts[session].append(text)
        return texts


async def a_moment() -> None:
    """Wait for something, as an adapter does: not a mere checkpoint."""
    event = anyio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    await event.wait()


async def dispatch(process: Process, platform: Platform, bus: Bus) -> None:
    """Deliver until ``out`` is empty, on a bus that may fail."""
    config = TestingConfig(url="http://127.0.0.1:1/", send_timeout_s=20.0)
    one = replace(
        process, bus=bus, config=Config(queue=process.config.queue, channels={NAME: config}), stopping=anyio.Event()
    )
    async with anyio.create_task_group() as tg:
        tg.start_soon(Outbox(one, platform, config).run)
        await until_empty(process.bus)
        one.stopping.set()


async def prepare(process: Process) -> None:
    """Forget what was, and commit replies of three chats' worth of parts."""
    keys = process.bus.keys
    for key in (keys.unknown(0), *await process.bus.call("KEYS", f"{keys.prefix}:*:sent:*")):
        await process.bus.call("UNLINK", key)
    await put(process.bus, "one two", "three")
    await put(process.bus, "four", session=BOB)


async def end(process: Process, platform: Platform) -> None:
    """Let the next dispatcher end it, without waiting for the lease of one that died."""
    leader = process.bus.keys.leader(0, NAME)
    if await process.bus.call("HEXISTS", leader, "deadline"):
        await process.bus.call("HSET", leader, "deadline", 1)
    await dispatch(process, platform, process.bus)


async def see_all_is_well(process: Process, platform: Platform, *, resent: bool = True) -> int:
    """Every part in order and once, but for those that are listed as sent again; how many are."""
    listed = Counter((reply, part) for reply, part, action in await unknown(process.bus) if action == "resent")
    times = platform.times()
    assert platform.order() == EXPECTED
    assert set(listed.values()) <= {1}
    assert all(count == 1 or (count == 2 and part in listed) for part, count in times.items())
    assert resent or not listed
    assert [action for _, _, action in await unknown(process.bus)] == ["resent"] * len(listed)
    return len(listed)


async def calls_of_a_dispatch(process: Process) -> int:
    bus, platform = FailingBus(process.bus, at=0), Platform()
    await prepare(process)
    await dispatch(process, platform, bus)
    await see_all_is_well(process, platform, resent=False)
    assert bus.calls >= CALLS
    return bus.calls


@pytest.mark.parametrize("carried_out", [False, True])
@pytest.mark.parametrize("kind", [FailingBus, StoppingBus, DyingBus])
async def test_a_dispatch_cut_short_at_any_call_to_redis_is_ended_by_the_next(
    process: Process, kind: type[FailingBus], carried_out: bool
) -> None:
    for at in range(1, await calls_of_a_dispatch(process) + 1):
        platform = Platform()
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            cancel = scope if kind is StoppingBus else None
            await dispatch(process, platform, kind(process.bus, at=at, carried_out=carried_out, cancel=cancel))
        await end(process, platform)
        # An error is met by trying again; only whoever ends in the middle leaves something unknown.
        await see_all_is_well(process, platform, resent=kind is not FailingBus)


@contextmanager
def suppress_death() -> Iterator[None]:
    """A process that died, or met a bug in the machinery, ends in some group of errors."""
    try:
        yield
    except* (Died, Bug):
        pass


@pytest.mark.parametrize("what", ["flush", "kill"])
async def test_a_script_cache_flushed_and_a_server_killed_between_any_two_steps_are_not_noticed(
    process: Process, what: str
) -> None:
    async def interlude() -> None:
        about = await process.bus.call("INFO", "server")
        happened.append(about["process_id"])
        if what == "flush":
            await process.bus.call("SCRIPT", "FLUSH")
        else:
            os.kill(about["process_id"], signal.SIGKILL)

    happened: list[int] = []
    calls = await calls_of_a_dispatch(process)

    for at in range(1, calls + 1):
        platform = Platform()
        await prepare(process)
        with capture_logs():
            await dispatch(process, platform, InterludeBus(process.bus, at=at, interlude=interlude))
        # Ended by the very dispatcher that began it.
        await see_all_is_well(process, platform, resent=False)

    assert len(happened) >= CALLS
    assert len(set(happened)) == (1 if what == "flush" else len(happened))


class Bug(Exception):
    """What nobody expects to be raised where it is raised."""


class Stepped(Coroutine[Any, Any, Any]):
    """A task's coroutine; ``wait`` is called whenever it waits, and returns what is raised in it after, or None."""

    def __init__(self, work: Coroutine[Any, Any, Any], wait: Callable[[Any], BaseException | None]) -> None:
        self._work = work
        self._wait = wait
        self._error: BaseException | None = None

    def send(self, value: Any) -> Any:
        error, self._error = self._error, None
        waited_for = self._work.send(value) if error is None else self._work.throw(error)
        self._error = self._wait(waited_for)
        return waited_for

    def throw(self, *error: Any) -> Any:
        self._error = None
        return self._work.throw(*error)

    def close(self) -> None:
        self._work.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)  # as anyio looks at a coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError("a task takes its steps itself")


def cannot_fail(waiting: Any) -> bool:
    """Whether what a coroutine waits for is not ours: tasks that end, a subscription, the Redis library's own waits."""
    while waiting is not None:
        code = getattr(waiting, "cr_code", None)
        if code is not None and (code.co_name in ("__aenter__", "__aexit__") or "/redis/" in code.co_filename):
            return True
        waiting = getattr(waiting, "cr_await", None)
    return False


class Steps:
    """Counts the awaits of the outbox's tasks, and has something happen at the ``at``-th."""

    ROOMS: tuple[str, ...] = ("channels.outbox",)

    def __init__(self, at: int, happen: Callable[[], BaseException | None], *, checkpoints: bool) -> None:
        self.count = 0
        self._at = at
        self._happen = happen
        self._checkpoints = checkpoints

    def _wait(self, waited_for: Any) -> BaseException | None:
        task = asyncio.current_task()
        if task is None or not task.get_name().startswith(self.ROOMS):
            return None
        if not self._checkpoints and (waited_for is None or cannot_fail(task.get_coro())):
            return None
        self.count += 1
        return self._happen() if self.count == self._at else None

    @contextmanager
    def counted(self) -> Iterator[None]:
        def make(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> "asyncio.Task[Any]":
            return asyncio.Task(Stepped(work, self._wait), loop=loop, **more)

        loop = asyncio.get_running_loop()
        loop.set_task_factory(make)
        try:
            yield
        finally:
            loop.set_task_factory(None)


async def at_each_await(
    process: Process, kind: str, platform_of: Callable[[], Any], see: Callable[[Process, Any], Awaitable[int]]
) -> None:
    """Cut a dispatch short at each await of its tasks, and have it ended; ``see`` says how often it had sent again."""
    resent = 0
    for at in range(1, MOST):
        platform = platform_of()
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            happen = scope.cancel if kind == "cancelled" else lambda: Bug("a bug")
            steps = Steps(at, happen, checkpoints=kind == "cancelled")
            with steps.counted():
                await dispatch(process, platform, process.bus)
        await end(process, platform)
        resent += await see(process, platform)
        if steps.count < at:
            break

    assert AWAITS < at < MOST - 1
    # The awaits between a mark and the note of the outcome, or the arrival, are some of all.
    assert 0 < resent < at


@pytest.mark.parametrize("kind", ["cancelled", "failing"])
async def test_a_dispatch_cut_short_at_any_await_is_ended_by_the_next(process: Process, kind: str) -> None:
    await at_each_await(process, kind, Platform, see_all_is_well)
