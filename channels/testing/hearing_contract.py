"""Tests of what an adapter hears."""

from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime

import anyio
import pytest

from channels.arrival import Arrival
from channels.base import LooksBack
from channels.testing.contract_steps import (
    IN_NO_DOUBT,
    PLAIN,
    a_part,
    a_thread,
    asked_of,
    each_fault,
    go_wrong,
    needs,
    receiving,
    said_before,
    say_in,
)
from channels.testing.lab import HANG_S, Fault, Feature, Heard, Lab, Said
from channels.testing.loop_clock import put_forward
from daemon.errors import BusUnavailable


class HearingContract:
    """What people say, change and take back, and what was said in a thread before."""

    # Hearing

    async def test_what_is_said_is_handed_in(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            said = [await lab.say(Said(text=text)) for text in ("one", PLAIN, "three")]
            await heard.count(3)
            await lab.settled()

        assert heard.texts == ["one", PLAIN, "three"]
        assert [arrival.id for arrival in heard.arrivals] == said
        for arrival in heard.arrivals:
            assert (arrival.chat, arrival.chat_kind, arrival.sender.id) == (
                lab.chat.chat,
                "direct",
                lab.known_as("1001"),
            )
            assert arrival.mentioned and not arrival.edited and not arrival.sender.is_bot
        assert (
            len({arrival.seen_as for arrival in heard.arrivals}) == len({arrival.id for arrival in heard.arrivals}) == 3
        )
        assert [arrival.order for arrival in heard.arrivals] == sorted({arrival.order for arrival in heard.arrivals})

    async def test_what_was_said_before_it_listens_is_handed_in_too(self, lab: Lab) -> None:
        await lab.say(Said(text="early"))
        heard = Heard()
        async with receiving(lab.channel, heard):
            await heard.count(1)

        assert heard.texts == ["early"]

    @needs(Feature.GROUPS)
    async def test_in_a_group_it_says_whether_the_bot_is_meant(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="so I said", chat=lab.group.chat, mentioned=False))
            await lab.say(Said(text="what is the tide?", chat=lab.group.chat))
            await lab.say(Said(text="", chat=lab.group.chat))  # with which people point at a photo
            await heard.count(3)

        assert [(arrival.text, arrival.mentioned) for arrival in heard.arrivals] == [
            ("so I said", False),
            ("what is the tide?", True),
            ("", True),
        ]
        assert {(arrival.chat, arrival.chat_kind) for arrival in heard.arrivals} == {(lab.group.chat, "group")}

    @needs(Feature.GROUPS, Feature.THREADS)
    async def test_it_says_in_which_thread_something_was_said(self, lab: Lab) -> None:
        thread = await a_thread(lab)
        heard = Heard()
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="within", chat=lab.group.chat, thread=thread.thread))
            outside = await lab.say(Said(text="outside", chat=lab.group.chat))
            await heard.until(lambda: "outside" in heard.texts)

        assert [
            (each.text, each.chat, each.thread) for each in heard.arrivals if each.text in ("within", "outside")
        ] == [("within", lab.group.chat, thread.thread), ("outside", lab.group.chat, lab.thread_outside(outside))]

    @needs(Feature.QUOTING)
    async def test_it_says_which_message_is_answered(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part("High at noon."), timeout_s=HANG_S)
        heard = Heard()
        async with receiving(lab.channel, heard):
            first = await lab.say(Said(text="where?", answers=sent))
            await lab.say(Said(text="I mean the lake", answers=first))
            await heard.count(2)

        assert [arrival.reply_to for arrival in heard.arrivals] == [sent, first]
        # Not every platform tells what it says; one that does says whose it is.
        ours, theirs = [arrival.quote for arrival in heard.arrivals]
        assert ours is None or (ours.text, ours.sender_name) == ("High at noon.", "")
        assert theirs is None or (theirs.text == "where?" and theirs.sender_name)

    @needs(Feature.GROUPS, Feature.QUOTING)
    async def test_in_a_group_to_answer_the_bot_is_to_mean_it(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.group, a_part("High at noon."), timeout_s=HANG_S)
        heard = Heard()
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="where?", chat=lab.group.chat, answers=sent, mentioned=False))
            await heard.count(1)

        assert heard.arrivals[0].mentioned

    @needs(Feature.AMENDING)
    async def test_a_new_version_of_a_message_has_its_id_and_says_so(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            first = await lab.say(Said(text="at noon"))
            await lab.say(Said(text="at one", edits=first))
            await heard.count(2)

        old, new = heard.arrivals
        assert (old.edited, new.edited) == (False, True)
        assert old.id == new.id == first
        assert old.seen_as != new.seen_as

    @needs(Feature.DELETING)
    async def test_what_is_taken_back_is_named_by_its_id_where_it_was_said(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            first = await lab.say(Said(text="at noon"))
            await lab.say(Said(text="at one"))
            await lab.say(Said(deletes=first))
            await heard.count(3)

        said, _, gone = heard.arrivals
        assert [each.deleted for each in heard.arrivals] == [False, False, True]
        assert (gone.id, gone.chat, gone.thread) == (said.id, said.chat, said.thread)
        assert gone.id == first

    @needs(Feature.DELETING, Feature.GROUPS, Feature.THREADS)
    async def test_what_is_taken_back_in_a_thread_names_the_thread(self, lab: Lab) -> None:
        thread = await a_thread(lab)
        heard = Heard()
        async with receiving(lab.channel, heard):
            first = await lab.say(Said(text="at noon", chat=thread.chat, thread=thread.thread))
            await lab.say(Said(deletes=first, chat=thread.chat, thread=thread.thread))
            await heard.until(lambda: any(each.deleted for each in heard.arrivals))

        gone = heard.arrivals[-1]
        assert (gone.id, gone.chat, gone.thread) == (first, thread.chat, thread.thread)

    @needs(Feature.REACTING)
    async def test_a_reaction_names_the_message_of_the_bots_and_so_does_its_removal(self, lab: Lab) -> None:
        for chat in (lab.chat, *([] if Feature.GROUPS in lab.missing else [lab.group])):
            sent = await lab.channel.send(chat, a_part(), timeout_s=HANG_S)
            heard = Heard()
            async with receiving(lab.channel, heard):
                for removed in (False, True):
                    await lab.say(Said(chat=chat.chat, answers=sent, reaction="👍", removed=removed))
                await heard.count(2)
                await lab.settled()

            put, gone = heard.arrivals
            assert [(each.id, each.chat, each.sender.id) for each in (put, gone)] == [
                (sent, chat.chat, lab.known_as("1001"))
            ] * 2
            assert put.reaction == gone.reaction != ""
            assert [put.deleted, gone.deleted] == [False, True]
            assert not put.text and put.seen_as != gone.seen_as

    @needs(Feature.ALBUMS, Feature.FILES)
    async def test_the_parts_of_an_album_belong_together(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            for text in ("two pictures", ""):
                await lab.say(Said(text=text, album="77", file=b"picture"))
            await lab.say(Said(text="something else"))
            await heard.count(3)

        albums = [arrival.album for arrival in heard.arrivals]
        assert albums[0] == albums[1] != ""
        assert albums[2] == ""
        assert len({arrival.id for arrival in heard.arrivals}) == 3

    @needs(Feature.BOTS)
    async def test_a_bot_is_known_as_one(self, lab: Lab) -> None:
        heard = Heard()
        async with receiving(lab.channel, heard):
            await lab.say(Said(is_bot=True, sender="2002"))
            await heard.count(1)

        assert heard.arrivals[0].sender.is_bot

    async def test_nothing_is_dealt_with_before_it_was_taken(self, lab: Lab) -> None:
        heard = Heard(gates={"wait": anyio.Event()})
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="wait"))
            await heard.until(lambda: bool(heard.held))
            before = lab.unsettled()
            heard.gates["wait"].set()
            await lab.settled()

        assert before
        assert heard.texts == ["wait"]

    async def test_who_is_cancelled_in_the_middle_of_a_batch_loses_nothing(self, lab: Lab) -> None:
        heard = Heard(gates={"wait": anyio.Event()})
        for text in ("first", "wait", "last"):
            await lab.say(Said(text=text))
        async with receiving(lab.channel, heard):
            await heard.until(lambda: bool(heard.held))
        put_forward()  # a platform says again what was not confirmed

        after = Heard()
        async with lab.again() as other, receiving(other, after):
            await after.until(lambda: "last" in after.texts)
            await lab.settled()

        assert heard.texts == ["first"]
        known = {arrival.text: arrival for arrival in heard.arrivals}
        assert all(known.get(arrival.text, arrival).seen_as == arrival.seen_as for arrival in after.arrivals)
        assert after.texts in (["first", "wait", "last"], ["wait", "last"])
        assert not lab.unsettled()

    async def test_what_cannot_be_kept_just_now_is_handed_in_again(self, lab: Lab) -> None:
        refusals = [BusUnavailable("Redis is unavailable"), BusUnavailable("Redis is unavailable")]
        offered: list[Arrival] = []

        def away(arrival: Arrival) -> None:
            if arrival.text == "stored at the third time":
                offered.append(arrival)
                if refusals:
                    raise refusals.pop()

        heard = Heard(before=away)
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="before"))
            await lab.say(Said(text="stored at the third time"))
            await lab.say(Said(text="after"))
            await heard.until(lambda: "after" in heard.texts)
            await lab.settled()

        assert refusals == []
        assert len(offered) >= 3
        assert all(arrival == offered[0] for arrival in offered), "a repetition is not known as one"
        assert list(dict.fromkeys(heard.texts)) == ["before", "stored at the third time", "after"]

    async def test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order(self, lab: Lab) -> None:
        heard = Heard(gates={"wait": anyio.Event()})
        for text in ("wait", "behind it"):
            await lab.say(Said(text=text))
        await lab.say(Said(text="elsewhere", chat=lab.a_chat(1)))
        async with receiving(lab.channel, heard):
            await heard.until(lambda: "elsewhere" in heard.texts)
            meanwhile = heard.texts
            heard.gates["wait"].set()
            await heard.until(lambda: "behind it" in heard.texts)

        assert meanwhile == ["elsewhere"]
        assert [text for text in heard.texts if text != "elsewhere"] == ["wait", "behind it"]

    async def test_what_nobody_understands_stops_nothing(self, lab: Lab) -> None:
        heard = Heard()
        await lab.say(Said(text="before"))
        await lab.say_nonsense()
        await lab.say(Said(text="after"))
        async with receiving(lab.channel, heard):
            await heard.until(lambda: "after" in heard.texts)
            await lab.settled()

        assert heard.texts == ["before", "after"]

    @each_fault(Fault.SERVER_ERROR, Fault.PAGE, Fault.CUT_BEFORE)
    async def test_a_platform_that_fails_for_a_moment_is_heard_again(self, lab: Lab, fault: Fault) -> None:
        lab.fail_updates(fault, fault)
        heard = Heard()
        await lab.say(Said(text=fault.name))
        async with receiving(lab.channel, heard):
            await heard.until(lambda: fault.name in heard.texts)

        assert not lab.update_faults

    # Looking back

    @needs(Feature.LOOKING_BACK, Feature.GROUPS, Feature.THREADS)
    async def test_what_was_said_in_a_thread_before_is_read(self, lab: Lab) -> None:
        thread, other = await a_thread(lab), await a_thread(lab)
        said = [
            await say_in(lab, thread, "high at noon", sender="1001"),
            await say_in(lab, thread, PLAIN, sender="2002"),
        ]
        await say_in(lab, other, "elsewhere")
        asked = await asked_of(lab, thread)
        await say_in(lab, thread, "later")

        for channel in (lab.channel, lab.again()):
            async with channel if isinstance(channel, AbstractAsyncContextManager) else nullcontext(channel) as reader:
                assert isinstance(reader, LooksBack)
                before = await reader.before(asked, timeout_s=HANG_S)

            assert [(each.id, each.sender_id, each.text) for each in before][-2:] == [
                (said[0], lab.known_as("1001"), "high at noon"),
                (said[1], lab.known_as("2002"), PLAIN),
            ]
            assert not {"elsewhere", "later", asked.text} & {each.text for each in before}
            assert all(datetime.fromisoformat(each.at).tzinfo for each in before)

    @needs(Feature.LOOKING_BACK, Feature.GROUPS, Feature.THREADS, Feature.FILES)
    async def test_what_was_said_in_a_thread_before_is_read_with_its_files(self, lab: Lab) -> None:
        thread = await a_thread(lab)
        said = Said(text="look", chat=thread.chat, thread=thread.thread, mentioned=False, file=b"a map", kind="image")
        await lab.say(said)

        before = (await said_before(lab, await asked_of(lab, thread)))[-1]

        [file] = before.attachments
        assert before.text, "without a text it would be left out"
        assert await lab.channel.fetch(file, timeout_s=HANG_S) == b"a map"

    @needs(Feature.LOOKING_BACK, Feature.GROUPS, Feature.THREADS)
    async def test_outside_of_threads_there_is_nothing_to_look_back_at(self, lab: Lab) -> None:
        await say_in(lab, lab.group, "high at noon")

        before = await said_before(lab, await asked_of(lab, lab.group))

        assert before == ()

    @needs(Feature.LOOKING_BACK, Feature.GROUPS, Feature.THREADS)
    @each_fault()
    async def test_what_cannot_be_looked_back_at_is_never_in_doubt(self, lab: Lab, fault: Fault) -> None:
        thread = await a_thread(lab)
        await say_in(lab, thread, "high at noon")
        asked = await asked_of(lab, thread)
        go_wrong(lab, fault)

        with pytest.raises(IN_NO_DOUBT[fault]):
            await said_before(lab, asked, timeout_s=HANG_S)

        assert [each.text for each in await said_before(lab, asked)][-1] == "high at noon"
