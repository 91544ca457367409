"""A webhook channel whose bridge fails in every way: no answer is lost, doubled or out of order, and no chat waits."""

import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio
import msgspec

from channels.push import serve
from daemon.clock import SystemClock
from daemon.config import AccessConfig, BotConfig, ModelConfig, WebhookChannelConfig
from daemon.process import Process
from daemon.services import service
from tests.fakes.bridge import SECRET, Bridge
from tests.fakes.openai_server import Say, fake_openai
from tests.fakes.said import said
from tests.fakes.sink import Cut, Fault, Hang, Page, Post, Refuse
from tests.limits import HANG_S, until
from tests.ports import free_port

TIMEOUT_S = 0.3
REFUSED: tuple[list[Fault | None], ...] = (
    [Refuse(429, retry_after_s=0.05)], [Refuse(503)], [Refuse(500, retry_after_s=0.01)], [Page(502)],
)  # fmt: skip
UNKNOWN = tuple([[fault, None] for fault in (Cut(), Cut(delivered=False), Hang(), Hang(delivered=False))])
"""A part is sent once more when nobody knows whether it has arrived."""


@dataclass
class Forum:
    """A bridge, and the process that it is connected to."""

    process: Process
    bridge: Bridge
    faults: dict[str, list[Fault | None]] = field(default_factory=dict)
    """By chat, for the messages sent to it in turn."""

    def shown(self, chat: str) -> list[str]:
        return [post["text"] for post in self.bridge.messages.values() if post["chat"] == chat]


@asynccontextmanager
async def forum(process: Process) -> AsyncIterator[Forum]:
    def answer(body: Any) -> Say:
        return Say(f"re: {said(body['messages'][-1]['content']).split()[-1]}")

    def decide(post: Post) -> Fault | None:
        waiting = found.faults.get(post["chat"], []) if post["type"] == "message" else []
        return waiting.pop(0) if waiting else None

    port = free_port()
    async with fake_openai(answer) as model, anyio.create_task_group() as tg:
        bridge = Bridge(tg, decide)
        await tg.start(bridge.serve)
        bridge.address = f"http://127.0.0.1:{port}/"
        channel = WebhookChannelConfig(
            url=bridge.url,
            secret=SECRET,
            port=port,
            access=AccessConfig(policy="open"),
            send_timeout_s=TIMEOUT_S,
        )
        bot = BotConfig(model=ModelConfig(base_url=model.base_url, name="fake"))
        queue = msgspec.structs.replace(process.config.queue, backoff_min_s=0.01, backoff_max_s=0.05)
        config = msgspec.structs.replace(process.config, channels={"forum": channel}, bots={"pond": bot}, queue=queue)
        process = replace(process, config=config, clock=SystemClock(), stopping=anyio.Event())
        found = Forum(process=process, bridge=bridge)
        async with anyio.create_task_group() as services:
            await services.start(partial(service("agent"), process))
            await services.start(serve, process)
            yield found
            process.stopping.set()
        tg.cancel_scope.cancel()


async def test_through_every_fault_each_answer_is_shown_once_and_in_order(process: Process) -> None:
    dice, chats, count = random.Random(7), [f"c{number}" for number in range(5)], 4
    async with forum(process) as lab:
        lab.faults |= {chat: [*itertools.chain(*dice.choices((*REFUSED, *UNKNOWN), k=4))] for chat in chats}
        for number, chat in itertools.product(range(count), chats):
            lab.bridge.say(chat, {"chat": chat, "sender": chat, "text": f"{chat}-{number}", "id": f"m{number}"})
        with anyio.fail_after(2 * HANG_S):
            await lab.bridge.settled()
            await until(
                lambda: all(any(text.endswith(f"{chat}-{count - 1}") for text in lab.shown(chat)) for chat in chats)
            )

        for chat in chats:
            # Messages that wait together are answered together, with the newest one's name.
            numbers = [int(text.rpartition("-")[2]) for text in lab.shown(chat)]
            assert numbers == sorted(set(numbers)), chat


async def test_a_chat_whose_bridge_hangs_delays_no_other_chat(process: Process) -> None:
    async with forum(process) as lab:
        lab.faults["ann"] = [Hang()] * 1_000
        lab.bridge.say("ann", {"chat": "ann", "sender": "ann", "text": "a-0"})
        await until(lambda: len(lab.faults["ann"]) < 999)
        for number in range(5):
            lab.bridge.say("bob", {"chat": "bob", "sender": "bob", "text": f"b-{number}"})
            await until(lambda number=number: any(text.endswith(f"b-{number}") for text in lab.shown("bob")))
        assert len(lab.shown("ann")) <= 1
