"""What is said on Slack: forms, streams, files, marks; against a Slack as strict as its documentation."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import Part
from channels.slack.api import Api, connect
from channels.slack.attachments import SHARED_S, Files
from channels.slack.emoji_reactions import EmojiReactions, name_of
from channels.slack.message_sender import MessageSender, TextStreams
from channels.slack.mrkdwn import unescaped
from channels.slack.slack_events import Me, me_of
from channels.slack.text_forms import EMPTY, PART, TEXT_MAX, UPDATE_MAX, clean, escaped, forms_of
from channels.testing.loop_clock import put_forward
from daemon.config.secret import Secret
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, Cut, FakeSlack, Hang, Person, Refuse, fake_slack
from tests.limits import HANG_S
from tests.tables import each_row

REPLY = "lake:C1:1#7"


@dataclass(kw_only=True)
class Room:
    """A channel with a thread in it, and what one process says there."""

    slack: FakeSlack
    api: Api
    workspace: Path
    lake: Channel
    ann: Person
    root: str
    sending: MessageSender
    streams: TextStreams
    files: Files

    @property
    def thread(self) -> SessionKey:
        return SessionKey(channel="acme", chat=self.lake.id, thread=self.root)

    @property
    def direct(self) -> SessionKey:
        return SessionKey(channel="acme", chat=self.slack.direct(self.ann).id)

    def part(self, text: str, **more: Any) -> Part:
        return Part(reply=REPLY, number=0, text=text, attempt="a", **more)

    async def send(self, text: str, *, chat: SessionKey | None = None, timeout_s: float = HANG_S, **more: Any) -> str:
        return await self.sending.send(chat or self.thread, self.part(text, **more), timeout_s=timeout_s)

    async def begin(self, text: str, *, chat: SessionKey | None = None) -> str:
        return await self.send(text, chat=chat, preview=True, asked_by=self.ann.id)

    async def grow(self, ts: str, text: str, *, timeout_s: float = HANG_S) -> None:
        await self.sending.edit(self.thread, ts, self.part(text, preview=True), timeout_s=timeout_s)

    async def finish(self, ts: str, text: str, *, timeout_s: float = HANG_S) -> None:
        await self.sending.edit(self.thread, ts, self.part(text), timeout_s=timeout_s)

    def methods(self) -> list[str]:
        return [call.method.removeprefix("chat.") for call in self.slack.called("chat.")]

    def afresh(self) -> "Room":
        """Another channel, for a row of a table: nothing was asked for yet and nothing goes wrong."""
        self.slack.faults.clear()
        self.slack.calls.clear()
        lake = self.slack.channel(self.ann)
        return a_room(self.slack, self.api, self.workspace, lake, self.ann, lake.say("how deep is it?", by=self.ann).ts)

    def another(self) -> "Room":
        """Another process, which knows nothing of what this one has said."""
        return a_room(self.slack, self.api, self.workspace, self.lake, self.ann, self.root)


def a_room(slack: FakeSlack, api: Api, workspace: Path, lake: Channel, ann: Person, root: str) -> Room:
    async def who(_deadline: float) -> Me:
        return me_of(await api.call("auth.test", timeout_s=HANG_S))

    streams, files = TextStreams(api, who, channel="acme"), Files(api, workspace)
    parts = {"lake": lake, "ann": ann, "root": root, "workspace": workspace}
    return Room(slack=slack, api=api, sending=MessageSender(api, files, streams), streams=streams, files=files, **parts)  # type: ignore[arg-type]


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with fake_slack(floods=False) as slack:
        slack.on_call = lambda call: put_forward() if isinstance(call.fault, Hang) else None
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        root = lake.say("how deep is it?", by=ann).ts
        async with connect(slack.base_url, Secret(slack.bot.token)) as api:
            yield a_room(slack, api, tmp_path, lake, ann, root)
        assert slack.oddities() == []


async def test_a_text_goes_as_markdown_into_its_thread_and_says_of_which_reply_it_is(room: Room) -> None:
    ts = await room.send("**two** metres")

    [message] = room.lake.shown(thread=room.root)
    assert (message.ts, message.text, message.form) == (ts, "**two** metres", "markdown")
    assert message.metadata == {"event_type": PART, "event_payload": {"reply": REPLY, "part": 0, "attempt": "a"}}
    [call] = room.slack.called("chat.postMessage")
    assert (call.params["unfurl_links"], call.params["unfurl_media"]) == (False, False)


async def test_markdown_that_is_too_long_when_it_is_escaped_goes_as_it_was_written(room: Room) -> None:
    text = "if (a < b && c > d) { return &x; }\n" * 300

    await room.send(text)

    [message] = room.lake.shown(thread=room.root)
    assert (message.form, unescaped(message.text)) == ("mrkdwn", text)


async def test_a_workspace_without_markdown_gets_plain_text(room: Room) -> None:
    room.slack.faults.on("chat.postMessage", Refuse("invalid_arguments"))

    await room.send("3 < 4")

    assert [(each.form, each.text) for each in room.lake.shown(thread=room.root)] == [("mrkdwn", "3 &lt; 4")]


async def test_a_workspace_that_wants_no_metadata_gets_the_text_without(room: Room) -> None:
    room.slack.faults.on("chat.postMessage", Refuse("metadata_must_be_sent_from_app"))

    await room.send("two metres")

    assert [(each.form, each.metadata) for each in room.lake.shown(thread=room.root)] == [("markdown", None)]


async def test_what_was_asked_in_a_thread_that_is_gone_is_answered_in_the_channel(room: Room) -> None:
    room.lake.delete(room.lake.messages[room.root])

    await room.send("two metres")

    assert room.lake.texts(thread="") == ["two metres"]


@each_row("fault", [Cut(acted=False), Cut(), Hang(), Refuse("fatal_error", acted=True)])
async def test_no_other_form_is_tried_of_what_may_have_arrived(room: Room, fault: Any) -> None:
    room = room.afresh()
    room.slack.faults.on("chat.postMessage", fault)

    with pytest.raises(SendUnknown):
        await room.send("two metres", timeout_s=HANG_S)

    assert len(room.slack.called("chat.postMessage")) == 1


async def test_what_is_refused_in_every_form_is_refused_and_asked_as_often_as_there_are_forms(room: Room) -> None:
    room.slack.faults.on("chat.postMessage", always=Refuse("invalid_arguments"))

    with pytest.raises(SendRejected):
        await room.send("two metres")

    assert len(room.slack.called("chat.postMessage")) == 2


@each_row("crowd", ["channel", "here", "everyone", "subteam^S1|@all"])
async def test_nobody_makes_the_bot_call_a_crowd(room: Room, crowd: str) -> None:
    for refused in (False, True):
        if refused:
            room.slack.faults.on("chat.postMessage", Refuse("invalid_arguments"))
        await room.send(f"Say <!{crowd}> to all")

    for message in room.lake.shown(thread=room.root):
        assert f"<!{crowd}" not in message.text
        assert "to all" in message.text


@each_row("text", ["", "  \n", "\0", "a\ud800b", "\r\n\r\nx"])
async def test_what_cannot_be_said_is_said_as_well_as_it_can(room: Room, text: str) -> None:
    room = room.afresh()
    await room.send(text)

    [message] = room.lake.shown(thread=room.root)
    assert message.text.strip()


@given(st.text(alphabet="a&<>!;ltgmpchanel \r\n\0\ud800水", max_size=60))
def test_the_words_of_a_text_are_the_same_in_all_forms(text: str) -> None:
    markdown, plain = (next(iter(form.values())) for form in forms_of(text))

    assert unescaped(plain) == markdown
    assert clean(markdown) == markdown or markdown == EMPTY
    assert not {"<", ">"} & set(plain)


def test_what_is_cut_by_slack_without_a_word_is_not_offered() -> None:
    assert [list(form) for form in forms_of("<" * (TEXT_MAX // 3))] == [["markdown_text"]]
    assert len(escaped("<" * (TEXT_MAX // 4))) <= TEXT_MAX


async def test_a_text_grows_in_a_stream_until_it_is_the_reply(room: Room) -> None:
    ts = await room.begin("two")
    await room.grow(ts, "two metres")
    await room.grow(ts, "two metres")
    streaming = room.lake.messages[ts].streaming
    await room.finish(ts, "two metres deep")

    [message] = room.lake.shown(thread=room.root)
    assert (message.ts, message.text, streaming, message.streaming) == (ts, "two metres deep", True, False)
    assert room.methods() == ["startStream", "appendStream", "stopStream"]
    assert message.metadata and message.metadata["event_type"] == PART
    started = room.slack.called("chat.startStream")[0].params
    assert (started["recipient_user_id"], started["recipient_team_id"]) == (room.ann.id, room.slack.team.id)


async def test_a_reply_that_says_no_more_than_was_shown_only_stops_the_stream(room: Room) -> None:
    ts = await room.begin("two metres")
    await room.finish(ts, "two metres")

    assert room.lake.texts(thread=room.root) == ["two metres"]
    assert not room.lake.messages[ts].streaming


async def test_a_text_that_began_with_empty_lines_goes_on_as_the_reply_without_them(room: Room) -> None:
    ts = await room.begin("\n\n two")
    await room.finish(ts, " two metres")

    assert room.lake.texts(thread=room.root) == [" two metres"]
    assert room.methods() == ["startStream", "stopStream"]


async def test_a_text_that_begins_anew_is_changed_instead(room: Room) -> None:
    ts = await room.begin("two metres")
    await room.grow(ts, "I looked again:")
    await room.grow(ts, "I looked again: three")
    await room.finish(ts, "I looked again: three metres")

    assert room.lake.texts(thread=room.root) == ["I looked again: three metres"]
    assert room.methods() == ["startStream", "stopStream", "update", "update", "update"]


@each_row("by_person", [True, False])
async def test_a_stream_that_has_ended_by_itself_is_changed_like_any_message(room: Room, by_person: bool) -> None:
    room = room.afresh()
    ts = await room.begin("two")
    room.lake.messages[ts].streaming, room.lake.messages[ts].stopped_by_user = False, by_person
    await room.grow(ts, "two metres")
    await room.finish(ts, "two metres deep")

    assert room.lake.texts(thread=room.root) == ["two metres deep"]
    assert room.methods() == ["startStream", "appendStream", "update", "update"]


async def test_a_stream_of_another_process_is_stopped_and_changed(room: Room) -> None:
    ts = await room.begin("two")
    other = room.another()

    await other.grow(ts, "two metres")
    await other.finish(ts, "two metres deep")

    [message] = room.lake.shown(thread=room.root)
    assert (message.text, message.streaming) == ("two metres deep", False)


async def test_what_another_process_writes_can_be_taken_away(room: Room) -> None:
    ts = await room.begin("two")

    for _ in range(2):
        await room.another().sending.remove(room.thread, ts, timeout_s=HANG_S)

    assert room.lake.texts(thread=room.root) == []


@each_row("fault", [Cut(), Cut(acted=False), Refuse("internal_error", acted=True)])
async def test_what_is_not_taken_away_since_its_stream_may_not_have_ended_is_there_for_certain(room: Room, fault: Any):
    room = room.afresh()
    ts = await room.begin("two")
    room.slack.faults.on("chat.stopStream", fault)
    with pytest.raises(SendRefused):
        await room.sending.remove(room.thread, ts, timeout_s=HANG_S)

    await room.sending.remove(room.thread, ts, timeout_s=HANG_S)

    assert room.lake.texts(thread=room.root) == []


async def test_where_there_are_no_streams_a_message_is_changed_and_streams_are_asked_for_once(room: Room) -> None:
    room.slack.methods.without.add("chat.startStream")
    for text in ("two", "three"):
        ts = await room.begin(text)
        await room.grow(ts, f"{text} metres")
        await room.finish(ts, f"{text} metres deep")

    assert room.lake.texts(thread=room.root) == ["two metres deep", "three metres deep"]
    assert room.methods() == ["startStream", *["postMessage", "update", "update"] * 2]
    assert not room.streams.are_in(room.thread)


async def test_outside_of_threads_and_for_nobody_there_are_no_streams(room: Room) -> None:
    await room.begin("two", chat=room.direct)
    await room.send("two", preview=True)

    assert room.methods() == ["postMessage", "postMessage"]


async def test_a_stream_that_cannot_begin_here_is_no_reason_to_do_without_elsewhere(room: Room) -> None:
    room.slack.faults.on("chat.startStream", Refuse("user_not_found"))
    await room.begin("two")
    await room.begin("three")

    assert room.methods() == ["startStream", "postMessage", "startStream"]


@each_row("fault", [Cut(), Cut(acted=False), Hang()])
async def test_a_stream_of_which_nobody_knows_whether_it_began_is_not_sent_as_a_message(room: Room, fault: Any) -> None:
    room = room.afresh()
    room.slack.faults.on("chat.startStream", fault)

    with pytest.raises(SendUnknown):
        await room.send("two", preview=True, asked_by=room.ann.id, timeout_s=HANG_S)

    assert room.methods() == ["startStream"]


@each_row("fault", [Cut(), Cut(acted=False)])
@each_row("method", ["chat.appendStream", "chat.stopStream"])
async def test_nothing_is_said_twice_or_left_out_after_a_cut_in_a_stream(room: Room, fault: Any, method: str) -> None:
    room = room.afresh()
    ts = await room.begin("two")
    room.slack.faults.on(method, fault)
    with pytest.raises(SendUnknown):
        if method == "chat.appendStream":
            await room.grow(ts, "two metres")
        await room.finish(ts, "two metres deep")

    await room.finish(ts, "two metres deep")

    [message] = room.lake.shown(thread=room.root)
    assert (message.text, message.streaming) == ("two metres deep", False)


async def test_what_slack_did_not_want_just_now_is_appended_the_next_time(room: Room) -> None:
    ts = await room.begin("two")
    room.slack.faults.on("chat.appendStream", Refuse("service_unavailable", status=503))
    with pytest.raises(SendRefused):
        await room.grow(ts, "two metres")

    await room.grow(ts, "two metres deep")

    assert room.lake.texts(thread=room.root) == ["two metres deep"]


async def test_a_text_that_is_too_long_to_be_changed_is_shown_cut_and_its_reply_refused(room: Room) -> None:
    ts = await room.send("two", preview=True)
    long = "two metres " * 1_000

    await room.grow(ts, long)

    [shown] = room.lake.texts(thread=room.root)
    assert 0.5 * UPDATE_MAX < len(shown) <= UPDATE_MAX and shown.endswith("…")
    with pytest.raises(SendRejected, match="4,000"):
        await room.finish(ts, long)


async def test_a_long_text_grows_in_a_stream_to_its_end(room: Room) -> None:
    text = "two metres deep. " * 700
    ts = await room.begin(text[:40].rstrip())
    for end in range(1_000, len(text), 1_000):
        await room.grow(ts, text[:end].rstrip())
    await room.finish(ts, text)

    assert room.lake.texts(thread=room.root) == [text]


@each_row("platform_id", ["", "F0123", "nonsense", "1;drop"])
async def test_what_is_no_message_cannot_be_changed_and_is_gone(room: Room, platform_id: str) -> None:
    room = room.afresh()
    with pytest.raises(SendRejected):
        await room.finish(platform_id, "two")
    await room.sending.remove(room.thread, platform_id, timeout_s=HANG_S)

    assert room.methods() == []


def a_file(room: Room, name: str = "tides.csv", content: bytes = b"time,height\n") -> Attachment:
    room.workspace.mkdir(parents=True, exist_ok=True)
    (room.workspace / name).write_bytes(content)
    return Attachment(kind="document", name=name, path=name, size_bytes=len(content))


async def test_a_file_stands_in_its_thread_with_its_content(room: Room) -> None:
    ts = await room.send("", attachments=(a_file(room),))

    [message] = room.lake.shown(thread=room.root)
    assert (message.ts, [(file.name, file.data) for file in message.files]) == (ts, [("tides.csv", b"time,height\n")])


@each_row("method", ["files.getUploadURLExternal", "upload"])
@each_row("fault", [Cut(), Cut(acted=False), Hang(), Refuse("service_unavailable", status=503)])
async def test_whatever_goes_wrong_before_a_file_is_shown_can_be_done_again(room: Room, method: str, fault: Any):
    room = room.afresh()
    file = a_file(room)
    room.slack.faults.on(method, fault)

    with pytest.raises(SendRefused):
        await room.send("", attachments=(file,), timeout_s=HANG_S)
    assert room.lake.shown(thread=room.root) == []

    await room.send("", attachments=(file,))
    assert len(room.lake.shown(thread=room.root)) == 1


@each_row("fault", [Cut(), Hang()])
async def test_a_file_of_which_nobody_knows_whether_it_is_shown_is_not_shown_again(room: Room, fault: Any) -> None:
    room = room.afresh()
    room.slack.faults.on("files.completeUploadExternal", fault)

    with pytest.raises(SendUnknown):
        await room.send("", attachments=(a_file(room),), timeout_s=HANG_S)

    assert len(room.slack.called("files.completeUploadExternal")) == 1


async def test_a_file_that_is_shown_is_sent_even_if_slack_does_not_say_where(room: Room) -> None:
    room.slack.faults.on("files.info", always=Hang())
    room.slack.on_call = lambda call: put_forward(SHARED_S) if call.fault else None

    with anyio.fail_after(HANG_S):
        sent = await room.send("", attachments=(a_file(room),), timeout_s=HANG_S)

    assert sent == room.lake.shown(thread=room.root)[0].files[0].id


async def test_a_long_reply_is_a_file_below_its_beginning(room: Room) -> None:
    await room.send("3 < 4, and so on …", document="3 < 4, and so on and on.")

    [message] = room.lake.shown(thread=room.root)
    assert unescaped(message.text) == "3 < 4, and so on …"
    assert [(file.name, file.data) for file in message.files] == [("reply.md", b"3 < 4, and so on and on.")]


async def test_a_file_whose_address_is_not_known_is_asked_for(room: Room) -> None:
    """Files of other workspaces come without (``check_file_info``)."""
    file = room.slack.file(b"high tide")

    content = await room.files.fetch(Attachment(kind="document", source=file.id), timeout_s=HANG_S)

    assert content == b"high tide"


async def test_a_page_is_no_file_unless_it_was_one(room: Room) -> None:
    """Slack sends a page for people to whom it does not give the file."""
    file = room.slack.file(b"<html>sign in</html>", name="tides.html", mimetype="text/html")

    with pytest.raises(SendRejected, match="files:read"):
        await room.files.fetch(Attachment(kind="document", source=file.id, name="tides.csv"), timeout_s=HANG_S)
    page = Attachment(kind="document", source=file.id, name="tides.html")
    assert await room.files.fetch(page, timeout_s=HANG_S) == b"<html>sign in</html>"


@each_row("source", ["", "nowhere", "F1 https://evil.example/F1", "F1 ftp://slack.com/", "../F1"])
async def test_what_does_not_lie_at_slack_is_not_fetched(room: Room, source: str) -> None:
    room = room.afresh()
    with pytest.raises(SendRejected):
        await room.files.fetch(Attachment(kind="document", source=source), timeout_s=HANG_S)

    assert room.slack.called("download") == []


async def test_a_mark_is_put_once_and_taken_away_by_its_name(room: Room) -> None:
    signs = EmojiReactions(room.api, usual="")
    for sign in ("👀", "👀", "", ""):
        await signs.mark(room.lake.id, room.root, sign, timeout_s=HANG_S)
        marks = room.lake.messages[room.root].reactions
        assert list(marks) == (["eyes"] if sign else [])


async def test_the_usual_mark_of_another_process_is_taken_away(room: Room) -> None:
    await EmojiReactions(room.api, usual="").mark(room.lake.id, room.root, ":tada:", timeout_s=HANG_S)

    await EmojiReactions(room.api, usual="🎉").mark(room.lake.id, room.root, "", timeout_s=HANG_S)

    assert room.lake.messages[room.root].reactions == {}


async def test_a_slash_command_is_not_marked(room: Room) -> None:
    await EmojiReactions(room.api, usual="").mark(room.lake.id, "123.456.abcdef", "👀", timeout_s=HANG_S)

    assert room.slack.called("reactions.") == []


@each_row(("sign", "name"), [("✔️", "heavy_check_mark"), ("eyes", "eyes"), (":+1:", "+1"), ("", "")])
def test_emoji_have_names(sign: str, name: str) -> None:
    assert name_of(sign) == name
