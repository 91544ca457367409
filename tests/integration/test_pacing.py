"""How fast a platform is sent to: buckets that replicas share, asked for many chats at once."""

import time
from itertools import pairwise
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from channels.base import Rate
from channels.pacing import Pace
from channels.pacing import pace as pace_module
from daemon.bus import Bus
from daemon.config import QueueConfig
from daemon.process import Process
from tests.fakes.sink import Post, Refuse, sink
from tests.integration.test_outbox import ANN, BOB, NAME, pushing, put, replica, unknown, until_empty
from tests.integration.test_showing import TEXT, commit, leads, write

pytestmark = pytest.mark.anyio

ALL = Rate(bucket="all", count=5, per_s=0.3)


@pytest.fixture
def queue() -> QueueConfig:
    """Leases that a busy machine keeps, and short rests."""
    return QueueConfig(lease_s=2.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


async def taken(pace: Pace, chat: str, rates: tuple[Rate, ...]) -> float:
    """Wait for room as a chat does; when it was let through, by the event loop's clock."""
    while wait_s := await pace.take(chat, rates):  # noqa: ASYNC110 - it is told when to ask again
        await anyio.sleep(wait_s)
    return anyio.current_time()


async def test_in_no_stretch_of_time_more_is_let_through_than_the_rate_says_however_many_ask(bus: Bus) -> None:
    """Two replicas, twenty chats: the server's own times are what counts."""
    paces = [Pace(bus, NAME), Pace(bus, NAME)]
    book = Rate(bucket="book", count=1_000, per_s=60.0)

    async def ask(number: int) -> None:
        await taken(paces[number % 2], f"c{number}", (ALL, book))

    async with anyio.create_task_group() as tg:
        for number in range(20):
            tg.start_soon(ask, number)

    times = sorted(int(when) for when in await bus.call("LRANGE", bus.keys.pace(NAME, "book"), 0, -1))
    assert len(times) == 20
    assert all(later - first >= 300 for first, later in zip(times, times[ALL.count :], strict=False))
    assert times[-1] - times[0] < 3_000


async def test_room_is_taken_out_of_all_buckets_of_a_chat_or_none(bus: Bus) -> None:
    pace = Pace(bus, NAME)
    chat = Rate(bucket="chat:a", count=1, per_s=60.0)

    assert await pace.take("a", (ALL, chat)) == 0.0
    assert 59.0 < await pace.take("a", (ALL, chat)) <= 60.0
    assert await bus.call("LLEN", bus.keys.pace(NAME, "all")) == 1
    assert await pace.take("b", (ALL, Rate(bucket="chat:b", count=1, per_s=60.0))) == 0.0


async def test_those_that_wait_come_back_one_after_the_other_in_their_order(bus: Bus) -> None:
    pace, one = Pace(bus, NAME), Rate(bucket="all", count=1, per_s=0.1)
    assert await pace.take("first", (one,)) == 0.0

    waits = [await pace.take(f"c{number}", (one,)) for number in range(5)]

    assert waits == sorted(waits)
    assert all(0.08 < later - sooner < 0.12 for sooner, later in pairwise(waits))


async def test_they_are_let_through_about_in_the_order_in_which_they_asked(bus: Bus) -> None:
    pace, one = Pace(bus, NAME), Rate(bucket="all", count=1, per_s=0.05)
    order: list[int] = []

    async def ask(number: int) -> None:
        await anyio.sleep(number / 200)
        await taken(pace, f"c{number}", (one,))
        order.append(number)

    async with anyio.create_task_group() as tg:
        for number in range(12):
            tg.start_soon(ask, number)

    assert sorted(order) == list(range(12))
    places = {number: place for place, number in enumerate(order)}
    assert max(places[number] for number in range(3)) < min(places[number] for number in range(9, 12)), order


async def test_what_is_only_shown_leaves_room_for_replies(bus: Bus) -> None:
    pace, rates = Pace(bus, NAME), (Rate(bucket="chat:a", count=4, per_s=60.0),)

    shown = [await pace.take_spare(rates) for _ in range(5)]

    assert shown == [True, True, True, False, False]
    assert await pace.take("a", rates) == 0.0
    assert await pace.take("a", rates) > 0.0


async def test_each_bucket_leaves_its_own_part_to_replies(bus: Bus) -> None:
    pace = Pace(bus, NAME)
    few, many = Rate(bucket="chat:a", count=100, per_s=60.0), Rate(bucket="all", count=20, per_s=60.0)

    shown = [await pace.take_spare((few, many)) for _ in range(20)]

    assert shown.count(True) == 15


async def test_a_rate_of_one_can_be_used_by_what_is_shown(bus: Bus) -> None:
    pace, rates = Pace(bus, NAME), (Rate(bucket="chat:a", count=1, per_s=60.0),)

    assert [await pace.take_spare(rates) for _ in range(2)] == [True, False]


async def test_a_clock_that_was_set_back_parks_nobody_for_an_hour(bus: Bus) -> None:
    pace, rates = Pace(bus, NAME), (Rate(bucket="all", count=1, per_s=0.1),)
    await bus.call("RPUSH", bus.keys.pace(NAME, "all"), str(int(time.time() * 1000) + 3_600_000))
    await bus.call("PEXPIRE", bus.keys.pace(NAME, "all"), 60_000)

    assert await pace.take("a", rates) == 0.0


async def test_many_chats_share_a_script(bus: Bus) -> None:
    pace, rate = Pace(bus, NAME), Rate(bucket="all", count=1_000, per_s=1.0)

    async def scripts() -> int:
        about = await bus.call("INFO", "commandstats")
        return int(about["cmdstat_evalsha"]["calls"]) if "cmdstat_evalsha" in about else 0

    before = await scripts()
    async with anyio.create_task_group() as tg:
        for number in range(50):
            tg.start_soon(pace.take, f"c{number}", (rate,))

    assert await bus.call("LLEN", bus.keys.pace(NAME, "all")) == 50
    assert await scripts() - before <= 3


async def test_two_platforms_are_asked_about_apart(bus: Bus) -> None:
    """On a cluster their buckets lie in two slots."""
    answers: list[float] = []

    async def ask(channel: str) -> None:
        answers.append(await Pace(bus, channel).take("a", (ALL,)))

    async with anyio.create_task_group() as tg:
        for number in range(5):
            tg.start_soon(ask, f"channel{number}")

    assert answers == [0.0] * 5


async def test_names_of_chats_that_wait_no_more_are_forgotten(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace_module, "NAMES_MAX", 10)
    pace = Pace(bus, NAME)
    for number in range(100):
        rates = (Rate(bucket=f"chat:{number}", count=1, per_s=0.001),)
        await pace.take(f"c{number}", rates)
        await pace.take(f"c{number}", rates)
        await anyio.sleep(0.003)

    assert len(pace._queues) + len(pace._promised) < 40


# Through the outbox


@pytest.mark.measures
async def test_a_flood_from_one_chat_waits_for_its_rate_and_holds_up_no_other(process: Process) -> None:
    texts = [f"{number}" for number in range(6)]
    async with sink() as platform, replica(pushing(process, platform, chat_sends_per_s=4)):
        await leads(process)
        began = anyio.current_time()
        await put(process.bus, *texts)
        await put(process.bus, "b1", session=BOB)
        await platform.count(5)
        first_s = anyio.current_time() - began
        await until_empty(process.bus)
        took_s = anyio.current_time() - began

    assert first_s < 0.9
    assert 1.0 <= took_s < 2.5
    assert platform.texts(ANN) == texts
    assert platform.texts(BOB) == ["b1"]
    assert await unknown(process.bus) == []


async def test_two_replicas_keep_to_a_rate_together_and_nothing_counts_as_a_failure(process: Process) -> None:
    times: list[float] = []

    def note(_post: Post) -> None:
        times.append(anyio.current_time())

    async with sink(note) as platform:
        config: dict[str, Any] = {"sends_per_s": 10}
        async with replica(pushing(process, platform, **config)), replica(pushing(process, platform, **config)):
            for number in range(30):
                await put(process.bus, f"{number}", session=f"{NAME}:c{number}")
            await until_empty(process.bus)

    assert len(platform.delivered) == 30
    # Ten at once, and ten each second after; on its way each takes a different time.
    assert 1.5 < times[-1] - times[0] < 8.0


@pytest.mark.measures
async def test_a_reply_of_many_parts_takes_room_for_each_once(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform, part_max_chars=5, chat_sends_per_s=2)):
        await leads(process)
        began = anyio.current_time()
        await put(process.bus, "one two three four")
        await until_empty(process.bus)

    assert platform.texts() == ["one ", "two ", "three", " four"]
    assert 1.0 <= anyio.current_time() - began < 1.9, "two at once, and two a second later"


@pytest.mark.measures
async def test_what_is_shown_delays_no_reply(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform, chat_sends_per_s=3)):
        await leads(process)
        for number in range(8):
            await write(process.bus, f"{TEXT} {number}", sequence=number)
            await anyio.sleep(0.05)
        began = anyio.current_time()
        await commit(process.bus, "whole")
        await until_empty(process.bus)

    assert anyio.current_time() - began < 0.3
    assert platform.shown(ANN) == ["whole"]


@pytest.mark.measures
async def test_a_chat_that_the_platform_wants_left_alone_parks_no_other(process: Process) -> None:
    def refuse_ann_once(post: Post) -> Refuse | None:
        return Refuse(429, 0.5) if post["session"] == ANN and len(platform.posts) < 1 else None

    async with sink(refuse_ann_once) as platform, replica(pushing(process, platform, chat_sends_per_s=20)):
        await put(process.bus, "a1")
        await platform.asked(1)
        began = anyio.current_time()
        await put(process.bus, "b1", session=BOB)
        await platform.count(1)
        assert anyio.current_time() - began < 0.3
        await until_empty(process.bus)

    assert platform.texts() == ["b1", "a1"]
