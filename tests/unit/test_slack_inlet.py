import json

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.arrival import Arrival
from channels.slack.event_inlet import EventInlet, chat_of
from channels.slack.slack_events import Me
from channels.slack.user_directory import UserDirectory
from daemon.errors import BusUnavailable, SendRefused
from tests.tables import each_row

ME = Me(team="T1", user="U0", bot="B0", name="pond")


class Api:
    """Knows everybody; may be made to wait, or to refuse."""

    def __init__(self):
        self.calls = 0
        self.waits: anyio.Event | None = None
        self.error: Exception | None = None

    async def call(self, method, params=None, *, timeout_s, key=""):
        self.calls += 1
        if self.waits is not None:
            await self.waits.wait()
        if self.error is not None:
            raise self.error
        return {"ok": True, "user": {"name": f"name of {params['user']}"}}


class Intake:
    """Notes what it is given; may be made to wait at a text, or to fail."""

    def __init__(self):
        self.taken: list[Arrival] = []
        self.waits: dict[str, anyio.Event] = {}
        self.error: Exception | None = None

    async def take(self, arrival):
        if arrival.text in self.waits:
            await self.waits[arrival.text].wait()
        if self.error is not None:
            raise self.error
        self.taken.append(arrival)

    async def take_run(self, arrivals):
        raise NotImplementedError

    @property
    def texts(self):
        return [each.text for each in self.taken]


@pytest.fixture
def api():
    return Api()


@pytest.fixture
def intake():
    return Intake()


@pytest.fixture
def inlet(api, intake):
    return opened(api, intake)


def opened(api, intake, *, everything=False):
    people = UserDirectory(api, channel="acme")
    return EventInlet(intake, ME, people, channel="acme", everything=everything, now=lambda: 5.0)


def said(text="hello", *, chat="D1", ts="1.1", **fields):
    kind = "im" if chat.startswith("D") else "channel"
    event = {"type": "message", "channel": chat, "channel_type": kind, "user": "U7", "ts": ts, "text": text, **fields}
    return {"type": "event_callback", "team_id": "T1", "api_app_id": "A0", "event_id": "Ev1", "event": event}


@each_row("form", [dict, lambda each: json.dumps(each).encode(), lambda each: msgspec.Raw(json.dumps(each))])
async def test_an_event_is_handed_in_with_the_names_of_its_people(inlet, intake, form):
    await inlet.take(form(said("<@U8> and <@U0>")))

    taken = intake.taken.pop()
    assert (taken.text, taken.sender.name) == ("@name of U8 and @name of U0", "name of U7")


async def test_a_slash_command_is_handed_in(inlet, intake):
    fields = {"command": "/millpond", "text": "status", "channel_id": "C1", "user_id": "U7", "trigger_id": "1.2.a"}
    await inlet.take_command(json.dumps(fields).encode())

    assert intake.texts == ["/status"]
    assert (intake.taken[0].order, intake.taken[0].sender.name) == (5.0, "name of U7")


async def test_names_that_cannot_be_had_hold_nothing_up(api, inlet, intake):
    api.error = SendRefused("not now")

    await inlet.take(said("<@U8>"))

    assert (intake.texts, intake.taken[0].sender.name) == (["@U8"], "")


async def test_what_is_said_in_a_channel_to_others_begins_no_thread_and_costs_nothing(api, inlet, intake):
    await inlet.take(said("hello", chat="C1"))
    await inlet.take(said("has joined", chat="C1", subtype="channel_join"))

    assert (intake.taken, api.calls) == ([], 0)


async def test_what_is_said_in_a_thread_to_others_is_overheard(inlet, intake):
    await inlet.take(said("hello", chat="C1", thread_ts="0.5"))

    assert [(each.thread, each.mentioned) for each in intake.taken] == [("0.5", False)]


async def test_a_mention_a_command_and_what_is_taken_back_are_handed_in_at_the_top_level_of_a_channel(inlet, intake):
    await inlet.take(said("<@U0> hello", chat="C1"))
    await inlet.take(said("/status", chat="C1"))
    await inlet.take(said("", chat="C1", subtype="message_deleted", deleted_ts="1.0"))

    assert [(each.text, each.deleted) for each in intake.taken] == [("hello", False), ("/status", False), ("", True)]


async def test_where_everything_is_meant_for_the_bot_the_top_level_is_too(api, intake):
    await opened(api, intake, everything=True).take(said("hello", chat="C1"))

    assert intake.texts == ["hello"]


@each_row(
    "found",
    [b"", b"{", b"[]", b"null", b'"event"', b"\xff\xfe", b'{"event": ' + b"[" * 100_000, b"{}", b'{"event": 3}'],
)
async def test_what_cannot_be_understood_is_dealt_with(inlet, intake, found):
    await inlet.take(found)
    await inlet.take_command(found)

    assert intake.taken == []


async def test_what_cannot_be_understood_is_counted_and_its_text_is_not_logged(inlet):
    with capture_logs() as logs:
        await inlet.take(b'{"event": "secret words')

    assert [(each["event"], each["reason"]) for each in logs] == [("update.unreadable", "DecodeError")]


async def test_a_bad_event_stops_none_behind_it(inlet, intake):
    intake.error = RuntimeError("a bug")
    with capture_logs() as logs:
        await inlet.take(said("one"))
    intake.error = None
    await inlet.take(said("two", ts="1.2"))

    assert intake.texts == ["two"]
    assert [each["event"] for each in logs] == ["update.failed"]


async def test_what_is_not_kept_has_to_be_said_again(inlet, intake):
    intake.error = BusUnavailable("away")
    with pytest.raises(BusUnavailable):
        await inlet.take(said("one"))
    intake.error = None
    await inlet.take(said("one"))

    assert intake.texts == ["one"]


async def test_what_is_said_in_a_chat_is_handed_in_in_its_order_and_other_chats_do_not_wait(inlet, intake):
    intake.waits["first"] = anyio.Event()

    async with anyio.create_task_group() as tg:
        tg.start_soon(inlet.take, said("first"))
        await anyio.wait_all_tasks_blocked()
        tg.start_soon(inlet.take, said("second", ts="1.2"))
        tg.start_soon(inlet.take, said("other", chat="D2"))
        await anyio.wait_all_tasks_blocked()
        before = intake.texts
        intake.waits["first"].set()

    assert before == ["other"]
    assert intake.texts == ["other", "first", "second"]


async def test_names_that_take_long_change_no_order(api, inlet, intake):
    api.waits = anyio.Event()

    async with anyio.create_task_group() as tg:
        tg.start_soon(inlet.take, said("<@U8> first"))
        await anyio.wait_all_tasks_blocked()
        tg.start_soon(inlet.take, said("second", ts="1.2"))
        await anyio.wait_all_tasks_blocked()
        api.waits.set()

    assert intake.texts == ["@name of U8 first", "second"]


def test_the_chat_of_a_payload_is_told_whatever_its_shape():
    assert chat_of(said()) == "D1"
    assert chat_of({"channel_id": "C1"}) == "C1"
    for odd in ({}, {"event": None}, {"event": {"channel": {"id": "C1"}}}, {"event": [], "channel_id": 3}):
        assert chat_of(odd) == ""
