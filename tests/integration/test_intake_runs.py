"""Runs on a real server: what one chat says in a rush is accepted by few scripts, as if it were taken one by one."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from channels.arrival import Arrival
from channels.webhook.webhook_receiver import TOLERANCE_S
from daemon.access import Access
from daemon.bus import RUN_MAX, Bus
from daemon.config import (
    AccessConfig,
    FeishuConfig,
    PushConfig,
    QueueConfig,
    SlackConfig,
    TestingConfig,
    WebhookChannelConfig,
)
from daemon.process import Process
from daemon.testing import FailingBus
from tests.conftest import RecordingBus
from tests.intakelab import NAME, accepted, an_arrival, intake_of, texts, told, with_channel

SESSION = f"{NAME}:ann"
QUEUE = QueueConfig()


def a_rush(count: int, **more: Any) -> list[Arrival]:
    return [an_arrival(str(number), **more) for number in range(count)]


async def waiting(bus: Bus) -> int:
    return int(await bus.call("LLEN", bus.keys.waiting(SESSION)))


async def test_a_rush_is_accepted_in_order_by_one_script_for_many(process: Process) -> None:
    recording = RecordingBus(process.bus)
    rush = a_rush(2 * RUN_MAX + 10)

    taken = await intake_of(with_channel(replace(process, bus=recording))).take_run(rush)

    assert taken == len(rush)
    assert [inbound.id for inbound in await accepted(process.bus)] == [arrival.id for arrival in rush]
    assert sum(script.name == "publish.lua" for script, _, _ in recording.scripts) == 3


@pytest.mark.parametrize(
    ("config", "usual_s", "expected_s"),
    [
        (TestingConfig, 60.0, 60.0),
        (SlackConfig, 86_400.0, 3_600.0),
        (FeishuConfig, 60.0, 28_800.0),
        (WebhookChannelConfig, 60.0, 2 * TOLERANCE_S),
        (WebhookChannelConfig, 86_400.0, 86_400.0),
    ],
)
async def test_ids_are_known_as_long_as_their_platform_or_a_stranger_can_repeat_a_request(
    process: Process, config: type[PushConfig], usual_s: float, expected_s: float
) -> None:
    channels = {NAME: config(access=AccessConfig(policy="open"))}
    here = with_channel(process)
    queue = structs.replace(here.config.queue, seen_ttl_s=usual_s)
    intake = intake_of(replace(here, config=structs.replace(here.config, channels=channels, queue=queue)))
    rush = a_rush(3)

    await intake.take(rush[0])
    assert await intake.take_run(rush[1:]) == 2

    for arrival in rush:
        left_ms = await process.bus.call("PTTL", process.bus.keys.seen(SESSION, arrival.seen_as))
        assert expected_s * 1000 - 30_000 < left_ms <= expected_s * 1000


async def test_what_is_not_plain_keeps_its_place(process: Process) -> None:
    rush = a_rush(9)
    rush[1] = an_arrival("/new")
    rush[3] = an_arrival("x" * (process.config.queue.message_max_bytes + 1))
    rush[5] = an_arrival("5", album="a")
    rush[7] = structs.replace(rush[6], text="6, mended", edited=True, seen_as="edit")

    assert await intake_of(with_channel(process)).take_run(rush) == 9

    # A message that was changed has a new place in the stream; the waiting list is what counts.
    assert sorted(await texts(process.bus)) == sorted(["0", "/new", "2", "4", "5", "6, mended", "8"])
    assert await waiting(process.bus) == 7
    [line] = await told(process.bus)
    assert "too large" in line.text


async def test_who_is_not_heard_is_not_heard_in_a_rush_either(process: Process) -> None:
    here = with_channel(process, access=AccessConfig(policy="open"))
    await Access(process.bus, NAME).decide("ann", "banned", by="test", time="")

    assert await intake_of(here).take_run(a_rush(5)) == 5
    pairing = with_channel(process, access=AccessConfig(policy="pairing"))
    assert await intake_of(pairing).take_run(a_rush(3, who="bob")) == 3

    assert await texts(process.bus) == []
    assert len(await told(process.bus)) == 1


@pytest.mark.parametrize("carried_out", [False, True])
async def test_whatever_call_fails_a_rush_said_again_is_accepted_once_and_in_order(process: Process, carried_out: bool):
    rush = a_rush(RUN_MAX + 5)
    for at in itertools.count(1):
        failing = FailingBus(process.bus, at=at, carried_out=carried_out)
        taken = await intake_of(with_channel(replace(process, bus=failing))).take_run(rush)
        kept = [inbound.id for inbound in await accepted(process.bus)]
        assert kept[:taken] == [arrival.id for arrival in rush[:taken]]
        if failing.calls < at:
            break

    assert taken == len(rush) and at > 2
    assert [inbound.id for inbound in await accepted(process.bus)] == [arrival.id for arrival in rush]


async def test_a_session_that_is_full_is_told_once_and_the_offset_moves_on(process: Process) -> None:
    config = structs.replace(process.config, queue=structs.replace(process.config.queue, waiting_max=10))
    here = with_channel(replace(process, config=config))

    assert await intake_of(here).take_run(a_rush(30)) == 30

    assert await texts(process.bus) == [str(number) for number in range(10)]
    [line] = await told(process.bus)
    assert "was not accepted" in line.text


async def test_a_full_partition_makes_the_platform_say_the_rest_again(process: Process) -> None:
    config = structs.replace(process.config, queue=structs.replace(process.config.queue, partition_max=10))

    assert await intake_of(with_channel(replace(process, config=config))).take_run(a_rush(30)) == 10
    assert await told(process.bus) == []


async def test_one_that_the_script_fails_at_stops_no_other(process: Process) -> None:
    rush = a_rush(5)
    await process.bus.call("RPUSH", process.bus.keys.seen(SESSION, rush[2].seen_as), "no string")

    assert await intake_of(with_channel(process)).take_run(rush) == 5

    assert await texts(process.bus) == ["0", "1", "3", "4"]
    await process.bus.call("DEL", process.bus.keys.seen(SESSION, rush[2].seen_as))
