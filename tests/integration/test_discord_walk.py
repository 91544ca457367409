"""The whole way on Discord: a message in, a turn of a model, a reply out, in a direct chat and in a thread."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio
import msgspec

from channels.posted_messages import PostedMessages
from channels.push import serve as serve_channels
from daemon.clock import SystemClock
from daemon.config import AccessConfig, BotConfig, Config, DiscordConfig, ModelConfig, QueueConfig, Secret
from daemon.process import Process
from daemon.services import service
from tests.fakes.discord import Cut, FakeDiscord, Refuse, fake_discord
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.limits import HANG_S

NAME = "lake"
QUEUE = QueueConfig(lease_s=6.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)
LONG = "\n\n".join(f"{number}. High tide, and then low tide, and so on for a while." for number in range(60))


@asynccontextmanager
async def walking(
    process: Process, discord: FakeDiscord, model: FakeOpenAI, *, admins: tuple[str, ...] = (), policy: str = "open"
) -> AsyncGenerator[None]:
    access = msgspec.convert({"policy": policy}, AccessConfig)
    token = Secret(discord.bot.token)
    shared = {"base_url": discord.base_url, "token": token, "access": access}
    channel = DiscordConfig(**shared, reaction="👀", hear_reactions=True, send_timeout_s=3.0)
    bot = BotConfig(admins=admins, model=ModelConfig(name="fake", base_url=model.base_url))
    config = Config(queue=QUEUE, bots={"pond": bot}, channels={NAME: channel})
    process = replace(process, config=config, clock=SystemClock(), stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(partial(service("agent"), process))
        await tg.start(serve_channels, process)
        await discord.connected()
        yield
        process.stopping.set()
    assert discord.oddities() == []


async def test_a_question_is_marked_answered_and_shown_while_it_is_written(process: Process) -> None:
    said = Say("High at noon, and low at six, and then high again", delay_s=0.2)
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai([said]) as model:
        ann = discord.person("Ann")
        chat = discord.direct(ann)
        async with walking(process, discord, model):
            asked = chat.say("when is the tide?", by=ann)
            await discord.until(lambda: chat.texts() == [said.text], within_s=HANG_S)
            await discord.until(lambda: not asked.reactions.get("👀"), within_s=HANG_S)

    assert discord.called("PUT reactions")
    assert chat.typings > 0
    assert discord.called("PATCH messages", ok=True), "it grew"


async def test_the_answer_to_a_deleted_question_stops(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai([Say(LONG, delay_s=0.2)]) as model:
        ann, channel = discord.person("Ann"), discord.channel("lake")
        async with walking(process, discord, model):
            asked = channel.say(f"{discord.bot.person.mention} when is the tide?", by=ann)
            await discord.until(lambda: bool(channel.texts()), within_s=HANG_S)
            channel.delete(asked)
            await discord.until(lambda: any("[stopped]" in text for text in channel.texts()), within_s=HANG_S)

    assert LONG not in channel.texts()


async def test_threads_are_conversations_of_their_own_and_a_reply_answers_the_question(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai() as model:
        ann = discord.person("Ann")
        channel = discord.channel("general")
        thread = discord.world.thread(channel)
        thread.say("high at noon", by=ann)
        async with walking(process, discord, model):
            asked = thread.say(f"{discord.bot.person.mention} is that so?", by=ann)
            await discord.said(thread)
            channel.say("not to the bot", by=ann)
            channel.say(f"{discord.bot.person.mention} and here?", by=ann)
            await discord.said(channel)

    [answer] = thread.shown()
    assert answer.reply_to is asked
    assert "high at noon" in str(model.requests[0].body["messages"]), "it looked back"
    assert "high at noon" not in str(model.requests[-1].body["messages"])


async def test_pictures_that_were_not_for_the_bot_are_seen_when_it_is_asked_about_them(process: Process) -> None:
    """Those of an album that was overheard; later only if a message replies to them."""
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai() as model:
        ann, ben = discord.person("Ann"), discord.person("Ben")
        channel, me = discord.channel("birds"), discord.bot.person.mention
        album = [discord.file(b"\x89PNG\r\n\x1a\n%d" % n, f"{n}.png", "image/png") for n in range(2)]
        async with walking(process, discord, model):
            shown = channel.say("", by=ben, files=album)
            for number, (question, reply_to) in enumerate((("which?", None), ("why?", None), ("and these?", shown))):
                channel.say(f"{me} {question}", by=ann, reply_to=reply_to)
                await discord.said(channel, number + 1)

    seen = [str(request.body["messages"][-1]["content"]) for request in model.requests]
    assert [each.count("data:image/png") for each in seen] == [2, 0, 2]
    assert "[In reply to Ben: " in seen[2]


async def test_a_picture_that_was_overheard_and_is_replied_to_is_shown_once(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai() as model:
        ann, ben = discord.person("Ann"), discord.person("Ben")
        channel = discord.channel("birds")
        async with walking(process, discord, model):
            shown = channel.say("", by=ben, files=[discord.file(b"\x89PNG\r\n\x1a\n1", "a.png", "image/png")])
            channel.say(f"{discord.bot.person.mention} which?", by=ann, reply_to=shown)
            await discord.said(channel)

    assert str(model.requests[0].body["messages"]).count("data:image/png") == 1


async def test_a_reaction_to_an_answer_is_read_with_the_next_question_of_its_thread(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai([Say("High at noon.")]) as model:
        ann, ben, pond = discord.person("Ann"), discord.person("Ben"), discord.bot.person.mention
        channel = discord.channel("general")
        thread = discord.world.thread(channel)
        posted = PostedMessages(process.bus, NAME)
        async with walking(process, discord, model):
            asked = thread.say(f"{pond} when is the tide?", by=ben)
            await discord.said(thread)
            [answer] = thread.shown()
            with anyio.fail_after(HANG_S):
                while not await posted.reply_of(channel.id, answer.id):  # noqa: ASYNC110 - a key of Redis
                    await anyio.sleep(0.01)
            thread.react(asked, "🌊", by=ann)
            thread.react(answer, "🔥", by=ann)
            await discord.until(lambda: not discord.unsettled(), within_s=HANG_S)
            thread.say(f"{pond} thank you", by=ben)
            await discord.said(thread, 2)

    said = str(model.requests[-1].body["messages"])
    assert '[Ann] [Reacted with 🔥 to your message: "High at noon."]' in said
    assert "🌊" not in said
    assert len(model.requests) == 2


async def test_a_long_answer_comes_in_order_once_whatever_goes_wrong(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai([Say(LONG)]) as model:
        discord.faults.on("POST messages", Cut(), Refuse(429, retry_after=0.1), Cut(acted=False), Refuse(502))
        ann = discord.person("Ann")
        chat = discord.direct(ann)
        async with walking(process, discord, model):
            chat.say("tell me all", by=ann)
            await discord.until(lambda: LONG.split()[-1] in "".join(chat.texts()[-1:]), within_s=HANG_S)
            await discord.until(lambda: "".join(" ".join(chat.texts()).split()) == "".join(LONG.split()))

    assert len(chat.texts()) > 1
    assert max(map(len, chat.texts())) <= 2_000


async def test_a_stranger_is_paired_by_an_administrator(process: Process) -> None:
    async with fake_discord(heartbeat_s=0.2) as discord, fake_openai([Say("Hello, Ben.")]) as model:
        ann, ben = discord.person("Ann"), discord.person("Ben")
        hers, his = discord.direct(ann), discord.direct(ben)
        async with walking(process, discord, model, admins=(f"{NAME}:{ann.id}",), policy="pairing"):
            his.say("hello", by=ben)
            [told] = await discord.said(his)
            code = next(word for word in told.replace("`", " ").split() if word.isupper() and len(word) >= 6)
            hers.say(f"/pair {code}", by=ann)
            await discord.said(hers)
            await discord.said(his, 2)
            his.say("hello again", by=ben)
            await discord.until(lambda: his.texts()[-1] == "Hello, Ben.", within_s=HANG_S)
