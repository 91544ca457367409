"""Messages that are taken back: out of what waits and of what was overheard, and never back in."""

from typing import Any

import msgspec
import pytest

from channels.intake.group_messages import GroupContext
from daemon import metrics
from daemon.bus import reap
from daemon.events import Stop
from daemon.process import Process
from daemon.session import MessageEdits
from daemon.sessionkey import SessionKey
from tests.conftest import Lab, an_entry, an_inbound, next_heard
from tests.intakelab import NAME, accepted, an_arrival, intake_of, texts, with_channel
from tests.integration.test_amending import given, shift_debounce
from workers.lease_upkeep import ClaimHold

ANN = "web:ann"


@pytest.fixture
def amendments(lab: Lab) -> MessageEdits:
    return MessageEdits(lab.bus, lab.queue)


async def withdraw(amendments: MessageEdits, message_id: str, **more: Any) -> str:
    return await amendments.withdraw(ANN, message_id, **more)


async def deadlines(lab: Lab) -> tuple[Any, Any]:
    """Where the session stands in ``ready`` and in ``due``."""
    keys = lab.bus.keys
    return await lab.bus.call("ZSCORE", keys.ready(0), ANN), await lab.bus.call("ZSCORE", keys.due(0), ANN)


async def test_a_message_that_was_taken_back_is_answered_by_nobody(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b", "c"):
        await lab.publish(message_id)

    assert await withdraw(amendments, "b") == "withdrawn"

    claim: Any = await lab.claim()
    seen = []
    while claim is not None:
        seen += given(claim)
        claim = await lab.commit(claim)
    assert [message_id for message_id, _ in seen] == ["a", "c"]
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 0


async def test_a_session_in_which_nothing_waits_any_more_has_no_deadline(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")

    assert await withdraw(amendments, "a") == "withdrawn"

    assert await deadlines(lab) == (None, None)
    assert await lab.sessions.claim(ANN) is None
    await reap(lab.bus, lab.queue)
    assert await deadlines(lab) == (None, None)
    await lab.publish("b")
    assert given(await lab.claim()) == [("b", "text of b")]


async def test_what_the_platform_says_again_does_not_come_back(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await withdraw(amendments, "a")

    again = await lab.publish("a", correlation="another")

    assert (again.status, await lab.sessions.claim(ANN)) == ("duplicate", None)


async def test_taking_it_back_again_and_a_late_copy_change_nothing(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id)
    await withdraw(amendments, "a")
    claim = await lab.claim()

    assert await withdraw(amendments, "a") == "unknown"
    assert await lab.bus.repeat("withdraw.lua") == b"gone"

    assert given(claim) == [("b", "text of b")]
    await lab.commit(claim, go_on=False)
    assert (await lab.state()).waiting == 0


async def test_what_was_answered_or_never_came_is_unknown(lab: Lab, amendments: MessageEdits) -> None:
    assert await withdraw(amendments, "a") == "unknown"
    await lab.publish("a")
    await lab.commit(await lab.claim(), go_on=False)

    assert await withdraw(amendments, "a") == "unknown"
    assert (await lab.state()).head == 2


async def test_nobody_takes_back_what_another_said(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")

    assert await withdraw(amendments, "a", sender_id="mallory") == "unknown"
    assert await withdraw(amendments, "a", sender_id="ann") == "withdrawn"


async def test_the_turn_of_a_message_stops_and_a_message_behind_it_goes(lab: Lab, process: Process) -> None:
    amendments = MessageEdits(process.bus, lab.queue)
    await lab.publish("a")
    await lab.publish("b")
    claim: Any = await lab.claim()
    async with process.listener.hear(lab.bus.keys.nudges) as nudges:
        await lab.subscribed(lab.bus.keys.nudges)
        assert await withdraw(amendments, "a") == "stopped"
        own = msgspec.json.decode(await next_heard(nudges), type=Stop).upto
    assert await withdraw(amendments, "a") == "stopped"
    assert await withdraw(amendments, "b") == "withdrawn"

    assert own == claim.begun.waiting[0].stream_id
    hold = ClaimHold(claim, held_until=0.0)
    hold.stop(own)
    assert hold.stop_upto == own

    assert await lab.commit(claim) is None
    assert (await lab.state()).waiting == 0
    assert await deadlines(lab) == (None, None)


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_an_edited_message_that_is_deleted_takes_no_other_message_along(
    lab: Lab, amendments: MessageEdits, *, is_resumed: bool
) -> None:
    """An edited message has a newer stream ID than the messages behind it."""
    await lab.publish("a")
    await lab.publish("b")
    assert await amendments.amend(an_inbound("a", text="edited")) == "amended"
    claim: Any = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=[an_entry(0, id="a")])
    assert await withdraw(amendments, "a") == "stopped"

    if is_resumed:
        await lab.sessions.hand_over(claim)
        claim = await lab.claim()
        assert given(claim) == [("a", "edited")]
    waiting = await lab.sessions.waiting_upto("web:ann", await lab.sessions.renew(claim))

    assert [entry.inbound.id for entry in waiting if entry.inbound] == ["a"]
    assert await amendments.amend(an_inbound("b", text="another")) == "amended"


async def test_a_burst_that_is_being_answered_is_left_alone(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id, debounce_s=5.0)
    await shift_debounce(lab)
    assert len(given(await lab.claim())) == 2

    assert await withdraw(amendments, "b") == "late"


async def test_commands_and_what_a_stop_ends_are_left_alone(lab: Lab, amendments: MessageEdits) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id)
    await lab.claim()
    await lab.publish("s", command="stop")

    assert [await withdraw(amendments, message_id) for message_id in ("b", "s")] == ["late", "late"]


async def test_a_turn_that_has_a_journal_and_rests_is_resumed_and_stopped(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=[an_entry(0, id="a")])
    await lab.sessions.back_off(claim, delay_s=60.0)

    assert await withdraw(amendments, "a") == "stopped"
    assert (await lab.claim()).begun.stop_upto == claim.begun.waiting[0].stream_id


async def test_what_was_tried_is_forgotten_with_what_it_was_tried_with(lab: Lab, amendments: MessageEdits) -> None:
    """Else the next message would be given up for what another one did to its workers."""
    await lab.publish("poison")
    await lab.publish("next")
    for _ in range(3):
        await lab.sessions.back_off(await lab.claim(), delay_s=0)

    assert await withdraw(amendments, "poison") == "withdrawn"

    claim = await lab.claim()
    assert (claim.begun.attempts, given(claim)) == (1, [("next", "text of next")])


async def test_what_rests_and_is_taken_back_leaves_no_rest_behind(lab: Lab, amendments: MessageEdits) -> None:
    await lab.publish("a")
    await lab.sessions.park(await lab.claim(), delay_s=60.0)

    assert await withdraw(amendments, "a") == "withdrawn"
    await lab.publish("b")

    claim = await lab.claim()
    assert (given(claim), claim.begun.parked_s) == ([("b", "text of b")], 0)


async def test_what_a_platform_says_was_deleted_is_taken_out_and_counted(process: Process) -> None:
    intake, first = intake_of(with_channel(process)), an_arrival("never mind")
    counted = metrics.ARRIVALS.labels(NAME, "withdrawn")
    before = counted._value.get()
    await intake.take(first)
    await intake.take(an_arrival("do it"))

    await intake.take(msgspec.structs.replace(first, seen_as="u-gone", text="", deleted=True))
    await intake.take(first)

    assert await texts(process.bus) == ["do it"]
    assert counted._value.get() == before + 1


async def test_what_is_taken_back_before_it_is_said_is_not_answered(process: Process) -> None:
    """Its first telling was not kept, since Redis was away, and the platform says it again only after this."""
    intake, late, other = intake_of(with_channel(process)), an_arrival("never mind"), an_arrival("do it")
    gone = msgspec.structs.replace(late, seen_as="u-gone", text="", deleted=True, original=late.seen_as)

    for _ in range(2):
        await intake.take(gone)
    await intake.take(late)
    assert await intake.take_run([late, other]) == 2

    assert await texts(process.bus) == ["do it"]
    seen = process.bus.keys.seen(f"{NAME}:ann", late.seen_as)
    assert 0 < await process.bus.call("PTTL", seen) <= process.config.queue.seen_ttl_s * 1000


async def test_what_was_answered_and_is_taken_back_is_known_by_its_first_telling(process: Process) -> None:
    intake, first = intake_of(with_channel(process)), an_arrival("never mind")
    await intake.take(first)
    seen = process.bus.keys.seen(f"{NAME}:ann", first.seen_as)
    before = await process.bus.call("GET", seen)

    await intake.take(msgspec.structs.replace(first, deleted=True, original=first.seen_as, id="another"))

    assert await process.bus.call("GET", seen) == before
    assert await texts(process.bus) == ["never mind"]


async def test_whoever_is_not_heard_can_take_back_what_was_heard(process: Process) -> None:
    here = with_channel(process)
    first = an_arrival("never mind")
    await intake_of(here).take(first)
    closed = with_channel(process, access=msgspec.structs.replace(here.config.channels[NAME].access, policy="closed"))

    gone = msgspec.structs.replace(first, deleted=True, sender=msgspec.structs.replace(first.sender, id=""))
    await intake_of(closed).take(gone)

    assert await texts(process.bus) == []


async def test_what_was_overheard_is_forgotten(process: Process) -> None:
    intake = intake_of(with_channel(process))
    said = [an_arrival(text, chat="-100", mentioned=False) for text in ("secret", "and on")]
    for arrival in said:
        await intake.take(arrival)

    await intake.take(msgspec.structs.replace(said[0], text="", deleted=True))
    await intake.take(an_arrival("so?", chat="-100"))

    [inbound] = await accepted(process.bus)
    assert [overheard.text for overheard in inbound.overheard] == ["and on"]


async def test_what_another_said_is_not_forgotten(process: Process) -> None:
    intake, said = intake_of(with_channel(process)), an_arrival("secret", chat="-100", mentioned=False)
    await intake.take(said)
    overhearing, group = GroupContext(process.bus), str(SessionKey(channel=NAME, chat="-100"))
    key = process.bus.keys.overheard(group)

    assert not await overhearing.forget(group, said.id, sender_id="mallory")
    assert await process.bus.call("ZCARD", key) == 1
    assert await overhearing.forget(group, said.id, sender_id="ann")
    assert await process.bus.call("ZCARD", key) == 0


async def test_in_a_run_what_is_deleted_keeps_its_place(process: Process) -> None:
    intake = intake_of(with_channel(process))
    one, two = an_arrival("one"), an_arrival("two")

    assert await intake.take_run([one, two, msgspec.structs.replace(one, deleted=True), an_arrival("three")]) == 4

    assert await texts(process.bus) == ["two", "three"]
