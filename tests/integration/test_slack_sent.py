"""What became of what was sent to Slack: who has to know looks there, another process too."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from channels.base import Part
from channels.slack import SlackChannel, connect
from daemon.config import Config, Secret, SlackConfig
from daemon.errors import SendRejected, SendUnknown
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, Cut, FakeSlack, Message, Person, Refuse, fake_slack

NAME = "lake"
TIMEOUT_S = 5.0
LONG = "The tide turns. " * 400  # more than a message can be changed to


@dataclass
class Pond:
    """A workspace with a channel and a thread in it, and the adapter."""

    slack: FakeSlack
    channel: SlackChannel
    process: Process
    config: SlackConfig
    ann: Person
    lake: Channel
    root: Message

    @property
    def thread(self) -> SessionKey:
        return SessionKey(channel=NAME, chat=self.lake.id, thread=self.root.ts)

    def another(self) -> AbstractAsyncContextManager[SlackChannel]:
        return connect(self.process, NAME, self.config)

    def part(self, text: str = "3 m.", *, number: int = 0, **more: Any) -> Part:
        given = {"reply": "here:1#7", "attempt": f"a{number}", **more}
        return Part(text=text, number=number, **given)

    def preview(self, text: str) -> Part:
        """The beginning of a text that is being written, for whoever asked."""
        return self.part(text, preview=True, asked_by=self.ann.id)

    async def send(self, part: Part) -> str:
        return await self.channel.send(self.thread, part, timeout_s=TIMEOUT_S)

    async def edit(self, ts: str, part: Part) -> None:
        await self.channel.edit(self.thread, ts, part, timeout_s=TIMEOUT_S)

    async def find(self, part: Part) -> str:
        return await self.channel.find(self.thread, part, timeout_s=TIMEOUT_S)

    def texts(self) -> list[str]:
        return self.lake.texts(thread=self.root.ts)

    def asked(self) -> list[tuple[str, str]]:
        return [(call.method, call.error) for call in self.slack.called("chat.")]


@pytest.fixture
async def pond(process: Process) -> AsyncIterator[Pond]:
    async with fake_slack(floods=False) as slack:
        slack.world.now = lambda: process.clock.now().timestamp()
        config = SlackConfig(
            base_url=slack.base_url, bot_token=Secret(slack.bot.token), app_token=Secret(slack.app.token)
        )
        process = replace(process, config=Config(queue=process.config.queue, channels={NAME: config}))
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        async with connect(process, NAME, config) as channel:
            yield Pond(slack, channel, process, config, ann, lake, lake.say("how deep?"))
            assert slack.oddities() == []


async def test_a_workspace_that_wants_no_metadata_gets_none_and_the_message_is_found_by_its_words(pond: Pond) -> None:
    pond.slack.faults.on("chat.postMessage", Refuse("metadata_must_be_sent_from_app"))

    sent = await pond.send(pond.part("# Depth\n**3** m & [more](https://pond.example/more)"))

    assert pond.lake.shown()[0].metadata is None
    assert await pond.find(pond.part("# Depth\n**3** m & [more](https://pond.example/more)")) == sent
    assert await pond.find(pond.part("**4** m")) == ""


@pytest.mark.parametrize("error", ["restricted_action", "is_archived", "channel_not_found", "a_code_of_tomorrow"])
async def test_what_is_refused_for_what_it_is_is_asked_for_once(pond: Pond, error: str) -> None:
    pond.slack.faults.on("chat.postMessage", always=Refuse(error))

    with pytest.raises(SendRejected, match=error):
        await pond.send(pond.part())

    assert pond.asked() == [("chat.postMessage", error)]


@pytest.mark.parametrize("error", ["internal_error", "fatal_error"])
async def test_an_error_after_which_something_may_have_been_done_is_no_refusal(pond: Pond, error: str) -> None:
    pond.slack.faults.on("chat.postMessage", Refuse(error, acted=True))

    with pytest.raises(SendUnknown):
        await pond.send(pond.part())

    assert pond.texts() == ["3 m."]
    assert await pond.find(pond.part()) == pond.lake.shown()[0].ts


async def test_a_long_text_whose_stream_is_gone_is_taken_away_to_be_sent_anew(pond: Pond) -> None:
    sent = await pond.send(pond.preview(LONG))

    async with pond.another() as other:
        with pytest.raises(SendRejected):
            await other.edit(pond.thread, sent, pond.part(LONG), timeout_s=TIMEOUT_S)
        await other.remove(pond.thread, sent, timeout_s=TIMEOUT_S)
        await other.send(pond.thread, pond.part(LONG), timeout_s=TIMEOUT_S)

    assert pond.texts() == [LONG]


@pytest.mark.parametrize("acted", [False, True])
async def test_a_lost_answer_to_the_last_text_is_cleared_up_by_looking(pond: Pond, acted: bool) -> None:
    whole = pond.part("Three metres.")
    sent = await pond.send(pond.preview("Three"))
    pond.slack.faults.on("chat.stopStream", Cut(acted=acted))
    with pytest.raises(SendUnknown):
        await pond.edit(sent, whole)

    async with pond.another() as other:
        assert await other.find(pond.thread, whole, timeout_s=TIMEOUT_S) == (sent if acted else "")
        await other.edit(pond.thread, sent, whole, timeout_s=TIMEOUT_S)

    assert pond.texts() == ["Three metres."]


@pytest.mark.parametrize("acted", [False, True])
async def test_a_file_of_which_nobody_knows_is_found_by_looking(pond: Pond, acted: bool) -> None:
    part = pond.part("Look", document="the whole reply")
    pond.slack.faults.on("files.completeUploadExternal", Cut(acted=acted))

    with pytest.raises(SendUnknown):
        await pond.send(part)

    assert await pond.find(part) == (pond.lake.shown()[0].ts if acted else "")


async def test_it_is_shown_in_threads_that_an_answer_is_being_written(pond: Pond) -> None:
    await pond.channel.typing(SessionKey(channel=NAME, chat=pond.lake.id), timeout_s=TIMEOUT_S)
    await pond.channel.typing(pond.thread, timeout_s=TIMEOUT_S)
    shown = [thread for _, thread, status in pond.lake.statuses if status]
    await pond.send(pond.part())

    assert shown == [pond.root.ts]
    assert pond.lake.statuses[-1][2] == ""
