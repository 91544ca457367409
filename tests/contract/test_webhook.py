"""The webhook channel holds to the contract, with a bridge that checks every signature."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from channels.base import Channel
from channels.testing.channel_contract import ChannelContract
from channels.testing.contract_steps import a_part, receiving
from channels.testing.lab import Fault, Feature, Heard, Lab, Said, Shown
from channels.webhook import connect
from channels.webhook.webhook_receiver import ID, SIGNATURE, TIME, signed
from daemon.clock import SystemClock
from daemon.config import Config, Secret, WebhookChannelConfig
from daemon.errors import BusUnavailable, SendRejected
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.contract.test_testing import FAULTS
from tests.fakes import sink as fakes
from tests.fakes.bridge import SECRET, Bridge
from tests.fakes.sink import Post
from tests.limits import HANG_S
from tests.ports import free_port
from tests.tables import each_row

NAME = "forum"


class WebhookLab(Lab):
    missing = frozenset(
        {
            *(Feature.ALBUMS, Feature.BUTTONS, Feature.FINDING, Feature.LOOKING_BACK),
            *(Feature.LENDING, Feature.VOICES),
        }
    )
    impossible = frozenset({Fault.STALL})

    def __init__(self, process: Process, tasks: anyio.abc.TaskGroup) -> None:
        super().__init__()
        self.chat = SessionKey(channel=NAME, chat="ann")
        self.group = SessionKey(channel=NAME, chat="everybody")
        self.bridge = Bridge(tasks, self._decide)
        self.serving, self.closed = anyio.CancelScope(), anyio.Event()
        self._process = replace(process, clock=SystemClock())
        self.workspace = process.workspace("pond")
        self._port = free_port()
        self._said = 0
        self.bridge.address = f"http://127.0.0.1:{self._port}/in"

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with self.serving:
            await self.bridge.serve(task_status=task_status)
        self.closed.set()

    @asynccontextmanager
    async def again(self) -> AsyncIterator[Channel]:
        config = WebhookChannelConfig(
            url=self.bridge.url,
            secret=SECRET,
            port=self._port,
            path="/in",
            supports=("edits", "typing", "reactions", "files"),
        )
        process = replace(self._process, config=Config(queue=self._process.config.queue, channels={NAME: config}))
        async with connect(process, NAME, config) as channel:
            yield channel

    def a_chat(self, number: int) -> str:
        return f"chat-{number}"

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=number,
                text=post["text"],
                files=tuple(file["name"] for file in post.get("files", ())),
                reply_to=post.get("reply_to", ""),
            )
            for number, post in self.bridge.messages.items()
            if (post["chat"], post.get("thread", "")) == (chat.chat, chat.thread)
        ]

    def typings(self, chat: SessionKey) -> int:
        return sum(post["type"] == "typing" and post["chat"] == chat.chat for post in self.bridge.acts)

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        signs = [post["emoji"] for post in self.bridge.acts if post["type"] == "reaction" and post["id"] == message_id]
        return signs[-1] if signs else ""

    async def say(self, said: Said) -> str:
        self._said += 1
        number = said.edits or said.deletes or f"p{self._said}"
        chat = said.chat or self.chat.chat
        message: dict[str, Any] = {
            "type": "edit" if said.edits else "delete" if said.deletes else "message", "id": number, "chat": chat,
            "thread": said.thread, "group": chat == self.group.chat, "text": said.text, "reply_to": said.answers,
            "sender": {"id": said.sender, "bot": said.is_bot}, "order": self._said,
            "mentioned": said.mentioned or said.answers in self.bridge.messages,
        }  # fmt: skip
        if said.reaction:
            number = said.answers
            message |= {"type": f"reaction{'_removed' * said.removed}", "id": number, "emoji": said.reaction}
        if said.file is not None:
            self.bridge.files[number] = said.file
            message["files"] = [{"url": f"{self.bridge.url}files/{number}", "name": "file", "bytes": len(said.file)}]
        self.bridge.say(chat, message)
        return number

    async def say_nonsense(self) -> None:
        for nonsense in ({"id": 7}, None, [[]], {"chat": "ann", "sender": {}}, "hello", b"{", b"\xff", b"[" * 100_000):
            self.bridge.say(self.chat.chat, nonsense)

    async def settled(self) -> None:
        await self.bridge.settled()

    def unsettled(self) -> bool:
        return any(self.bridge.waiting.values())

    def lock_out(self) -> None:
        self.bridge.secret = Secret("another secret of the bridge")

    async def shut_down(self) -> None:
        self.serving.cancel()
        await self.closed.wait()

    def _decide(self, post: Post) -> fakes.Fault | None:
        faults = self.update_faults if post["type"] == "said" else self.faults
        return FAULTS[faults.pop(0)] if faults and post["type"] != "ping" else None


class TestWebhook(ChannelContract, missing=WebhookLab.missing):
    @pytest.fixture
    async def lab(self, process: Process) -> AsyncIterator[WebhookLab]:
        async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
            lab = WebhookLab(process, tg)
            await tg.start(lab.serve)
            lab.channel = await stack.enter_async_context(lab.again())
            yield lab
            tg.cancel_scope.cancel()

    async def test_a_repeated_part_has_the_same_webhook_id_so_that_it_is_shown_once(self, lab: WebhookLab) -> None:
        sent = [await lab.channel.send(lab.chat, a_part(attempt=name), timeout_s=HANG_S) for name in ("one", "two")]

        assert len(set(sent)) == len(lab.shown(lab.chat)) == 1

    @each_row(
        "change, status, reason",
        [
            ({}, 204, ""), ({SIGNATURE: "v1,c2lnbmF0dXJl"}, 401, "is not valid"), ({SIGNATURE: ""}, 401, "required"),
            ({ID: "w2"}, 401, "is not valid"), ({ID: ""}, 401, "required"), ({ID: "x" * 257}, 401, "at most 256"),
            ({TIME: "1"}, 401, "current Unix time"), ({TIME: "-5"}, 401, "current Unix time"),
            ({TIME: "soon"}, 401, "current Unix time"), ({TIME: "٣"}, 401, "current Unix time"),
            ({TIME: "9" * 400}, 401, "current Unix time"), ({TIME: "9" * 5_000}, 401, "current Unix time"),
            ({SIGNATURE: "v1 " * 5_000 + "v1"}, 401, "is not valid"),
        ],
    )  # fmt: skip
    async def test_only_requests_with_a_valid_signature_are_accepted(
        self, lab: WebhookLab, change: dict[str, str], status: int, reason: str
    ) -> None:
        heard = Heard()
        message = {"chat": "ann", "sender": "ann", "text": "hello"}
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="first"))
            await heard.count(1)
            right = signed(SECRET, "w9", json.dumps(message).encode(), now_s=SystemClock().now().timestamp())
            headers: Any = {key: value.encode() for key, value in (right | change).items()}
            found = await lab.bridge.post(message, name="w9", **headers)

        assert found.status_code == status
        assert reason in (found.text and found.json()["error"]["message"])
        assert heard.texts == ["first", "hello"][: 1 + (status == 204)]

    async def test_an_old_request_is_not_accepted_again_later(self, lab: WebhookLab) -> None:
        heard, body = Heard(), json.dumps({"chat": "ann", "sender": "ann", "text": "old"}).encode()
        old = signed(SECRET, "w9", body, now_s=SystemClock().now().timestamp() - 301)
        async with receiving(lab.channel, heard):
            await lab.say(Said(text="first"))
            await heard.count(1)

            assert (await lab.bridge.post(body, name="w9", **old)).status_code == 401

    async def test_a_message_with_a_wrong_key_gets_the_reason(self, lab: WebhookLab) -> None:
        async with receiving(lab.channel, heard := Heard()):
            await lab.say(Said(text="first"))
            await heard.count(1)
            found = await lab.bridge.post({"chat": "ann", "sender": "ann", "txt": "hello"}, name="w9")

        assert found.status_code == 400
        assert "unknown field `txt`" in found.json()["error"]["message"]

    async def test_a_message_that_is_not_stored_is_to_be_sent_again(self, lab: WebhookLab) -> None:
        asked = anyio.Event()

        def away(_arrival: Any) -> None:
            asked.set()
            raise BusUnavailable("away")

        async with receiving(lab.channel, Heard(before=away)):
            await lab.say(Said(text="first"))
            await asked.wait()
            found = await lab.bridge.post({"chat": "bob", "sender": "bob", "text": "hello"}, name="w9")

        assert (found.status_code, found.headers["Retry-After"]) == (503, "5")

    @each_row(
        "url", ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/x", "file:///etc/passwd", "http://["]
    )
    async def test_files_of_other_servers_are_not_fetched(self, lab: WebhookLab, url: str) -> None:
        with pytest.raises(SendRejected, match=r"not on the server set in channels\.forum\.url"):
            await lab.channel.fetch(Attachment(kind="document", source=url), timeout_s=HANG_S)
