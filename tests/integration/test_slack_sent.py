"""What the adapter of Slack sends, as people see it there, and what it does when Slack refuses a part of it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from channels.base import Part
from channels.slack import SlackChannel, connect
from daemon.config import Config, SlackConfig
from daemon.config.secret import Secret
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, Cut, FakeSlack, Message, Person, Refuse, fake_slack
from tests.fakes.slack.texts import unescaped

pytestmark = pytest.mark.anyio

NAME = "lake"
TIMEOUT_S = 5.0
LONG = "The tide turns. " * 400
"""More than a message can be changed to."""


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
        """The adapter in another process."""
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
        """What stands in the thread."""
        return self.lake.texts(thread=self.root.ts)

    def asked(self, methods: str = "chat.") -> list[tuple[str, str]]:
        """The methods called, and Slack's refusals."""
        return [(call.method, call.error) for call in self.slack.called(methods)]


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


# In which form


async def test_a_text_whose_blocks_are_too_long_is_sent_as_plain_text_and_whole(pond: Pond) -> None:
    text = "if a < b && c > d: " * 600

    await pond.send(pond.part(text))

    [shown] = pond.lake.shown(thread=pond.root.ts)
    assert shown.form == "mrkdwn"
    assert unescaped(shown.text) == text
    assert "<" not in shown.text
    assert pond.asked() == [("chat.postMessage", "msg_blocks_too_long"), ("chat.postMessage", "")]


async def test_what_hangs_from_a_message_that_is_gone_is_said_in_the_channel(pond: Pond) -> None:
    pond.lake.delete(pond.root)

    sent = await pond.send(pond.part())

    assert pond.lake.texts(thread="") == ["3 m."]
    assert await pond.find(pond.part()) == sent


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


async def test_nobody_is_called_by_what_a_model_repeats(pond: Pond) -> None:
    await pond.send(pond.part("They wrote <!channel> and <!here|here>, and &lt;!everyone&gt;."))

    [shown] = pond.texts()
    assert "<!" not in shown


async def test_where_metadata_is_kept_the_same_words_are_not_enough(pond: Pond) -> None:
    await pond.send(pond.part("Yes."))

    assert await pond.find(pond.part("Yes.", reply="here:1#8")) == ""


async def test_what_is_looked_for_is_found_behind_much_that_people_said(pond: Pond) -> None:
    for number in range(250):
        pond.lake.say(f"reply {number}", thread=pond.root.ts)
    sent = await pond.send(pond.part())

    assert await pond.find(pond.part()) == sent
    assert len(pond.slack.called("conversations.replies")) == 2


# Bit by bit


async def test_a_text_grows_by_what_was_added_to_it(pond: Pond) -> None:
    sent = await pond.send(pond.preview("Three"))
    await pond.edit(sent, pond.preview("Three metres"))
    await pond.edit(sent, pond.part("Three metres, **about**."))

    added = [call.params.get("markdown_text") for call in pond.slack.called("chat.")]
    assert pond.asked() == [("chat.startStream", ""), ("chat.appendStream", ""), ("chat.stopStream", "")]
    assert added == ["Three", " metres", ", **about**."]
    [shown] = pond.lake.shown()
    assert (shown.ts, shown.text, shown.streaming) == (sent, "Three metres, **about**.", False)
    assert await pond.find(pond.part("Three metres, **about**.")) == sent


@pytest.mark.parametrize("by_a_person", [False, True])
async def test_a_stream_that_slack_has_ended_is_changed_as_any_message(pond: Pond, by_a_person: bool) -> None:
    sent = await pond.send(pond.preview("Three"))
    pond.lake.shown()[0].streaming, pond.lake.shown()[0].stopped_by_user = False, by_a_person

    await pond.edit(sent, pond.preview("Three metres"))
    between = pond.texts()
    await pond.edit(sent, pond.part("Three metres, about."))

    assert between == ["Three metres"]
    assert [(each.ts, each.text) for each in pond.lake.shown()] == [(sent, "Three metres, about.")]
    assert await pond.find(pond.part("Three metres, about.")) == sent


async def test_a_stream_that_slack_has_ended_before_its_last_text_is_no_end_of_it(pond: Pond) -> None:
    sent = await pond.send(pond.preview("Three"))
    pond.slack.world.stream_lives_s = -1.0

    await pond.edit(sent, pond.part("Three metres."))

    assert pond.texts() == ["Three metres."]


async def test_a_long_text_whose_stream_is_gone_is_taken_away_to_be_sent_anew(pond: Pond) -> None:
    sent = await pond.send(pond.preview(LONG))

    async with pond.another() as other:
        with pytest.raises(SendRejected):
            await other.edit(pond.thread, sent, pond.part(LONG), timeout_s=TIMEOUT_S)
        await other.remove(pond.thread, sent, timeout_s=TIMEOUT_S)
        await other.send(pond.thread, pond.part(LONG), timeout_s=TIMEOUT_S)

    assert pond.texts() == [LONG]


async def test_a_long_text_ends_in_its_stream(pond: Pond) -> None:
    sent = await pond.send(pond.preview(LONG))

    await pond.edit(sent, pond.part(LONG + "It is 3 m."))

    assert pond.texts() == [LONG + "It is 3 m."]
    assert pond.asked("chat.update") == []


async def test_where_there_are_no_streams_a_message_is_changed_and_streams_are_asked_for_once(pond: Pond) -> None:
    pond.slack.methods.without = {"chat.startStream"}
    streamed = pond.channel.rates(pond.thread, "edit")

    for number in range(2):
        begun = pond.part("Three", number=number, preview=True, asked_by=pond.ann.id)
        sent = await pond.send(begun)
        await pond.edit(sent, pond.part("Three metres.", number=number))

    assert pond.texts() == ["Three metres."] * 2
    assert pond.asked("chat.startStream") == [("chat.startStream", "unknown_method")]
    assert [method for method, _ in pond.asked()][1:] == ["chat.postMessage", "chat.update"] * 2
    assert pond.channel.rates(pond.thread, "edit") != streamed


async def test_a_stream_that_is_refused_here_is_sent_as_a_message_here(pond: Pond) -> None:
    pond.slack.faults.on("chat.startStream", Refuse("channel_type_not_supported"))

    sent = await pond.send(pond.preview("Three"))
    await pond.edit(sent, pond.part("Three metres."))

    assert pond.texts() == ["Three metres."]


async def test_without_somebody_to_stream_to_a_message_is_sent(pond: Pond) -> None:
    sent = await pond.send(pond.part("Three", preview=True))
    await pond.edit(sent, pond.part("Three metres."))

    assert pond.texts() == ["Three metres."]
    assert pond.asked("chat.startStream") == []


async def test_after_a_lost_answer_the_whole_text_stands_there_once(pond: Pond) -> None:
    """Nobody knows how much of it was added."""
    sent = await pond.send(pond.preview("Three"))
    pond.slack.faults.on("chat.appendStream", Cut())
    with pytest.raises(SendUnknown):
        await pond.edit(sent, pond.preview("Three metres"))

    await pond.edit(sent, pond.part("Three metres, about."))

    assert pond.texts() == ["Three metres, about."]


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


# Files


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload"])
async def test_a_file_whose_way_breaks_off_early_was_not_sent(pond: Pond, step: str) -> None:
    pond.slack.faults.on(step, Cut())

    with pytest.raises(SendRefused):
        await pond.send(pond.part("Look", document="the whole reply"))
    assert pond.lake.shown() == []

    await pond.send(pond.part("Look", document="the whole reply"))
    assert [(each.text, each.files[0].data) for each in pond.lake.shown()] == [("Look", b"the whole reply")]


@pytest.mark.parametrize("acted", [False, True])
async def test_a_file_of_which_nobody_knows_is_found_by_looking(pond: Pond, acted: bool) -> None:
    part = pond.part("Look", document="the whole reply")
    pond.slack.faults.on("files.completeUploadExternal", Cut(acted=acted))

    with pytest.raises(SendUnknown):
        await pond.send(part)

    assert await pond.find(part) == (pond.lake.shown()[0].ts if acted else "")


async def test_a_file_that_was_sent_stays_sent_when_slack_does_not_say_where(pond: Pond) -> None:
    pond.slack.faults.on("files.info", Cut())

    sent = await pond.send(pond.part("Look", document="the whole reply"))

    assert sent == pond.lake.shown()[0].files[0].id


async def test_who_may_not_have_a_file_is_shown_no_page_instead(pond: Pond) -> None:
    file = pond.slack.file(b"1,2,3", name="depth.csv")
    pond.lake.say("look", files=[file])
    pond.slack.bot.scopes.remove("files:read")

    with pytest.raises(SendRejected, match="files:read"):
        await pond.channel.fetch(
            Attachment(kind="document", name="depth.csv", source=f"{file.id} {file.said()['url_private']}"),
            timeout_s=TIMEOUT_S,
        )


# Signs


async def test_it_is_shown_in_threads_that_an_answer_is_being_written(pond: Pond) -> None:
    await pond.channel.typing(SessionKey(channel=NAME, chat=pond.lake.id), timeout_s=TIMEOUT_S)
    await pond.channel.typing(pond.thread, timeout_s=TIMEOUT_S)
    shown = [thread for _, thread, status in pond.lake.statuses if status]
    await pond.send(pond.part())

    assert shown == [pond.root.ts]
    assert pond.lake.statuses[-1][2] == ""


async def test_another_process_takes_a_mark_away_that_is_configured(pond: Pond) -> None:
    await pond.channel.react(pond.thread, pond.root.ts, "ocean", timeout_s=TIMEOUT_S)
    config = SlackConfig(
        base_url=pond.slack.base_url, bot_token=pond.config.bot_token, app_token=pond.config.app_token, reaction="ocean"
    )

    async with connect(pond.process, NAME, config) as other:
        await other.react(pond.thread, pond.root.ts, "", timeout_s=TIMEOUT_S)

    assert pond.root.reactions == {}
