"""How fast a platform is sent to: buckets that replicas share, asked for many chats at once."""

import time
from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from channels import send_rate as pace_module
from channels.base import Purpose, Rate
from channels.send_rate import TokenBucket
from channels.slack.channel import SlackChannel
from channels.telegram.channel import TelegramChannel
from channels.testing import TestingChannel
from daemon.bus import Bus
from daemon.config import QueueConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import ManualClock
from tests.fakes.sink import Refuse, sink
from tests.fakes.slack import faults as slack
from tests.fakes.telegram import faults as telegram
from tests.integration.test_outbox import ANN, BOB, NAME, Room, pushing, put, replica, room, unknown, until_empty
from tests.integration.test_showing import TEXT, commit, leads, write
from tests.limits import until
from tests.tables import each_row

__all__ = ["room"]

ALL = Rate(bucket="all", count=5, per_s=0.05)
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


async def taken(pace: TokenBucket, chat: str, rates: tuple[Rate, ...]) -> float:
    """Wait for room as a chat does; when it was let through, by the event loop's clock."""
    while wait_s := await pace.take(chat, rates):  # noqa: ASYNC110 - it is told when to ask again
        await anyio.sleep(wait_s)
    return anyio.current_time()


async def test_in_no_stretch_of_time_more_is_let_through_than_the_rate_says_however_many_ask(bus: Bus) -> None:
    """Two replicas, twenty chats: the server's own times are what counts."""
    paces = [TokenBucket(bus, NAME), TokenBucket(bus, NAME)]
    book = Rate(bucket="book", count=1_000, per_s=60.0)

    async def ask(number: int) -> None:
        await taken(paces[number % 2], f"c{number}", (ALL, book))

    async with anyio.create_task_group() as tg:
        for number in range(20):
            tg.start_soon(ask, number)

    times = sorted(int(when) for when in await bus.call("LRANGE", bus.keys.pace(NAME, "book"), 0, -1))
    assert len(times) == 20
    assert all(later - first >= 50 for first, later in zip(times, times[ALL.count :], strict=False))


async def test_room_is_taken_out_of_all_buckets_of_a_chat_or_none(bus: Bus) -> None:
    pace = TokenBucket(bus, NAME)
    chat = Rate(bucket="chat:a", count=1, per_s=60.0)

    assert await pace.take("a", (ALL, chat)) == 0.0
    assert 59.0 < await pace.take("a", (ALL, chat)) <= 60.0
    assert await bus.call("LLEN", bus.keys.pace(NAME, "all")) == 1
    assert await pace.take("b", (ALL, Rate(bucket="chat:b", count=1, per_s=60.0))) == 0.0


async def test_those_that_wait_come_back_one_after_the_other_in_their_order(bus: Bus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pace_module.anyio, "current_time", lambda: 7.0)
    pace, one = TokenBucket(bus, NAME), Rate(bucket="all", count=1, per_s=60.0)
    assert await pace.take("first", (one,)) == 0.0

    waits = [await pace.take(f"c{number}", (one,)) for number in range(5)]

    assert [later - sooner for sooner, later in pairwise(waits)] == [pytest.approx(60.0)] * 4


async def test_they_are_let_through_about_in_the_order_in_which_they_asked(bus: Bus) -> None:
    pace, one = TokenBucket(bus, NAME), Rate(bucket="all", count=1, per_s=0.05)
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
    pace, rates = TokenBucket(bus, NAME), (Rate(bucket="chat:a", count=4, per_s=60.0),)

    shown = [await pace.take_spare(rates) for _ in range(5)]

    assert shown == [True, True, True, False, False]
    assert await pace.take("a", rates) == 0.0
    assert await pace.take("a", rates) > 0.0


async def test_each_bucket_leaves_its_own_part_to_replies(bus: Bus) -> None:
    pace = TokenBucket(bus, NAME)
    few, many = Rate(bucket="chat:a", count=100, per_s=60.0), Rate(bucket="all", count=20, per_s=60.0)

    shown = [await pace.take_spare((few, many)) for _ in range(20)]

    assert shown.count(True) == 15


async def test_a_rate_of_one_can_be_used_by_what_is_shown(bus: Bus) -> None:
    pace, rates = TokenBucket(bus, NAME), (Rate(bucket="chat:a", count=1, per_s=60.0),)

    assert [await pace.take_spare(rates) for _ in range(2)] == [True, False]


async def test_a_clock_that_was_set_back_parks_nobody_for_an_hour(bus: Bus) -> None:
    pace, rates = TokenBucket(bus, NAME), (Rate(bucket="all", count=1, per_s=0.1),)
    await bus.call("RPUSH", bus.keys.pace(NAME, "all"), str(int(time.time() * 1000) + 3_600_000))
    await bus.call("PEXPIRE", bus.keys.pace(NAME, "all"), 60_000)

    assert await pace.take("a", rates) == 0.0


async def test_many_chats_share_a_script(bus: Bus) -> None:
    pace, rate = TokenBucket(bus, NAME), Rate(bucket="all", count=1_000, per_s=1.0)

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
    answers: list[float] = []

    async def ask(channel: str) -> None:
        answers.append(await TokenBucket(bus, channel).take("a", (ALL,)))

    async with anyio.create_task_group() as tg:
        for number in range(5):
            tg.start_soon(ask, f"channel{number}")

    assert answers == [0.0] * 5


async def test_names_of_chats_that_wait_no_more_are_forgotten(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace_module, "NAMES_MAX", 10)
    pace = TokenBucket(bus, NAME)
    for number in range(100):
        rates = (Rate(bucket=f"chat:{number}", count=1, per_s=0.001),)
        await pace.take(f"c{number}", rates)
        await pace.take(f"c{number}", rates)
        await anyio.sleep(0.003)

    assert len(pace._queues) + len(pace._promised) < 40


def kept_to(monkeypatch: pytest.MonkeyPatch, *rates: Rate) -> None:
    """Have the platform of the tests say how often something may be sent, and another part of a reply shown."""
    monkeypatch.setattr(TestingChannel, "rates", lambda _self, _chat, _purpose="send": rates)


def hourly(count: int, *, bucket: str = "all") -> Rate:
    return Rate(bucket=bucket, count=count, per_s=3_600.0)


async def test_a_flood_from_one_chat_waits_for_its_rate_and_holds_up_no_other(
    process: Process, monkeypatch: pytest.MonkeyPatch, room: Room
) -> None:
    chats = {ANN: (hourly(4, bucket="ann"),)}
    monkeypatch.setattr(TestingChannel, "rates", lambda _self, chat, _purpose="send": chats.get(str(chat), ()))
    texts = [f"{number}" for number in range(6)]
    async with sink() as platform:
        async with replica(pushing(process, platform)):
            await put(process.bus, *texts)
            await room.until(lambda: bool(room.waited))
            await put(process.bus, "b1", session=BOB)
            await platform.count(5)
        assert (platform.texts(ANN), platform.texts(BOB)) == (texts[:4], ["b1"])

        chats.clear()
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)
    assert platform.texts(ANN) == texts
    assert await unknown(process.bus) == []


async def test_two_replicas_keep_to_a_rate_together_and_nothing_counts_as_a_failure(
    process: Process, monkeypatch: pytest.MonkeyPatch, room: Room
) -> None:
    kept_to(monkeypatch, hourly(10))
    async with sink() as platform:
        with capture_logs() as lines:
            async with replica(pushing(process, platform)), replica(pushing(process, platform)):
                for number in range(30):
                    await put(process.bus, f"{number}", session=f"{NAME}:c{number}")
                await platform.count(10)
                await room.until(lambda: len(room.waited) == 20)

        assert len(platform.posts) == 10
    assert not [line for line in lines if line["event"] == "reply.parked"]
    await process.bus.call("UNLINK", process.bus.keys.out(0, NAME))


async def test_a_reply_of_many_parts_takes_room_for_each_once(process: Process, monkeypatch: pytest.MonkeyPatch):
    kept_to(monkeypatch, Rate(bucket="chat", count=2, per_s=0.02), hourly(1_000, bucket="book"))
    async with sink() as platform, replica(pushing(process, platform, part_max_chars=5)):
        await put(process.bus, "one two three four")
        await until_empty(process.bus)

    assert platform.texts() == ["one ", "two ", "three", " four"]
    assert await process.bus.call("LLEN", process.bus.keys.pace(NAME, "book")) == 4


async def test_what_is_shown_delays_no_reply(process: Process, monkeypatch: pytest.MonkeyPatch, room: Room) -> None:
    kept_to(monkeypatch, hourly(3))
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        for number in range(2):
            await write(process.bus, f"{TEXT} {number}", sequence=number)
            await until(lambda number=number: platform.shown(ANN) == [f"{TEXT} {number}"])
        await write(process.bus, f"{TEXT} 2", sequence=2)
        await room.until(lambda: room.not_shown > 0 or room.taken > 2)
        assert room.taken == 2
        await commit(process.bus, "whole")
        await until_empty(process.bus)

    assert platform.shown(ANN) == ["whole"]


async def test_a_chat_that_the_platform_wants_left_alone_parks_no_other(process: Process) -> None:
    async with sink([Refuse(429, 3_600.0)]) as platform:
        async with replica(pushing(process, platform, chat_sends_per_s=20)):
            await put(process.bus, "a1")
            await platform.asked(1)
            await put(process.bus, "b1", session=BOB)
            await platform.count(1)
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

    assert platform.texts() == ["b1", "a1"]


def of_slack(floods: slack.Floods, chat: str, purpose: Purpose, *, streams: bool) -> int:
    """What Slack says to one more message: the seconds to wait."""
    tiers: dict[Purpose, tuple[str, int]] = {"send": ("chat.postMessage", 0), "edit": ("chat.update", 3)}
    if streams:
        tiers |= {"begin": ("chat.startStream", 2), "edit": ("chat.appendStream", 4)}
    method, tier = tiers.get(purpose, ("chat.postMessage", 0))
    return floods.wait_s(method, tier, "pond", chat)


@each_row("kind", ["slack", "slack in threads", "telegram", "telegram in groups"])
@each_row("purpose", ["send", "begin", "edit"])
def test_whoever_keeps_to_the_rates_of_a_platform_is_never_told_to_wait(kind: str, purpose: Purpose) -> None:
    clock = ManualClock()
    streams = SimpleNamespace(_streams=SimpleNamespace(are_in=lambda _chat: kind == "slack in threads"))
    adapter: Any = SlackChannel if kind.startswith("slack") else TelegramChannel
    floods = (slack if adapter is SlackChannel else telegram).Floods(clock=clock.monotonic)
    sent: dict[str, list[float]] = defaultdict(list)
    for _ in range(700):
        for chat in (f"{'-' * kind.endswith('groups')}{number}" for number in range(1, 41)):
            now, rates = clock.monotonic(), adapter.rates(streams, SessionKey(channel=NAME, chat=chat), purpose)
            books = [(sent[rate.bucket], rate) for rate in rates]
            while all(len(book) < rate.count or book[-rate.count] <= now - rate.per_s for book, rate in books):
                for book, _ in books:
                    book.append(now)
                if adapter is SlackChannel:
                    assert of_slack(floods, chat, purpose, streams=kind == "slack in threads") == 0
                else:
                    assert floods.wait_s("pond", int(chat)) == 0
        clock.advance(0.1)
    assert sent
