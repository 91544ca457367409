"""Tests of what an adapter sends, changes and takes back."""

from functools import partial

import anyio
import pytest

from channels.arrival import Arrival
from channels.testing.contract_steps import (
    DONE,
    ERRORS,
    OPUS,
    PLAIN,
    a_file,
    a_part,
    a_thread,
    asked_in,
    chat_of,
    each_fault,
    found,
    go_wrong,
    grown,
    its_chats,
    needs,
    receiving,
    until,
)
from channels.testing.lab import HANG_S, RETRY_AFTER_S, Fault, Feature, Heard, Lab, Said
from channels.testing.loop_clock import put_forward
from daemon.errors import BusUnavailable, SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment, Choice
from daemon.sessionkey import SessionKey


class SendingContract:
    """Messages that the bot sends, and texts that it is still writing."""

    # Sending

    async def test_what_is_sent_is_shown_once_and_has_an_id(self, lab: Lab) -> None:
        sent = await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

        [shown] = lab.shown(lab.chat)
        assert shown.text == PLAIN
        assert sent == shown.id != ""

    async def test_parts_are_shown_in_the_order_in_which_they_are_sent_each_with_an_id_of_its_own(
        self, lab: Lab
    ) -> None:
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

    async def test_the_longest_part_is_taken_whatever_it_is_written_in(self, lab: Lab) -> None:
        """Platforms count characters, bytes or what is between; only ``length`` knows."""
        longest = lab.channel.limits.part_max
        for sign in ("潮", "é", "🌊"):
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
    async def test_choices_are_buttons_that_go_once_a_press_was_accepted_and_stay_when_it_was_refused(
        self, lab: Lab
    ) -> None:
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
                await until(partial(has_no_buttons, lab, chat))

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
            await until(partial(has_no_buttons, lab, lab.chat))

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

        assert len(lab.shown(chat)) == (fault in DONE), "the adapter sent it again"
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


def has_no_buttons(lab: Lab, chat: SessionKey) -> bool:
    """Whether the oldest message of a chat has no buttons any more."""
    return lab.shown(chat)[0].buttons == ()


async def _unknown(lab: Lab) -> None:
    with pytest.raises(SendUnknown):
        await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)


async def _shown(lab: Lab) -> None:
    while not lab.shown(lab.chat):  # noqa: ASYNC110 - the request arrives when it does
        await anyio.sleep(0.005)
