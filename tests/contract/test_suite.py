"""The contract notices: each adapter here breaks one of its promises, and the test named beside it fails."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from channels import batch
from channels.base import Health, Intake, Part
from channels.testing import LookingChannel, TestingChannel
from channels.testing import updates as updates_module
from daemon.errors import BusUnavailable, SendRefused, SendRejected, SendUnknown
from daemon.events import Inbound, Overheard
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.contract.lab import Fault
from tests.contract.suite import ChannelContract
from tests.contract.test_testing import lab_of

pytestmark = pytest.mark.anyio


class Impatient(TestingChannel):
    __test__ = False

    async def send(self, *args: Any, **more: Any) -> str:
        try:
            return await super().send(*args, **more)
        except SendUnknown:
            return await super().send(*args, **more)


class Hopeful(TestingChannel):
    __test__ = False

    async def send(self, *args: Any, **more: Any) -> str:
        try:
            return await super().send(*args, **more)
        except SendUnknown as error:
            raise SendRefused("nothing was sent, I hope") from error


class Careless(TestingChannel):
    __test__ = False

    async def edit(self, *args: Any, **more: Any) -> None:
        try:
            await super().edit(*args, **more)
        except SendRejected:
            return


class Nameless(TestingChannel):
    __test__ = False

    async def send(self, *args: Any, **more: Any) -> str:
        await super().send(*args, **more)
        return "sent"


class Doubtful(TestingChannel):
    __test__ = False

    async def fetch(self, *args: Any, **more: Any) -> bytes:
        try:
            return await super().fetch(*args, **more)
        except SendRefused as error:
            raise SendUnknown("who knows") from error


class Confident(TestingChannel):
    __test__ = False

    async def health(self) -> Health:
        return Health(ok=True, text="fine")


class Flat(TestingChannel):
    __test__ = False

    async def send(self, chat: SessionKey, *args: Any, **more: Any) -> str:
        return await super().send(SessionKey(channel=chat.channel, chat=chat.chat), *args, **more)


class Greedy(TestingChannel):
    __test__ = False

    def length(self, text: str) -> int:
        return len(text.encode()) // 2


class Deaf(TestingChannel):
    __test__ = False

    async def receive(self, intake: Intake) -> None:
        await anyio.sleep_forever()


class Forgetful(LookingChannel):
    __test__ = False

    async def find(self, *_args: Any, **_more: Any) -> str:
        return ""


class Gullible(LookingChannel):
    __test__ = False

    async def find(self, chat: SessionKey, part: Part, **more: Any) -> str:
        return await super().find(chat, msgspec.structs.replace(part, number=0), **more)


class Hasty(LookingChannel):
    __test__ = False

    async def find(self, chat: SessionKey, part: Part, **more: Any) -> str:
        preview = msgspec.structs.replace(part, preview=True)
        return await super().find(chat, part, **more) or await super().find(chat, preview, **more)


class Wavering(LookingChannel):
    __test__ = False

    async def find(self, *args: Any, **more: Any) -> str:
        try:
            return await super().find(*args, **more)
        except SendRefused as error:
            raise SendUnknown("who knows") from error


class Nostalgic(LookingChannel):
    __test__ = False

    async def before(self, inbound: Inbound, **more: Any) -> tuple[Overheard, ...]:
        itself = Overheard(id=inbound.id, sender_id=inbound.sender_id, text=inbound.text, at=inbound.received_at)
        return (*await super().before(inbound, **more), itself)


class Growing(TestingChannel):
    __test__ = False

    shown = ""

    async def send(self, chat: SessionKey, part: Part, **more: Any) -> str:
        self.shown = part.text
        return await super().send(chat, part, **more)

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, **more: Any) -> None:
        self.shown = part.text if part.text.startswith(self.shown) else self.shown + part.text
        await super().edit(chat, platform_id, msgspec.structs.replace(part, text=self.shown), **more)


async def one_after_the_other(intake: Intake, arrivals: Any) -> int:
    """As ``take_all``, all chats in one row."""
    for place, arrival in enumerate(arrivals):
        try:
            if arrival is not None:
                await intake.take(arrival)
        except BusUnavailable:
            return place
    return len(arrivals)


async def all_dealt_with(intake: Intake, arrivals: Any) -> int:
    """As ``take_all``, but what could not be kept is given up."""
    await batch.take_all(intake, arrivals)
    return len(arrivals)


async def in_any_order(intake: Intake, arrivals: Any) -> int:
    """As ``take_all``, but everything at once."""
    async with anyio.create_task_group() as tg:
        for arrival in arrivals:
            if arrival is not None:
                tg.start_soon(intake.take, arrival)
    return len(arrivals)


contract = ChannelContract()


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (Impatient, contract.test_what_became_of_a_part_that_went_wrong_is_told_apart),
        (Hopeful, contract.test_what_became_of_a_part_that_went_wrong_is_told_apart),
        (Careless, contract.test_what_is_gone_cannot_be_edited),
        (Nameless, contract.test_what_is_sent_is_shown_once_and_has_an_id),
        (Doubtful, contract.test_a_file_that_cannot_be_had_is_never_in_doubt),
        (Confident, contract.test_who_is_not_known_is_told_what_to_do),
        (Flat, contract.test_what_is_sent_to_a_thread_is_shown_and_changed_there_alone),
        (Greedy, contract.test_its_length_grows_with_the_text_and_is_never_less_than_its_parts),
        (Deaf, contract.test_what_is_said_is_handed_in),
        (Growing, contract.test_a_text_that_is_being_written_can_begin_afresh),
        (Forgetful, contract.test_what_was_sent_is_found_by_its_reply_and_number_whatever_the_attempt),
        (Forgetful, contract.test_what_nobody_knows_is_found_out_by_looking),
        (Gullible, contract.test_what_was_not_sent_is_not_found),
        (Hasty, contract.test_a_text_that_is_being_written_is_found_as_that_and_not_as_the_part),
        (Wavering, contract.test_who_cannot_look_is_never_in_doubt),
        (Nostalgic, contract.test_what_was_said_in_a_thread_before_is_read),
    ],
)
async def test_an_adapter_that_breaks_a_promise_is_found_out(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[TestingChannel], test: Any
) -> None:
    monkeypatch.setattr("tests.contract.lab.WITHIN_S", 0.5)
    await found_out(process, tmp_path, test, kind=kind)


@pytest.mark.parametrize(
    ("take_all", "test"),
    [
        (one_after_the_other, contract.test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order),
        (in_any_order, contract.test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order),
        (all_dealt_with, contract.test_what_cannot_be_kept_just_now_is_handed_in_again),
    ],
)
async def test_an_adapter_that_hands_in_wrongly_is_found_out(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take_all: Callable[..., Any], test: Any
) -> None:
    monkeypatch.setattr("tests.contract.lab.WITHIN_S", 0.5)
    monkeypatch.setattr(updates_module, "take_all", take_all)
    await found_out(process, tmp_path, test)


async def test_an_adapter_that_confirms_what_it_has_only_read_is_found_out(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = updates_module.Updates._ask

    async def confirming(self: updates_module.Updates) -> Any:
        found = await ask(self)
        if found:
            self._after = found[-1][0]
            await ask(self)
        return found

    monkeypatch.setattr("tests.contract.lab.WITHIN_S", 0.5)
    monkeypatch.setattr(updates_module, "WAIT_S", 0.0)
    monkeypatch.setattr(updates_module.Updates, "_ask", confirming)
    await found_out(process, tmp_path, contract.test_nothing_is_dealt_with_before_it_was_taken)


async def found_out(process: Process, tmp_path: Path, test: Any, *, kind: type[TestingChannel] | None = None) -> None:
    """Run a test of the contract, which has to fail."""
    more = {"fault": Fault.CUT_AFTER} if "fault" in inspect.signature(test).parameters else {}
    with pytest.raises((AssertionError, BaseExceptionGroup, TimeoutError, SendUnknown, pytest.fail.Exception)):
        async with lab_of(process, tmp_path, kind=kind) as lab:
            await test(lab, **more)
