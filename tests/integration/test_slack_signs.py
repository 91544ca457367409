"""How often Slack is asked for what, and the signs that an answer is being written."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from channels.base import Part, Purpose
from channels.slack import SlackChannel, connect
from daemon.config import BotConfig, Config, Secret, SlackConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, FakeSlack, Person, fake_slack

NAME = "lake"
TIMEOUT_S = 5.0


@dataclass
class Room:
    slack: FakeSlack
    channel: SlackChannel
    lake: Channel
    ann: Person
    root: str

    @property
    def thread(self) -> SessionKey:
        return SessionKey(channel=NAME, chat=self.lake.id, thread=self.root)

    @property
    def direct(self) -> SessionKey:
        return SessionKey(channel=NAME, chat=self.slack.direct(self.ann).id)

    def buckets(self, chat: SessionKey, purpose: Purpose) -> dict[str, tuple[int, float]]:
        return {rate.bucket: (rate.count, rate.per_s) for rate in self.channel.rates(chat, purpose)}


@pytest.fixture
async def room(process: Process) -> AsyncIterator[Room]:
    async with fake_slack(floods=False) as slack:
        config = SlackConfig(
            base_url=slack.base_url, bot_token=Secret(slack.bot.token), app_token=Secret(slack.app.token)
        )
        bots = {"pond": BotConfig(language="zh")}
        process = replace(process, config=Config(queue=process.config.queue, channels={NAME: config}, bots=bots))
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        async with connect(process, NAME, config) as channel:
            yield Room(slack, channel, lake, ann, lake.say("how deep?").ts)
        assert slack.oddities() == []


async def test_messages_keep_to_the_rate_of_their_channel_alone(room: Room) -> None:
    here = {f"chat {room.lake.id}": (3, 3.0)}
    elsewhere = SessionKey(channel=NAME, chat=room.lake.id, thread="1.2")

    assert room.buckets(room.thread, "send") == room.buckets(elsewhere, "send") == here


async def test_what_is_shown_in_a_thread_keeps_to_the_rates_of_streams(room: Room) -> None:
    here = {f"chat {room.lake.id}": (3, 3.0)}

    assert room.buckets(room.thread, "begin") == {"streams": (20, 60.0), **here}
    assert room.buckets(room.thread, "edit") == {"appends": (100, 60.0)}


async def test_what_is_shown_by_changes_leaves_room_for_the_last_one(room: Room) -> None:
    updates = {"updates": (50, 60.0)}

    assert room.buckets(room.direct, "begin") == {**updates, f"chat {room.direct.chat}": (3, 3.0)}
    assert room.buckets(room.direct, "edit") == updates


async def test_once_there_are_no_streams_changes_are_what_is_counted(room: Room) -> None:
    room.slack.methods.without.add("chat.startStream")
    preview = Part(reply="r", number=0, text="two", attempt="a", preview=True, asked_by=room.ann.id)
    await room.channel.send(room.thread, preview, timeout_s=TIMEOUT_S)

    assert set(room.buckets(room.thread, "edit")) == {"updates"}
    assert "streams" not in room.buckets(room.thread, "begin")


async def test_in_a_thread_it_is_shown_in_the_bots_language_that_an_answer_is_being_written(room: Room) -> None:
    await room.channel.typing(room.thread, timeout_s=TIMEOUT_S)
    await room.channel.typing(room.direct, timeout_s=TIMEOUT_S)

    assert [(thread, status) for _, thread, status in room.lake.statuses] == [(room.root, "正在输入……")]
    assert len(room.slack.called("assistant.")) == 1


async def test_a_direct_message_is_marked_and_a_slash_command_is_not(room: Room) -> None:
    direct = room.slack.direct(room.ann)
    said = direct.say("hello")
    await room.channel.react(room.direct, said.ts, "tada", timeout_s=TIMEOUT_S)
    await room.channel.react(room.direct, "13345224609.738474920.8088930838d88f008e0", "tada", timeout_s=TIMEOUT_S)

    assert said.reactions == {"tada": [room.slack.bot.person.id]}
    assert len(room.slack.called("reactions.")) == 1
