"""A bot that is asked in the middle of a thread knows what was said there before; on a platform that can be asked."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.arrival import Arrival, Sender
from channels.intake.group_messages import KEPT_CHARS, KEPT_MAX, TEXT_CHARS
from channels.thread_lookup import joined
from daemon.access import Access
from daemon.config import AccessConfig, QueueConfig
from daemon.errors import ModelUnavailable
from daemon.events import Attachment, Overheard
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.session import SessionReader
from daemon.testing import ScriptedModel
from tests.conftest import an_inbound
from tests.fakes.sink import Cut, Fault, Hang, Post, Refuse, Sink, sink
from tests.integration.test_outbox import NAME, pushing, replica
from tests.limits import until
from tests.tables import each_row
from workers.agent import thread_backfill
from workers.agent.service import serve as serve_agents

LAKE, THREAD = "lake", "40"
SESSION = f"{NAME}:{LAKE}:{THREAD}"
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


def words(number: int, text: str, *, who: str = "ann", mentioned: bool = False, **more: Any) -> Arrival:
    fields: dict[str, Any] = {"chat": LAKE, "thread": THREAD, "chat_kind": "group", **more}
    return Arrival(
        seen_as=f"u{number}",
        id=f"p{number}",
        order=number,
        sender=Sender(id=who, name=who.title()),
        text=text,
        mentioned=mentioned,
        **fields,
    )


EARLIER = [words(1, "The tide was odd."), words(2, "It was.", who="bob")]


@asynccontextmanager
async def answering(
    process: Process, platform: Sink, model: ScriptedModel, *, earlier: Sequence[Arrival] = EARLIER, **channel: Any
) -> AsyncGenerator[Process]:
    """Channels and agents for the length of the block; ``earlier`` was said when nobody listened."""

    async def connect(_config: object, *, language: str) -> ScriptedModel:
        return model

    async def agents(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve_agents(both, task_status=task_status)

    platform.talk += earlier
    fields = {"looks": True, "updates_url": platform.updates_url, "access": AccessConfig(policy="open"), **channel}
    both = replace(pushing(process, platform, streaming=False, typing=False, **fields), connect_model=connect)
    async with replica(both) as tg:
        await tg.start(agents)
        yield both


def asked(model: ScriptedModel, number: int = -1) -> str:
    return "\n".join(each.decode() for each in model.requests[number].messages)


async def senders(process: Process) -> list[tuple[str, str]]:
    entries = [entry for _, entry in await SessionReader(process.bus).committed(SESSION, limit=100)]
    return [(entry.sender, entry.id) for entry in entries if entry.sender]


async def test_what_was_said_in_the_thread_before_goes_with_the_first_question(process: Process) -> None:
    model = ScriptedModel("High.", "Low.")
    async with sink() as platform, answering(process, platform, model):
        platform.say(words(3, "When was it?", mentioned=True))
        await platform.count(1)
        platform.say(words(4, "And now?", mentioned=True))
        await platform.count(2)

        assert len(platform.acts_of("before")) == 1, "the log knows it by then"
    first = asked(model, 0)
    assert first.index("[Ann] The tide was odd.") < first.index("[Bob] It was.") < first.index("[Ann] When was it?")
    assert await senders(process) == [("Ann", ""), ("Bob", ""), ("Ann", "p3"), ("Ann", "p4")]


async def test_what_was_overheard_and_is_read_stands_there_once(process: Process) -> None:
    model = ScriptedModel("High.")
    async with sink() as platform, answering(process, platform, model, earlier=EARLIER[:1]):
        platform.say(EARLIER[1])
        await platform.heard()
        platform.say(words(3, "When was it?", mentioned=True))
        await platform.count(1)

    assert await senders(process) == [("Ann", ""), ("Bob", ""), ("Ann", "p3")]


@each_row(
    ("chat_kind", "begins"),
    [
        ("group", "[Ann]  [document: tides.txt]\n\n[Bob] When was it?\n [document: tides.txt, 5 bytes"),
        ("direct", '[In reply to Ann: "(document: tides.txt)"]\nWhen was it?\n[document: tides.txt, 5 bytes'),
    ],
)
async def test_the_files_of_the_message_that_a_thread_is_about_come_along(
    process: Process, chat_kind: str, begins: str
) -> None:
    file = Attachment(kind="document", name="tides.txt", source="f1")
    where: dict[str, Any] = {"chat_kind": chat_kind, "chat": f"{LAKE}-{chat_kind}"}
    root = msgspec.structs.replace(words(1, "[document: tides.txt]", attachments=(file,), **where), id=THREAD)
    model = ScriptedModel("High.")
    async with sink() as platform, answering(process, platform, model, earlier=[root]):
        platform.files["f1"] = b"tides"
        platform.say(words(3, "When was it?", who="bob", mentioned=True, **where))
        await platform.count(1)

    [said] = [msgspec.json.decode(each)["content"] for each in model.requests[0].messages[1:]]
    assert begins in said


async def test_what_a_banned_person_said_is_left_out(process: Process) -> None:
    await Access(process.bus, NAME).decide("bob", "banned", by="web:ann", time="2026-11-20T09:00:00Z")
    model = ScriptedModel("High.")
    async with sink() as platform, answering(process, platform, model):
        platform.say(words(3, "When was it?", mentioned=True))
        await platform.count(1)

    assert "The tide was odd." in asked(model)
    assert "It was." not in asked(model)


@pytest.mark.parametrize("fault", [Refuse(503), Refuse(403), Cut(), Hang()])
async def test_a_platform_that_does_not_answer_makes_no_turn_fail(
    process: Process, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(thread_backfill, "WITHIN_S", 0.3)

    def fails(post: Post) -> Fault | None:
        return fault if post["kind"] == "before" else None

    model = ScriptedModel("High.")
    async with sink(others=fails) as platform, answering(process, platform, model, earlier=EARLIER[:1]):
        platform.say(EARLIER[1])
        await platform.heard()
        platform.say(words(3, "When was it?", mentioned=True))
        await platform.count(1)

    assert await senders(process) == [("Bob", ""), ("Ann", "p3")]


@pytest.mark.parametrize(
    ("said", "looks"),
    [
        (words(40, "When?", mentioned=True), True),
        (words(3, "When?", mentioned=True, thread=""), True),
        (words(3, "When?", mentioned=True), False),
    ],
    ids=["thread's first", "no thread", "platform cannot"],
)
async def test_nobody_is_asked_where_nothing_can_be_found(process: Process, said: Arrival, looks: bool) -> None:
    if said.id == "p40":
        said = msgspec.structs.replace(said, id=THREAD)
    async with sink() as platform, answering(process, platform, ScriptedModel("High."), looks=looks):
        platform.say(said)
        await platform.count(1)

        assert platform.acts_of("before") == []


async def test_a_successor_goes_on_with_what_its_predecessor_has_read(process: Process) -> None:
    """What is read once the journal has begun would not be what the model has seen."""
    calls = Answer(text="", tool_calls=(ToolCall(id="c", name="time", arguments="{}"),))
    model = ScriptedModel(calls, ModelUnavailable("away"), "High.")
    async with sink() as platform, answering(process, platform, model):
        platform.say(words(3, "When was it?", mentioned=True))
        await until(lambda: len(model.requests) >= 2)
        platform.talk.insert(0, words(0, "Said before all that."))
        await until(lambda: "High." in platform.texts())

        assert len(platform.acts_of("before")) == 1
    assert "The tide was odd." in asked(model)
    assert "Said before all that." not in asked(model)


TIME = st.integers(0, 100_000).map(lambda seconds: f"{datetime.fromtimestamp(seconds / 10, UTC).isoformat()}")
SAID = st.builds(
    Overheard,
    id=st.integers(0, 80).map(str),
    sender_id=st.just("ann"),
    text=st.one_of(st.text(max_size=5), st.integers(0, 3_000).map(lambda size: "x" * size)),
    at=TIME,
)


@given(overheard=st.lists(SAID, max_size=60), found=st.lists(SAID, max_size=60))
def test_what_is_kept_is_the_newest_once_each_and_in_order(overheard: list[Overheard], found: list[Overheard]) -> None:
    inbound = msgspec.structs.replace(an_inbound("7"), overheard=tuple(overheard))

    kept = joined(inbound, found)

    ids = [said.id for said in kept]
    assert len(set(ids)) == len(ids) <= KEPT_MAX
    assert "7" not in ids
    assert sum(len(said.text) for said in kept) <= KEPT_CHARS
    assert all(said.text.strip() and len(said.text) <= TEXT_CHARS for said in kept)
    times = [datetime.fromisoformat(said.at) for said in kept]
    assert times == sorted(times)
    # Where an id stands several times, the last one counts of what was found, and else the first.
    now = {**{said.id: said for said in reversed(overheard)}, **{said.id: said for said in found}}
    now = {name: said for name, said in now.items() if name != "7" and said.text.strip()}
    assert all(said.text == now[said.id].text[:TEXT_CHARS] for said in kept)
    left_out = [said for name, said in now.items() if name not in ids]
    assert not kept or all(datetime.fromisoformat(said.at) <= times[0] for said in left_out)


@given(found=st.lists(SAID, max_size=30))
def test_to_read_the_same_again_gives_the_same(found: list[Overheard]) -> None:
    once = joined(an_inbound("7"), found)

    assert joined(msgspec.structs.replace(an_inbound("7"), overheard=once), found) == once
