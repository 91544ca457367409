"""The whole way on Slack: an event in, a turn of a scripted model, a reply out, on a real server."""

import json
import time
import unicodedata
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest

from channels.live_display import streamer, typing_indicator
from channels.push import serve as serve_channels
from channels.slack import SlackChannel, channel, socket_mode
from daemon.clock import SystemClock
from daemon.config import (
    AccessConfig,
    BotConfig,
    Config,
    ModelConfig,
    QueueConfig,
    SlackConfig,
    SpeechConfig,
    TranscriptionConfig,
)
from daemon.config.channels import SlackEventsConfig
from daemon.config.secret import Secret
from daemon.model import Answer, Chunk, Request, ToolCall
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import Gate
from tests.fakes.openai_server import Plain, fake_openai
from tests.fakes.slack import Bot, Channel, Cut, FakeSlack, Page, Refuse, fake_slack
from tests.integration.test_outbox import Room, room
from tests.speaking import ODD, WORDS, Slow, Speaking, Walk, Watched
from workers.agent.service import serve as serve_agents

__all__ = ["room"]

NAME = "lake"
OPEN = AccessConfig(policy="open")
PART_MAX = 12_000  # characters of ``markdown_text`` (Slack's documentation of chat.postMessage)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
ACCENTED = "e\u0301\u0323"
QUEUE = QueueConfig(lease_s=6.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


def session(chat: Channel, thread: str = "", *, channel: str = NAME) -> str:
    return str(SessionKey(channel=channel, chat=chat.id, thread=thread))


@asynccontextmanager
async def walking(
    process: Process,
    slack: FakeSlack,
    *,
    model: Speaking | None = None,
    admins: Sequence[str] = (),
    bots: Mapping[str, Bot] | None = None,
    bot: BotConfig | None = None,
    replicas: int = 1,
    **channel: Any,
) -> AsyncGenerator[Walk]:
    """Everything running for the length of the block; each of ``bots`` is a channel of its own beside the first.

    ``channel``: what their sections say; where events are brought, the first one only.
    """
    answering = model or Speaking()

    async def connect(_config: ModelConfig, *, language: str) -> Speaking:
        return answering

    base: dict[str, Any] = {"base_url": slack.base_url, "access": OPEN, "send_timeout_s": 3.0}
    installed = {NAME: slack.bot, **(bots or {})}
    channels = {
        name: SlackConfig(**{**base, "bot_token": Secret(each.token), "app_token": Secret(each.app.token), **channel})
        for name, each in installed.items()
    }
    for name in bots or {}:
        channels[name] = msgspec.structs.replace(channels[name], events=SlackEventsConfig())
    config = Config(
        queue=process.config.queue, bots={"pond": bot or BotConfig(admins=tuple(admins))}, channels={**channels}
    )
    # Slack's signatures have the time of now.
    one = replace(process, config=config, connect_model=connect, clock=SystemClock(), stopping=anyio.Event())  # type: ignore[arg-type]
    async with anyio.create_task_group() as tg:
        for number in range(replicas):
            await tg.start(partial(serve_channels, replace(one, name=f"replica-{number}")))
        await tg.start(partial(serve_agents, one))
        yield Walk(slack, one, answering)
        one.stopping.set()
    assert slack.oddities() == []


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests, and times between messages, that are long enough to be there; test_pacing.py has those of Slack."""
    monkeypatch.setattr(typing_indicator, "FIRST_S", 0.0)
    limits = msgspec.structs.replace(SlackChannel.limits, edit_every_s=0.01, group_edit_every_s=0.01)
    monkeypatch.setattr(SlackChannel, "limits", limits)
    monkeypatch.setattr(channel, "CHAT_S", 0.01)
    monkeypatch.setattr(socket_mode, "PAUSE_MIN_S", 0.01)
    monkeypatch.setattr(socket_mode, "GREETED_MAX_S", 0.01)
    monkeypatch.setattr(streamer, "REFUSED_S", 0.01)


@pytest.fixture
async def slack() -> AsyncGenerator[FakeSlack]:
    async with fake_slack(floods=False) as slack:
        yield slack


async def test_what_a_person_says_is_answered_once_and_its_envelope_acknowledged(process: Process, slack: FakeSlack):
    ann = slack.direct(slack.person("Ann"))
    ann.say("How deep is the pond?")
    async with walking(process, slack) as walk:
        await walk.shows(ann, "echo: How deep is the pond?")
        ann.say("And how &lt;wide&gt;?")
        await walk.shows(ann, "echo: How deep is the pond?", "echo: And how <wide>?")
        await slack.settled()

    assert await walk.said(session(ann)) == ["How deep is the pond?", "And how <wide>?"]


async def test_envelopes_that_come_again_and_such_as_nobody_knows_are_answered_once(process: Process, slack: FakeSlack):
    people = [slack.direct(slack.person(name)) for name in ("Ann", "Bob", "Cat")]
    for chat in people:
        chat.say("hello")
    slack.bot.push({"type": "hologram", "depth": 3})
    slack.bot.push({"type": "message", "channel": None, "ts": 7})
    slack.app.bring("lighthouse", {"lit": True})
    slack.app.bring_raw(b"{no envelope")
    async with walking(process, slack) as walk:
        for chat in people:
            await walk.shows(chat, "echo: hello")
        await slack.settled()
        slack.app.again(5)
        people[0].say("once more")
        await walk.shows(people[0], "echo: hello", "echo: once more")
        await slack.settled()

    assert [chat.texts() for chat in people[1:]] == [["echo: hello"]] * 2


async def test_a_message_changed_while_it_waits_is_answered_as_it_is_then(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    gate = Gate()
    async with walking(process, slack, model=Speaking(gate=gate)) as walk:
        ann.say("first")
        await gate.reached()
        late = ann.say("at noon https://example.com")
        await slack.settled()
        ann.unfurl(late)
        ann.edit(late, "at one")
        await slack.settled()
        gate.open()
        await walk.shows(ann, "echo: first", "echo: at one")

    assert await walk.said(session(ann)) == ["first", "at one"]


async def test_a_message_taken_back_while_it_waits_is_not_answered(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    gate = Gate()
    async with walking(process, slack, model=Speaking(gate=gate)) as walk:
        ann.say("first")
        await gate.reached()
        regretted = ann.say("what I should not have said")
        await slack.settled()
        ann.delete(regretted)
        await slack.settled()
        slack.app.again(2)
        await slack.settled()
        gate.open()
        await walk.shows(ann, "echo: first")
        ann.say("second")
        await walk.shows(ann, "echo: first", "echo: second")

    assert await walk.said(session(ann)) == ["first", "second"]
    assert "should not have said" not in walk.model.asked()


async def test_the_answer_to_a_message_taken_back_stops(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    gate = Gate()
    async with walking(process, slack, model=Speaking(gate=gate)) as walk:
        regretted = ann.say("what I should not have said")
        await gate.reached()
        ann.delete(regretted)
        await walk.shows(ann, "[stopped]")


async def test_a_message_taken_back_after_its_answer_changes_nothing(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    async with walking(process, slack) as walk:
        asked = ann.say("answered")
        await walk.shows(ann, "echo: answered")
        ann.delete(asked)
        ann.say("next")
        await walk.shows(ann, "echo: answered", "echo: next")

    assert await walk.said(session(ann)) == ["answered", "next"]


async def test_a_mention_that_comes_as_two_events_is_answered_once_and_in_a_thread(process: Process, slack: FakeSlack):
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    async with walking(process, slack) as walk:
        asked = lake.say(f"{slack.bot.mention} how deep is it?", by=ann)
        await walk.shows(lake, "echo: how deep is it?", thread=asked.ts)
        await slack.settled()
        slack.app.again(2)
        await slack.settled()
        further = lake.say(f"{slack.bot.mention} and how wide?", by=ann, thread=asked.ts)
        await walk.shows(lake, "echo: how deep is it?", "echo: and how wide?", thread=asked.ts)
        await slack.settled()

    assert len(slack.app.done) >= 4  # two mentions, each told twice
    answers = [entry.answers for entry in await walk.log(session(lake, asked.ts)) if entry.answers]
    assert answers == [(asked.ts,), (further.ts,)]
    assert len(lake.texts()) == 2


async def test_threads_are_conversations_of_their_own(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    async with walking(process, slack) as walk:
        boats = lake.say(f"{slack.bot.mention} boats", by=ann)
        fish = lake.say(f"{slack.bot.mention} fish", by=ann)
        await walk.shows(lake, "echo: boats", thread=boats.ts)
        await walk.shows(lake, "echo: fish", thread=fish.ts)
        lake.say(f"{slack.bot.mention} sails", by=ann, thread=boats.ts)
        await walk.shows(lake, "echo: boats", "echo: sails", thread=boats.ts)

    assert len(await walk.said(session(lake, boats.ts))) == 2
    assert len(await walk.said(session(lake, fish.ts))) == 1
    assert "fish" not in walk.model.asked()


async def test_at_its_first_mention_in_a_thread_it_knows_what_was_said_there_before(process: Process, slack: FakeSlack):
    ann, bob = slack.person("Ann"), slack.person("Bob")
    lake = slack.channel(ann, bob)
    lake.members.remove(slack.bot.person)  # so that it is told of nothing
    root = lake.say("The tide is at nine.", by=ann)
    lake.say("No, at &lt;ten&gt;.", by=bob, thread=root.ts)
    lake.say("Lunch, anybody?", by=bob)
    lake.members.append(slack.bot.person)
    async with walking(process, slack) as walk:
        lake.say(f"{slack.bot.mention} when is it?", by=ann, thread=root.ts)
        await walk.shows(lake, "echo: when is it?", thread=root.ts)
        lake.say("so at ten then", by=bob, thread=root.ts)
        lake.say(f"{slack.bot.mention} and where?", by=bob, thread=root.ts)
        await walk.answered(lake, "echo: and where?", thread=root.ts)

    first, second = walk.model.asked(0), walk.model.asked(1)
    assert first.index("The tide is at nine.") < first.index("No, at <ten>.") < first.index("when is it?")
    assert "Ann" in first and "Bob" in first
    assert "Lunch" not in first
    assert "so at ten then" in second
    assert second.count("The tide is at nine.") == 1


async def test_what_is_said_in_a_channel_to_others_is_not_answered(process: Process, slack: FakeSlack) -> None:
    ann, bob = slack.person("Ann"), slack.person("Bob")
    lake = slack.channel(ann, bob)
    async with walking(process, slack) as walk:
        lake.say("nobody asks the bot", by=ann)
        root = lake.say(f"<@{bob.id}> do you know?", by=ann)
        lake.say("not me", by=bob, thread=root.ts)
        asked = lake.say(f"{slack.bot.mention} do you?", by=bob, thread=root.ts)
        await walk.shows(lake, "echo: do you?", thread=asked.thread)
        await slack.settled()

    assert len(lake.texts()) == 1


async def test_in_a_channel_where_all_is_answered_no_mention_is_needed(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    lake = slack.channel(ann, kind="group")
    async with walking(process, slack, access=AccessConfig(policy="open", groups="all")) as walk:
        asked = lake.say("anybody here?", by=ann)
        await walk.shows(lake, "echo: anybody here?", thread=asked.ts)


async def test_people_and_channels_are_told_to_the_model_by_their_names(process: Process, slack: FakeSlack) -> None:
    ann, bob = slack.person("Ann Lake"), slack.person("Bob Marsh")
    lake = slack.channel(ann, bob)
    async with walking(process, slack) as walk:
        for question in ("ask", "or tell"):
            lake.say(f"{slack.bot.mention} {question} <@{bob.id}> in <#{lake.id}|lake>", by=ann)
            await walk.answered(lake, f"echo: {question} @")
        await slack.settled()

    assert "Ann Lake" in walk.model.asked(0)
    assert "or tell @Bob Marsh in #lake" in walk.model.asked(1)
    looked_up = [call.params["user"] for call in slack.called("users.info")]
    assert sorted(looked_up) == sorted({*looked_up})


async def test_a_thread_of_direct_messages_is_a_conversation_of_its_own(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    async with walking(process, slack) as walk:
        root = ann.say("top")
        await walk.shows(ann, "echo: top", thread="")
        ann.say("aside", thread=root.ts)
        await walk.shows(ann, "echo: aside", thread=root.ts)

    assert await walk.said(session(ann)) == ["top"]
    assert await walk.said(session(ann, root.ts)) == ["aside"]


async def test_commands_are_heard_with_a_slash_and_behind_a_mention(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    direct, lake = slack.direct(ann), slack.channel(ann)
    async with walking(process, slack) as walk:
        slack.bot.command(direct, "whoami", by=ann)
        await walk.answered(direct, ann.id)
        slack.bot.command(direct, by=ann)
        await walk.answered(direct, "/stop")
        slack.bot.command(lake, "whoami", by=ann)
        await walk.answered(lake, ann.id, thread="")
        asked = lake.say(f"{slack.bot.mention} /whoami", by=ann)
        await walk.answered(lake, ann.id, thread=asked.ts)
        slack.bot.command(lake, "new", by=ann)
        await walk.answered(lake, "only this bot's administrators can use /new", thread="")
        asked = lake.say(f"{slack.bot.mention} /compact", by=ann)
        await walk.answered(lake, "only this bot's administrators can use /compact", thread=asked.ts)
        direct.say("!help")
        await walk.answered(direct, "echo: !help")
        await slack.settled()

    assert walk.model.requests and len(walk.model.requests) == 1


async def test_a_conversation_begins_anew_when_it_is_told_to(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    direct = slack.direct(ann)
    async with walking(process, slack) as walk:
        direct.say("My boat is blue.")
        await walk.shows(direct, "echo: My boat is blue.")
        slack.bot.command(direct, "new", by=ann)
        await slack.until(lambda: len(direct.texts()) == 2)
        direct.say("What is it?")
        await walk.answered(direct, "echo: What is it?")

    assert "blue" not in walk.model.asked()


async def test_a_stranger_is_answered_once_an_administrator_has_let_them_in(process: Process, slack: FakeSlack) -> None:
    ann, eve = (slack.direct(slack.person(name)) for name in ("Ann", "Eve"))
    [owner] = [person for person in ann.members if not person.is_bot]
    pairing = AccessConfig(policy="pairing")
    async with walking(process, slack, admins=[f"{NAME}:{owner.id}"], access=pairing) as walk:
        eve.say("let me in")
        code = (await walk.answered(eve, "/pair ")).text.partition("/pair ")[2].split()[0].strip("`.,")
        slack.bot.command(eve, f"pair {code}")  # not an administrator
        slack.bot.command(ann, f"pair {code}")
        await walk.answered(ann, "Eve")
        eve.say("hello again")
        await walk.answered(eve, "echo: hello again")

    assert await walk.said(session(eve)) == ["hello again"]


async def test_a_closed_bot_says_nothing(process: Process, slack: FakeSlack) -> None:
    ann, eve = slack.person("Ann"), slack.person("Eve")
    direct = slack.direct(ann)
    async with walking(process, slack, access=AccessConfig(allow=(ann.id,))) as walk:
        slack.direct(eve).say("hello?")
        slack.channel(ann, eve).say(f"{slack.bot.mention} hello?", by=eve)
        direct.say("hello")
        await walk.shows(direct, "echo: hello")
        await slack.settled()

    assert [message.channel for message in slack.sent()] == [direct]


async def test_other_bots_are_not_answered_at_all(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    other = slack.person("Other", is_bot=True)
    lake = slack.channel(ann, other)
    async with walking(process, slack) as walk:
        lake.say(f"{slack.bot.mention} hello bot", by=other)
        asked = lake.say(f"{slack.bot.mention} hello", by=ann)
        await walk.shows(lake, "echo: hello", thread=asked.ts)
        await slack.settled()

    assert lake.texts() == ["echo: hello"]


async def test_an_app_in_two_workspaces_answers_in_each_as_its_bot_there(process: Process, slack: FakeSlack) -> None:
    other = slack.install(slack.app, slack.new_team("Other"))
    here, there = slack.direct(slack.person("Ann")), other.direct(other.team.person("Ann"))
    async with walking(process, slack, bots={"marsh": other}) as walk:
        here.say("you are one")
        there.say("you are another")
        await walk.shows(here, "echo: you are one")
        await walk.shows(there, "echo: you are another")
        await slack.settled()

    assert await walk.said(session(there, channel="marsh")) == ["you are another"]
    assert await walk.said(session(here)) == ["you are one"]


async def test_two_replicas_answer_everything_once_between_them(process: Process, slack: FakeSlack) -> None:
    chats = [slack.direct(slack.person(f"Person {number}")) for number in range(12)]
    async with walking(process, slack, replicas=2) as walk:
        await slack.connected(2)
        for turn in range(2):
            for chat in chats:
                chat.say(f"message {turn}")
            slack.app.again(5)
        for chat in chats:
            await walk.answered(chat, "message 1")
        await slack.settled()

    for chat in chats:
        answers = [entry.answers for entry in await walk.log(session(chat)) if entry.answers]
        assert sum(len(each) for each in answers) == 2
        assert len(chat.texts()) == len(answers)


async def test_sockets_that_end_in_every_way_lose_nothing(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    texts: list[str] = []

    async def says(walk: Walk, text: str) -> None:
        ann.say(text)
        texts.append(text)
        await walk.shows(ann, *(f"echo: {text}" for text in texts))

    async with walking(process, slack) as walk:
        for reason in ("warning", "refresh_requested"):
            for socket in list(await slack.connected()):  # after a warning the old one is served beside the new
                await socket.disconnect(reason, after_s=0.01)
            await says(walk, f"{reason}?")
        for socket in list(await slack.connected()):
            await socket.cut(half=True)
        await says(walk, "cut?")
        slack.faults.on("envelope", Cut(half=True), Cut())
        slack.faults.on("acknowledge", Page())
        await says(walk, "and in the middle of what is told?")
        await slack.settled()

    assert await walk.said(session(ann)) == texts


async def test_events_that_are_brought_are_answered_and_such_as_are_signed_wrong_or_late_are_sent_away(
    process: Process, slack: FakeSlack, free_port: int
) -> None:
    ann = slack.person("Ann")
    direct, lake = slack.direct(ann), slack.channel(ann)
    events = SlackEventsConfig(url="https://millpond.example/slack/events", port=free_port)
    slack.app.url, slack.brought_at = events.url, f"http://127.0.0.1:{free_port}"
    secrets = {"signing_secret": Secret(slack.app.signing_secret), "app_token": Secret("")}
    async with walking(process, slack, events=events, **secrets) as walk:
        direct.say("brought")
        await walk.shows(direct, "echo: brought")
        asked = lake.say(f"{slack.bot.mention} a mention", by=ann)
        await walk.shows(lake, "echo: a mention", thread=asked.ts)
        slack.bot.command(direct, "whoami", by=ann)
        await walk.answered(direct, ann.id)
        event = {"type": "message", "channel": direct.id, "channel_type": "im", "user": ann.id, "text": "forged"}
        forged = {"type": "event_callback", "team_id": slack.team.id, "event": {**event, "ts": "1790000000.000100"}}
        statuses = [
            (await slack.bring(forged, secret="guessed"))[0],
            (await slack.bring(forged, at=time.time() - 301))[0],
            (await slack.bring(forged, **{"X-Slack-Signature": ""}))[0],
        ]
        assert await slack.verify_url()
        slack.app.again(3)
        await slack.settled()

    assert all(status in (401, 403) for status in statuses)
    assert [text for text in direct.texts() if text.startswith("echo")] == ["echo: brought"]
    assert lake.texts() == ["echo: a mention"]
    assert slack.called("apps.connections.open") == []


async def test_an_app_in_two_workspaces_is_brought_its_events_at_one_address(
    process: Process, slack: FakeSlack, free_port: int
) -> None:
    other = slack.install(slack.app, slack.new_team("Other"))
    here, there = slack.direct(slack.person("Ann")), other.direct(other.team.person("Ann"))
    events = SlackEventsConfig(url="https://millpond.example/slack/events", port=free_port)
    slack.app.url, slack.brought_at = events.url, f"http://127.0.0.1:{free_port}"
    secrets = {"signing_secret": Secret(slack.app.signing_secret), "app_token": Secret("")}
    async with walking(process, slack, bots={"marsh": other}, events=events, **secrets) as walk:
        here.say("you are one")
        there.say("you are another")
        await walk.shows(here, "echo: you are one")
        await walk.shows(there, "echo: you are another")
        await slack.settled()

    assert await walk.said(session(there, channel="marsh")) == ["you are another"]


async def test_a_channel_that_is_told_to_wait_holds_up_no_other(process: Process, slack: FakeSlack) -> None:
    ann, bob = (slack.direct(slack.person(name)) for name in ("Ann", "Bob"))
    script = iter([Refuse(retry_after=3_600)])
    slack.faults.when("chat.postMessage", lambda call: next(script, None) if call.channel == ann.id else None)
    async with walking(process, slack, streaming=False) as walk:
        ann.say("slow")
        await slack.until(lambda: bool(slack.called("chat.postMessage", ok=False)))
        for texts in (["echo: quick"], ["echo: quick", "echo: again"]):
            bob.say(texts[-1].removeprefix("echo: "))
            await walk.shows(bob, *texts)
    assert len(slack.called("chat.postMessage", ok=False)) == 1 and ann.texts() == []

    async with walking(process, slack, streaming=False) as walk:
        await walk.shows(ann, "echo: slow")
    assert await walk.unknown() == []


LOST = {
    "done": Cut(),
    "in the middle of the answer": Cut(half=True),
    "not done": Cut(acted=False),
    "done, and an error": Refuse("internal_error", acted=True),
    "not done, and an error": Refuse("internal_error"),
}


@pytest.mark.parametrize("how", LOST)
@pytest.mark.parametrize("where", ["direct", "thread"])
async def test_a_reply_whose_answer_was_lost_is_looked_for_and_shown_once(
    process: Process, slack: FakeSlack, how: str, where: str
) -> None:
    ann = slack.person("Ann")
    chat = slack.direct(ann) if where == "direct" else slack.channel(ann)
    mention = "" if where == "direct" else f"{slack.bot.mention} "
    slack.faults.on("chat.postMessage", LOST[how])
    async with walking(process, slack, streaming=False) as walk:
        root = chat.say(f"{mention}once", by=ann)
        await walk.answered(chat, "echo: once")
        chat.say(f"{mention}twice", by=ann, thread="" if where == "direct" else root.ts)
        await walk.answered(chat, "echo: twice")

    assert chat.texts() == ["echo: once", "echo: twice"]


async def test_a_reply_that_is_not_kept_with_its_metadata_is_found_by_what_it_says(process: Process, slack: FakeSlack):
    ann = slack.direct(slack.person("Ann"))
    ann.keeps_metadata = False
    slack.faults.on("chat.postMessage", None, Cut(), None, Cut(acted=False))
    async with walking(process, slack, streaming=False) as walk:
        for number in range(4):
            ann.say(f"number {number}")
            await walk.answered(ann, f"echo: number {number}")

    assert ann.texts() == [f"echo: number {number}" for number in range(4)]


async def test_looking_that_fails_for_a_while_makes_a_reply_late_not_double(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.faults.on("chat.postMessage", Cut())
    slack.faults.on("conversations.history", Refuse("internal_error"), Cut(), Refuse(retry_after=0))
    async with walking(process, slack, streaming=False) as walk:
        ann.say("once")
        ann.say("twice")
        await walk.answered(ann, "twice")
        await slack.settled()
        ann.say("thrice")
        await walk.answered(ann, "thrice")

    shown = " ".join(ann.texts())
    assert [shown.count(word) for word in ("once", "twice", "thrice")] == [1, 1, 1]


async def test_servers_that_fail_for_a_while_lose_nothing(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.faults.on("apps.connections.open", Refuse("internal_error"), Cut(), Refuse(retry_after=0))
    slack.faults.on("chat.postMessage", Refuse("service_unavailable", status=503), Refuse(retry_after=0))
    async with walking(process, slack, streaming=False) as walk:
        ann.say("still there?")
        await walk.shows(ann, "echo: still there?")


async def test_an_app_with_too_many_sockets_hears_when_one_is_free(
    process: Process, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_mode, "CROWDED_S", 0.05)
    ann = slack.direct(slack.person("Ann"))
    slack.app.sockets_max = 0
    async with walking(process, slack) as walk:
        ann.say("is it full?")
        await slack.until(lambda: bool(slack.called("apps.connections.open")))
        slack.app.sockets_max = 10
        await walk.shows(ann, "echo: is it full?")


async def test_a_reply_of_200_000_characters_comes_as_a_file_beside_its_beginning(process: Process, slack: FakeSlack):
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    book = "".join(f"Paragraph {n} of the book. {FAMILY} 水池有多深？\n\n" for n in range(6_000))[:200_000].rstrip()
    async with walking(process, slack, model=Speaking(lambda _text: book)):
        asked = lake.say(f"{slack.bot.mention} Read it to me", by=ann)
        await slack.until(lambda: any(m.files for m in lake.shown(thread=asked.ts)))

    shown = lake.shown()
    assert {message.thread for message in shown} == {asked.ts}
    assert [file.data.decode() for message in shown for file in message.files] == [book]
    assert all(len(message.text) <= PART_MAX for message in shown)
    assert any(message.text.startswith("Paragraph 0 of the book.") for message in shown)


async def test_a_long_reply_is_cut_between_what_people_see_as_characters(process: Process, slack: FakeSlack) -> None:
    signs = (FAMILY, FLAG, ACCENTED)
    texts = {f"{at}": "a" * (at % 3) + sign * (27_000 // len(sign)) for at, sign in enumerate(3 * signs)}
    chats = {name: slack.direct(slack.person(name)) for name in texts}
    async with walking(process, slack, model=Speaking(lambda name: texts[name]), streaming=False):
        for name, chat in chats.items():
            chat.say(name)
        for name, chat in chats.items():
            await slack.until(lambda name=name, chat=chat: "".join(chat.texts()) == texts[name])

    for chat, sign in zip(chats.values(), 3 * signs, strict=True):
        for part in chat.texts():
            assert len(part) <= PART_MAX
            assert not unicodedata.combining(part[0])
            assert part.replace(sign, "").strip("a") == ""


async def test_markdown_that_no_parser_likes_arrives_with_all_of_its_words(process: Process, slack: FakeSlack) -> None:
    chats = {kind: slack.direct(slack.person(kind)) for kind in ODD}
    async with walking(process, slack, model=Speaking(lambda kind: ODD[kind]), streaming=False):
        for kind, chat in chats.items():
            chat.say(kind)
        for kind, chat in chats.items():
            await slack.until(lambda chat=chat: bool(chat.texts()))
            missing = [word for word in WORDS[kind] if word not in "\n".join(chat.texts())]
            assert missing == [], (kind, chat.texts())

    for kind, chat in chats.items():
        assert sum(WORDS[kind][0] in text for text in chat.texts()) == 1, kind


async def test_a_text_that_slack_refuses_as_markdown_comes_as_plain_text(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.faults.when(
        "chat.postMessage", lambda call: Refuse("msg_blocks_too_long") if "markdown_text" in call.params else None
    )
    async with walking(process, slack, streaming=False) as walk:
        ann.say("many blocks")
        await walk.shows(ann, "echo: many blocks")


async def test_a_flood_in_one_channel_loses_nothing_and_holds_up_no_other(process: Process, slack: FakeSlack) -> None:
    eve, ann = (slack.direct(slack.person(name)) for name in ("Eve", "Ann"))
    async with walking(process, slack, debounce_s=0.2) as walk:
        for number in range(100):
            eve.say(f"flood {number}")
        ann.say("hello")
        await walk.shows(ann, "echo: hello")
        await slack.settled()

    assert ann.texts() == ["echo: hello"]


async def test_a_picture_is_shown_to_a_model_that_sees(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    picture = slack.file(b"\xff\xd8\xff\xe0 a duck", name="duck.jpg", mimetype="image/jpeg")
    sees = BotConfig(model=ModelConfig(vision=True))
    async with walking(process, slack, model=Speaking(lambda _text: "a duck"), bot=sees) as walk:
        ann.say("What is this?", files=[picture])
        await walk.shows(ann, "a duck")

    assert "data:image/jpeg;base64," in walk.model.asked()
    assert "What is this?" in walk.model.asked()


async def test_a_file_that_is_too_large_is_said_to_be(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    book = slack.file(b"x", name="book.pdf", mimetype="application/pdf", claims_bytes=2 << 30)
    async with walking(process, slack, model=Speaking(lambda _text: "too large")) as walk:
        ann.say("Read this", files=[book])
        await walk.shows(ann, "too large")

    assert "book.pdf" in walk.model.asked()
    assert "large" in walk.model.asked()
    assert slack.called("download") == []


async def test_a_text_is_read_to_a_model_without_tools(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    note = slack.file("Tide at nine, 水池".encode(), name="tide.txt", mimetype="text/plain")
    async with walking(process, slack, model=Speaking(lambda _text: "at nine"), bot=BotConfig(tools=())) as walk:
        asked = lake.say(f"{slack.bot.mention} When?", by=ann, files=[note])
        await walk.shows(lake, "at nine", thread=asked.ts)

    assert "Tide at nine, 水池" in walk.model.asked()


async def test_a_voice_message_is_answered_by_voice_and_as_text(process: Process, slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    voice = slack.file(b"OggS spoken", name="audio_message.m4a", mimetype="audio/mp4", subtype="slack_audio")
    heard = Plain(b'{"text": "How deep is it?"}', "application/json")
    async with fake_openai(lambda body: Plain(b"OggS sung") if "voice" in body else heard) as server:
        hears = TranscriptionConfig(base_url=server.base_url, name="whisper")
        speaks = SpeechConfig(base_url=server.base_url, name="tts-1")
        async with walking(process, slack, bot=BotConfig(transcription=hears, speech=speaks)) as walk:
            ann.say("", files=[voice])
            await walk.answered(ann, "How deep is it?")
            await slack.until(lambda: len(ann.shown()) == 2)

    [file] = ann.shown()[-1].files
    assert (file.name, file.data) == ("answer.ogg", b"OggS sung")


@dataclass
class Sending(Speaking):
    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        calls = (
            ("write_file", {"path": "map.txt", "content": MAP}),
            ("message", {"content": "Here is the map", "media": ["map.txt"]}),
        )
        step = len(self.requests)
        async for each in super().stream(request):
            if step >= len(calls):
                yield each
            elif isinstance(each, Answer):
                name, arguments = calls[step]
                yield Answer(text="", tool_calls=(ToolCall(id=name, name=name, arguments=json.dumps(arguments)),))


MAP = "the pond lies north"


@pytest.mark.parametrize("lost", [False, True], ids=["at once", "with its answer lost"])
async def test_a_file_of_the_bot_is_shared_once_in_the_thread(process: Process, slack: FakeSlack, *, lost: bool):
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    if lost:
        slack.faults.on("files.completeUploadExternal", Cut())
    tools = BotConfig(tools=("write_file", "message"))
    async with walking(process, slack, model=Sending(), bot=tools) as walk:
        asked = lake.say(f"{slack.bot.mention} the map, please", by=ann)
        await walk.answered(lake, "echo: ", thread=asked.ts)

    files = [file for message in lake.shown(thread=asked.ts) for file in message.files]
    assert [(file.name, file.data.decode()) for file in files] == [("map.txt", MAP)]


def telling(slack: FakeSlack, chat: Channel) -> Watched:
    """A model that tells a story, and goes on when its chat shows what it has told."""

    async def seen(text: str) -> None:
        await slack.until(lambda: chat.texts() == [text.rstrip()])

    return Watched(lambda _text: STORY, seen=seen)


STORY = "Once upon a time there was a *pond* of ducks. " + " ".join(f"word{n}" for n in range(60))


async def test_in_a_thread_an_answer_is_streamed_as_one_message(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    async with walking(process, slack, model=telling(slack, lake), reaction="eyes") as walk:
        asked = lake.say(f"{slack.bot.mention} Tell me a story", by=ann)
        await walk.answered(lake, "word59", thread=asked.ts)
        await slack.until(lambda: not any(message.streaming for message in lake.shown()))

    [message] = lake.shown()
    assert message.text == STORY
    [started] = slack.called("chat.startStream")
    assert started.params["recipient_user_id"] == ann.id
    assert slack.called("chat.appendStream")
    assert len(slack.called("chat.stopStream")) == 1
    assert slack.called("chat.postMessage") == []
    assert any(status for _, thread, status in lake.statuses if thread == asked.ts)
    await slack.until(lambda: asked.reactions == {})
    assert slack.called("reactions.add")


@pytest.mark.parametrize("why", ["no thread", "unknown_method", "missing_scope"])
async def test_where_it_cannot_be_streamed_one_message_is_changed(process: Process, slack: FakeSlack, why: str) -> None:
    ann = slack.person("Ann")
    direct = why == "no thread"
    chat = slack.direct(ann) if direct else slack.channel(ann)
    if not direct:
        slack.faults.on("chat.startStream", always=Refuse(why))
    async with walking(process, slack, model=telling(slack, chat)) as walk:
        chat.say("Tell me a story" if direct else f"{slack.bot.mention} Tell me a story", by=ann)
        await walk.answered(chat, "word59")

    [message] = chat.shown()
    assert message.text == STORY
    assert message.edits, "nothing was shown before"
    assert len(slack.called("chat.startStream")) <= 1
    assert slack.called("chat.update")


async def test_a_stream_that_slack_has_ended_is_finished_as_the_same_message(process: Process, slack: FakeSlack):
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    seen = anyio.Event()
    async with walking(process, slack, model=Watched(lambda _text: STORY, seen=lambda _text: seen.wait())) as walk:
        asked = lake.say(f"{slack.bot.mention} Tell me a story", by=ann)
        message = await walk.answered(lake, "Once upon", thread=asked.ts)
        assert message.streaming
        message.streaming = False
        seen.set()
        await walk.answered(lake, "word59", thread=asked.ts)

    assert lake.texts() == [STORY]
    assert [call.error for call in slack.called("chat.", ok=False)] != []


async def test_a_stream_whose_beginning_was_lost_is_not_shown_twice(process: Process, slack: FakeSlack) -> None:
    ann = slack.person("Ann")
    lake = slack.channel(ann)
    slack.faults.on("chat.startStream", Cut())
    async with walking(process, slack, model=telling(slack, lake)) as walk:
        asked = lake.say(f"{slack.bot.mention} Tell me a story", by=ann)
        await walk.answered(lake, "word59", thread=asked.ts)
        await slack.until(lambda: len(lake.shown()) == 1)

    assert lake.texts() == [STORY]


async def test_of_many_answers_at_once_nothing_is_sent_without_room_for_it(
    process: Process, slack: FakeSlack, room: Room
) -> None:
    ann = slack.person("Ann")
    chats = [slack.direct(slack.person(f"Person {number}")) for number in range(10)]
    lakes = [slack.channel(ann, name=f"lake-{number}") for number in range(6)]
    async with walking(process, slack, model=Slow(pause_s=0.01)) as walk:
        for number in range(2):
            for chat in chats:
                chat.say(f"{number} and more words than fit into a moment")
            for lake in lakes:
                lake.say(f"{slack.bot.mention} {number} and more words than fit into a moment", by=ann)
        for chat in (*chats, *lakes):
            await walk.answered(chat, "1 and more words than fit into a moment")

    assert 32 <= len(slack.called("chat.")) <= room.taken
    assert await walk.unknown() == []
