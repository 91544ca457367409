"""A Slack that repeats every token in all that it says: none of them stands in an error, a log or what people read."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from channels.base import Part
from channels.slack import SlackChannel, connect
from channels.testing.lab import Heard
from daemon.config import Config, Secret, SlackConfig
from daemon.errors import ChannelError
from daemon.events import Attachment, Inbound
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Channel, FakeSlack, Fault, Garbled, Page, Refuse, fake_slack

NAME = "lake"
TIMEOUT_S = 2.0
SHORT_CHARS = 10  # so much of a secret counts as the secret
Act = Callable[[SlackChannel, SessionKey, str], Awaitable[object]]

ACTS: dict[str, Act] = {
    "send": lambda channel, chat, _: channel.send(chat, part(), timeout_s=TIMEOUT_S),
    "begin": lambda channel, chat, _: channel.send(chat, part(preview=True, asked_by="U1"), timeout_s=TIMEOUT_S),
    "edit": lambda channel, chat, ts: channel.edit(chat, ts, part(), timeout_s=TIMEOUT_S),
    "remove": lambda channel, chat, ts: channel.remove(chat, ts, timeout_s=TIMEOUT_S),
    "typing": lambda channel, chat, _: channel.typing(chat, timeout_s=TIMEOUT_S),
    "react": lambda channel, chat, ts: channel.react(chat, ts, "👀", timeout_s=TIMEOUT_S),
    "document": lambda channel, chat, _: channel.send(chat, part(document="all of it"), timeout_s=TIMEOUT_S),
    "fetch": lambda channel, _chat, _ts: channel.fetch(Attachment(kind="document", source="F1"), timeout_s=TIMEOUT_S),
    "find": lambda channel, chat, _: channel.find(chat, part(), timeout_s=TIMEOUT_S),
    "before": lambda channel, chat, _: channel.before(asked(chat), timeout_s=TIMEOUT_S),
    "health": lambda channel, _chat, _ts: channel.health(),
    "receive": lambda channel, _chat, _ts: heard(channel),
}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack(floods=False) as slack:
        yield slack


def part(**more: Any) -> Part:
    return Part(reply="lake:C1:1#7", number=0, text="two metres", attempt="a", **more)


def asked(chat: SessionKey) -> Inbound:
    where = {"channel": chat.channel, "chat": chat.chat, "thread": chat.thread}
    return Inbound(id="9.9", bot="pond", sender_id="U1", text="?", received_at="", correlation="c", **where)


async def heard(channel: SlackChannel) -> None:
    """Try to hear for a moment; what goes wrong is logged."""
    with anyio.move_on_after(0.3):
        await channel.receive(Heard())


def repeating(*secrets: str) -> list[Fault]:
    all_of_them = " ".join(secrets)
    quoted = {"response_metadata": {"messages": [f"[ERROR] {all_of_them}"]}, "needed": all_of_them, "user": all_of_them}
    return [
        Refuse(f"no_{secrets[0]}", more=quoted),
        Refuse("missing_scope", more=quoted),
        Refuse("invalid_auth", more=quoted),
        Refuse("internal_error", more=quoted),
        Page(502, body=all_of_them.encode()),
        Garbled(f'{{"ok": true, "ts": "{all_of_them}'.encode()),
    ]


@pytest.mark.parametrize("name", ACTS)
async def test_no_secret_is_told(
    slack: FakeSlack, process: Process, name: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    config = SlackConfig(base_url=slack.base_url, bot_token=Secret(slack.bot.token), app_token=Secret(slack.app.token))
    process = replace(process, config=Config(queue=process.config.queue, channels={NAME: config}))
    secrets = (slack.app.token if name == "receive" else slack.bot.token,)
    lake = slack.channel(slack.person("Ann"))
    told: list[str] = []

    with capture_logs() as logs:
        for fault in repeating(*secrets):
            told += await _told(slack, process, config, lake, name, fault)

    shown = [*told, str(logs), caplog.text, *capsys.readouterr()]
    pieces = {secret[at : at + SHORT_CHARS] for secret in secrets for at in range(len(secret) - SHORT_CHARS + 1)}
    assert [text for text in shown if any(each in text for each in pieces)] == []
    assert told or logs, "nothing went wrong"


async def _told(
    slack: FakeSlack, process: Process, config: SlackConfig, lake: Channel, name: str, fault: Fault
) -> list[str]:
    root = lake.say("how deep?").ts
    chat = SessionKey(channel=NAME, chat=lake.id, thread=root)
    async with connect(process, NAME, config) as channel:
        ts = await channel.send(chat, part(), timeout_s=TIMEOUT_S)
        if name not in ("health", "receive"):
            await channel.find(chat, part(), timeout_s=TIMEOUT_S)  # so that it knows who it is
        # Who is given a token can repeat it: a socket is asked for by the app's.
        slack.faults.on("apps.connections.open" if name == "receive" else "*", always=fault)
        try:
            found = await ACTS[name](channel, chat, ts)
        except ChannelError as error:
            return [f"{each} {each!r} {each.__dict__}" for each in _chain(error)]
        finally:
            slack.faults.clear()
        return [str(found)] if found else []


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
