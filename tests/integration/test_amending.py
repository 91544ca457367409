"""Messages that are edited while they wait: replaced in their place, never answered twice, never lost."""

from typing import Any

import msgspec
import pytest

from daemon.bus import pairs
from daemon.errors import InboundError, MessageTooLarge
from daemon.events import Attachment, Overheard, Quote
from daemon.process import Process
from daemon.session import MessageEdits
from tests.conftest import Lab, an_entry, an_inbound, commit_of
from tests.intakelab import accepted, an_arrival, intake_of, texts, with_channel


@pytest.fixture
def amendments(lab: Lab) -> MessageEdits:
    return MessageEdits(lab.bus, lab.queue)


async def amend(amendments: MessageEdits, message_id: str, text: str, **more: Any) -> str:
    return await amendments.amend(an_inbound(message_id, text=text, **more))


def given(claim: Any) -> list[tuple[str, str]]:
    return [(each.inbound.id, each.inbound.text) for each in claim.begun.waiting if each.inbound]


async def test_an_edited_message_is_answered_as_it_says_now_in_its_place(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b", "c"):
        await lab.publish(message_id)

    assert await amend(amendments, "b", "edited") == "amended"

    claim: Any = await lab.claim()
    seen = []
    while claim is not None:
        seen += given(claim)
        claim = await lab.commit(claim)
    assert seen == [("a", "text of a"), ("b", "edited"), ("c", "text of c")]
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 0


async def test_what_came_with_it_and_when_stays(lab: Lab, amendments: MessageEdits) -> None:
    overheard = (Overheard(id="o", sender_id="bob", text="psst", at="2026-11-20T08:59:00Z"),)
    await lab.publish("a", overheard=overheard, quote=Quote(text="q"), correlation="first")
    picture = (Attachment(kind="image", source="new"),)

    assert await amend(amendments, "a", "edited", attachments=picture, correlation="second") == "amended"

    message = (await lab.claim()).begun.waiting[0].inbound
    assert message is not None
    assert (message.overheard, message.quote, message.correlation) == (overheard, Quote(text="q"), "first")
    assert (message.text, message.attachments) == ("edited", picture)


async def test_a_message_that_nobody_waits_for_is_unknown(lab: Lab, amendments: MessageEdits) -> None:
    assert await amend(amendments, "a", "edited") == "unknown"
    await lab.publish("a")
    await lab.commit(await lab.claim(), go_on=False)

    assert await amend(amendments, "a", "edited") == "unknown"
    assert (await lab.state()).waiting == 0


async def test_nobody_edits_what_another_said(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    foreign = an_inbound("a", text="forged")

    assert await amendments.amend(msgspec.structs.replace(foreign, sender_id="mallory")) == "unknown"
    assert given(await lab.claim()) == [("a", "text of a")]


async def test_commands_are_not_edited(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await lab.publish("b", command="stop")

    assert await amend(amendments, "b", "never mind") == "late"
    assert await amend(amendments, "a", "/new", command="new") == "late"
    assert given(await lab.claim()) == [("a", "text of a"), ("b", "/stop")]


async def test_what_is_being_answered_is_left_alone_and_what_waits_behind_it_is_not(lab: Lab, amendments: MessageEdits):
    await lab.publish("a")
    await lab.publish("b")
    claim: Any = await lab.claim()

    assert await amend(amendments, "a", "too late") == "late"
    assert await amend(amendments, "b", "in time") == "amended"

    claim = await lab.commit(claim)
    assert given(claim) == [("b", "in time")]
    await lab.commit(claim, go_on=False)
    assert (await lab.state()).waiting == 0


async def test_a_burst_that_is_being_answered_is_left_alone(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id, debounce_s=5.0)
    await shift_debounce(lab)
    claim = await lab.claim()
    assert len(given(claim)) == 2

    assert await amend(amendments, "b", "too late") == "late"

    await lab.commit(claim, go_on=False)
    assert (await lab.state()).waiting == 0


async def shift_debounce(lab: Lab) -> None:
    """Let the window of the first message be over: it is as short as the time that has passed."""
    await lab.bus.call("HSET", lab.bus.keys.session("web:ann"), "debounce", 1)
    ids = await lab.bus.call("LRANGE", lab.bus.keys.waiting("web:ann"), 0, -1)
    # The window has to reach the second one, and to be over by now.
    window = int(ids[-1].split(b"-")[0]) - int(ids[0].split(b"-")[0]) + 1
    while await lab.server_ms() <= int(ids[0].split(b"-")[0]) + window:
        pass
    await lab.bus.call("HSET", lab.bus.keys.session("web:ann"), "debounce", window)


async def test_what_a_stop_ends_is_left_alone(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id)
    claim = await lab.claim()
    await lab.publish("s", command="stop")

    assert await amend(amendments, "b", "too late") == "late"

    waiting = await lab.sessions.waiting_upto("web:ann", await lab.sessions.renew(claim))
    assert [each.inbound.id for each in waiting if each.inbound] == ["a", "b", "s"]


async def test_a_turn_that_has_a_journal_goes_on_with_what_it_read(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=[an_entry(0, id="a")])
    await lab.sessions.back_off(claim, delay_s=0)

    assert await amend(amendments, "a", "too late") == "late"


async def test_what_is_put_off_is_tried_again_as_it_says_now(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await lab.sessions.back_off(await lab.claim(), delay_s=0)

    assert await amend(amendments, "a", "edited") == "amended"

    assert given(await lab.claim()) == [("a", "edited")]


async def test_a_late_copy_changes_nothing(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await amend(amendments, "a", "once")
    assert await lab.bus.repeat("amend.lua") == b"gone"
    await amend(amendments, "a", "twice")
    assert await lab.bus.repeat("amend.lua", back=2) == b"gone"
    assert await amend(amendments, "a", "twice") == "amended"

    claim = await lab.claim()
    assert given(claim) == [("a", "twice")]
    await lab.commit(claim, go_on=False)
    assert await lab.bus.repeat("amend.lua") == b"gone"
    assert (await lab.state()).waiting == 0


async def test_a_dead_letter_keeps_what_was_edited(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await amend(amendments, "a", "edited")
    claim = await lab.claim()
    commit = msgspec.structs.replace(commit_of(claim), dead_reason="attempts")
    await lab.sessions.commit(claim, commit, step=0, go_on=False)

    [[_, fields]] = await lab.bus.call("XRANGE", lab.bus.keys.dead(0), "-", "+")
    assert b'"text":"edited"' in dict(pairs(fields))[b"message"]


async def test_what_cannot_be_accepted_does_not_replace_anything(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")

    with pytest.raises(MessageTooLarge):
        await amend(amendments, "a", "x" * (lab.queue.message_max_bytes + 1))
    with pytest.raises(InboundError):
        await amend(amendments, "a", " ")

    assert given(await lab.claim()) == [("a", "text of a")]


async def test_one_of_many_that_wait_is_found(lab: Lab, amendments: MessageEdits, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("daemon.session.message_edits.PAGE", 2)
    for number in range(5):
        await lab.publish(f"m{number}")

    assert await amend(amendments, "m0", "edited") == "amended"

    assert given(await lab.claim()) == [("m0", "edited")]


async def test_what_a_platform_says_was_edited_replaces_what_waits(process: Process) -> None:
    here = with_channel(process)
    intake, first = intake_of(here), an_arrival("hte")

    await intake.take(first)
    await intake.take(msgspec.structs.replace(first, seen_as="u2", text="the", edited=True))
    await intake.take(msgspec.structs.replace(first, seen_as="u3", id="never seen", text="boo", edited=True))

    assert await texts(process.bus) == ["the"]
    [inbound] = await accepted(process.bus)
    assert inbound.id == first.id


async def test_an_edited_message_that_is_too_long_is_refused_and_the_old_one_stays(process: Process) -> None:
    here = with_channel(process)
    intake, first = intake_of(here), an_arrival("short")
    long = "x" * (process.config.queue.message_max_bytes + 1)

    await intake.take(first)
    await intake.take(msgspec.structs.replace(first, seen_as="u2", text=long, edited=True))

    assert await texts(process.bus) == ["short"]
