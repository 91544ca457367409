"""The intake on a real server: what is accepted, what is kept for later, and what a chat is told."""

from typing import Any

import pytest

from daemon.events import Attachment, Inbound, Quote
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.intakelab import NAME, accepted, an_arrival, intake_of, texts, with_channel

pytestmark = pytest.mark.anyio

GROUP = "-100"
SESSION = f"{NAME}:{GROUP}"


def aside(text: str, **more: Any) -> Any:
    """Something said in the group, and not to the bot."""
    return an_arrival(text, chat=GROUP, mentioned=False, **more)


# What is accepted


async def test_what_is_said_on_an_open_channel_is_accepted_with_all_that_belongs_to_it(process: Process) -> None:
    here = with_channel(process)
    quote = Quote(text="older", sender_name="Bob", sender_id="bob")
    photo = Attachment(kind="image", name="p.jpg", source="f1")

    await intake_of(here).take(an_arrival("look", thread="7", attachments=(photo,), reply_to="m0", quote=quote))

    [inbound] = await accepted(process.bus)
    assert inbound.session == SessionKey(channel=NAME, chat="ann", thread="7")
    assert (inbound.text, inbound.sender_id, inbound.sender_name, inbound.chat_kind) == ("look", "ann", "Ann", "direct")
    assert (inbound.delivery, inbound.quote, inbound.reply_to, inbound.attachments) == ("push", quote, "m0", (photo,))
    assert inbound.platform_ids[1] == inbound.id


async def test_the_same_update_again_is_accepted_once_and_another_message_of_the_same_text_too(
    process: Process,
) -> None:
    intake, arrival = intake_of(with_channel(process)), an_arrival("hi")

    await intake.take(arrival)
    await intake.take(arrival)
    await intake.take(an_arrival("hi"))

    assert await texts(process.bus) == ["hi", "hi"]


async def test_what_was_accepted_is_shown_once(process: Process) -> None:
    shown: list[Inbound] = []

    class Shows:
        def accepted(self, session: SessionKey, inbound: Inbound) -> None:
            shown.append(inbound)

    intake, arrival = intake_of(with_channel(process), shown=Shows()), an_arrival()
    await intake.take(arrival)
    await intake.take(arrival)

    assert [inbound.id for inbound in shown] == [arrival.id]
