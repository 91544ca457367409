"""What people do on Slack, as it arrives at the intake: over a socket, and brought by HTTP."""

import itertools
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from channels import event_queue
from channels.arrival import Arrival
from channels.batch import one_by_one
from channels.slack import api as slack_api
from channels.slack.event_inlet import hear
from daemon.clock import SystemClock
from daemon.config import AccessConfig, BotConfig, Config, Secret, SlackConfig, SlackEventsConfig
from daemon.errors import BusUnavailable
from daemon.process import Process
from tests.fakes.slack import Channel, Cut, FakeSlack, Garbled, Page, Refuse, fake_slack
from tests.limits import HANG_S
from tests.ports import free_port

WAYS = ["socket", "http"]


@dataclass
class Heard:
    """An intake that keeps what it is given, and now and then cannot."""

    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    failing: int = 0  # the next so many are not kept
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def take(self, arrival: Arrival) -> None:
        await anyio.lowlevel.checkpoint()
        if self.failing:
            self.failing -= 1
            raise BusUnavailable("away")
        self.arrivals.append(arrival)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def take_run(self, arrivals: Any) -> int:
        return await one_by_one(self, arrivals)

    async def until(self, number: int) -> list[Arrival]:
        """Wait until there are so many that are no repetitions; they."""
        with anyio.fail_after(HANG_S):
            while len(self.once) < number:
                await self._changed.wait()
        return self.once

    @property
    def once(self) -> list[Arrival]:
        return list({each.seen_as: each for each in reversed(self.arrivals)}.values())[::-1]


def section(slack: FakeSlack, *, way: str, **more: Any) -> SlackConfig:
    given: dict[str, Any] = {"access": AccessConfig(policy="open"), "bot_token": Secret(slack.bot.token), **more}
    if way == "socket":
        return SlackConfig(base_url=slack.base_url, app_token=Secret(slack.app.token), **given)
    port = free_port()
    slack.app.url, slack.brought_at = "https://pond.example/slack/events", f"http://127.0.0.1:{port}"
    events = SlackEventsConfig(url=slack.app.url, port=port)
    secret = Secret(slack.app.signing_secret)
    return SlackConfig(base_url=slack.base_url, signing_secret=secret, events=events, **given)


@asynccontextmanager
async def hearing(process: Process, slack: FakeSlack, *, way: str, **more: Any) -> AsyncGenerator[Heard]:
    config = section(slack, way=way, **more)
    here = replace(
        process,
        config=Config(queue=process.config.queue, channels={"acme": config}, bots={"pond": BotConfig()}),
        clock=SystemClock(),
    )
    heard = Heard()

    async def run() -> None:
        async with slack_api.connect(config.base_url, config.bot_token) as api:
            await hear(here, "acme", config, api, heard)

    async with anyio.create_task_group() as tg:
        tg.start_soon(run)
        yield heard
        tg.cancel_scope.cancel()


@pytest.mark.parametrize("way", WAYS)
async def test_a_mention_in_a_channel_is_one_message_in_two_events(process: Process, way: str) -> None:
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        ann = slack.person("Ann Lee")
        lake = slack.channel(ann)
        root = lake.say("nobody is asked", by=ann)
        asked = lake.say(f"{slack.bot.mention} <@{ann.id}> how deep &amp; cold?", by=ann, thread=root.ts)
        await slack.settled()
        (arrival,) = await heard.until(1)

    assert len(heard.arrivals) >= 2  # Slack repeats an event that a busy machine acknowledges late
    assert all(each == arrival for each in heard.arrivals)
    assert (arrival.text, arrival.sender.name) == ("@Ann Lee how deep & cold?", "Ann Lee")
    assert (arrival.id, arrival.thread, arrival.chat) == (asked.ts, root.ts, lake.id)


@pytest.mark.parametrize("way", WAYS)
async def test_what_people_do_with_a_message_is_told_of_the_same_message(process: Process, way: str) -> None:
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        ann = slack.person("Ann")
        pond = slack.direct(ann)
        said = pond.say("see https://x.org")
        await heard.until(1)
        pond.unfurl(said)
        pond.edit(said, "see there")
        await heard.until(2)
        pond.delete(said)
        arrivals = await heard.until(3)
        await slack.settled()

    assert [(each.edited, each.deleted) for each in arrivals] == [(False, False), (True, False), (False, True)]
    assert {(each.id, each.chat, each.thread, each.sender.id) for each in arrivals} == {(said.ts, pond.id, "", ann.id)}
    assert [each.text for each in arrivals] == ["see https://x.org", "see there", ""]


async def test_who_names_the_bot_only_with_an_edit_asks_only_then(process: Process) -> None:
    async with fake_slack() as slack, hearing(process, slack, way="socket") as heard:
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        said = lake.say("how deep?", by=ann)
        lake.edit(said, f"{slack.bot.mention} how deep?")
        (asked,) = await heard.until(1)
        lake.edit(said, f"{slack.bot.mention} how cold?")
        edited = (await heard.until(2))[-1]

    assert [(each.id, each.text, each.edited) for each in (asked, edited)] == [
        (said.ts, "how deep?", False),
        (said.ts, "how cold?", True),
    ]


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_thread_began_with_is_taken_back_though_a_stone_stays(process: Process, way: str) -> None:
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        root = lake.say(f"{slack.bot.mention} hello")
        lake.say("so it goes", thread=root.ts)
        await heard.until(2)
        lake.delete(root)
        arrival = (await heard.until(3))[-1]

    assert (arrival.deleted, arrival.id, arrival.thread, arrival.sender.id) == (True, root.ts, root.ts, ann.id)


@pytest.mark.parametrize("way", WAYS)
async def test_files_and_slash_commands_arrive(process: Process, way: str) -> None:
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        ann = slack.person("Ann")
        pond = slack.direct(ann)
        pond.say(files=[slack.file(b"123", name="a.png", mimetype="image/png"), slack.file(b"", name="b.txt")])
        (said,) = await heard.until(1)
        slack.bot.command(pond, "status")
        told = (await heard.until(2))[-1]
        await slack.settled()

    assert [(each.kind, each.name, each.size_bytes) for each in said.attachments] == [
        ("image", "a.png", 3),
        ("document", "b.txt", 0),
    ]
    assert (told.text, told.chat, told.sender.id, told.chat_kind) == ("/status", pond.id, ann.id, "direct")


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_not_kept_is_said_again_and_nothing_is_lost(process: Process, way: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(event_queue, "REST_MIN_S", 0.01)
    async with fake_slack(repeat_s=0.05) as slack, hearing(process, slack, way=way) as heard:
        pond = slack.direct(slack.person("Ann"))
        heard.failing = 5
        for number in range(5):
            pond.say(str(number))
        arrivals = await heard.until(5)
        await slack.settled()

    assert sorted(each.text for each in arrivals) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("way", WAYS)
async def test_events_that_come_again_and_in_another_order_are_the_same_messages(process: Process, way: str) -> None:
    dice = random.Random(8)
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        root = lake.say("root", by=ann)
        said = [lake.say(f"{slack.bot.mention} {number}", by=ann, thread=root.ts) for number in range(10)]
        dice.shuffle(slack.app.waiting)
        await slack.settled()
        slack.app.again(len(slack.app.done))
        dice.shuffle(slack.app.waiting)
        await slack.settled()

    assert sorted(each.id for each in heard.once) == [each.ts for each in said]
    assert sorted(heard.once, key=lambda each: each.order) == sorted(heard.once, key=lambda each: each.text)


@pytest.mark.parametrize("way", WAYS)
async def test_a_message_of_200_000_characters_arrives_whole(process: Process, way: str) -> None:
    text = "".join(itertools.islice(itertools.cycle("tiefé 池\n"), 200_000))
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        slack.direct(slack.person("Ann")).say(text)
        (arrival,) = await heard.until(1)
        await slack.settled()

    assert arrival.text == text.strip()


ODD: list[Any] = [
    *({}, {"type": "message"}, {"type": 3, "channel": ["C"]}, {"type": "message", "channel": "D1", "ts": 5}),
    {"type": "message", "subtype": "message_changed", "channel": "D1", "channel_type": "im", "message": []},
    {"type": "message", "subtype": "message_deleted", "channel": "D1", "channel_type": "im", "previous_message": []},
    {"type": "assistant_thread_started", "assistant_thread": {"context": {}}},
    {"type": "app_home_opened", "channel": "D1", "user": "U1", "tab": "home"},
    {"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "ts": "soon", "text": None},
]


@pytest.mark.parametrize("way", WAYS)
async def test_what_nobody_has_seen_is_acknowledged_and_holds_nothing_up(process: Process, way: str) -> None:
    async with fake_slack() as slack, hearing(process, slack, way=way) as heard:
        for event in ODD:
            slack.bot.push(event)
        for kind in ("interactive", "something_new"):
            slack.app.bring(kind, {"type": "block_actions", "team": {"id": slack.team.id}})
        slack.app.bring("slash_commands", {"command": ["odd"], "team_id": slack.team.id})
        slack.direct(slack.person("Ann")).say("hello")
        arrivals = await heard.until(1)
        await slack.settled()

    assert [each.text for each in arrivals] == ["hello"]
    assert not slack.app.lost


async def test_frames_that_nobody_can_read_end_no_connection(process: Process) -> None:
    frames = [b"", b"{", b"[]", b'{"type": "\xff"}', b'{"type": 3}', b"[" * 100_000, b'{"type": "disconnect"'[:-1]]
    async with fake_slack() as slack, hearing(process, slack, way="socket") as heard:
        (first,) = await slack.connected()
        for frame in frames:
            slack.app.bring_raw(frame)
        slack.direct(slack.person("Ann")).say("hello")
        arrivals = await heard.until(1)
        await slack.settled()
        still = slack.app.sockets

        assert still == [first]
    assert [each.text for each in arrivals] == ["hello"]


async def test_a_connection_that_is_told_to_go_for_no_reason_is_followed_by_another(process: Process) -> None:
    async with fake_slack() as slack, hearing(process, slack, way="socket"):
        (first,) = await slack.connected()
        slack.app.bring_raw(b'{"type": "disconnect", "reason": null}')

        assert await slack.connected(2) != [first]


async def test_a_broken_wire_loses_nothing(process: Process, monkeypatch: Any) -> None:
    monkeypatch.setattr("channels.slack.socket_mode.PAUSE_MIN_S", 0.01)
    monkeypatch.setattr("channels.slack.socket_mode.PAUSE_MAX_S", 0.05)
    faults = [Cut(), Cut(half=True), Cut(acted=False), Garbled(b"\x00\xff"), Cut(half=True)]
    async with fake_slack(repeat_s=0.05) as slack, hearing(process, slack, way="socket") as heard:
        await slack.connected()
        slack.faults.on("envelope", *faults)
        slack.faults.on("acknowledge", Cut(), Cut())
        slack.faults.on("apps.connections.open", Refuse(error="internal_error"), Page(), Cut())
        ponds = [slack.direct(slack.person(f"Ann {number}")) for number in range(10)]
        for pond in ponds:
            pond.say(f"hello from {pond.id}")
        arrivals = await heard.until(10)
        await slack.settled()

    assert {each.chat for each in arrivals} == {pond.id for pond in ponds}


async def test_names_that_are_not_told_are_left_out(process: Process) -> None:
    async with fake_slack() as slack, hearing(process, slack, way="socket") as heard:
        ann = slack.person("Ann")
        slack.faults.on("users.info", Page(), Refuse(error="missing_scope"), Cut())
        slack.direct(ann).say(f"<@{ann.id}> <@U0NOBODY>")
        (arrival,) = await heard.until(1)

    assert arrival.text == f"@{ann.id} @U0NOBODY"


async def test_everything_that_is_said_arrives_once_in_the_order_of_its_chat(process: Process) -> None:
    async with fake_slack() as slack, hearing(process, slack, way="socket") as heard:
        await slack.connected()
        chats: list[Channel] = [slack.direct(slack.person(f"Ann {number}")) for number in range(5)]
        for number in range(100):
            chats[number % 5].say(str(number))
        arrivals = await heard.until(100)
        await slack.settled()

    for chat in chats:
        said = [each.order for each in arrivals if each.chat == chat.id]
        assert said == sorted(said)
        assert len(said) == 20
