"""What the machinery around an adapter relies on, said as tests that every adapter passes against its fake platform.

    class TestMine(ChannelContract, missing=MyLab.missing):
        @pytest.fixture
        async def lab(self, process, tmp_path):
            async with my_lab(process, tmp_path) as lab:
                yield lab

What a platform cannot do it lists in ``missing``. The tests need pytest, with its setting ``anyio_mode = "auto"``.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from channels.base import Finds
from channels.testing.contract_steps import (
    DONE,
    ERRORS,
    IN_NO_DOUBT,
    PLAIN,
    PURPOSES,
    a_file,
    a_part,
    a_thread,
    asked_in,
    chat_of,
    each_fault,
    found,
    go_wrong,
    in_group,
    its_chats,
    needs,
    receiving,
)
from channels.testing.hearing_contract import HearingContract
from channels.testing.lab import HANG_S, Fault, Feature, Heard, Lab, Said
from channels.testing.sending_contract import SendingContract
from daemon.errors import SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.sessionkey import SessionKey

NOTHING: frozenset[Feature] = frozenset()
"""The features that a test needs if it does not say."""


class ChannelContract(SendingContract, HearingContract):
    """Inherit, and give the fixture ``lab``."""

    def __init_subclass__(cls, *, missing: frozenset[Feature] = frozenset()) -> None:
        for part in (ChannelContract, *ChannelContract.__bases__):
            for name, test in vars(part).items():
                if getattr(test, "needs", NOTHING) & missing:
                    setattr(cls, name, None)

    # What it says of itself

    async def test_its_limits_are_such_that_something_can_be_sent(self, lab: Lab) -> None:
        limits = lab.channel.limits

        assert limits.part_max >= 100
        assert (limits.edit_every_s > 0) == (limits.group_edit_every_s > 0) == (Feature.EDITS not in lab.missing)
        assert (limits.fetch_max_bytes > 0) == (Feature.FILES not in lab.missing)
        assert (limits.send_max_bytes > 0) == (Feature.DOCUMENTS not in lab.missing)
        assert min(limits.typing_lasts_s, limits.fetch_max_bytes, limits.send_max_bytes) >= 0
        assert (limits.typing_lasts_s > 0) == (Feature.TYPING not in lab.missing)

    async def test_its_length_grows_with_the_text_and_is_never_less_than_its_parts(self, lab: Lab) -> None:
        length = lab.channel.length

        assert length("") == 0
        for end in range(1, len(PLAIN) + 1):
            assert length(PLAIN[:end]) >= length(PLAIN[: end - 1])
            assert length(PLAIN[:end]) + length(PLAIN[end:]) >= length(PLAIN) >= length(PLAIN[end:])

    async def test_its_rates_are_the_same_each_time_and_let_something_through(self, lab: Lab) -> None:
        for chat in (lab.chat, lab.group):
            for purpose in PURPOSES:
                rates = lab.channel.rates(chat, purpose)

                assert rates == lab.channel.rates(chat, purpose)
                assert len({rate.bucket for rate in rates}) == len(rates)
                assert all(rate.bucket and rate.count >= 1 and rate.per_s > 0 for rate in rates)
            assert lab.channel.rates(chat) == lab.channel.rates(chat, "send")

    async def test_a_bucket_has_one_rate_whatever_it_is_taken_from_for(self, lab: Lab) -> None:
        rates = {rate for chat in (lab.chat, lab.group) for each in PURPOSES for rate in lab.channel.rates(chat, each)}

        assert len({rate.bucket for rate in rates}) == len(rates)

    async def test_two_chats_share_no_rate_but_those_of_the_whole_channel(self, lab: Lab) -> None:
        keys = [SessionKey(channel=lab.channel.name, chat=lab.a_chat(n)) for n in range(3)]
        one, two, three = [{rate.bucket for rate in lab.channel.rates(key)} for key in keys]

        assert one & two == two & three == one & three

    # Looking for what was sent

    @needs(Feature.FINDING)
    async def test_what_was_sent_is_found_by_its_reply_and_number_whatever_the_attempt(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            sent = [
                await lab.channel.send(chat, a_part(text, number=number), timeout_s=HANG_S)
                for number, text in enumerate(("High at noon.", PLAIN, "Low at six."))
            ]

            assert await found(lab, chat, a_part(PLAIN, number=1, attempt="another")) == sent[1]
            assert await found(lab, chat, a_part("Low at six.", number=2, attempt="another")) == sent[2]

    @needs(Feature.FINDING)
    async def test_what_was_not_sent_is_not_found(self, lab: Lab) -> None:
        elsewhere = chat_of(lab)
        assert await found(lab, lab.chat, a_part("again")) == ""

        await lab.channel.send(lab.chat, a_part("again"), timeout_s=HANG_S)
        await lab.channel.send(elsewhere, a_part("elsewhere", reply="here:1#9"), timeout_s=HANG_S)

        assert await found(lab, lab.chat, a_part("again", number=1)) == ""
        assert await found(lab, lab.chat, a_part("again", reply="here:1#9")) == ""
        assert await found(lab, lab.chat, a_part("elsewhere", reply="here:1#9")) == ""
        assert await found(lab, elsewhere, a_part("again")) == ""

    @needs(Feature.FINDING, Feature.GROUPS, Feature.THREADS)
    async def test_what_was_sent_to_a_thread_is_found_there_alone(self, lab: Lab) -> None:
        one, two = await a_thread(lab), await a_thread(lab)
        sent = await lab.channel.send(one, a_part(), timeout_s=HANG_S)

        assert (await found(lab, one, a_part()), await found(lab, two, a_part())) == (sent, "")

    @needs(Feature.FINDING)
    async def test_what_people_say_is_not_taken_for_what_was_sent(self, lab: Lab) -> None:
        await lab.say(Said(text=PLAIN))

        assert await found(lab, lab.chat, a_part()) == ""

    @needs(Feature.FINDING, Feature.REMOVAL)
    async def test_what_was_taken_back_is_not_found(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

        await lab.channel.remove(lab.chat, sent, timeout_s=HANG_S)

        assert await found(lab, lab.chat, a_part()) == ""

    @needs(Feature.FINDING)
    @each_fault(Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.HANG)
    async def test_what_nobody_knows_is_found_out_by_looking(self, lab: Lab, fault: Fault) -> None:
        for chat in await its_chats(lab, chat_of(lab, fault)):
            go_wrong(lab, fault)
            with pytest.raises(SendUnknown):
                await lab.channel.send(chat, a_part(), timeout_s=HANG_S)

            async with lab.again() as other:
                assert isinstance(other, Finds)
                platform_id = await other.find(chat, a_part(attempt="another"), timeout_s=HANG_S)

            assert [platform_id] == ([each.id for each in lab.shown(chat)] or [""])
            assert bool(platform_id) == (fault in DONE)

    @needs(Feature.FINDING)
    async def test_what_was_sent_twice_is_found_once(self, lab: Lab) -> None:
        sent = [
            await lab.channel.send(lab.chat, a_part(attempt=attempt), timeout_s=HANG_S)
            for attempt in ("one", "another")
        ]

        assert await found(lab, lab.chat, a_part()) in sent

    @needs(Feature.FINDING, Feature.DOCUMENTS)
    async def test_a_long_reply_and_a_file_are_found_too(self, lab: Lab) -> None:
        file = a_file(lab)
        long = a_part("It begins so …", document="It begins so and goes on.")
        for chat in await its_chats(lab):
            assert await found(lab, chat, a_part("", number=1, attachments=(file,))) == ""

            first = await lab.channel.send(chat, long, timeout_s=HANG_S)
            second = await lab.channel.send(chat, a_part("", number=1, attachments=(file,)), timeout_s=HANG_S)

            assert await found(lab, chat, long) == first
            assert await found(lab, chat, a_part("", number=1, attachments=(file,))) == second

    @needs(Feature.FINDING, Feature.EDITS)
    async def test_a_text_that_is_being_written_is_found_as_that_and_not_as_the_part(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            asked_by = await asked_in(lab, chat)
            whole = a_part("High at noon, and low at six.")
            assert await found(lab, chat, a_part(whole.text, preview=True, asked_by=asked_by)) == ""

            begun = a_part("High at noon", preview=True, asked_by=asked_by)
            sent = await lab.channel.send(chat, begun, timeout_s=HANG_S)

            async with lab.again() as other:
                assert isinstance(other, Finds)
                goes_on = a_part(whole.text, preview=True, asked_by=asked_by, attempt="another")
                assert await other.find(chat, goes_on, timeout_s=HANG_S) == sent
                assert await other.find(chat, whole, timeout_s=HANG_S) == ""

    @needs(Feature.FINDING)
    @each_fault()
    async def test_who_cannot_look_is_never_in_doubt(self, lab: Lab, fault: Fault) -> None:
        chat = chat_of(lab, fault)
        sent = await lab.channel.send(chat, a_part(), timeout_s=HANG_S)
        go_wrong(lab, fault)

        with pytest.raises(IN_NO_DOUBT[fault]):
            await found(lab, chat, a_part(), timeout_s=HANG_S)

        assert await found(lab, chat, a_part()) == sent

    # Signs

    @needs(Feature.TYPING)
    async def test_it_is_shown_that_an_answer_is_being_written(self, lab: Lab) -> None:
        await lab.channel.typing(lab.typed_in, timeout_s=HANG_S)

        assert lab.typings(lab.typed_in) == 1
        assert lab.shown(lab.typed_in) == []

    @needs(Feature.REACTIONS)
    async def test_a_mark_is_put_on_a_message_and_taken_away(self, lab: Lab) -> None:
        message = await lab.say(Said())

        await lab.channel.react(lab.chat, message, "👀", timeout_s=HANG_S)
        put = lab.reaction(lab.chat, message)
        await lab.channel.react(lab.chat, message, "", timeout_s=HANG_S)

        assert (put, lab.reaction(lab.chat, message)) == ("👀", "")

    @each_fault(Fault.REJECTED, Fault.CUT_BEFORE, Fault.TOO_MANY)
    async def test_signs_go_wrong_in_the_same_ways(self, lab: Lab, fault: Fault) -> None:
        message = await lab.say(Said())
        acts: list[tuple[Feature, Callable[[], Awaitable[None]]]] = [
            (Feature.TYPING, lambda: lab.channel.typing(lab.typed_in, timeout_s=HANG_S)),
            (Feature.REACTIONS, lambda: lab.channel.react(lab.chat, message, "👀", timeout_s=HANG_S)),
        ]

        for feature, act in acts:
            if feature not in lab.missing:
                lab.fail(fault)
                with pytest.raises(ERRORS[fault]):
                    await act()

    # Files of people's

    @needs(Feature.FILES)
    async def test_a_file_that_came_with_a_message_can_be_fetched(self, lab: Lab) -> None:
        content = bytes(range(256)) * 40

        [attachment] = await _attachments(lab, content)

        assert attachment.kind == "document" and attachment.source
        assert attachment.size_bytes in (0, len(content))
        assert await lab.channel.fetch(attachment, timeout_s=HANG_S) == content

    @needs(Feature.FILES)
    async def test_a_file_can_be_fetched_by_another_process(self, lab: Lab) -> None:
        """The one that runs the turn, which has not received anything."""
        [attachment] = await _attachments(lab, b"for all of us")
        lab.age()

        async with lab.again() as other:
            assert await other.fetch(attachment, timeout_s=HANG_S) == b"for all of us"

    @needs(Feature.FILES)
    async def test_all_files_of_a_message_come_along_and_recordings_are_known_as_such(self, lab: Lab) -> None:
        several = await _attachments(lab, b"one of them", files=lab.files_max)
        recordings = [each for kind in lab.recordings for each in await _attachments(lab, b"OggS", kind=kind)]

        assert [each.is_speech for each in several] == [False] * lab.files_max
        assert [await lab.channel.fetch(each, timeout_s=HANG_S) for each in several] == [b"one of them"] * lab.files_max
        assert [each.is_speech for each in recordings] == [True] * len(lab.recordings)

    @needs(Feature.FILES, Feature.LENDING, Feature.GROUPS)
    async def test_an_answer_brings_along_the_files_of_the_message_that_it_answers(self, lab: Lab) -> None:
        """Those of that message alone, and only if the bot is meant; also files of the bot's own."""
        sent = await lab.channel.send(lab.group, a_part("", attachments=(a_file(lab),)), timeout_s=HANG_S)
        first = await in_group(lab, "", sender="2002", mentioned=False, file=b"a map", files=lab.files_max)
        heard = Heard()
        async with receiving(lab.channel, heard):
            second = await in_group(lab, "what is this?", answers=first)
            await in_group(lab, "and that?", answers=second)
            await in_group(lab, "no idea", answers=first, mentioned=False)
            await in_group(lab, "yours?", answers=sent)
            await heard.until(lambda: "yours?" in heard.texts)

        said = {arrival.text: arrival for arrival in heard.arrivals}
        lent = said["what is this?"].attachments
        assert [each.sender_id for each in lent] == [lab.known_as("2002")] * lab.files_max
        assert [await lab.channel.fetch(each, timeout_s=HANG_S) for each in lent] == [b"a map"] * lab.files_max
        quote = said["what is this?"].quote
        assert quote is not None and f"[document: {lent[0].name}]" in quote.text
        assert not said["and that?"].attachments and not said["no idea"].attachments
        [own] = said["yours?"].attachments
        assert (own.name, own.sender_id) == ("tides.csv", "")
        assert await lab.channel.fetch(own, timeout_s=HANG_S) == b"time,height\n"

    @needs(Feature.FILES, Feature.LENDING, Feature.GROUPS, Feature.DELETING)
    async def test_a_message_that_was_taken_back_lends_nothing(self, lab: Lab) -> None:
        first = await in_group(lab, "", sender="2002", mentioned=False, file=b"a map")
        await in_group(lab, "", sender="2002", deletes=first)
        heard = Heard()
        async with receiving(lab.channel, heard):
            await in_group(lab, "what was it?", answers=first)
            await heard.until(lambda: "what was it?" in heard.texts)

        arrival = next(each for each in heard.arrivals if each.text == "what was it?")
        assert (arrival.attachments, arrival.quote) == ((), None)

    @needs(Feature.FILES)
    async def test_a_file_that_is_not_there_is_refused_for_good(self, lab: Lab) -> None:
        with pytest.raises(SendRejected):
            await lab.channel.fetch(Attachment(kind="document", source="nowhere"), timeout_s=HANG_S)

    @needs(Feature.FILES)
    async def test_a_file_that_is_too_large_is_refused_for_good(self, lab: Lab) -> None:
        size = lab.channel.limits.fetch_max_bytes + 1
        for announced in (True, False):
            [attachment] = await _attachments(lab, b"x" if announced else bytes(size))
            told = Attachment(kind="document", source=attachment.source, size_bytes=size if announced else 0)

            with pytest.raises(SendRejected, match=r"bytes|large|MB"):
                await lab.channel.fetch(told, timeout_s=HANG_S)

    @needs(Feature.FILES)
    @each_fault(*Fault)
    async def test_a_file_that_cannot_be_had_is_never_in_doubt(self, lab: Lab, fault: Fault) -> None:
        [attachment] = await _attachments(lab, b"content")
        go_wrong(lab, fault)

        with pytest.raises(IN_NO_DOUBT[fault]):
            await lab.channel.fetch(attachment, timeout_s=HANG_S)

        assert await lab.channel.fetch(attachment, timeout_s=HANG_S) == b"content"

    # How it fares

    async def test_it_fares_well_where_it_is_known(self, lab: Lab) -> None:
        health = await lab.channel.health()

        assert health.ok
        assert health.text

    async def test_who_is_not_known_is_told_what_to_do(self, lab: Lab) -> None:
        lab.lock_out()

        health = await lab.channel.health()

        assert not health.ok
        assert f"channels.{lab.channel.name}" in health.text

    async def test_a_platform_that_is_away_is_said_and_nothing_raised(self, lab: Lab) -> None:
        await lab.shut_down()

        health = await lab.channel.health()

        assert not health.ok
        assert health.text


async def _attachments(lab: Lab, content: bytes, **more: Any) -> tuple[Attachment, ...]:
    """What comes with a message that somebody sends with a file."""
    heard = Heard()
    async with receiving(lab.channel, heard):
        await lab.say(Said(text="look", file=content, **more))
        await heard.count(1)
        await lab.settled()
    return heard.arrivals[0].attachments
