"""Steps that several tests of the contract share."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from channels.base import Channel, Finds, LooksBack, Part, Purpose
from channels.testing.lab import HANG_S, Fault, Feature, Heard, Lab, Said
from channels.testing.loop_clock import put_forward_when
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment, Inbound, Overheard
from daemon.sessionkey import SessionKey

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
    """Go through these faults, or all but ``STALL``, without those that are impossible on the platform."""

    def over(test: Any) -> Any:
        async def with_each(self: Any, lab: Lab) -> None:
            for fault in faults or [each for each in Fault if each is not Fault.STALL]:
                if fault in lab.impossible:
                    continue
                try:
                    await test(self, lab, fault)
                except BaseException as error:
                    error.add_note(f"fault: {fault.name}")
                    raise

        with_each.__name__, with_each.__doc__ = test.__name__, test.__doc__
        return with_each

    return over


def a_part(text: str = PLAIN, *, number: int = 0, **more: object) -> Part:
    given: dict[str, Any] = {"reply": "here:1#7", "attempt": f"a-{number}-{abs(hash(text))}", **more}
    return Part(number=number, text=text, **given)


@asynccontextmanager
async def receiving(channel: Channel, heard: Heard) -> AsyncGenerator[anyio.CancelScope]:
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


async def until(reached: Callable[[], bool]) -> None:
    """Wait until something is so that no event tells of, on a platform for example."""
    with anyio.fail_after(HANG_S):
        while not reached():  # noqa: ASYNC110 - see above
            await anyio.sleep(0.005)


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
