"""The gateway of Discord: sessions that go on, and what Discord may do with them."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from itertools import pairwise
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.arrival import Arrival
from channels.base import Part
from channels.discord import DiscordChannel, connect
from channels.discord.api_types import SessionStarts, TooMany
from channels.discord.identify_limit import IdentifyLimit
from channels.discord.rate_limits import RateLimits, route_of
from channels.testing.contract_steps import receiving
from channels.testing.lab import Heard
from daemon.config import AccessConfig, BotConfig, Config, DiscordConfig, Secret
from daemon.errors import BusUnavailable, SendRefused, SendRejected
from daemon.events import Choice
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.discord import Chat, FakeDiscord, Page, Person, Refuse, fake_discord
from tests.limits import HANG_S

NAME = "lake"
RESUME, IDENTIFY, HEARTBEAT = 6, 2, 1
IDENTIFY_S = 0.02


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gateway.PAUSE_MIN_S", "gateway.INVALID_MAX_S", "identify_limit.IDENTIFY_EVERY_S"):
        monkeypatch.setattr(f"channels.discord.{name}", IDENTIFY_S)
    for name in ("DEFER_S", "LOOK_S"):  # a slow machine changes nothing
        monkeypatch.setattr(f"channels.discord.event_inlet.{name}", HANG_S)


class Lake:
    """A bot that hears, and people who speak to it."""

    def __init__(self, discord: FakeDiscord, process: Process, **more: Any) -> None:
        self.discord = discord
        config = DiscordConfig(base_url=discord.base_url, token=Secret(discord.bot.token), **more)
        bots = {"pond": BotConfig()}
        self.config = config
        self.process = replace(process, config=Config(queue=process.config.queue, bots=bots, channels={NAME: config}))
        self.ann: Person = discord.person("Ann")
        self.chat: Chat = discord.direct(self.ann)

    @asynccontextmanager
    async def hearing(self, heard: Heard) -> AsyncGenerator[DiscordChannel]:
        async with connect(self.process, NAME, self.config) as channel, receiving(channel, heard):
            await self.discord.connected()
            yield channel

    async def begin(self) -> None:
        """Have a process begin a session, and end."""
        async with self.hearing(heard := Heard()):
            self.chat.say("before", by=self.ann)
            await heard.count(1)

    def ops(self, op: int) -> list[Any]:
        return [said["d"] for socket in self.discord.sockets for said in socket.said if said["op"] == op]


@pytest.fixture
async def lake(process: Process) -> AsyncIterator[Lake]:
    async with fake_discord(heartbeat_s=0.05) as discord:
        yield Lake(discord, process)
        assert discord.oddities() == []


@pytest.mark.parametrize("ending", ["reconnect", "cut", "close", "away", "again", "mute", "invalid"])
async def test_a_connection_that_ends_is_resumed_and_nothing_is_lost(lake: Lake, ending: str) -> None:
    heard = Heard()
    async with lake.hearing(heard):
        socket = lake.discord.socket
        lake.chat.say("before", by=lake.ann)
        await heard.count(1)
        if ending == "reconnect":
            await socket.reconnect()
        elif ending == "cut":
            await socket.cut()
        elif ending in ("close", "away"):
            await socket.close(4_000 if ending == "close" else 1_001)
        elif ending == "again":
            lake.discord.world.greetings = [7, 10]
            await socket.reconnect()
        elif ending == "invalid":
            await socket.invalidate(resumable=True)
        else:
            socket.mute = True
        lake.chat.say("during", by=lake.ann)
        await heard.count(2)
        lake.chat.say("after", by=lake.ann)
        await heard.count(3)
        await lake.discord.until(lambda: lake.discord.socket is not socket)

    assert heard.texts == ["before", "during", "after"]
    assert len(lake.ops(IDENTIFY)) == 1
    assert len(lake.ops(RESUME)) >= 1


async def test_another_process_resumes_the_session_behind_what_was_handled(lake: Lake) -> None:
    first, second = Heard(gates={"waits": anyio.Event()}), Heard()
    async with lake.hearing(first):
        lake.chat.say("done", by=lake.ann)
        await first.count(1)
        lake.chat.say("waits", by=lake.ann)
        await first.until(lambda: bool(first.held))
    assert lake.discord.sockets[0].close_code == 4_000  # 1000 would end the session
    lake.chat.say("meanwhile", by=lake.ann)

    async with lake.hearing(second):
        await second.until(lambda: "meanwhile" in second.texts)

    assert first.texts == ["done"]
    assert second.texts == ["waits", "meanwhile"]
    assert len(lake.ops(IDENTIFY)) == 1


async def test_a_new_session_is_saved_before_its_first_event(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.discord.gateway_session.SAVE_EVERY_S", 3_600.0)
    bus = lake.process.bus
    async with lake.hearing(heard := Heard()):
        lake.chat.say("before", by=lake.ann)
        await heard.count(1)
        saved: bytes = await bus.call("HGET", bus.keys.poller(NAME), "session")
        session = lake.discord.session

    assert session is not None and session.id in saved.decode()


async def test_a_heartbeat_acknowledges_no_event_that_is_not_handled(lake: Lake) -> None:
    heard = Heard(gates={"waits": anyio.Event()})
    async with lake.hearing(heard):
        session = lake.discord.session
        assert session is not None
        lake.chat.say("waits", by=lake.ann)
        other = lake.discord.direct(lake.discord.person("Ben"))
        other.say("at once", by=lake.ann)
        await heard.until(lambda: "at once" in heard.texts)
        beats = len(lake.ops(HEARTBEAT))
        await lake.discord.until(lambda: len(lake.ops(HEARTBEAT)) > beats + 1)
        before = session.acknowledged
        heard.gates["waits"].set()
        await lake.discord.until(lambda: session.acknowledged == session.number)

    assert before < session.number - 1


async def test_a_session_that_discord_forgot_is_replaced(lake: Lake) -> None:
    heard = Heard()
    async with lake.hearing(heard):
        await lake.discord.socket.invalidate(resumable=False)
        await lake.discord.until(lambda: len(lake.ops(IDENTIFY)) == 2)
        await lake.discord.connected()
        lake.chat.say("after", by=lake.ann)
        await heard.count(1)

    async with lake.hearing(Heard()):
        pass

    assert lake.ops(RESUME)[-1]["session_id"] == lake.ops(RESUME)[0]["session_id"]
    assert len(lake.ops(IDENTIFY)) == 2


async def test_without_the_privileged_intent_the_bot_says_so_and_hears_who_means_it(lake: Lake) -> None:
    lake.discord.bot.flags = 0
    channel = lake.discord.channel()
    heard = Heard()
    with capture_logs() as lines:
        async with lake.hearing(heard) as adapter:
            channel.say("among us", by=lake.ann)
            channel.say(f"{lake.discord.bot.person.mention} and you?", by=lake.ann)
            await heard.count(1)
            health = await adapter.health()

    assert heard.texts == ["and you?"]
    [line] = [line for line in lines if line["event"] == "gateway.intent"]
    assert "Message Content Intent" in line["reason"] and line["log_level"] == "error"
    assert "Message Content Intent" in health.text and health.ok


async def test_the_privileged_intent_works_from_the_next_start_on(lake: Lake) -> None:
    allowed, lake.discord.bot.flags = lake.discord.bot.flags, 0
    channel, heard = lake.discord.channel(), Heard()
    for _ in range(2):
        async with lake.hearing(directly := Heard()):
            lake.chat.say("to you", by=lake.ann)
            await directly.count(1)
    begun = len(lake.ops(IDENTIFY))
    lake.discord.bot.flags = allowed
    async with lake.hearing(heard):
        channel.say("among us", by=lake.ann)
        await heard.count(1)

    assert begun == 2  # with the intent, and without it
    assert heard.texts == ["among us"]
    assert len(lake.ops(IDENTIFY)) == 3


async def test_in_a_channel_where_all_is_answered_the_intent_is_needed(process: Process) -> None:
    async with fake_discord() as discord:
        lake = Lake(discord, process, access=AccessConfig(groups="all"))
        discord.bot.flags = 0
        async with connect(lake.process, NAME, lake.config) as adapter:
            health = await adapter.health()

    assert not health.ok and "Message Content Intent" in health.text


async def test_a_token_that_is_taken_away_is_an_error_with_a_remedy(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture_logs() as lines:
        async with lake.hearing(heard := Heard()):
            lake.chat.say("before", by=lake.ann)
            await heard.count(1)
            bots = dict(lake.discord.world.bots)
            lake.discord.world.bots.clear()
            await lake.discord.socket.cut()
            while not any(line["event"] == "gateway.disabled" for line in lines):  # noqa: ASYNC110 - a log line
                await anyio.sleep(0.01)
            lake.discord.world.bots.update(bots)

    [line] = [line for line in lines if line["event"] == "gateway.disabled"]
    assert "token" in line["reason"] and NAME in line["reason"]
    assert lake.discord.bot.token not in str(lines)


async def test_when_no_new_session_is_allowed_it_waits_until_one_is(lake: Lake) -> None:
    lake.discord.bot.starts_left = 0
    with capture_logs() as lines:
        async with connect(lake.process, NAME, lake.config) as channel, receiving(channel, Heard()):
            while not any(line["event"] == "gateway.refused" for line in lines):  # noqa: ASYNC110 - a log line
                await anyio.sleep(0.01)

    [line] = [line for line in lines if line["event"] == "gateway.refused"]
    assert line["waited_s"] == 60.0
    assert lake.ops(IDENTIFY) == []


async def test_a_session_is_resumed_at_another_address_when_no_new_one_is_allowed(lake: Lake) -> None:
    await lake.begin()
    lake.discord.bot.starts_left = 0
    lake.discord.faults.on("connect", *[Refuse(500)] * 3)
    async with lake.hearing(heard := Heard()):
        lake.chat.say("after", by=lake.ann)
        await heard.count(1)

    assert (len(lake.discord.called("GET bot")), len(lake.ops(IDENTIFY))) == (2, 1)


async def test_the_last_sessions_that_discord_allows_are_spread_over_the_time_until_it_allows_more(lake: Lake) -> None:
    """Discord replaces the token of a bot that begins all sessions of a day."""
    lake.discord.bot.starts_left = 3
    with capture_logs() as lines:
        async with lake.hearing(heard := Heard()) as adapter:
            assert "start 2 more sessions" in (await adapter.health()).text
            await lake.discord.socket.close(4_009)
            while not (waits := [line["waited_s"] for line in lines if line.get("waited_s", 0) > 10]):  # noqa: ASYNC110
                await anyio.sleep(0.01)

    assert waits[0] <= 20.0
    assert lake.discord.bot.starts_left == 2 and not heard.arrivals


async def test_after_each_refused_session_it_waits_for_longer(lake: Lake) -> None:
    lake.discord.bot.refusals = 3
    with capture_logs() as lines:
        async with lake.hearing(Heard()):
            pass

    waits = [line["waited_s"] for line in lines if line["event"] == "gateway.refused"]
    assert len(waits) == 3 and waits == sorted(waits) and waits[-1] > 0.03


@pytest.mark.parametrize("login", [RESUME, IDENTIFY])
async def test_a_login_without_an_answer_is_given_up(lake: Lake, login: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.discord.gateway_connection.LOGIN_S", 0.1)
    if login == RESUME:
        await lake.begin()
    lake.discord.world.silent_logins = 1
    async with lake.hearing(heard := Heard()):
        lake.chat.say("after", by=lake.ann)
        await heard.count(1)

    assert len(lake.ops(IDENTIFY)) == 2
    assert len(lake.ops(RESUME)) == (login == RESUME)


async def test_a_session_that_is_never_resumed_is_given_up(lake: Lake) -> None:
    await lake.begin()
    lake.discord.world.refused_resumes = 100
    async with lake.hearing(heard := Heard()):
        lake.chat.say("after", by=lake.ann)
        await heard.count(1)

    assert len(lake.ops(IDENTIFY)) == 2
    assert len(lake.ops(RESUME)) == 4


@pytest.mark.parametrize("interval_ms", [0, -1, 1e30, None])
async def test_a_greeting_with_an_impossible_heartbeat_is_not_followed(lake: Lake, interval_ms: Any) -> None:
    lake.discord.world.heartbeats = [interval_ms]
    async with lake.hearing(heard := Heard()):
        lake.chat.say("after", by=lake.ann)
        await heard.count(1)

    assert len(lake.discord.sockets) == 2


def shards_of(lake: Lake) -> list[list[int]]:
    return [each.get("shard", [0, 1]) for each in lake.ops(IDENTIFY)]


async def say_everywhere(lake: Lake, text: str) -> None:
    """In the direct chat, and in a server of each of three shards."""
    lake.chat.say(text, by=lake.ann)
    for chat in lake.discord.sharded(3):
        chat.say(f"{lake.discord.bot.person.mention} {text}", by=lake.ann)


async def test_a_bot_in_many_servers_has_as_many_connections_as_discord_recommends(lake: Lake) -> None:
    lake.discord.world.shards = 3
    async with lake.hearing(heard := Heard()):
        await lake.discord.until(lambda: len(lake.discord.open_sessions()) == 3)
        await say_everywhere(lake, "first")
        await heard.count(4)
    lake.discord.world.shards = 4  # which is no reason to begin anew
    await say_everywhere(lake, "second")
    async with lake.hearing(later := Heard()):
        await later.until(lambda: later.texts.count("second") == 4)

    assert heard.texts == ["first"] * 4 and len(later.texts) == 4
    assert sorted(shards_of(lake)) == [[0, 3], [1, 3], [2, 3]]
    assert len(lake.ops(RESUME)) == 3


async def test_one_of_several_connections_is_replaced_without_the_others(lake: Lake) -> None:
    lake.discord.world.shards = 3
    async with lake.hearing(heard := Heard()):
        await lake.discord.until(lambda: len(lake.discord.open_sessions()) == 3)
        lake.discord.world.shards = 4
        session = next(each for each in lake.discord.open_sessions() if each.shard == (1, 3))
        assert session.socket is not None
        await session.socket.invalidate(resumable=False)
        await lake.discord.until(lambda: len(lake.ops(IDENTIFY)) == 4)
        await lake.discord.until(lambda: len(lake.discord.open_sessions()) == 3)
        await say_everywhere(lake, "after")
        await heard.count(4)

    assert shards_of(lake)[-1] == [1, 3] and heard.texts == ["after"] * 4


async def test_a_bot_in_too_many_servers_for_one_connection_gets_more(lake: Lake) -> None:
    await lake.begin()
    lake.discord.world.shards = lake.discord.world.shards_min = 3
    with capture_logs() as lines:
        async with lake.hearing(heard := Heard()):
            await lake.discord.until(lambda: len(lake.discord.open_sessions()) == 3)
            await say_everywhere(lake, "after")
            await heard.count(4)

    assert [line["count"] for line in lines if line["event"] == "gateway.shards"] == [3]
    assert sorted(shards_of(lake)) == [[0, 1], [0, 3], [1, 3], [2, 3]]


@pytest.mark.parametrize("concurrency, together", [(1, 1), (2, 2)])
async def test_as_many_sessions_begin_at_a_time_as_discord_allows(concurrency: int, together: int) -> None:
    limit, begun = IdentifyLimit(), list[float]()
    for shard in range(4):
        async with limit.turn(shard):
            begun.append(anyio.current_time())
            limit.count(shard, SessionStarts(remaining=1_000, max_concurrency=concurrency))

    pauses = [later - before for before, later in pairwise(begun)]
    assert [pause >= IDENTIFY_S for pause in pauses] == [number % together == together - 1 for number in range(3)]


async def test_slash_commands_are_registered_once_and_answered(lake: Lake) -> None:
    heard = Heard()
    for _ in range(2):
        async with lake.hearing(heard):
            await lake.discord.until(lambda: bool(lake.discord.called("GET commands", ok=True)))
            await lake.discord.until(lambda: bool(lake.discord.bot.commands))
    async with lake.hearing(heard):
        lake.discord.world.command(lake.chat, "remind", "tomorrow", by=lake.ann)
        await heard.count(1)
        await lake.discord.until(lambda: bool(lake.discord.bot.answers))

    assert len(lake.discord.called("PUT commands", ok=True)) == 1
    assert {"help", "new", "remind"} <= {each["name"] for each in lake.discord.bot.commands}
    assert heard.texts == ["/remind tomorrow"]
    [answer] = lake.discord.bot.answers
    assert (answer["type"], answer["data"]["flags"]) == (4, 64)


@pytest.mark.parametrize("kind", ["accepted", "refused", "command"])
async def test_while_redis_is_unavailable_an_interaction_is_answered_in_time_and_its_result_follows(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Discord shows an error after 3 s."""
    monkeypatch.setattr("channels.discord.event_inlet.DEFER_S", 0.05)
    monkeypatch.setattr("channels.discord.event_inlet.AWAY_PAUSE_S", 0.02)
    answers = lake.discord.bot.answers

    def before(_arrival: Arrival) -> None:
        if not answers:
            raise BusUnavailable("away")

    heard = Heard(before=before, refusal="not yours" if kind == "refused" else "")
    async with lake.hearing(heard) as adapter:
        if kind == "command":
            lake.discord.world.command(lake.chat, "status", by=lake.ann)
        else:
            key = SessionKey(channel=NAME, chat=lake.chat.id)
            choice = Choice(label="Yes", command="/link yes")
            sent = await adapter.send(key, a_part(choices=(choice,)), timeout_s=HANG_S)
            lake.discord.world.press(lake.chat.messages[sent], "Yes", by=lake.ann)
        await lake.discord.until(lambda: len(answers) == 2)

    first, then = answers
    assert (first["type"], len(heard.presses) + len(heard.arrivals)) == (5 if kind == "command" else 6, 1)
    if kind == "accepted":
        assert (then, lake.chat.messages[sent].labels) == ({"components": []}, [])
    else:
        assert ("not yours" in then["content"]) == (kind == "refused")


async def test_commands_behind_a_message_that_waits_are_answered_in_time(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while Redis is unavailable; an answer once waited until the message was stored."""
    monkeypatch.setattr("channels.discord.event_inlet.DEFER_S", 0.05)
    answers, heard = lake.discord.bot.answers, Heard(gates={"waits": anyio.Event()})
    texts = [f"number {number}" for number in range(50)]
    async with lake.hearing(heard):
        lake.chat.say("waits", by=lake.ann)
        for text in texts:
            lake.discord.world.command(lake.chat, "remind", text, by=lake.ann)
        await lake.discord.until(lambda: len(answers) == len(texts))
        heard.gates["waits"].set()
        await lake.discord.until(lambda: len(answers) == 2 * len(texts))

    assert {each["type"] for each in answers[: len(texts)]} == {5}
    assert heard.texts == ["waits", *[f"/remind {text}" for text in texts]]


async def test_the_answer_that_a_process_announced_before_it_was_killed_follows(lake: Lake) -> None:
    async with lake.hearing(Heard()) as adapter:
        choice = Choice(label="Yes", command="/link yes")
        sent = await adapter.send(
            SessionKey(channel=NAME, chat=lake.chat.id), a_part(choices=(choice,)), timeout_s=HANG_S
        )
        press = lake.discord.world.press(lake.chat.messages[sent], "Yes", by=lake.ann)
        lake.discord.world.interactions[press].answered = 6
        await lake.discord.until(lambda: not lake.chat.messages[sent].labels)


@pytest.mark.parametrize("is_gone", [False, True])
async def test_a_message_that_discord_leaves_out_of_its_reply_is_looked_up(lake: Lake, is_gone: bool) -> None:
    channel, heard = lake.discord.channel(), Heard()
    lake.discord.world.hides_answered = True
    async with lake.hearing(heard) as adapter:
        sent = await adapter.send(SessionKey(channel=NAME, chat=channel.id), a_part(), timeout_s=HANG_S)
        photo = channel.say("", by=lake.ann, files=[lake.discord.file(b"png", "a.png", "image/png")])
        for answered in (channel.messages[sent], photo):
            answered.gone = is_gone
            named = lake.discord.bot.person.mention if answered is photo else ""
            channel.say(f"{named} why?", by=lake.ann, reply_to=answered)
        await heard.count(3)

    _, own, other = heard.arrivals
    assert (own.mentioned, own.quote and own.quote.text) == ((False, None) if is_gone else (True, "High at noon."))
    assert [each.name for each in other.attachments] == ([] if is_gone else ["a.png"])


async def test_a_press_waits_for_no_message_of_its_chat(lake: Lake) -> None:
    heard = Heard(gates={"slow": anyio.Event()})
    async with lake.hearing(heard) as adapter:
        choice = Choice(label="Yes", command="/link yes")
        key = SessionKey(channel=NAME, chat=lake.chat.id)
        sent = await adapter.send(key, a_part(choices=(choice,)), timeout_s=HANG_S)
        lake.chat.say("slow", by=lake.ann)
        await heard.until(lambda: bool(heard.held))
        lake.discord.world.press(lake.chat.messages[sent], "Yes", by=lake.ann)
        await lake.discord.until(lambda: not lake.chat.messages[sent].labels)
        heard.gates["slow"].set()
        await heard.count(1)


async def test_the_place_of_a_thread_is_asked_for_until_it_is_known(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.discord.channel_directory.REST_S", 0.02)
    channel, heard = lake.discord.channel("general"), Heard()
    thread = lake.discord.world.thread(channel, told=False)
    lake.discord.faults.on("GET channels", Refuse(500), Refuse(500))
    async with lake.hearing(Heard()):
        pass
    async with lake.hearing(heard):  # which resumes, and is told of no server
        thread.say("hello", by=lake.ann)
        await heard.count(1)

    [arrival] = heard.arrivals
    assert (arrival.chat, arrival.thread, arrival.chat_name) == (channel.id, thread.id, "#general")


async def test_a_deleted_thread_is_answered_in_its_channel(lake: Lake) -> None:
    channel = lake.discord.channel()
    thread = lake.discord.world.thread(channel)
    thread.is_gone = True
    async with connect(lake.process, NAME, lake.config) as adapter:
        key = SessionKey(channel=NAME, chat=channel.id, thread=thread.id)
        sent = await adapter.send(key, a_part("here"), timeout_s=HANG_S)
        found = await adapter.find(key, a_part("here"), timeout_s=HANG_S)

    assert channel.texts() == ["here"]
    assert found == sent


@pytest.mark.parametrize("is_locked", [False, True])
async def test_an_answer_is_completed_in_a_thread_that_was_closed_meanwhile(lake: Lake, is_locked: bool) -> None:
    """Discord changes no message of a closed thread; by a moderator's lock the bot abides."""
    channel = lake.discord.channel()
    thread = lake.discord.world.thread(channel)
    key = SessionKey(channel=NAME, chat=channel.id, thread=thread.id)
    async with connect(lake.process, NAME, lake.config) as adapter:
        first, second = [
            await adapter.send(key, a_part("Hi", number=each, preview=True), timeout_s=HANG_S) for each in range(2)
        ]
        thread.is_archived, thread.is_locked = True, is_locked
        with pytest.raises(SendRejected):
            await adapter.edit(key, first, a_part("High", preview=True), timeout_s=HANG_S)
        with pytest.raises(SendRejected) if is_locked else nullcontext():
            await adapter.edit(key, first, a_part("High at noon."), timeout_s=HANG_S)
        thread.is_archived = True
        with pytest.raises(SendRejected) if is_locked else nullcontext():
            await adapter.remove(key, second, timeout_s=HANG_S)

    assert thread.texts() == (["Hi", "Hi"] if is_locked else ["High at noon."])


async def test_an_administrator_is_written_to_by_the_user_id(lake: Lake) -> None:
    async with connect(lake.process, NAME, lake.config) as adapter:
        await adapter.send(SessionKey(channel=NAME, chat=lake.ann.id), a_part("a warning"), timeout_s=HANG_S)
        with pytest.raises(SendRejected) as rejected:
            await adapter.send(SessionKey(channel=NAME, chat="4194304"), a_part(), timeout_s=HANG_S)

    assert lake.chat.texts() == ["a warning"]
    assert "Unknown Channel" in str(rejected.value)


async def test_a_bot_that_may_not_read_the_history_answers_without_a_reply(lake: Lake) -> None:
    channel = lake.discord.channel()
    channel.hides_history = True
    asked = channel.say("when?", by=lake.ann)
    async with connect(lake.process, NAME, lake.config) as adapter:
        key = SessionKey(channel=NAME, chat=channel.id)
        await adapter.send(key, a_part("at noon", reply_to=asked.id), timeout_s=HANG_S)

    assert channel.texts() == ["at noon"]


@pytest.mark.parametrize("chat", ["../users/@me", "1/messages/2/crosspost?", ""])
async def test_the_name_of_a_chat_leads_to_no_other_address(lake: Lake, chat: str) -> None:
    key = SessionKey(channel=NAME, chat=chat)
    async with connect(lake.process, NAME, lake.config) as adapter:
        for done in (
            adapter.send(key, a_part(), timeout_s=HANG_S),
            adapter.edit(key, "1", a_part(), timeout_s=HANG_S),
            adapter.typing(key, timeout_s=HANG_S),
            adapter.react(key, "1", "\N{EYES}", timeout_s=HANG_S),
        ):
            with pytest.raises(SendRejected):
                await done

    assert lake.discord.called("") == []


async def test_an_attempt_that_is_repeated_is_the_same_message(lake: Lake) -> None:
    key = SessionKey(channel=NAME, chat=lake.chat.id)
    async with connect(lake.process, NAME, lake.config) as adapter:
        sent = [await adapter.send(key, a_part("once", attempt=each), timeout_s=HANG_S) for each in ("a", "b")]

    assert sent[0] == sent[1]
    assert lake.chat.texts() == ["once"]


async def test_a_file_whose_name_discord_changes_is_found(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fakes.discord.world.NONCE_S", 0.0)
    key = SessionKey(channel=NAME, chat=lake.chat.id)
    path = lake.process.workspace("pond") / "high tide.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("High at noon.")
    part = a_part("", attachments=[{"kind": "document", "name": "high tide.txt", "path": "high tide.txt"}])
    async with connect(lake.process, NAME, lake.config) as adapter:
        sent = await adapter.send(key, part, timeout_s=HANG_S)
        assert await adapter.find(key, part, timeout_s=HANG_S) == sent


async def test_no_message_notifies_whom_a_model_names(lake: Lake) -> None:
    key = SessionKey(channel=NAME, chat=lake.chat.id)
    async with connect(lake.process, NAME, lake.config) as adapter:
        sent = await adapter.send(key, a_part("@everyone look"), timeout_s=HANG_S)
        await adapter.edit(key, sent, a_part("@everyone look there"), timeout_s=HANG_S)

    for call in lake.discord.called("P"):
        assert call.params["allowed_mentions"]["parse"] == []
        assert call.params["flags"] == 4  # no previews of links


async def test_a_full_bucket_is_asked_for_nothing_more_and_others_are(lake: Lake) -> None:
    key, other = (SessionKey(channel=NAME, chat=each.id) for each in (lake.chat, lake.discord.channel()))
    async with connect(lake.process, NAME, lake.config) as adapter:
        for number in range(5):
            await adapter.send(key, a_part(f"message {number}", number=number), timeout_s=HANG_S)
        with pytest.raises(TooMany) as refused:
            await adapter.send(key, a_part("one more", number=5), timeout_s=HANG_S)
        await adapter.send(other, a_part("elsewhere"), timeout_s=HANG_S)

    assert refused.value.retry_after_s and refused.value.retry_after_s <= 1.0
    assert len(lake.discord.called("POST messages")) == 6


async def test_a_refused_request_counts_as_well(lake: Lake) -> None:
    key = SessionKey(channel=NAME, chat=lake.chat.id)
    async with connect(lake.process, NAME, lake.config) as adapter:
        for _ in range(5):
            await adapter.react(key, "1", "\N{EYES}", timeout_s=HANG_S)  # which is no message
        with pytest.raises(TooMany):
            await adapter.react(key, "1", "\N{EYES}", timeout_s=HANG_S)

    assert len(lake.discord.called("PUT reactions")) == 5


async def test_interactions_have_limits_of_their_own() -> None:
    limits = RateLimits()
    answer, other = (route_of("POST", f"/interactions/{number}/aW50ZXI/callback") for number in (1, 2))
    limits.note_refusal(route_of("GET", "/users/@me"), 30.0, is_global=True, passing=False)
    limits.note(answer, {"x-ratelimit-bucket": "b", "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "30"})

    assert answer.name == other.name == "POST /interactions/*/*/callback"
    later = route_of("PATCH", "/webhooks/1/2W50ZXI/messages/@original")
    assert (later.name, later.major) == ("PATCH /webhooks/*/*/messages/@original", "2W50ZXI")
    assert limits.wait_s(answer) > 25.0 and limits.wait_s(other) == 0.0
    assert limits.wait_s(route_of("POST", "/channels/5/messages")) > 25.0


@pytest.mark.parametrize(
    "refusal", [Refuse(429, retry_after=30.0, is_global=True), Page(code=429)], ids=["discord", "proxy"]
)
async def test_the_global_limit_stops_every_request(lake: Lake, refusal: object) -> None:
    key, other = (SessionKey(channel=NAME, chat=each.id) for each in (lake.chat, lake.discord.channel()))
    lake.discord.faults.on("POST messages", refusal)
    async with connect(lake.process, NAME, lake.config) as adapter:
        for chat in (key, other):
            with pytest.raises(SendRefused) as refused:
                await adapter.send(chat, a_part(), timeout_s=HANG_S)
            assert refused.value.retry_after_s and refused.value.retry_after_s > 25.0

    assert len(lake.discord.called("POST messages")) == 1


async def test_the_address_of_a_file_is_asked_for_anew(lake: Lake) -> None:
    heard = Heard()
    async with lake.hearing(heard) as adapter:
        file = lake.discord.file(b"content", content_type="text/plain")
        lake.chat.say("look", by=lake.ann, files=[file])
        await heard.count(1)
        file.key = "renewed"  # the address of before has expired
        [attachment] = heard.arrivals[0].attachments
        assert await adapter.fetch(attachment, timeout_s=HANG_S) == b"content"


async def test_a_slow_intake_holds_up_the_platform_and_not_the_memory(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.discord.event_inlet.PENDING_MAX", 3)
    heard = Heard(gates={"0": anyio.Event()})
    async with lake.hearing(heard):
        for number in range(10):
            lake.chat.say(str(number), by=lake.ann)
        await heard.until(lambda: bool(heard.held))
        heard.gates["0"].set()
        await heard.count(10)

    assert heard.texts == [str(number) for number in range(10)]


def a_part(text: str = "High at noon.", **more: Any) -> Part:
    return msgspec.convert({"reply": "r", "number": 0, "text": text, "attempt": "a", **more}, Part)
