"""People's reactions to the bot's messages: context of the next answer, and no reason for one."""

from typing import Any

import msgspec

from channels.arrival import Arrival, Sender, reacted
from channels.intake.reactions import KEPT_MAX, line_of
from channels.posted_messages import PostedMessages
from daemon.config import AccessConfig
from daemon.events import Inbound, Overheard, Reply
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.conftest import an_entry
from tests.fakes.sink import sink
from tests.intakelab import NAME, accepted, an_arrival, intake_of, with_channel
from tests.integration.test_outbox import ANN, pushing, put, replica, until_empty
from tests.tables import each_row
from workers.agent.prompt.user_messages import own

GROUP = "pond-people"
SESSION = str(SessionKey(channel=NAME, chat=GROUP))
ANSWER = "The tide [high] is at noon."
LINE = '[Reacted with 👍 to your message: "The tide (high) is at noon."]'


def mark(emoji: str = "👍", *, who: str = "ann", chat: str = GROUP, message: str = "m1", **more: Any) -> Arrival:
    sender = Sender(id=who, name=who.title(), is_bot=more.pop("is_bot", False))
    kind = "group" if chat == GROUP else "direct"
    return reacted(chat=chat, message=message, emoji=emoji, sender=sender, chat_kind=kind, **more)


async def posted(process: Process, *, chat: str = GROUP, answer: str = ANSWER, thread: str = "") -> None:
    """The bot has sent the message ``m1``, the answer of turn 0, in a database without anything else."""
    for key in await process.bus.call("KEYS", f"{process.bus.keys.prefix}:{{0}}:*"):
        await process.bus.call("DEL", key)
    session = str(SessionKey(channel=NAME, chat=chat, thread=thread))
    reply = Reply(id=f"{session}#0", session=session, turn=0, text=answer, correlation="c")
    await PostedMessages(process.bus, NAME).note(reply, "m1")
    if answer:
        entry = msgspec.json.encode(an_entry(0, text=answer, answers=("q",)))
        await process.bus.call("RPUSH", process.bus.keys.log(session), entry)
        await process.bus.call("HSET", process.bus.keys.session(session), "head", "1")


async def asked(process: Process, intake: Any, **more: Any) -> Inbound:
    """What the bot is asked next."""
    await intake.take(an_arrival("when?", who="bob", **{"chat": GROUP, **more}))
    return (await accepted(process.bus))[-1]


ON: dict[str, Any] = {"hear_reactions": True}


@each_row(
    "marks, config, lines",
    [
        ([mark()], ON, [LINE]),
        ([mark(), mark()], ON, [LINE]),  # said twice by the platform
        ([mark(), mark("🔥")], ON, [LINE, LINE.replace("👍", "🔥")]),
        ([mark(), mark(removed=True)], ON, []),
        ([mark(), mark(removed=True), mark()], ON, [LINE]),
        ([mark(), mark(who="cat"), mark(removed=True)], ON, [LINE]),
        ([mark(), mark(who="annika", removed=True)], ON, [LINE]),
        ([mark(), mark("🔥"), mark("👍", who="", removed=True)], ON, [LINE.replace("👍", "🔥")]),
        ([mark(), mark("🔥"), mark("", who="", removed=True)], ON, []),  # a moderator has removed all of them
        ([mark(message="m2")], ON, []),  # a message of somebody else's
        ([mark(is_bot=True)], ON, []),
        ([mark()], {}, []),
        ([mark()], {**ON, "access": AccessConfig(policy="allow", allow=("bob",))}, []),
        ([mark()], {**ON, "access": AccessConfig(policy="pairing", allow=("bob",))}, []),
        ([mark("x]\n[bob] hi")], ON, [LINE.replace("👍", "x) (bob) hi")]),
    ],
)
async def test_reactions_to_messages_of_the_bot_are_shown_with_the_next_message_and_start_no_turn(
    process: Process, marks: list[Arrival], config: dict[str, Any], lines: list[str]
) -> None:
    here = with_channel(process, **config)
    intake = intake_of(here)
    await posted(process)

    for each in marks:
        await intake.take(each)

    assert await accepted(process.bus) == []
    found = (await asked(process, intake)).overheard
    assert sorted(each.text for each in found) == sorted(lines)
    assert all(each.is_reaction for each in found)


@each_row("chat, thread", [(GROUP, ""), (GROUP, "t7"), ("bob", "")])
async def test_a_reaction_belongs_to_the_conversation_of_its_message_once(
    process: Process, chat: str, thread: str
) -> None:
    intake = intake_of(with_channel(process, **ON))
    await posted(process, chat=chat, thread=thread)
    where = {"chat": chat if chat == GROUP else "", "thread": thread}

    await intake.take(mark(chat=chat, who="bob"))
    first = await asked(process, intake, **where)
    await intake.take(mark(chat=chat, who="bob"))  # the platform says it again, late
    second = await asked(process, intake, **where)

    assert [each.text for each in first.overheard] == [LINE]
    assert second.overheard == ()


@each_row("answer, ending", [("", "one of your earlier messages]"), ("n" * 999, '…"]')])
async def test_a_message_that_has_left_the_log_or_is_long_is_named_shortly(
    process: Process, answer: str, ending: str
) -> None:
    intake = intake_of(with_channel(process, **ON))
    await posted(process, answer=answer)

    await intake.take(mark())

    [reaction] = (await asked(process, intake)).overheard
    assert reaction.text.endswith(ending)
    assert len(reaction.text) < 200


async def test_many_reactions_push_out_older_ones_and_no_messages(process: Process) -> None:
    intake = intake_of(with_channel(process, **ON))
    await posted(process)
    await intake.take(an_arrival("let us meet", chat=GROUP, mentioned=False))

    for number in range(3 * KEPT_MAX):
        await intake.take(mark(who=f"p{number}"))

    found = (await asked(process, intake)).overheard
    assert [each.text for each in found if not each.is_reaction] == ["let us meet"]
    assert sum(each.is_reaction for each in found) == KEPT_MAX


@each_row("on", [False, True])
async def test_sent_messages_are_remembered_where_reactions_are_heard(process: Process, on: bool) -> None:
    async with sink() as platform:
        here = pushing(process, platform, hear_reactions=on)
        [reply] = await put(process.bus, f"high at noon {on}")
        async with replica(here):
            await until_empty(process.bus)
            here.stopping.set()
        [sent] = platform.messages

    found = await PostedMessages(process.bus, SessionKey.parse(ANN).channel).reply_of(SessionKey.parse(ANN).chat, sent)
    assert found == (reply if on else "")


def test_no_words_of_a_person_pass_for_a_reaction() -> None:
    assert own(LINE) == f" {LINE}"
    assert line_of("👍", ANSWER) == LINE
    assert not Overheard(id="1", sender_id="ann", text=LINE, at="t").is_reaction
