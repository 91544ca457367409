"""What the machinery around an adapter relies on, said as tests that every adapter passes against its fake platform.

    class TestMine(ChannelContract):
        @pytest.fixture
        async def lab(self, process, tmp_path):
            async with my_lab(process, tmp_path) as lab:
                yield lab

What a platform cannot do it lists in ``missing``: ``class TestMine(ChannelContract, missing=MyLab.missing)``.
"""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import datetime
from typing import Any

import anyio
import pytest

from channels.arrival import Arrival
from channels.base import Channel, Finds, LooksBack, Part, Purpose
from daemon.errors import BusUnavailable, SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment, Choice, Inbound, Overheard
from daemon.sessionkey import SessionKey
from tests.contract.lab import RETRY_AFTER_S, Fault, Feature, Heard, Lab, Said
from tests.limits import HANG_S, until
from tests.loop_clock import put_forward, put_forward_when
from tests.tables import each_row

PLAIN = "Tide is 3 < 4 & 5 > 4: 潮水涨了, 👩‍👩‍👧 e\u0301 \U0001f1e9\U0001f1ea"
"""Nothing in it is markup, and much of it goes wrong where texts are escaped, counted or cut."""

ERRORS = {
    Fault.TOO_MANY: SendRefused,
    Fault.SERVER_ERROR: SendRefused,
    Fault.PAGE: SendRefused,
    Fault.REJECTED: SendRejected,
    Fault.CUT_BEFORE: SendUnknown,
    Fault.CUT_AFTER: SendUnknown,
    Fault.HANG: SendUnknown,
    Fault.STALL: SendUnknown,
}
DONE = frozenset({Fault.CUT_AFTER, Fault.HANG})  # faults after which it was done all the same

PURPOSES: tuple[Purpose, ...] = ("send", "begin", "edit")

IN_NO_DOUBT = {fault: SendRejected if fault is Fault.REJECTED else SendRefused for fault in Fault}  # of what only reads


def each_fault(*faults: Fault) -> Callable[[Any], Any]:
    """A test for each of these faults, or for all but ``STALL``, unless it is impossible on the platform."""

    def over(test: Any) -> Any:
        @functools.wraps(test)
        async def unless_impossible(self: Any, lab: Lab, fault: Fault) -> None:
            if fault not in lab.impossible:
                await test(self, lab, fault)

        return each_row("fault", faults or [each for each in Fault if each is not Fault.STALL])(unless_impossible)

    return over


def a_part(text: str = PLAIN, *, number: int = 0, **more: object) -> Part:
    given: dict[str, Any] = {"reply": "here:1#7", "attempt": f"a-{number}-{abs(hash(text))}", **more}
    return Part(number=number, text=text, **given)


@asynccontextmanager
async def receiving(channel: Channel, heard: Heard) -> AsyncIterator[anyio.CancelScope]:
    """``receive`` for the length of the block."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(channel.receive, heard)
        yield tg.cancel_scope
        tg.cancel_scope.cancel()


def needs(*features: Feature) -> Callable[[Any], Any]:
    def note(test: Any) -> Any:
        test.needs = frozenset(features)
        return test

    return note


def go_wrong(lab: Lab, fault: Fault) -> None:
    """Let the next request go wrong; the time for one that hangs is over once it has arrived."""
    lab.fail(fault)
    if fault in (Fault.HANG, Fault.STALL):
        put_forward_when(lambda: not lab.faults)


def chat_of(lab: Lab, row: int | Fault = 1) -> SessionKey:
    number = list(Fault).index(row) if isinstance(row, Fault) else row
    return SessionKey(channel=lab.channel.name, chat=lab.a_chat(number))


class ChannelContract:
    """Inherit, and give the fixture ``lab``."""

    def __init_subclass__(cls, *, missing: frozenset[Feature] = frozenset()) -> None:
        for name, test in vars(ChannelContract).items():
            if getattr(test, "needs", frozenset()) & missing:
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

    # Sending

    async def test_what_is_sent_is_shown_once_and_has_an_id(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert shown.text == PLAIN
        assert sent == shown.id != ""

    async def test_parts_are_shown_in_the_order_in_which_they_are_sent_each_with_an_id_of_its_own(self, lab: Lab):
        sent = [await lab.channel.send(lab.chat, a_part(f"part {n}", number=n), timeout_s=HANG_S) for n in range(3)]

        assert [shown.text for shown in lab.shown(lab.chat)] == ["part 0", "part 1", "part 2"]
        assert [shown.id for shown in lab.shown(lab.chat)] == sent
        assert len(set(sent)) == 3

    @needs(Feature.GROUPS)
    async def test_what_is_sent_to_a_group_is_shown_there_alone(self, lab: Lab) -> None:
        await lab.channel.send(lab.group, a_part(), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(lab.group)] == [PLAIN]
        assert lab.shown(lab.chat) == []

    @needs(Feature.GROUPS, Feature.THREADS, Feature.EDITS)
    async def test_what_is_sent_to_a_thread_is_shown_and_changed_there_alone(self, lab: Lab) -> None:
        thread = await a_thread(lab)
        await lab.say(Said(chat=lab.group.chat, thread=thread.thread))
        await lab.channel.send(lab.group, a_part("outside"), timeout_s=HANG_S)

        sent = await lab.channel.send(thread, a_part("old"), timeout_s=HANG_S)
        await lab.channel.edit(thread, sent, a_part("new"), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(thread)] == ["new"]
        assert [shown.text for shown in lab.shown(lab.group)] == ["outside"]

    @needs(Feature.THREADS)
    async def test_all_threads_of_a_chat_share_its_rates(self, lab: Lab) -> None:
        thread = await a_thread(lab)

        assert lab.channel.rates(thread) == lab.channel.rates(lab.group)

    async def test_the_longest_part_is_taken_whole(self, lab: Lab) -> None:
        words = "word " * lab.channel.limits.part_max
        text = words[: lab.channel.limits.part_max - 1] + "."
        assert lab.channel.length(text) == lab.channel.limits.part_max

        await lab.channel.send(lab.chat, a_part(text), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(lab.chat)] == [text]

    @each_row("sign", ["潮", "é", "🌊"])
    async def test_the_longest_part_is_taken_whatever_it_is_written_in(self, lab: Lab, sign: str) -> None:
        """Platforms count characters, bytes or what is between; only ``length`` knows."""
        longest = lab.channel.limits.part_max
        text = sign * (longest // lab.channel.length(sign))
        assert longest - lab.channel.length(sign) < lab.channel.length(text) <= longest

        await lab.channel.send(lab.chat, a_part(text), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(lab.chat)][-1:] == [text]

    @needs(Feature.QUOTING)
    async def test_a_part_answers_the_message_that_it_names(self, lab: Lab) -> None:
        asked = await lab.say(Said())

        await lab.channel.send(lab.chat, a_part(reply_to=asked), timeout_s=HANG_S)

        assert [shown.reply_to for shown in lab.shown(lab.chat)] == [asked]

    @needs(Feature.BUTTONS, Feature.GROUPS)
    async def test_choices_are_buttons_that_go_once_a_press_was_accepted_and_stay_when_it_was_refused(self, lab: Lab):
        heard, ann = Heard(refusal="not yours"), lab.known_as("1001")
        choices = (Choice(label="Yes", command="/link yes @0badc0de", who=ann), Choice(label="No", command="/link no"))
        for chat in (lab.chat, lab.group):
            sent = await lab.channel.send(chat, a_part("Sure?", choices=choices), timeout_s=HANG_S)
            assert [each.buttons for each in lab.shown(chat)] == [("Yes", "No")]
            async with receiving(lab.channel, heard):
                heard.presses.clear()
                for heard.refusal in ("not yours", ""):
                    await lab.press(chat, sent, "Yes", by="1001")
                    await lab.settled()
                    if heard.refusal:
                        assert [each.buttons for each in lab.shown(chat)] == [("Yes", "No")]
                await until(lambda chat=chat: lab.shown(chat)[0].buttons == ())

            for press in heard.presses:
                said = press.arrival
                assert (press.who, said.text, said.sender.id) == (ann, "/link yes @0badc0de", ann)
                assert (said.id, said.chat) == (sent, chat.chat)
                assert said.chat_kind == ("direct" if chat == lab.chat else "group")
            assert len(heard.presses) >= 2

    @needs(Feature.BUTTONS)
    async def test_a_question_with_odd_choices_has_the_buttons_that_the_platform_takes(self, lab: Lab) -> None:
        odd = Choice(label="*_[`<" * 40, command="/link yes @0badc0de")
        again, too_long = Choice(label="again", command=odd.command), Choice(label="long", command="/link " + "é" * 33)
        many = [Choice(label=str(number), command=f"/forget {number}") for number in range(1, 31)]

        await lab.channel.send(lab.chat, a_part("Sure?", choices=(odd, again, too_long, *many)), timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert (shown.text, shown.buttons[1:]) == ("Sure?", tuple(str(number) for number in range(1, 25)))
        assert odd.label.startswith(shown.buttons[0])

    @needs(Feature.BUTTONS)
    async def test_a_press_that_cannot_be_kept_is_said_again(self, lab: Lab) -> None:
        away = iter([True, False])

        def before(_arrival: Arrival) -> None:
            if next(away, False):
                raise BusUnavailable("away")

        heard = Heard(before=before)
        choice = Choice(label="Yes", command="/link yes")
        sent = await lab.channel.send(lab.chat, a_part("Sure?", choices=(choice,)), timeout_s=HANG_S)
        async with receiving(lab.channel, heard):
            await lab.press(lab.chat, sent, "Yes", by="1001")
            await until(lambda: lab.shown(lab.chat)[0].buttons == ())

        assert [press.arrival.text for press in heard.presses] == ["/link yes"]

    @needs(Feature.DOCUMENTS)
    async def test_a_long_reply_goes_as_a_file_beside_its_beginning(self, lab: Lab) -> None:
        await lab.channel.send(
            lab.chat, a_part("It begins so …", document="It begins so and goes on."), timeout_s=HANG_S
        )

        shown = lab.shown(lab.chat)
        assert any("It begins so …" in each.text for each in shown)
        assert sum(len(each.files) for each in shown) == 1

    @needs(Feature.DOCUMENTS)
    async def test_as_many_files_as_the_platform_takes_are_one_message(self, lab: Lab) -> None:
        files = tuple([a_file(lab, f"{number}.csv") for number in range(lab.channel.limits.files_max)])
        part = a_part("", attachments=files)

        sent = await lab.channel.send(lab.chat, part, timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert (shown.id, shown.files) == (sent, tuple([file.name for file in files]))
        if Feature.FINDING not in lab.missing:
            assert await found(lab, lab.chat, part) == sent

    @needs(Feature.DOCUMENTS)
    async def test_a_recording_is_shown_as_a_voice_message_if_there_are_any(self, lab: Lab) -> None:
        a_file(lab, "answer.ogg", OPUS)
        file = Attachment(kind="voice", name="answer.ogg", path="answer.ogg", size_bytes=len(OPUS))
        part = a_part("", attachments=(file,))

        sent = await lab.channel.send(lab.chat, part, timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert (shown.id, shown.files, shown.is_voice) == (sent, ("answer.ogg",), Feature.VOICES not in lab.missing)
        if Feature.FINDING not in lab.missing:
            assert await found(lab, lab.chat, part) == sent

    @needs(Feature.DOCUMENTS)
    async def test_a_file_of_the_bots_is_shown_by_its_name(self, lab: Lab) -> None:
        file = a_file(lab)

        sent = await lab.channel.send(lab.chat, a_part("", attachments=(file,)), timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert (shown.id, shown.files) == (sent, ("tides.csv",))

    @needs(Feature.DOCUMENTS, Feature.CONTENTS)
    async def test_a_file_of_the_bots_that_is_gone_is_refused_for_good(self, lab: Lab) -> None:
        file = Attachment(kind="document", name="tides.csv", path="no/such/tides.csv", size_bytes=12)

        with pytest.raises(SendRejected):
            await lab.channel.send(lab.chat, a_part("", attachments=(file,)), timeout_s=HANG_S)

        assert lab.shown(lab.chat) == []

    @each_fault()
    async def test_what_became_of_a_part_that_went_wrong_is_told_apart(self, lab: Lab, fault: Fault) -> None:
        chat = chat_of(lab, fault)
        go_wrong(lab, fault)

        with pytest.raises(ERRORS[fault]) as failed:
            await lab.channel.send(chat, a_part("first"), timeout_s=HANG_S)

        assert len(lab.shown(chat)) == (fault in DONE), "it tried again by itself"
        if isinstance(failed.value, SendRefused):
            assert failed.value.retry_after_s == (RETRY_AFTER_S if fault is Fault.TOO_MANY else None)
        await lab.channel.send(chat, a_part("second"), timeout_s=HANG_S)
        assert [shown.text for shown in lab.shown(chat)] == (["first"] if fault in DONE else []) + ["second"]

    async def test_a_platform_that_cannot_be_reached_was_sent_nothing(self, lab: Lab) -> None:
        await lab.shut_down()

        with pytest.raises(SendRefused):
            await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

    async def test_one_chat_that_goes_wrong_holds_up_no_other(self, lab: Lab) -> None:
        lab.fail(Fault.HANG)
        other = chat_of(lab)

        async with anyio.create_task_group() as tg:
            tg.start_soon(_unknown, lab)
            await _shown(lab)
            await lab.channel.send(other, a_part(), timeout_s=HANG_S)
            put_forward()

        assert [shown.text for shown in lab.shown(other)] == [PLAIN]

    async def test_who_is_cancelled_while_sending_leaves_an_adapter_that_works(self, lab: Lab) -> None:
        lab.fail(Fault.HANG)
        async with anyio.create_task_group() as tg:
            tg.start_soon(_unknown, lab)
            await _shown(lab)
            tg.cancel_scope.cancel()

        await lab.channel.send(lab.chat, a_part("after"), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(lab.chat)][-1] == "after"

    # Changing

    @needs(Feature.EDITS)
    async def test_an_edit_changes_what_is_shown(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part("so far"), timeout_s=HANG_S)

        await lab.channel.edit(lab.chat, sent, a_part("so far, so good"), timeout_s=HANG_S)

        assert [(shown.id, shown.text) for shown in lab.shown(lab.chat)] == [(sent, "so far, so good")]

    @needs(Feature.EDITS)
    async def test_an_edit_that_changes_nothing_is_no_error(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

        for _ in range(2):
            await lab.channel.edit(lab.chat, sent, a_part(), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(lab.chat)] == [PLAIN]

    @needs(Feature.EDITS, Feature.REMOVAL)
    async def test_what_is_gone_cannot_be_edited(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part("gone"), timeout_s=HANG_S)
        await lab.channel.remove(lab.chat, sent, timeout_s=HANG_S)

        with pytest.raises(SendRejected):
            await lab.channel.edit(lab.chat, sent, a_part("back"), timeout_s=HANG_S)

        assert lab.shown(lab.chat) == []

    @needs(Feature.REMOVAL)
    async def test_what_is_gone_can_be_taken_back_again(self, lab: Lab) -> None:
        kept = await lab.channel.send(lab.chat, a_part("kept"), timeout_s=HANG_S)
        gone = await lab.channel.send(lab.chat, a_part("gone", number=1), timeout_s=HANG_S)

        for _ in range(2):
            await lab.channel.remove(lab.chat, gone, timeout_s=HANG_S)

        assert [shown.id for shown in lab.shown(lab.chat)] == [kept]

    @needs(Feature.EDITS)
    @each_fault()
    async def test_what_became_of_an_edit_that_went_wrong_is_told_apart(self, lab: Lab, fault: Fault) -> None:
        chat = chat_of(lab, fault)
        sent = await lab.channel.send(chat, a_part("old"), timeout_s=HANG_S)
        go_wrong(lab, fault)

        with pytest.raises(ERRORS[fault]):
            await lab.channel.edit(chat, sent, a_part("new"), timeout_s=HANG_S)

        assert [shown.text for shown in lab.shown(chat)] == ["new" if fault in DONE else "old"]

    @needs(Feature.REMOVAL)
    @each_fault(Fault.REJECTED, Fault.CUT_BEFORE, Fault.TOO_MANY)
    async def test_what_became_of_a_removal_that_went_wrong_is_told_apart(self, lab: Lab, fault: Fault) -> None:
        chat = chat_of(lab, fault)
        sent = await lab.channel.send(chat, a_part(), timeout_s=HANG_S)
        go_wrong(lab, fault)

        with pytest.raises(ERRORS[fault]):
            await lab.channel.remove(chat, sent, timeout_s=HANG_S)

        assert len(lab.shown(chat)) == 1

    # Texts being written

    @needs(Feature.EDITS)
    async def test_a_text_that_is_being_written_grows_and_becomes_the_part(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            shown = await grown(
                lab, chat, ["High", "High at", "High at noon, and low"], "High at noon, and low at six."
            )

            assert shown == ["High", "High at", "High at noon, and low", "High at noon, and low at six."]

    @needs(Feature.EDITS)
    async def test_a_text_that_is_being_written_can_begin_afresh(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            shown = await grown(lab, chat, ["High at noon", "Let me see"], "There is no tide in a lake.")

            assert shown == ["High at noon", "Let me see", "There is no tide in a lake."]

    @needs(Feature.EDITS)
    async def test_another_process_goes_on_with_a_text_that_is_being_written(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            asked_by = await asked_in(lab, chat)
            begun = a_part("High", preview=True, asked_by=asked_by)
            sent = await lab.channel.send(chat, begun, timeout_s=HANG_S)

            async with lab.again() as other:
                more = a_part("High at noon, and", preview=True, asked_by=asked_by)
                await other.edit(chat, sent, more, timeout_s=HANG_S)
                between = [shown.text for shown in lab.shown(chat)]
                await other.edit(chat, sent, a_part("High at noon, and low at six."), timeout_s=HANG_S)

            assert between == ["High at noon, and"]
            assert [(each.id, each.text) for each in lab.shown(chat)] == [(sent, "High at noon, and low at six.")]

    @needs(Feature.EDITS, Feature.REMOVAL)
    async def test_a_text_that_is_being_written_can_be_taken_away(self, lab: Lab) -> None:
        for chat in await its_chats(lab):
            begun = a_part("High", preview=True, asked_by=await asked_in(lab, chat))
            sent = await lab.channel.send(chat, begun, timeout_s=HANG_S)

            await lab.channel.remove(chat, sent, timeout_s=HANG_S)

            assert lab.shown(chat) == []

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
    @each_row("announced", [True, False])
    async def test_a_file_that_is_too_large_is_refused_for_good(self, lab: Lab, announced: bool) -> None:
        size = lab.channel.limits.fetch_max_bytes + 1
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
        refusals = [BusUnavailable("Redis is away"), BusUnavailable("Redis is away")]
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


OPUS = (
    b"OggS"
    + bytes(24)
    + b"OpusHead"
    + bytes([1, 1, 0x38, 1])
    + bytes(40)
    + b"OggS\0\4"
    + (96_312).to_bytes(8, "little")
)
"""The beginning and the end of a recording of two seconds."""


def a_file(lab: Lab, name: str = "tides.csv", content: bytes = b"time,height\n") -> Attachment:
    """A file in the workspace of the bot."""
    lab.workspace.mkdir(parents=True, exist_ok=True)
    (lab.workspace / name).write_bytes(content)
    return Attachment(kind="document", name=name, path=name, size_bytes=len(content))


async def in_group(lab: Lab, text: str, **more: Any) -> str:
    return await lab.say(Said(text=text, chat=lab.group.chat, **more))


async def a_thread(lab: Lab) -> SessionKey:
    return SessionKey(channel=lab.channel.name, chat=lab.group.chat, thread=await lab.begin_thread())


async def its_chats(lab: Lab, direct: SessionKey | None = None) -> list[SessionKey]:
    """Where things may be done in ways of their own: a direct chat, and a thread."""
    in_threads = not {Feature.GROUPS, Feature.THREADS} & lab.missing
    return [direct or lab.chat, *([await a_thread(lab)] if in_threads else [])]


async def say_in(lab: Lab, chat: SessionKey, text: str, *, sender: str = "1001") -> str:
    """Have somebody say something in a group and not to the bot."""
    return await lab.say(Said(text=text, chat=chat.chat, thread=chat.thread, sender=sender, mentioned=False))


async def asked_of(lab: Lab, chat: SessionKey) -> Inbound:
    """The bot is asked in a group: what the intake would make of it."""
    heard, text = Heard(), "when is the tide?"
    async with receiving(lab.channel, heard):
        await lab.say(Said(text=text, chat=chat.chat, thread=chat.thread))
        await heard.until(lambda: text in heard.texts)
        await lab.settled()
    arrival = next(each for each in heard.arrivals if each.text == text)
    return Inbound(
        id=arrival.id,
        bot="pond",
        channel=lab.channel.name,
        chat=arrival.chat,
        thread=arrival.thread,
        chat_kind="group",
        sender_id=arrival.sender.id,
        text=arrival.text,
        delivery="push",
        received_at="2026-11-20T12:00:00Z",
        correlation="c",
    )


async def asked_in(lab: Lab, chat: SessionKey) -> str:
    """Somebody has asked something in a chat: their id."""
    await lab.say(Said(chat="" if chat == lab.chat else chat.chat, thread=chat.thread))
    return lab.known_as(Said.sender)


async def said_before(lab: Lab, asked: Inbound, *, timeout_s: float = HANG_S) -> tuple[Overheard, ...]:
    """What the adapter finds said before ``asked``."""
    assert isinstance(lab.channel, LooksBack)
    return await lab.channel.before(asked, timeout_s=HANG_S)


async def found(lab: Lab, chat: SessionKey, part: Part, *, timeout_s: float = HANG_S) -> str:
    """What the adapter finds of ``part``."""
    assert isinstance(lab.channel, Finds)
    return await lab.channel.find(chat, part, timeout_s=HANG_S)


async def grown(lab: Lab, chat: SessionKey, texts: list[str], whole: str) -> list[str]:
    """What is shown of a text after each step of its being written, the last one being the part."""
    asked_by = await asked_in(lab, chat)
    parts = [a_part(text, preview=True, asked_by=asked_by) for text in texts]
    sent = await lab.channel.send(chat, parts[0], timeout_s=HANG_S)
    shown = [lab.shown(chat)]
    for part in (*parts[1:], a_part(whole)):
        await lab.channel.edit(chat, sent, part, timeout_s=HANG_S)
        shown.append(lab.shown(chat))
    assert [[each.id for each in at_once] for at_once in shown] == [[sent]] * len(shown)
    return [at_once[0].text for at_once in shown]


async def _unknown(lab: Lab) -> None:
    with pytest.raises(SendUnknown):
        await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)


async def _shown(lab: Lab) -> None:
    while not lab.shown(lab.chat):  # noqa: ASYNC110 - the request arrives when it does
        await anyio.sleep(0.005)


async def _attachments(lab: Lab, content: bytes, **more: Any) -> tuple[Attachment, ...]:
    """What comes with a message that somebody sends with a file."""
    heard = Heard()
    async with receiving(lab.channel, heard):
        await lab.say(Said(text="look", file=content, **more))
        await heard.count(1)
        await lab.settled()
    return heard.arrivals[0].attachments
