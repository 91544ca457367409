"""The adapter of Telegram on a real server, against the fake Bot API: what is said comes in, what is sent arrives."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.arrival import Arrival
from channels.base import Part
from channels.batch import one_by_one
from channels.push_checks import examine
from channels.telegram import TelegramChannel, connect, polling
from channels.telegram import webhook as telegram_webhook
from channels.telegram.api import NOTHING_SENT, Api
from channels.telegram.group_migration import GroupMigrations
from channels.telegram.webhook import secret_of
from daemon.config import AccessConfig, BotConfig, Config, QueueConfig, Secret, TelegramConfig, WebhookConfig
from daemon.errors import BusUnavailable, SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests import forked
from tests.fakes.telegram import Bot, Chat, Cut, FakeTelegram, Garbled, Hang, Page, Refuse, fake_telegram
from tests.fakes.telegram.world import SUPERGROUPS
from tests.limits import HANG_S
from tests.tables import each_row

NAME = "pond_bot"
TIMEOUT_S = 5.0
QUEUE = QueueConfig(lease_s=2.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


@pytest.fixture(autouse=True)
def short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "PAUSE_MIN_S", 0.01)
    monkeypatch.setattr(polling, "PAUSE_MAX_S", 0.05)
    monkeypatch.setattr(polling, "CONFLICT_MIN_S", 0.01)
    monkeypatch.setattr(polling, "CONFLICT_MAX_S", 0.05)


@dataclass
class Heard:
    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    away: int = 0  # how often it says that it cannot keep anything
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        return await one_by_one(self, arrivals)

    async def take(self, arrival: Arrival) -> None:
        await anyio.lowlevel.checkpoint()
        if self.away:
            self.away -= 1
            raise BusUnavailable("away")
        self.arrivals.append(arrival)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, count: int) -> list[str]:
        with anyio.fail_after(HANG_S):
            while len(self.arrivals) < count:
                await self._changed.wait()
        return [arrival.text for arrival in self.arrivals]


def configured(process: Process, telegram: FakeTelegram, bot: Bot | None = None, **more: Any) -> Process:
    token = Secret((bot or telegram.bot).token)
    given: dict[str, Any] = {"access": AccessConfig(policy="open"), "send_timeout_s": 1.0, **more}
    channel = TelegramConfig(base_url=telegram.base_url, token=token, **given)
    config = Config(queue=process.config.queue, channels={NAME: channel}, bots={"pond": BotConfig()})
    return replace(process, config=config, stopping=anyio.Event(), name=f"replica-{id(channel)}")


@asynccontextmanager
async def adapter(process: Process, telegram: FakeTelegram, **more: Any) -> AsyncGenerator[TelegramChannel]:
    here = configured(process, telegram, **more)
    config = here.config.channels[NAME]
    assert isinstance(config, TelegramConfig)
    async with connect(here, NAME, config) as channel:
        yield channel


@asynccontextmanager
async def receiving(process: Process, telegram: FakeTelegram, heard: Heard, **more: Any) -> AsyncGenerator[Process]:
    """An adapter that hands in what it hears, for the length of the block."""
    here = configured(process, telegram, **more)
    config = here.config.channels[NAME]
    assert isinstance(config, TelegramConfig)
    async with connect(here, NAME, config) as channel, anyio.create_task_group() as tg:
        tg.start_soon(channel.receive, heard)
        yield here
        here.stopping.set()


def key(chat: Chat, thread: str = "") -> SessionKey:
    return SessionKey(channel=NAME, chat=str(chat.id), thread=thread)


def part(text: str, **more: Any) -> Part:
    return Part(reply="r", number=0, text=text, attempt="a", **more)


async def test_what_people_say_comes_in_order_and_once(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        ann, bob = telegram.direct(telegram.person("Ann")), telegram.direct(telegram.person("Bob"))
        for number in range(150):
            (bob if number % 3 else ann).say(str(number))
        await heard.until(150)
        await telegram.polled()

    for chat in (ann, bob):
        said = [int(each.text) for each in heard.arrivals if each.chat == str(chat.id)]
        assert said == sorted(said)
    assert len({each.seen_as for each in heard.arrivals}) == 150
    assert not telegram.oddities()


async def test_nothing_is_confirmed_before_it_was_taken(process: Process) -> None:
    heard = Heard(away=3)
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        ann, bob = telegram.direct(telegram.person("Ann")), telegram.direct(telegram.person("Bob"))
        for number in range(4):
            ann.say(f"a{number}")
            bob.say(f"b{number}")
        await heard.until(8)
        await telegram.polled()

    assert [each.text for each in heard.arrivals if each.chat == str(ann.id)] == ["a0", "a1", "a2", "a3"]
    assert [each.text for each in heard.arrivals if each.chat == str(bob.id)] == ["b0", "b1", "b2", "b3"]


async def test_an_update_nobody_understands_does_not_stop_the_rest(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        ann = telegram.direct(telegram.person("Ann"))
        telegram.bot.push("message", {"nothing": "here"})
        telegram.bot.push("message", {"message_id": "five", "chat": []})
        telegram.bot.push("hologram", {"depth": 3})
        ann.say("still there?")

        assert await heard.until(1) == ["still there?"]
        await telegram.polled()


async def test_a_mixed_up_batch_is_taken_whole(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram:
        telegram.bot.order = lambda updates: [*updates[::-1], *updates[:2]]
        ann = telegram.direct(telegram.person("Ann"))
        for number in range(5):
            ann.say(str(number))
        async with receiving(process, telegram, heard):
            await heard.until(5)
            await telegram.polled()

    assert {each.text for each in heard.arrivals} == set("01234")
    assert not telegram.bot.updates


@pytest.mark.parametrize(
    "fault", [Refuse(500), Refuse(429, retry_after=0), Page(502), Garbled(), Cut(acted=False), Cut(half=True)]
)
async def test_a_failing_server_is_asked_again(process: Process, monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    monkeypatch.setattr(polling, "PAUSE_MIN_S", 0.01)
    heard = Heard()
    async with fake_telegram() as telegram:
        telegram.faults.on("getUpdates", fault, fault)
        ann = telegram.direct(telegram.person("Ann"))
        ann.say("hello")
        async with receiving(process, telegram, heard):
            assert await heard.until(1) == ["hello"]


async def test_of_two_replicas_one_asks_and_the_other_takes_over(process: Process) -> None:
    first, second = Heard(), Heard()
    async with fake_telegram() as telegram:
        ann = telegram.direct(telegram.person("Ann"))
        async with receiving(process, telegram, second) as standby:
            await telegram.polled()
            async with receiving(process, telegram, first):
                ann.say("one")
                await second.until(1)
                standby.stopping.set()
                ann.say("two")
                assert await first.until(1) == ["two"]

    assert not [call for call in telegram.called("getUpdates") if call.answer and call.answer.get("error_code") == 409]


async def test_somebody_else_who_asks_does_not_end_the_asking(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        await telegram.polled()
        async with httpx2.AsyncClient(trust_env=False) as other:
            await other.get(f"{telegram.base_url}/bot{telegram.bot.token}/getUpdates?timeout=0")
        ann = telegram.direct(telegram.person("Ann"))
        ann.say("hello")
        assert await heard.until(1) == ["hello"]


async def test_a_webhook_of_before_is_removed_and_what_waited_there_comes(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram:
        async with httpx2.AsyncClient(trust_env=False) as other:
            url = f"{telegram.base_url}/bot{telegram.bot.token}/setWebhook"
            await other.post(url, json={"url": "https://127.0.0.1:443/old"})
        telegram.direct(telegram.person("Ann")).say("hello")
        async with receiving(process, telegram, heard):
            assert await heard.until(1) == ["hello"]
    assert not telegram.bot.hook.url


async def test_a_silent_server_is_left_for_a_new_connection(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "POLL_S", 0)
    monkeypatch.setattr(polling, "PATIENCE_S", 0.2)
    heard = Heard()
    renewed: list[Api] = []
    renew = Api.renew

    async def noted(api: Api) -> None:
        renewed.append(api)
        await renew(api)

    monkeypatch.setattr(Api, "renew", noted)
    async with fake_telegram() as telegram:
        telegram.faults.on("getUpdates", Hang(acted=False))
        with capture_logs() as logs:
            async with receiving(process, telegram, heard):
                telegram.direct(telegram.person("Ann")).say("hello")
                assert await heard.until(1) == ["hello"]
    assert len(renewed) == 1
    assert "poll.silent" in [each["event"] for each in logs]


async def test_commands_are_registered_once_in_two_languages_and_for_groups_too(process: Process) -> None:
    async with fake_telegram() as telegram:
        for _ in range(2):
            async with receiving(process, telegram, Heard()):
                await telegram.until(lambda: len(telegram.called("getMyCommands")) in (6, 12) and telegram.bot.poll)
                await telegram.until(lambda: len(telegram.bot.commands) == 6)

    assert len(telegram.called("setMyCommands")) == 6
    assert {language for _, language in telegram.bot.commands} == {"", "zh"}
    shown = {len(commands) for (scope, _), commands in telegram.bot.commands.items() if "all_group_chats" in scope}
    assert shown == {7}, "members of groups are offered what they may use"


async def test_a_group_that_moved_goes_on_as_the_same_conversation(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        group = telegram.group(kind="group")
        for number in range(5):
            group.say(str(number))
        before = group.say("@pond_bot before")
        await heard.until(6)
        moved = group.migrate()
        moved.say("@pond_bot after")
        await heard.until(7)
        async with adapter(process, telegram) as channel:
            sent = await channel.send(key(group), part("answer"), timeout_s=TIMEOUT_S)
            await channel.edit(key(group), sent, part("better"), timeout_s=TIMEOUT_S)

    first, second = heard.arrivals[-2:]
    assert first.chat == second.chat == str(group.id)
    assert first.id == str(before.id)
    assert first.id != second.id
    assert second.order > first.order
    assert moved.texts() == ["better"]


async def test_a_reply_to_a_group_that_moved_meanwhile_arrives_there_once(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        group = telegram.group(kind="group")
        moved = group.migrate()

        await channel.send(key(group), part("answer"), timeout_s=TIMEOUT_S)
        await channel.send(key(group), part("more"), timeout_s=TIMEOUT_S)

    assert moved.texts() == ["answer", "more"]
    assert [call.ok for call in telegram.called("send")] == [False, True, True]


async def test_a_move_that_another_process_heard_of_is_known(process: Process) -> None:
    heard = Heard()
    async with fake_telegram() as telegram, receiving(process, telegram, heard):
        await telegram.polled()
        await GroupMigrations(process.bus, NAME).note(-7, SUPERGROUPS - 7)
        group = telegram.group()
        group.id = SUPERGROUPS - 7
        group.say("@pond_bot hello")
        await heard.until(1)

    assert heard.arrivals[0].chat == "-7"


async def test_the_platform_brings_updates_to_those_who_know_the_secret(
    process: Process, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telegram_webhook, "UPDATE_MAX_BYTES", 10_000)
    heard = Heard(away=1)
    webhook = WebhookConfig(url="https://bots.example/hook/{pond}%20x", port=free_port)
    async with fake_telegram() as telegram:
        telegram.webhook_at = f"http://127.0.0.1:{free_port}"
        async with receiving(process, telegram, heard, webhook=webhook) as here:
            ann = telegram.direct(telegram.person("Ann"))
            ann.say("hello")
            ann.say("again")
            assert await heard.until(2) == ["hello", "again"]

            channel = here.config.channels[NAME]
            assert isinstance(channel, TelegramConfig)
            assert telegram.bot.hook.secret == secret_of(channel)
            status, _ = await telegram.press_hook(telegram.bot, {"update_id": 1}, secret="guess")
            assert status == 403
            async with httpx2.AsyncClient(trust_env=False) as other:
                elsewhere = await other.post(f"http://127.0.0.1:{free_port}/hook", content=b"{}")
            assert elsewhere.status_code == 404
            status, _ = await telegram.press_hook(telegram.bot, b"no json")
            assert status == 200
            status, _ = await telegram.press_hook(telegram.bot, b" " * 10_001)
            assert status == 413
    assert len(heard.arrivals) == 2


async def test_markdown_goes_out_as_a_rich_message(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))

        sent = await channel.send(key(ann), part("# Depth\n\n**2** m, $3 each"), timeout_s=TIMEOUT_S)

    [message] = ann.shown()
    assert str(message.id) == sent
    assert message.rich
    assert message.text.split("\n") == ["Depth", "2 m, $3 each"]
    assert not telegram.oddities()


LONG = "\n\n".join(f"Paragraph **{n}** of the book. {'word ' * 20}" for n in range(100)).rstrip()


async def test_a_long_text_is_one_rich_message_and_a_file_where_that_is_refused(process: Process) -> None:
    async with fake_telegram(floods=False) as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        assert 4_096 == channel.length(LONG) < len(LONG)
        assert channel.length("line\n" * 1_000) == 5_000
        assert channel.length("x " * 20_000) == 40_000

        sent = await channel.send(key(ann), part(LONG), timeout_s=TIMEOUT_S)
        await channel.edit(key(ann), sent, part(f"{LONG} The end."), timeout_s=TIMEOUT_S)
        telegram.faults.on("editMessageText", Refuse(400, "Bad Request: RICH_MESSAGE_INVALID"))
        with pytest.raises(SendRejected):
            await channel.edit(key(ann), sent, part(f"{LONG} And so on."), timeout_s=TIMEOUT_S)
        telegram.faults.on("sendRichMessage", Refuse(400, "Bad Request: RICH_MESSAGE_INVALID"))
        await channel.send(key(ann), part(LONG), timeout_s=TIMEOUT_S)
        telegram.methods.rich_known = False
        for _ in range(2):
            await channel.send(key(ann), part(LONG), timeout_s=TIMEOUT_S)

    one, *files = ann.shown()
    assert one.text.endswith("word The end.")
    assert [each.file.data.decode() if each.file else "" for each in files] == [LONG] * 3
    assert all(each.text.startswith("Paragraph 0 of the book.") for each in files)
    assert len(telegram.called("sendRichMessage")) == 3


async def test_a_server_without_rich_messages_is_asked_once_and_gets_entities(process: Process) -> None:
    async with fake_telegram(rich=False) as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))

        for text in ("**one**", "**two**"):
            await channel.send(key(ann), part(text), timeout_s=TIMEOUT_S)

    assert ann.texts() == ["one", "two"]
    assert [each["type"] for message in ann.shown() for each in message.entities] == ["bold", "bold"]
    assert len(telegram.called("sendRichMessage")) == 1


async def test_markdown_goes_out_with_entities_where_that_is_wanted(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram, rich=False) as channel:
        ann = telegram.direct(telegram.person("Ann"))

        await channel.send(key(ann), part("**one**"), timeout_s=TIMEOUT_S)

    assert [message.entities[0]["type"] for message in ann.shown()] == ["bold"]
    assert not telegram.called("sendRichMessage")


async def test_no_form_of_a_text_and_no_edit_lets_the_platform_fetch_an_address(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        for method in ("sendRichMessage", "sendMessage"):  # from one to the next each form is the first that is taken
            await channel.send(key(ann), part("**see** https://e.x/?q=secret"), timeout_s=TIMEOUT_S)
            telegram.faults.on(method, always=Refuse(400, "Bad Request: can't parse entities"))
        telegram.faults.clear()
        sent = await channel.send(key(ann), part("see https://e.x/?q=secret"), timeout_s=TIMEOUT_S)
        await channel.edit(key(ann), sent, part("**no,** https://e.x/?q=more"), timeout_s=TIMEOUT_S)

    assert len(ann.shown()) == 3
    assert [message.text for message in ann.shown() if message.previewed] == []


async def test_what_no_form_of_markdown_is_taken_for_goes_out_as_written(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        telegram.faults.on("sendRichMessage", Refuse(400, "Bad Request: can't parse rich message"))
        telegram.faults.on("sendMessage", Refuse(400, "Bad Request: can't parse entities"))

        await channel.send(key(ann), part("**one**"), timeout_s=TIMEOUT_S)

    assert ann.texts() == ["**one**"]


async def test_an_answer_goes_to_its_topic_and_names_what_it_answers(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        group = telegram.group(forum=True)
        asked = group.say("@pond_bot how deep?", thread=77)

        await channel.send(key(group, "77"), part("2 m", reply_to=str(asked.id)), timeout_s=TIMEOUT_S)
        await channel.send(key(group), part("here", reply_to="999"), timeout_s=TIMEOUT_S)

    assert [(message.text, message.thread) for message in group.shown()] == [("2 m", 77), ("here", 0)]
    assert group.shown()[0].reply_to is asked


@each_row(
    ("fault", "error"),
    [
        (Refuse(429, retry_after=3), SendRefused),
        (Refuse(500), SendRefused),
        (Page(502), SendRefused),
        (Page(404), SendRefused),
        (Page(504, acted=True), SendUnknown),
        (Refuse(400, "Bad Request: chat not found"), SendRejected),
        (Refuse(403, "Forbidden: bot was blocked by the user"), SendRejected),
        (Refuse(401, "Unauthorized"), SendRefused),
        (Cut(), SendUnknown),
        (Cut(acted=False), SendUnknown),
        (Garbled(b"<html>"), SendUnknown),
        (Hang(), SendUnknown),
    ],
)
async def test_it_is_told_how_a_send_went(process: Process, fault: Any, error: type[Exception]) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        telegram.faults.on("send*", fault)

        with pytest.raises(error) as caught:
            await channel.send(key(ann), part("**hi**"), timeout_s=0.5)

        assert telegram.bot.token not in repr(caught.value)
        assert caught.value.__cause__ is None
        if fault == Refuse(429, retry_after=3):
            assert isinstance(caught.value, SendRefused)
            assert caught.value.retry_after_s == 3
        assert len(telegram.called("send")) == 1


async def test_a_server_that_repeats_the_token_is_not_quoted(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        token = telegram.bot.token
        secret = token.partition(":")[2]
        path = f"/bot{token}/getMe bot{token.replace(':', '%3A')}"
        telegram.faults.on("getMe", Refuse(401, path), Refuse(500, path), Refuse(400, path))
        said = [(await channel.health()).text for _ in range(3)]
        telegram.faults.on("sendMessage", Refuse(400, path), Refuse(429, path))
        for _ in range(2):
            with pytest.raises((SendRejected, SendRefused)) as caught:
                chat = telegram.direct(telegram.person("Ann"))
                await channel.send(key(chat), part("hi"), timeout_s=TIMEOUT_S)
            said.append(repr(caught.value))

    assert all("/getMe" in each for each in said)
    assert not any(secret in each for each in said)


async def test_a_server_that_is_not_there_has_been_sent_nothing(process: Process) -> None:
    async with fake_telegram() as telegram:
        ann = telegram.direct(telegram.person("Ann"))
        here = adapter(process, telegram)
    async with here as channel:
        with pytest.raises(SendRefused) as caught:
            await channel.send(key(ann), part("hi"), timeout_s=TIMEOUT_S)
        assert not (await channel.health()).ok
    assert telegram.bot.token not in str(caught.value)


def test_every_failure_of_the_http_library_is_either_nothing_sent_or_unknown() -> None:
    def kinds(kind: type[Exception]) -> list[type[Exception]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in kinds(sub))]

    refused = {kind.__name__ for kind in kinds(httpx2.HTTPError) if issubclass(kind, NOTHING_SENT)}

    assert refused == {
        *("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError", "ProxyError")
    }


async def test_an_edit_says_something_else_and_the_same_again_is_fine(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        sent = await channel.send(key(ann), part("one"), timeout_s=TIMEOUT_S)

        for text in ("**two**", "**two**", "three", "three"):
            await channel.edit(key(ann), sent, part(text), timeout_s=TIMEOUT_S)

        assert ann.texts() == ["three"]
        await channel.remove(key(ann), sent, timeout_s=TIMEOUT_S)
        await channel.remove(key(ann), sent, timeout_s=TIMEOUT_S)
        assert ann.texts() == []
        with pytest.raises(SendRejected):
            await channel.edit(key(ann), sent, part("four"), timeout_s=TIMEOUT_S)


async def test_files_go_out_with_a_caption_or_behind_a_long_text(process: Process) -> None:
    workspace = process.workspace("pond")
    await anyio.Path(workspace / "files").mkdir(parents=True, exist_ok=True)
    await anyio.Path(workspace / "files" / "a.png").write_bytes(b"\x89PNG")
    picture = Attachment(kind="image", name="a.png", path="files/a.png", size_bytes=4)
    async with fake_telegram(floods=False) as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))

        await channel.send(key(ann), part("**look**", attachments=(picture,)), timeout_s=TIMEOUT_S)
        await channel.send(key(ann), part("long " * 300, attachments=(picture,)), timeout_s=TIMEOUT_S)
        await channel.send(key(ann), part("in short", document="in full"), timeout_s=TIMEOUT_S)
        telegram.faults.on("sendPhoto", Refuse(400, "Bad Request: PHOTO_INVALID_DIMENSIONS"))
        await channel.send(key(ann), part("", attachments=(picture,)), timeout_s=TIMEOUT_S)

    shown = [(message.file.kind if message.file else "", message.text[:8]) for message in ann.shown()]
    assert shown == [
        ("photo", "look"), ("", "long lon"), ("photo", ""), ("document", "in short"), ("document", "")
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "gone", "", "files/../x"])
async def test_nothing_but_a_file_of_the_workspace_is_sent(process: Process, path: str, tmp_path: Path) -> None:
    workspace = anyio.Path(process.workspace("pond"))
    await workspace.mkdir(parents=True, exist_ok=True)
    await (workspace.parent / "secret").write_bytes(b"x")
    await (workspace / "link").symlink_to(workspace.parent / "secret")
    file = Attachment(kind="document", name="x", path=path, size_bytes=1)
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        with pytest.raises(SendRejected):
            ann = telegram.direct(telegram.person("Ann"))
            await channel.send(key(ann), part("", attachments=(file,)), timeout_s=TIMEOUT_S)

    assert not telegram.called("send")


async def test_a_file_is_fetched_within_its_bounds(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        found = telegram.file("document", b"deep")
        large = telegram.file("document", b"x", claims_bytes=30_000_000)

        kept = Attachment(kind="document", source=found.id)
        assert await channel.fetch(kept, timeout_s=TIMEOUT_S) == b"deep"
        for refused in (
            Attachment(kind="document", source=large.id),
            Attachment(kind="document", source=found.id, size_bytes=30_000_000),
            Attachment(kind="document", source="nothing"),
        ):
            with pytest.raises(SendRejected):
                await channel.fetch(refused, timeout_s=TIMEOUT_S)


async def test_typing_and_reactions_are_shown(process: Process) -> None:
    async with fake_telegram() as telegram, adapter(process, telegram) as channel:
        ann = telegram.direct(telegram.person("Ann"))
        said = ann.say("hello")

        await channel.typing(key(ann), timeout_s=TIMEOUT_S)
        await channel.react(key(ann), str(said.id), "👀", timeout_s=TIMEOUT_S)
        assert list(said.reactions.values()) == ["👀"]
        await channel.react(key(ann), str(said.id), "", timeout_s=TIMEOUT_S)

    assert [action for _, action, _ in ann.actions] == ["typing"]
    assert not said.reactions
    assert not telegram.oddities()


async def test_health_says_who_the_bot_is(process: Process) -> None:
    async with fake_telegram() as telegram:
        async with adapter(process, telegram) as channel:
            health = await channel.health()
        stranger = msgspec.structs.replace(TelegramConfig(base_url=telegram.base_url), token=Secret("1:wrong"))
        async with connect(configured(process, telegram), NAME, stranger) as channel:
            wrong = await channel.health()

    assert health.ok
    assert "https://t.me/pond_bot" in health.text
    assert not wrong.ok
    assert "token" in wrong.text
    assert "1:wrong" not in wrong.text


async def test_the_doctor_says_who_a_bot_is_and_what_stands_in_its_way(process: Process) -> None:
    async with fake_telegram() as telegram:
        telegram.bot.privacy = True
        fine = await examine(NAME, configured(process, telegram).config)
        closed = await examine(NAME, configured(process, telegram, access=AccessConfig()).config)
        group = telegram.group()
        hearing = configured(
            process, telegram, hear_reactions=True, access=AccessConfig(policy="allow", allow=(str(group.id),))
        ).config
        unable = await examine(NAME, hearing)
        group.has_administrators = True
        able = await examine(NAME, hearing)
        async with httpx2.AsyncClient(trust_env=False) as other:
            url = f"{telegram.base_url}/bot{telegram.bot.token}/setWebhook"
            await other.post(url, json={"url": "https://127.0.0.1:443/old"})
        hooked = await examine(NAME, configured(process, telegram).config)
        telegram.world.bots.clear()
        wrong = await examine(NAME, configured(process, telegram).config)
    away = await examine(NAME, configured(process, telegram).config)

    assert [each.state for each in fine] == ["ok", "ok"]
    assert "https://t.me/pond_bot" in fine[0].text
    assert "privacy mode" in fine[1].text
    assert [each.state for each in closed] == ["ok", "ok", "warning"]
    assert f"channels.{NAME}.access.policy" in closed[2].text
    assert [each.state for each in (unable[-1], able[-1])] == ["warning", "ok"]
    assert f"administrator of these groups: {group.id}" in unable[-1].text
    assert [each.state for each in hooked] == ["ok", "warning", "ok"]
    assert [each.state for each in wrong] == [each.state for each in away] == ["error"]
    assert telegram.bot.token not in str([*wrong, *away])


async def test_the_doctors_command_looks_at_the_bots(process: Process, tmp_path: Path) -> None:
    async with fake_telegram() as telegram:
        config = tmp_path / "millpond.toml"
        config.write_text(
            f'data_dir = "{tmp_path}/data"\n[channels.web]\nenabled = false\n[channels.frogs]\ntype = "telegram"\n'
            f'token = "{telegram.bot.token}"\nbase_url = "{telegram.base_url}"\naccess = {{ policy = "pairing" }}\n'
        )
        config.chmod(0o600)
        with anyio.fail_after(HANG_S):
            said = await anyio.to_thread.run_sync(forked.run, ("--config", str(config), "doctor"), os.environ)

    assert "channel frogs: @pond_bot, https://t.me/pond_bot" in said.stdout
    assert telegram.bot.token not in said.stdout + said.stderr
