"""The whole way on Telegram: an update in, a turn of a scripted model, a reply out, on a real server."""

import unicodedata
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest

from channels.live_display import typing_indicator
from channels.push import serve as serve_channels
from channels.telegram import TelegramChannel, channel, polling
from daemon.config import (
    AccessConfig,
    BotConfig,
    Config,
    ModelConfig,
    QueueConfig,
    SpeechConfig,
    TelegramConfig,
    TranscriptionConfig,
)
from daemon.config.channels import WebhookConfig
from daemon.config.secret import Secret
from daemon.process import Process
from daemon.testing import Gate
from tests.fakes.openai_server import Plain, fake_openai
from tests.fakes.telegram import Bot, Cut, FakeTelegram, Refuse, fake_telegram
from tests.fakes.telegram.entities import units
from tests.integration.test_outbox import Room, room
from tests.speaking import ODD, WORDS, Slow, Speaking, Walk, Watched
from workers.agent.service import serve as serve_agents

__all__ = ["room"]

NAME = "lake"
OPEN = AccessConfig(policy="open")

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
DEAF = "\U0001f9cf\U0001f3fd\u200d\u2640\ufe0f"
FLAG = "\U0001f1e9\U0001f1ea"
ACCENTED = "e\u0301\u0323"
QUEUE = QueueConfig(lease_s=6.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


@asynccontextmanager
async def walking(
    process: Process,
    telegram: FakeTelegram,
    *,
    model: Speaking | None = None,
    admins: Sequence[str] = (),
    bots: Sequence[Bot] = (),
    bot: BotConfig | None = None,
    **channel: Any,
) -> AsyncGenerator[Walk]:
    """Everything running for the length of the block; each of ``bots`` is a channel of its own beside the first."""
    answering = model or Speaking()

    async def connect(_config: ModelConfig, *, language: str) -> Speaking:
        return answering

    fields: dict[str, Any] = {
        "base_url": telegram.base_url,
        "access": OPEN,
        "send_timeout_s": 3.0,
        "debounce_s": 0,
        **channel,
    }
    tokens = {NAME: telegram.bot.token, **{each.person.username: each.token for each in bots}}
    one = replace(
        process,
        config=Config(
            queue=process.config.queue,
            bots={"pond": bot or BotConfig(admins=tuple(admins))},
            channels={name: TelegramConfig(token=Secret(token), **fields) for name, token in tokens.items()},
        ),
        connect_model=connect,  # type: ignore[arg-type]
        stopping=anyio.Event(),
    )
    async with anyio.create_task_group() as tg:
        await tg.start(partial(serve_channels, one))
        await tg.start(partial(serve_agents, one))
        yield Walk(telegram, one, answering)
        one.stopping.set()
    assert telegram.oddities() == []


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests, and times between messages, that are long enough to be there; test_pacing.py has those of Telegram."""
    monkeypatch.setattr(typing_indicator, "FIRST_S", 0.0)
    limits = msgspec.structs.replace(TelegramChannel.limits, edit_every_s=0.01, group_edit_every_s=0.01)
    monkeypatch.setattr(TelegramChannel, "limits", limits)
    for name in ("ALL_S", "CHAT_S", "GROUP_S"):
        monkeypatch.setattr(channel, name, 0.01)
    monkeypatch.setattr(polling, "PAUSE_MIN_S", 0.01)
    monkeypatch.setattr(polling, "PAUSE_MAX_S", 0.01)


@pytest.fixture
async def telegram() -> AsyncGenerator[FakeTelegram]:
    async with fake_telegram(floods=False) as telegram:
        yield telegram


async def test_what_a_person_says_is_answered_once_and_its_update_confirmed(process: Process, telegram: FakeTelegram):
    ann = telegram.direct(telegram.person("Ann"))
    ann.say("How deep is the pond?")
    async with walking(process, telegram) as walk:
        await walk.shows(ann, "echo: How deep is the pond?")
        ann.say("And how wide?")
        await walk.shows(ann, "echo: How deep is the pond?", "echo: And how wide?")
        await telegram.until(lambda: not telegram.bot.updates)

    assert await walk.said(f"{NAME}:{ann.id}") == ["How deep is the pond?", "And how wide?"]


async def test_updates_that_come_again_and_in_another_order_are_answered_once_each(
    process: Process, telegram: FakeTelegram
) -> None:
    people = [telegram.direct(telegram.person(name)) for name in ("Ann", "Bob", "Cat")]
    telegram.bot.order = lambda updates: updates[::-1] + updates[:1]
    for chat in people:
        chat.say("hello")
    telegram.bot.push("hologram", {"depth": 3})
    telegram.bot.push("message", {"message_id": "one", "chat": None})
    async with walking(process, telegram) as walk:
        for chat in people:
            await walk.shows(chat, "echo: hello")
        await telegram.until(lambda: not telegram.bot.updates)
        telegram.bot.again(5)
        people[0].say("once more")
        await walk.shows(people[0], "echo: hello", "echo: once more")
        await telegram.until(lambda: not telegram.bot.updates)

    assert [chat.texts() for chat in people[1:]] == [["echo: hello"]] * 2


async def test_a_message_changed_while_it_waits_is_answered_as_it_is_then(process: Process, telegram: FakeTelegram):
    ann = telegram.direct(telegram.person("Ann"))
    gate = Gate()
    async with walking(process, telegram, model=Speaking(gate=gate)) as walk:
        ann.say("first")
        await gate.reached()
        late = ann.say("at noon")
        await telegram.until(lambda: not telegram.bot.updates)
        ann.edit(late, "at one")
        await telegram.until(lambda: not telegram.bot.updates)
        gate.open()
        await walk.shows(ann, "echo: first", "echo: at one")

    assert await walk.said(f"{NAME}:{ann.id}") == ["first", "at one"]


async def test_what_a_message_answers_to_is_told_to_the_model(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    async with walking(process, telegram) as walk:
        ann.say("Name two lakes")
        await walk.answered(ann, "Name two lakes")
        ann.say("this one?", reply_to=ann.shown()[0], quote="two lakes")
        await walk.answered(ann, "this one?")

    assert "In reply to" in walk.model.asked()
    assert "two lakes" in walk.model.asked()


async def test_an_album_is_one_question(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    pictures = [telegram.file("photo", b"\xff\xd8picture", name=f"{n}.jpg") for n in range(3)]
    async with walking(process, telegram, model=Speaking(lambda _text: "three ducks")) as walk:
        ann.album(pictures, text="What is this?")
        await walk.shows(ann, "three ducks")

    assert len(await walk.said(f"{NAME}:{ann.id}")) == 3
    assert len([entry for entry in await walk.log(f"{NAME}:{ann.id}") if entry.answers]) == 1


async def test_in_a_group_it_answers_whom_it_is_asked_by_and_has_heard_what_came_before(
    process: Process, telegram: FakeTelegram
) -> None:
    group = telegram.group()
    ann, bob = telegram.person("Ann"), telegram.person("Bob")
    async with walking(process, telegram) as walk:
        group.say("The tide is at nine.", by=ann)
        group.say("No, at ten.", by=bob)
        asked = group.say("@pond_bot when is it?", by=ann)
        reply = await walk.answered(group, "when is it?")
        group.say("so at ten then", by=bob)
        group.say("and where?", by=bob, reply_to=reply)
        await walk.answered(group, "and where?")
        refused = group.say("/new@pond_bot", by=bob)
        told = await walk.answered(group, "only this bot's administrators can use /new")

    assert told.reply_to is refused
    assert len(group.texts()) == 3
    assert reply.reply_to is asked
    first = walk.model.asked(0)
    assert first.index("The tide is at nine.") < first.index("No, at ten.") < first.index("when is it?")
    assert "Ann" in first and "Bob" in first
    assert "so at ten then" in walk.model.asked()


async def test_topics_are_conversations_of_their_own(process: Process, telegram: FakeTelegram) -> None:
    forum = telegram.group(forum=True)
    async with walking(process, telegram) as walk:
        forum.say("@pond_bot boats", thread=5)
        forum.say("@pond_bot fish", thread=9)
        await walk.shows(forum, "echo: boats", thread=5)
        await walk.shows(forum, "echo: fish", thread=9)

    assert await walk.said(f"{NAME}:{forum.id}:5") != await walk.said(f"{NAME}:{forum.id}:9") != []


async def test_a_group_that_becomes_a_supergroup_goes_on_as_the_same_conversation(
    process: Process, telegram: FakeTelegram
) -> None:
    old = telegram.group(kind="group")
    gate = Gate()
    async with walking(process, telegram, model=Speaking(gate=gate)) as walk:
        old.say("@pond_bot before")
        await gate.reached()
        new = old.migrate()
        await telegram.until(lambda: not telegram.bot.updates)
        gate.open()
        await walk.answered(new, "before")
        new.say("@pond_bot after")
        await walk.answered(new, "after")

    assert old.texts() == []
    said = await walk.said(f"{NAME}:{old.id}")
    assert ["before" in said[0], "after" in said[1]] == [True, True]


async def test_a_stranger_is_answered_once_an_administrator_has_let_them_in(process: Process, telegram: FakeTelegram):
    ann, eve = (telegram.direct(telegram.person(name)) for name in ("Ann", "Eve"))
    pairing = AccessConfig(policy="pairing")
    async with walking(process, telegram, admins=[f"{NAME}:{ann.id}"], access=pairing) as walk:
        eve.say("let me in")
        code = (await walk.answered(eve, "/pair ")).text.partition("/pair ")[2].split()[0].strip("`.,")
        eve.say(f"/pair {code}")  # not an administrator
        ann.say(f"/pair {code}")
        await telegram.until(lambda: len(eve.texts()) > 1 or len(ann.texts()) > 0)
        await walk.answered(ann, "Eve")
        eve.say("hello again")
        await walk.answered(eve, "echo: hello again")

    assert await walk.said(f"{NAME}:{eve.id}") == ["hello again"]


async def test_a_closed_bot_says_nothing(process: Process, telegram: FakeTelegram) -> None:
    ann, eve = (telegram.direct(telegram.person(name)) for name in ("Ann", "Eve"))
    allowed = AccessConfig(allow=(str(ann.id),))
    async with walking(process, telegram, access=allowed) as walk:
        eve.say("hello?")
        telegram.group().say("@pond_bot hello?", by=eve.person)
        ann.say("hello")
        await walk.shows(ann, "echo: hello")
        await telegram.until(lambda: not telegram.bot.updates)

    assert [message.chat for message in telegram.sent()] == [ann]


async def test_bots_that_talk_to_each_other_fall_silent(process: Process, telegram: FakeTelegram) -> None:
    group, other = telegram.group(), telegram.person("Other", username="other_bot", is_bot=True)
    async with walking(process, telegram, access=AccessConfig(policy="open", bots=True)) as walk:
        for number in range(9):
            group.say(f"@pond_bot you said {number}", by=other)
            await telegram.until(lambda: not telegram.bot.updates)
        group.say("@pond_bot quiet now?", by=telegram.person("Ann"))
        await walk.answered(group, "quiet now?")

    answered = [entry for entry in await walk.log(f"{NAME}:{group.id}") if entry.answers]
    assert sum(len(entry.answers) for entry in answered) == 6


async def test_other_bots_are_not_answered_at_all(process: Process, telegram: FakeTelegram) -> None:
    group, other = telegram.group(), telegram.person("Other", username="other_bot", is_bot=True)
    async with walking(process, telegram) as walk:
        group.say("@pond_bot hello bot", by=other)
        group.say("@pond_bot hello", by=telegram.person("Ann"))
        await walk.shows(group, "echo: hello")


async def test_several_bots_are_channels_of_their_own(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.person("Ann")
    more = [telegram.new_bot(f"bot_{name}_bot") for name in ("b", "c")]
    chats = [bot.direct(ann) for bot in (telegram.bot, *more)]
    async with walking(process, telegram, bots=more) as walk:
        for number, chat in enumerate(chats):
            chat.say(f"you are {number}")
        for number, chat in enumerate(chats):
            await walk.shows(chat, f"echo: you are {number}")

    assert await walk.said(f"bot_b_bot:{ann.id}") == ["you are 1"]


async def test_with_a_webhook_updates_are_brought_and_a_wrong_secret_is_sent_away(
    process: Process, telegram: FakeTelegram, free_port: int
) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    telegram.webhook_at = f"http://127.0.0.1:{free_port}"
    hook = WebhookConfig(url="https://millpond.example/hooks/lake", port=free_port)
    async with walking(process, telegram, webhook=hook) as walk:
        ann.say("brought")
        await walk.shows(ann, "echo: brought")
        forged = {"update_id": 1, "message": {**ann.say("forged", tell=False).said()}}
        status, _ = await telegram.press_hook(telegram.bot, forged, secret="guessed")
        ann.say("brought again")
        await walk.shows(ann, "echo: brought", "echo: brought again")

    assert status in (401, 403)
    assert telegram.called("getUpdates") == []


async def test_a_chat_that_is_told_to_wait_holds_up_no_other(process: Process, telegram: FakeTelegram) -> None:
    ann, bob = (telegram.direct(telegram.person(name)) for name in ("Ann", "Bob"))
    script = iter([Refuse(429, retry_after=3_600)])
    telegram.faults.when("send[MR]*", lambda call: next(script, None) if call.chat == ann.id else None)
    async with walking(process, telegram, streaming=False, typing=False) as walk:
        ann.say("slow")
        await telegram.until(lambda: bool(telegram.called("send", ok=False)))
        for texts in (["echo: quick"], ["echo: quick", "echo: again"]):
            bob.say(texts[-1].removeprefix("echo: "))
            await walk.shows(bob, *texts)
    assert len(telegram.called("send", ok=False)) == 1 and ann.texts() == []

    async with walking(process, telegram, streaming=False, typing=False) as walk:
        await walk.shows(ann, "echo: slow")
    assert await walk.unknown() == []


async def test_a_reply_whose_answer_was_lost_is_not_said_again(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    telegram.faults.on("send[MR]*", Cut())
    async with walking(process, telegram, streaming=False, typing=False) as walk:
        ann.say("once")
        await walk.answered(ann, "echo: once")
        ann.say("twice")
        await walk.answered(ann, "echo: twice")

    assert len(await walk.unknown()) == 1
    assert sum("once" in text for text in ann.texts()) in (1, 2)


async def test_servers_that_fail_for_a_while_lose_nothing(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    telegram.faults.on("send[MR]*", Refuse(500), Refuse(502), Refuse(429, retry_after=0))
    telegram.faults.on("getUpdates", Refuse(500), Cut(), None)
    async with walking(process, telegram, streaming=False, typing=False) as walk:
        ann.say("still there?")
        await walk.shows(ann, "echo: still there?")

    assert await walk.unknown() == []


async def test_a_reply_of_200_000_characters_comes_as_a_file_beside_its_beginning(
    process: Process, telegram: FakeTelegram
) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    book = "".join(f"Paragraph {n} of the book. {FAMILY} 水池有多深？\n\n" for n in range(6_000))[:200_000].rstrip()
    async with walking(process, telegram, model=Speaking(lambda _text: book)):
        ann.say("Read it to me")
        await telegram.until(lambda: any(m.file for m in ann.shown()))
        await telegram.until(lambda: "…" in " ".join(ann.texts()) or len(ann.shown()) == 1)

    files = [message.file.data.decode() for message in ann.shown() if message.file]
    assert files == [book]
    assert all(units(text) <= 4_096 for text in ann.texts())
    assert any(text.startswith("Paragraph 0 of the book.") for text in ann.texts())


async def test_a_long_reply_is_cut_between_what_people_see_as_characters(process: Process, telegram: FakeTelegram):
    signs = (FAMILY, DEAF, FLAG, ACCENTED, "\U0001f600")
    texts = {f"{at}": "a" * (at % 3) + sign * (9_000 // units(sign)) for at, sign in enumerate(3 * signs)}
    chats = {name: telegram.direct(telegram.person(name)) for name in texts}
    async with walking(process, telegram, model=Speaking(lambda name: texts[name]), streaming=False, rich=False):
        for name, chat in chats.items():
            chat.say(name)
        for name, chat in chats.items():
            await telegram.until(lambda name=name, chat=chat: "".join(chat.texts()) == texts[name])

    for (_, chat), sign in zip(chats.items(), 3 * signs, strict=True):
        for part in chat.texts():
            assert units(part) <= 4_096
            assert not unicodedata.combining(part[0])
            assert part[0] not in "\u200d\ufe0f\U0001f3fd"
            assert part.replace(sign, "").strip("a") == ""


@pytest.mark.parametrize("rich", [True, False], ids=["rich", "old-server"])
async def test_markdown_that_no_parser_likes_arrives_with_all_of_its_words(process: Process, rich: bool) -> None:
    async with fake_telegram(rich=rich, floods=False) as telegram:
        chats = {kind: telegram.direct(telegram.person(kind)) for kind in ODD}
        async with walking(process, telegram, model=Speaking(lambda kind: ODD[kind]), streaming=False):
            for kind, chat in chats.items():
                chat.say(kind)
            for kind, chat in chats.items():
                await telegram.until(lambda chat=chat: bool(chat.texts()))
                missing = [word for word in WORDS[kind] if word not in "\n".join(chat.texts())]
                assert missing == [], (kind, chat.texts())
            await telegram.until(lambda: telegram.open == 0)

    for kind, chat in chats.items():
        assert sum(WORDS[kind][0] in text for text in chat.texts()) == 1, kind


async def test_a_flood_in_one_chat_loses_nothing_and_holds_up_no_other(process: Process, telegram: FakeTelegram):
    eve, ann = (telegram.direct(telegram.person(name)) for name in ("Eve", "Ann"))
    async with walking(process, telegram, debounce_s=0.2) as walk:
        for number in range(100):
            eve.say(f"flood {number}")
        ann.say("hello")
        await walk.shows(ann, "echo: hello")
        await telegram.until(lambda: not telegram.bot.updates)

    assert [message.text for message in ann.shown()] == ["echo: hello"]


async def test_a_picture_is_shown_to_a_model_that_sees(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    picture = telegram.file("photo", b"\xff\xd8\xff\xe0 a duck", name="duck.jpg")
    sees = BotConfig(model=ModelConfig(vision=True))
    async with walking(process, telegram, model=Speaking(lambda _text: "a duck"), bot=sees) as walk:
        ann.say("What is this?", file=picture)
        await walk.shows(ann, "a duck")

    assert "data:image/jpeg;base64," in walk.model.asked()
    assert "What is this?" in walk.model.asked()


async def test_a_file_that_is_too_large_is_said_to_be(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    book = telegram.file("document", b"x", name="book.pdf", claims_bytes=(20 << 20) + 1)
    async with walking(process, telegram, model=Speaking(lambda _text: "too large")) as walk:
        ann.say("Read this", file=book)
        await walk.shows(ann, "too large")

    assert "book.pdf" in walk.model.asked()
    assert "large" in walk.model.asked()
    assert telegram.called("download") == []


async def test_a_text_is_read_to_a_model_without_tools(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    note = telegram.file("document", "Tide at nine, 水池".encode(), name="tide.txt", mime_type="text/plain")
    async with walking(process, telegram, model=Speaking(lambda _text: "at nine"), bot=BotConfig(tools=())) as walk:
        ann.say("When?", file=note)
        await walk.shows(ann, "at nine")

    assert "Tide at nine, 水池" in walk.model.asked()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(None, "voice"), (Refuse(429, retry_after=0), "voice"), (Refuse(400, "VOICE_MESSAGES_FORBIDDEN"), "document")],
)
async def test_a_voice_message_is_answered_by_voice_and_as_text(
    process: Process, telegram: FakeTelegram, fault: Refuse | None, kind: str
) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    voice = telegram.file("voice", b"OggS spoken", mime_type="audio/ogg", duration=3)
    if fault is not None:
        telegram.faults.on("sendVoice", fault)
    heard = Plain(b'{"text": "How deep is it?"}', "application/json")
    async with fake_openai(lambda body: Plain(b"OggS sung") if "voice" in body else heard) as server:
        hears = TranscriptionConfig(base_url=server.base_url, name="whisper")
        speaks = SpeechConfig(base_url=server.base_url, name="tts-1")
        async with walking(process, telegram, bot=BotConfig(transcription=hears, speech=speaks)) as walk:
            ann.say("", file=voice)
            await walk.answered(ann, "How deep is it?")
            await telegram.until(lambda: len(ann.shown()) == 2)

    [_, spoken] = ann.shown()
    assert spoken.file is not None
    assert (spoken.file.kind, spoken.file.data) == (kind, b"OggS sung")


async def test_an_answer_is_shown_while_it_is_written_in_one_message(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    story = "Once upon a time there was a *pond* of ducks. " + " ".join(f"word{n}" for n in range(60))
    plain = story.replace("*", "")

    async def seen(text: str) -> None:
        await telegram.until(lambda: ann.texts() == [text.replace("*", "").rstrip()])

    async with walking(process, telegram, model=Watched(lambda _text: story, seen=seen), reaction="👀") as walk:
        asked = ann.say("Tell me a story")
        await walk.answered(ann, "word59")
        await telegram.until(lambda: telegram.open == 0)

    [message] = ann.shown()
    assert message.text == plain
    assert message.edits, "nothing was shown before"
    assert all(plain.startswith(edit.replace("*", "").removesuffix("…").rstrip()) for edit in message.edits)
    assert ann.actions and ann.actions[0][1] == "typing"
    await telegram.until(lambda: not asked.reactions)
    assert [call.params["reaction"] for call in telegram.called("setMessageReaction")] == [
        [{"type": "emoji", "emoji": "👀"}],
        [],
    ]


async def test_of_many_answers_at_once_nothing_is_sent_without_room_for_it(
    process: Process, telegram: FakeTelegram, room: Room
) -> None:
    chats = [telegram.direct(telegram.person(f"Person {number}")) for number in range(20)]
    group = telegram.group()
    async with walking(process, telegram, model=Slow(pause_s=0.01)) as walk:
        for number in range(2):
            for chat in chats:
                chat.say(f"{number} and more words than fit into a moment")
            group.say(f"@pond_bot {number} and more words than fit into a moment")
        for chat in (*chats, group):
            await walk.answered(chat, "1 and more words than fit into a moment")

    asked = [call for call in telegram.calls if call.method.startswith(("sendMessage", "sendRich", "editMessage"))]
    assert 21 <= len(asked) <= room.taken
    assert await walk.unknown() == []


async def test_a_button_works_once_and_that_of_an_older_list_not_at_all(
    process: Process, telegram: FakeTelegram
) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    async with walking(process, telegram) as walk:
        for text in ("the heron is grey", "the otter is brown"):
            ann.say(text)
            await walk.answered(ann, f"echo: {text}")
        ann.say("/forget heron")
        old = await walk.answered(ann, "cannot be restored")
        ann.say("/forget otter")
        await telegram.until(lambda: sum("cannot be restored" in text for text in ann.texts()) == 2)
        new = ann.shown()[-1]
        assert new.labels[0] == "Delete 1"
        assert new.labels[-1] == "Delete all entries"

        ann.press(old, "Delete 1")
        await walk.answered(ann, "older question")
        queries = [ann.press(new, "Delete all entries") for _ in range(2)]
        telegram.bot.again(1)
        await walk.answered(ann, "I am deleting the text")
        await telegram.until(lambda: all(telegram.world.queries[query] == "" for query in queries))
        await telegram.until(lambda: not telegram.bot.updates)

    assert (old.labels, new.labels) == ([], [])
    assert sum("I am deleting the text" in text for text in ann.texts()) == 1


async def test_a_press_on_a_message_that_is_inaccessible_belongs_to_the_topic_of_the_question(
    process: Process, telegram: FakeTelegram
) -> None:
    """Telegram states neither the topic nor the buttons of such a message."""
    forum, ann = telegram.group(forum=True), telegram.person("Ann")
    async with walking(process, telegram, bot=BotConfig(admins=(f"{NAME}:{ann.id}",))) as walk:
        forum.say("@pond_bot the heron is grey", by=ann, thread=5)
        await walk.answered(forum, "echo: the heron is grey", thread=5)
        forum.say("@pond_bot /forget heron", by=ann, thread=5)
        asked = await walk.answered(forum, "cannot be restored", thread=5)
        forum.press(asked, "Delete 1", by=ann, accessible=False)
        await walk.answered(forum, "I am deleting the text", thread=5)

    assert forum.texts(thread=0) == []


async def test_two_chats_are_asked_whether_they_are_to_be_linked(process: Process, telegram: FakeTelegram) -> None:
    ann, bob = telegram.direct(telegram.person("Ann")), telegram.direct(telegram.person("Bob_*x*"))
    async with walking(process, telegram) as walk:
        ann.say("/link")
        code = (await walk.answered(ann, "Your code is")).text.split()[3].rstrip(".")
        bob.say(f"/link {code}")
        asked, told = await walk.answered(bob, "created this code"), await walk.answered(ann, "sent your code")
        assert (f"“Ann” ({NAME}:{ann.id})" in asked.text, f"“Bob x” ({NAME}:{bob.id})" in told.text) == (True, True)
        assert asked.labels == told.labels == ["Confirm the link", "Reject the link"]
        bob.press(asked, "Confirm the link")
        await walk.answered(bob, "to confirm")
        ann.press(told, "Reject the link")
        await walk.answered(bob, "rejected the link")
        await telegram.until(lambda: not asked.labels and not told.labels)
