"""A text that is shown while it is written, something said aside, the reply: cut short at every point there is.

Whoever comes next ends it, and the chat shows what it would have shown: but for what is listed.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from channels.base import Limits, Part, Purpose, Rate
from channels.live_display import draft_message, streamer
from channels.outbox import Outbox, delivery_state
from daemon.bus import Bus
from daemon.config import Config, QueueConfig, TestingConfig
from daemon.errors import SendRejected
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus
from tests.cut_short import DyingBus, InterludeBus, StoppingBus
from tests.integration.test_outbox import NAME, unknown, until_empty
from tests.integration.test_outbox_cut_short import Bug, Steps, a_moment, suppress_death
from tests.integration.test_showing import commit, leads, write
from tests.limits import HANG_S

TEXT = "The answer begins with words that are shown,"
WHOLE = f"{TEXT} and here it ends. "
FIRST, SECOND = WHOLE, "What comes then is a part of its own."
ASIDE = "aside"
EXPECTED = [ASIDE, FIRST, SECOND]

CALLS = 12
"""Calls of it at least: lease, texts begun and noted twice, marks before and after of three parts, resignation."""

MOST = 3_000
SOON_S = 0.03  # what is shown in spite of a fault mostly is by then; if not, the chat is told less before its reply
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.001, backoff_max_s=0.002)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rests; a text is shown at once."""
    monkeypatch.setattr(delivery_state, "LAST_S", 0.05)
    monkeypatch.setattr(streamer, "REFUSED_S", 0.002)
    monkeypatch.setattr(streamer, "NO_ROOM_S", 0.002)
    monkeypatch.setattr(streamer, "RETRY_S", 0.002)
    monkeypatch.setattr(draft_message, "BEGIN_S", 0.0)


@dataclass
class Platform:
    name: str = NAME
    messages: dict[str, str] = field(default_factory=dict[str, str])  # what the chat shows, by id
    sends: int = 0
    committed: set[str] = field(default_factory=set[str])  # what turns have said
    struck: Callable[[], bool] = lambda: True  # whether the fault has struck
    changed: anyio.Event = field(default_factory=anyio.Event)

    limits = Limits(
        part_max=len(WHOLE),
        edit_every_s=0.001,
        group_edit_every_s=0.001,
        typing_lasts_s=0.0,
        fetch_max_bytes=0,
        send_max_bytes=0,
    )

    def length(self, text: str) -> int:
        return len(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        return ()

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        await a_moment()
        self.sends += 1
        self.messages[f"m{self.sends}"] = part.text
        self._tell()
        await a_moment()
        return f"m{self.sends}"

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        await a_moment()
        if platform_id not in self.messages:
            raise SendRejected("it is gone")
        self.messages[platform_id] = part.text
        self._tell()
        await a_moment()

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        await a_moment()
        self.messages.pop(platform_id, None)
        self._tell()
        await a_moment()

    def _tell(self) -> None:
        changed, self.changed = self.changed, anyio.Event()
        changed.set()

    async def until(self, reached: Callable[[list[str]], bool]) -> None:
        """Wait until the chat shows something, which may never come once the fault has struck."""
        with anyio.fail_after(HANG_S):
            while not reached(list(self.messages.values())):
                with anyio.move_on_after(SOON_S) as patience:
                    await self.changed.wait()
                if patience.cancelled_caught and self.struck():
                    return


async def talk(process: Process, platform: Platform, bus: Bus) -> None:
    """Write a text, say something aside, commit the reply; deliver until ``out`` is empty, on a bus that may fail."""
    config = TestingConfig(url="http://127.0.0.1:1/", send_timeout_s=20.0)
    one = replace(
        process, bus=bus, config=Config(queue=process.config.queue, channels={NAME: config}), stopping=anyio.Event()
    )
    async with anyio.create_task_group() as tg:
        tg.start_soon(Outbox(one, platform, config).run)
        await leads(process)
        if not platform.committed:
            await write(process.bus, TEXT[:-1])
            await platform.until(bool)
            await write(process.bus, TEXT, sequence=1)
            await platform.until(lambda shown: TEXT in shown)
        await say(process, platform, ASIDE, kind="aside-1")
        await platform.until(lambda shown: ASIDE in shown and (shown[-1] == TEXT))
        await say(process, platform, FIRST + SECOND)
        await until_empty(process.bus)
        one.stopping.set()


async def say(process: Process, platform: Platform, text: str, *, kind: str = "") -> None:
    if text not in platform.committed:
        with anyio.CancelScope(shield=True):
            await commit(process.bus, text, kind=kind)
        platform.committed.add(text)


async def prepare(process: Process) -> None:
    keys = process.bus.keys
    for key in (keys.unknown(0), *await process.bus.call("KEYS", f"{keys.prefix}:*:sent:*")):
        await process.bus.call("UNLINK", key)


async def end(process: Process, platform: Platform) -> None:
    """Let the next one end it, without waiting for the lease of one that died."""
    platform.struck = lambda: True
    leader = process.bus.keys.leader(0, NAME)
    if await process.bus.call("HEXISTS", leader, "deadline"):
        await process.bus.call("HSET", leader, "deadline", 1)
        await process.bus.call("HDEL", leader, "nonce")
    await talk(process, platform, process.bus)


async def see_all_is_well(process: Process, platform: Platform, *, listed: bool = True) -> Counter[str]:
    """The chat shows all in order and once, but for what is listed; how often what is listed."""
    actions = Counter(action for _, _, action in await unknown(process.bus))
    shown = list(platform.messages.values())
    strays = [text for text in shown if text not in EXPECTED]
    assert len(strays) <= actions["preview"], (shown, actions)
    assert all(TEXT.startswith(text) for text in strays)
    told = [text for text in shown if text in EXPECTED]
    times = Counter(told)
    assert sum(times.values()) - len(times) <= actions["resent"], (shown, actions)
    assert sorted(set(told), key=told.index) == EXPECTED
    assert actions["preview"] <= 1
    assert set(actions) <= {"preview", "resent"}
    assert listed or not actions
    return actions


async def calls_of_a_talk(process: Process) -> int:
    bus, platform = FailingBus(process.bus, at=0), Platform(struck=lambda: False)
    await prepare(process)
    await talk(process, platform, bus)
    await see_all_is_well(process, platform, listed=False)
    assert list(platform.messages.values()) == EXPECTED
    assert platform.sends == 4, "the text, what is said aside, the text again, which becomes the first part, the second"
    assert bus.calls >= CALLS
    return bus.calls


@pytest.mark.parametrize("carried_out", [False, True])
@pytest.mark.parametrize("kind", [FailingBus, StoppingBus, DyingBus])
async def test_a_text_cut_short_at_any_call_to_redis_becomes_the_reply_all_the_same(
    process: Process, kind: type[FailingBus], carried_out: bool
) -> None:
    for at in range(1, await calls_of_a_talk(process) + 1):
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            cancel = scope if kind is StoppingBus else None
            bus = kind(process.bus, at=at, carried_out=carried_out, cancel=cancel)
            platform = Platform(struck=lambda bus=bus, at=at: bus.calls >= at)
            await talk(process, platform, bus)
        await end(process, platform)
        await see_all_is_well(process, platform, listed=kind is not FailingBus)


async def test_a_script_cache_flushed_between_any_two_steps_is_not_noticed(process: Process) -> None:
    async def flush() -> None:
        await process.bus.call("SCRIPT", "FLUSH")

    for at in range(1, await calls_of_a_talk(process) + 1):
        platform = Platform(struck=lambda: False)
        await prepare(process)
        with capture_logs():
            await talk(process, platform, InterludeBus(process.bus, at=at, interlude=flush))
        await see_all_is_well(process, platform, listed=False)


class StepsOfShowing(Steps):
    """Counts the awaits of the tasks that show and that deliver."""

    ROOMS = ("channels.outbox", "channels.live_display")


async def at_each_await(
    process: Process, kind: str, platform_of: type[Platform], see: Callable[[Process, Any], Awaitable[Any]]
) -> list[Any]:
    """Cut a talk short at each await of its tasks, and have it ended; what is seen each time."""
    seen: list[Any] = []
    for at in range(1, MOST):
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            happen = scope.cancel if kind == "cancelled" else lambda: Bug("a bug")
            steps = StepsOfShowing(at, happen, checkpoints=kind == "cancelled")
            platform = platform_of(struck=lambda steps=steps, at=at: steps.count >= at)
            with steps.counted():
                await talk(process, platform, process.bus)
        await end(process, platform)
        seen.append(await see(process, platform))
        if steps.count < at:
            break

    assert at < MOST - 1
    return seen


@pytest.mark.parametrize("kind", ["cancelled", "failing"])
async def test_a_text_cut_short_at_any_await_becomes_the_reply_all_the_same(process: Process, kind: str) -> None:
    listed = await at_each_await(process, kind, Platform, see_all_is_well)

    assert any(each["preview"] for each in listed)
