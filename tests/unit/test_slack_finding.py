"""Looking at what stands on Slack: for what nobody knows of, and for what was said before."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.base import Part
from channels.slack.api import Api, connect
from channels.slack.api_types import File
from channels.slack.message_lookup import (
    SAME_S,
    FoundMessage,
    LookupRequest,
    MessageLookup,
    Metadata,
    Payload,
    found_in,
)
from channels.slack.slack_events import Me
from channels.slack.text_forms import PART, PREVIEW, escaped, metadata_of
from channels.slack.thread_history import KEPT_MAX, PAGE, ThreadHistory
from channels.slack.user_directory import UserDirectory
from daemon.clock import SystemClock
from daemon.config.secret import Secret
from daemon.errors import SendRejected
from daemon.events import Attachment, Inbound
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, FakeSlack, fake_slack
from tests.limits import HANG_S

NOW = 1_800_000_000.0
ME = Me(team="T1", user="U1", bot="B1", name="pond")
REPLY = "lake:C1:1#7"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack(floods=False) as slack:
        yield slack
        assert slack.oddities() == []


@pytest.fixture
async def api(slack: FakeSlack) -> AsyncIterator[Api]:
    async with connect(slack.base_url, Secret(slack.bot.token)) as api:
        yield api


def me_on(slack: FakeSlack) -> Me:
    return Me(team=slack.team.id, user=slack.bot.person.id, bot=slack.bot.person.bot_id, name="pond")


def part(text: str = "two metres", **more: Any) -> Part:
    return Part(reply=REPLY, number=0, text=text, attempt="a", **more)


def said(
    text: str = "two metres", *, ago_s: float = 1.0, kind: str = "", reply: str = REPLY, **more: Any
) -> FoundMessage:
    metadata = Metadata(event_type=kind, event_payload=Payload(reply=reply, part=0)) if kind else None
    return FoundMessage(ts=f"{NOW - ago_s:.6f}", user=ME.user, text=text, metadata=metadata, **more)


def found(*ours: FoundMessage, part: Part) -> int | None:
    ts = found_in(list(ours), LookupRequest(part=part, me=ME, now=NOW))
    return next((number for number, each in enumerate(ours) if each.ts == ts), None)


def test_what_says_of_which_reply_it_is_is_that_whatever_it_says() -> None:
    assert found(said("x", kind=PART), said(kind=PART, reply="another"), part=part()) == 0
    assert found(said("x", kind=PART, ago_s=80_000), part=part()) == 0


def test_another_part_or_reply_is_not_it_though_it_says_the_same() -> None:
    assert found(said(kind=PART, reply="another"), part=part()) is None
    assert found(said(kind=PART), part=Part(reply=REPLY, number=1, text="two metres", attempt="a")) is None


def test_a_preview_is_never_the_part_nor_the_part_a_preview() -> None:
    both = (said(kind=PREVIEW), said(kind=PART, ago_s=2))

    assert found(*both, part=part()) == 1
    assert found(*both, part=part(preview=True)) == 0
    assert found(both[0], part=part()) is None


def test_where_no_metadata_is_kept_the_words_tell() -> None:
    text = "# Depth\n**Two** metres, see [here](https://pond.example): 3 < 4 & 5"
    shown = escaped("*Depth*\n*Two* metres, see ") + "<https://pond.example|here>" + escaped(": 3 < 4 & 5")

    assert found(said("another", ago_s=3), said(shown, ago_s=2), said("one more"), part=part(text)) == 1
    assert found(said("another"), part=part(text)) is None
    assert found(said("***"), part=part("---")) is None


def test_where_metadata_is_kept_words_tell_nothing() -> None:
    assert found(said(), said("else", kind=PART, reply="another"), part=part()) is None


def test_what_a_bot_said_another_day_in_the_same_words_is_not_it() -> None:
    assert found(said(ago_s=SAME_S + 1), part=part()) is None


def test_a_stream_that_was_begun_is_known_by_its_beginning() -> None:
    whole = part("two metres deep", preview=True)

    assert found(said("something else", ago_s=2), said("two metr"), part=whole) == 1
    assert found(said("deep"), part=whole) is None
    assert found(said(""), part=whole) is None


def test_a_file_is_known_by_its_name_and_size() -> None:
    file = Attachment(kind="document", name="tides.csv", path="tides.csv", size_bytes=12)

    assert found(said("", files=(File(name="tides.csv", size=12),)), part=part("", attachments=(file,))) == 0
    assert found(said("", files=(File(name="tides.csv"),)), part=part("", attachments=(file,))) == 0
    assert found(said("", files=(File(name="tides.csv", size=13),)), part=part("", attachments=(file,))) is None
    assert found(said("", files=(File(name="other.csv", size=12),)), part=part("", attachments=(file,))) is None
    assert found(said("tides.csv"), part=part("", attachments=(file,))) is None


def test_a_long_reply_is_known_by_its_beginning_and_the_size_of_its_file() -> None:
    document = part("It begins …", document="It begins and goes on.")
    file = File(name="reply.md", size=len(document.document))

    assert found(said("It begins …", files=(file,)), part=document) == 0
    assert found(said("Another begins …", files=(file,)), part=document) is None
    assert found(said("It begins …"), part=document) is None


def test_the_newest_is_taken() -> None:
    assert found(said(kind=PART, ago_s=9), said(kind=PART, ago_s=1), said(kind=PART, ago_s=5), part=part()) == 1


def talk(slack: FakeSlack) -> tuple[Channel, SessionKey]:
    lake = slack.channel(slack.person("Ann"))
    return lake, SessionKey(channel="acme", chat=lake.id, thread=lake.say("how deep?").ts)


async def post(api: Api, chat: SessionKey, text: str, **more: Any) -> str:
    params = {"channel": chat.chat, "thread_ts": chat.thread, "markdown_text": text, **more}
    return str((await api.call("chat.postMessage", params, timeout_s=HANG_S))["ts"])


async def test_a_long_thread_is_read_to_its_end(slack: FakeSlack, api: Api) -> None:
    lake, chat = talk(slack)
    for number in range(PAGE + 10):
        lake.say(f"{number}", thread=chat.thread)
    ts = await post(api, chat, "two metres", metadata=metadata_of(part()))

    found = await MessageLookup(api, SystemClock()).find(chat, part(), me_on(slack), timeout_s=HANG_S)

    assert found == ts
    assert len(slack.called("conversations.replies")) == 2


async def test_what_was_said_before_the_question_is_not_looked_at(slack: FakeSlack, api: Api) -> None:
    lake, chat = talk(slack)
    await post(api, chat, "two metres", metadata=metadata_of(part()))
    question = lake.say("and now?", thread=chat.thread).ts

    found = await MessageLookup(api, SystemClock()).find(chat, part(reply_to=question), me_on(slack), timeout_s=HANG_S)

    assert found == ""


async def test_what_was_answered_in_the_channel_for_the_thread_was_gone_is_found_there(slack: FakeSlack, api: Api):
    lake, chat = talk(slack)
    lake.delete(lake.messages[chat.thread])
    ts = await post(api, SessionKey(channel="acme", chat=lake.id), "two metres", metadata=metadata_of(part()))

    assert await MessageLookup(api, SystemClock()).find(chat, part(), me_on(slack), timeout_s=HANG_S) == ts


async def test_where_a_channel_keeps_no_metadata_the_text_is_found(slack: FakeSlack, api: Api) -> None:
    lake, chat = talk(slack)
    lake.keeps_metadata = False
    lake.say("two metres", thread=chat.thread)
    ts = await post(api, chat, "**two** metres", metadata=metadata_of(part()))

    found = await MessageLookup(api, SystemClock()).find(chat, part("**two** metres"), me_on(slack), timeout_s=HANG_S)

    assert found == ts


async def test_who_may_not_read_is_told_so_for_good(slack: FakeSlack, api: Api) -> None:
    _, chat = talk(slack)
    slack.bot.scopes.discard("channels:history")

    with pytest.raises(SendRejected, match="channels:history"):
        await MessageLookup(api, SystemClock()).find(chat, part(), me_on(slack), timeout_s=HANG_S)


def asked(chat: SessionKey, ts: str) -> Inbound:
    where = {"channel": chat.channel, "chat": chat.chat, "thread": chat.thread, "chat_kind": "group"}
    return Inbound(id=ts, bot="pond", sender_id="U1", text="?", received_at="", correlation="c", **where)  # type: ignore[arg-type]


async def test_a_thread_is_told_with_names_files_and_our_own_words(slack: FakeSlack, api: Api) -> None:
    ann, bob = slack.person("Ann Lee", display_name="ann"), slack.person("Bob")
    lake = slack.channel(ann, bob)
    root = lake.say("how deep is the pond?", by=ann).ts
    chat = SessionKey(channel="acme", chat=lake.id, thread=root)
    lake.say(f"ask <@{ann.id}> &amp; me", by=bob, thread=root, files=[slack.file(name="map.png", mimetype="image/png")])
    gone = lake.say("never mind", by=bob, thread=root)
    await post(api, chat, "two metres")
    question = lake.say(f"{slack.bot.mention} sure?", by=bob, thread=root).ts
    lake.delete(gone)
    past = ThreadHistory(api, UserDirectory(api, channel="acme"))

    before = await past.before(asked(chat, question), me_on(slack), timeout_s=HANG_S)

    assert [(each.sender_name, each.text) for each in before] == [
        ("ann", "how deep is the pond?"),
        ("Bob", "[image: map.png]\nask @ann & me"),
        ("Millpond", "two metres"),
    ]


async def test_of_a_long_thread_the_first_and_the_last_messages_are_told(slack: FakeSlack, api: Api) -> None:
    lake, chat = talk(slack)
    for number in range(PAGE + 10):
        lake.say(f"{number}", thread=chat.thread)
    question = lake.say("?", thread=chat.thread).ts

    before = await ThreadHistory(api, UserDirectory(api, channel="acme")).before(
        asked(chat, question), me_on(slack), timeout_s=HANG_S
    )

    last = range(PAGE + 11 - KEPT_MAX, PAGE + 10)
    assert [each.text for each in before] == ["how deep?", *map(str, last)]


async def test_of_what_begins_a_thread_or_stands_in_none_nothing_is_asked(slack: FakeSlack, api: Api) -> None:
    _, chat = talk(slack)
    past = ThreadHistory(api, UserDirectory(api, channel="acme"))

    assert await past.before(asked(chat, chat.thread), me_on(slack), timeout_s=HANG_S) == ()
    outside = SessionKey(channel="acme", chat=chat.chat)
    assert await past.before(asked(outside, "123.456.abc"), me_on(slack), timeout_s=HANG_S) == ()
    assert slack.called("conversations.") == []
