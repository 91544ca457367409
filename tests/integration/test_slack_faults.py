"""Whatever becomes of a call to Slack, the adapter says of it what is true, and finds what nobody knows of."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from channels.base import Part
from channels.slack import SlackChannel, connect
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config, Secret, SlackConfig
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.slack import Cut, FakeSlack, Garbled, Hang, Page, Refuse, fake_slack

TIMEOUT_S = 10.0
SEND_S = 0.5  # how long a send may take; one call in each test is answered by nothing

FAULTS: list[Any] = [
    *(Cut(acted=False), Cut(), Cut(half=True), Page(), Hang()),
    *(Garbled(b"\xff{"), Garbled(b"[]"), Garbled(b"null"), Garbled(b'{"ok":"yes"}'), Garbled(b"[" * 100_000)),
    *(Refuse(), Refuse(error="invalid_auth"), Refuse(error="never_heard_of"), Refuse(error="missing_scope")),
    *(Refuse(error="internal_error"), Refuse(error="internal_error", acted=True)),
    *(Refuse(error="fatal_error", acted=True), Refuse(error="service_unavailable", status=503)),
]

FILE = Attachment(kind="document", name="a.txt", path="a.txt")
KINDS: dict[str, dict[str, Any]] = {
    "text": {"text": "so many words"},
    "preview": {"text": "so many", "preview": True},
    "file": {"text": "", "attachments": (FILE,)},
    "document": {"text": "see", "document": "a long one"},
}
METHODS = [
    ("text", "chat.postMessage"),
    ("preview", "chat.startStream"),
    ("file", "files.getUploadURLExternal"),
    ("file", "upload"),
    ("file", "files.completeUploadExternal"),
    ("document", "files.completeUploadExternal"),
]


@asynccontextmanager
async def adapter(process: Process, slack: FakeSlack) -> AsyncGenerator[SlackChannel]:
    """The adapter of a fake Slack's bot, whose workspace holds a file."""
    config = SlackConfig(
        base_url=slack.base_url, bot_token=Secret(slack.bot.token), app_token=Secret(slack.app.token), bot="pond"
    )
    here = replace(
        process,
        config=Config(queue=process.config.queue, channels={"acme": config}, bots={"pond": BotConfig()}),
        clock=SystemClock(),
    )
    here.workspace("pond").mkdir(parents=True, exist_ok=True)
    (here.workspace("pond") / "a.txt").write_bytes(b"content")
    async with connect(here, "acme", config) as channel:
        yield channel


@pytest.mark.parametrize(("kind", "method"), METHODS)
async def test_what_is_said_to_have_been_refused_was_not_sent_and_what_is_unknown_can_be_found(
    process: Process, kind: str, method: str
) -> None:
    async with fake_slack(floods=False) as slack:
        ann = slack.person("Ann")
        for fault in FAULTS:
            async with adapter(process, slack) as channel:
                lake = slack.channel(ann)
                chat = SessionKey(channel="acme", chat=lake.id, thread=lake.say("root", by=ann).ts)
                part = Part(reply="r1", number=0, attempt="a1", asked_by=ann.id, **KINDS[kind])
                slack.faults.on(method, fault)

                outcome = await sent(channel, chat, part)
                there = [message.ts for message in lake.shown()]
                found = await channel.find(chat, part, timeout_s=TIMEOUT_S)
                other = await channel.find(chat, other_than(part), timeout_s=TIMEOUT_S)

            assert (found, other) == (there[0] if there else "", ""), fault
            if outcome != "unknown":
                assert there == ([] if outcome == "refused" else [outcome]), fault


async def sent(channel: SlackChannel, chat: SessionKey, part: Part) -> str:
    """What the adapter says of it, in a word, or the id of what was sent."""
    try:
        return await channel.send(chat, part, timeout_s=SEND_S)
    except (SendRefused, SendRejected):
        return "refused"
    except SendUnknown:
        return "unknown"


def other_than(part: Part) -> Part:
    """The same kind of part, of another reply that says something else."""
    files = tuple(Attachment(kind="document", name="b.txt", path="a.txt") for _ in part.attachments)
    text = f"else {part.text}" if part.text else ""
    return Part(
        reply="r2",
        number=0,
        attempt="a1",
        text=text,
        preview=part.preview,
        asked_by=part.asked_by,
        document=part.document,
        attachments=files,
    )
