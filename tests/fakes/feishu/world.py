"""People, chats and messages of one tenant, and the app that is in it."""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from daemon.setup.platforms.feishu_scopes import CALLBACK, EVENTS, REACTION_EVENTS, SCOPES
from tests.fakes.platform import Changing

TOKEN_LASTS_S = 7_200
UUID_LASTS_S = 3_600  # for so long a repetition is known by its ``uuid``
UNREADABLE_CARD = '{"title":null,"elements":[[{"tag":"text","text":"Please upgrade to the latest version"}]]}'


class Failed(Exception):
    """An error of the API."""

    def __init__(self, code: int, msg: str = "failed", *, status: int = 400) -> None:
        super().__init__(msg)
        self.code, self.msg, self.status = code, msg, status

    def said(self) -> dict[str, Any]:
        return {"code": self.code, "msg": self.msg, "error": {"log_id": "2026"}}


@dataclass(frozen=True)
class Person:
    id: str  # open_id
    name: str


@dataclass(eq=False)
class Message:
    id: str
    chat: "Chat"
    kind: str  # text, post, interactive, image, file, audio, …
    content: dict[str, Any]
    by: Person | None  # None: the app
    time_ms: int
    root: str = ""
    parent: str = ""
    thread: str = ""
    deleted: bool = False
    mentions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    reactions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])  # id: emoji, who
    card_id: str = ""  # once it was converted
    sequence: int = 0
    forwarded: list["Message"] = field(default_factory=list["Message"])

    @property
    def text(self) -> str:
        """What people read."""
        if self.kind == "interactive":
            return str(self.content["body"]["elements"][0]["content"]).replace("&#60;", "<")
        return str(self.content.get("text", "")) if self.kind == "text" else ""

    @property
    def labels(self) -> list[str]:
        """Of its buttons."""
        return [each["text"]["content"] for each in self.buttons()]

    def buttons(self) -> list[dict[str, Any]]:
        """As they stand in the card."""
        elements = self.content["body"]["elements"] if self.kind == "interactive" else []
        columns = [column for each in elements if each["tag"] == "column_set" for column in each["columns"]]
        return [each for column in columns for each in column["elements"] if each["tag"] == "button"]

    @property
    def is_streaming(self) -> bool:
        return self.kind == "interactive" and bool(self.content.get("config", {}).get("streaming_mode"))

    def item(self) -> dict[str, Any]:
        """As the API tells of it; the content of cards of today's form is not told."""
        content = UNREADABLE_CARD if self.kind == "interactive" else json.dumps(self.content, ensure_ascii=False)
        who = (self.by.id, "open_id", "user") if self.by else (self.chat.world.app.id, "app_id", "app")
        found: dict[str, Any] = {
            "message_id": self.id,
            "chat_id": self.chat.id,
            "msg_type": self.kind,
            "create_time": str(self.time_ms),
            "update_time": str(self.time_ms),
            "deleted": self.deleted,
            "sender": {"id": who[0], "id_type": who[1], "sender_type": who[2], "tenant_key": "tenant"},
            "body": {} if self.deleted else {"content": content},
            "mentions": [{**each, "id": each["id"]["open_id"], "id_type": "open_id"} for each in self.mentions],
        }
        more = (("root_id", self.root), ("parent_id", self.parent), ("thread_id", self.thread))
        return found | {name: value for name, value in more if value}


@dataclass(eq=False)
class Delivery:
    chat: str
    body: bytes
    due: float = 0.0
    tries: int = 0
    under_way: bool = False
    once: bool = False  # a callback, which is never told again
    answer: bytes | None = None


@dataclass(eq=False)
class Chat:
    world: "World"
    id: str
    kind: Literal["p2p", "group"]
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    has_bot: bool = True

    def shown(self, *, thread: str = "") -> list[Message]:
        """What the bot wrote and people see; of a thread, named by its first message, or outside of all."""
        threads = {root.id: root.thread for root in self.messages.values() if root.thread}
        wanted = threads.get(thread, "-") if thread else ""
        return [
            each for each in self.messages.values() if each.by is None and not each.deleted and each.thread == wanted
        ]

    def say(
        self, text: str = "hello", *, by: Person, thread: str = "", answers: str = "", named: bool = False,
        kind: str = "text", content: dict[str, Any] | None = None,
    ) -> Message:  # fmt: skip
        """Have a person say something, to which the app listens."""
        app = self.world.app
        mentions: list[dict[str, Any]] = []
        if named:
            text = f"@_user_1 {text}"
            ids = {"open_id": app.open_id, "union_id": "on_bot", "user_id": ""}
            mentions.append({"key": "@_user_1", "id": ids, "name": app.name, "tenant_key": "tenant"})
        message = self.add(kind, content or {"text": text}, by=by, answers=thread or answers, in_thread=bool(thread))
        message.mentions = mentions
        event = {
            "sender": {"sender_id": {"open_id": by.id, "union_id": f"on_{by.id}"}, "sender_type": "user"},
            "message": {
                **{name: value for name, value in message.item().items() if name.endswith(("_id", "_time"))},
                "chat_type": self.kind,
                "message_type": message.kind,
                "content": json.dumps(message.content, ensure_ascii=False),
                "mentions": mentions,
            },
        }
        self.world.push("im.message.receive_v1", event, chat=self.id)
        return message

    def add(
        self, kind: str, content: dict[str, Any], *, by: Person | None, answers: str = "", in_thread: bool = False
    ) -> Message:
        number = next(self.world.numbers)
        message = Message(f"om_{number:x}", self, kind, content, by, self.world.tick_ms())
        if answers:
            parent = self.messages[answers]
            root = self.messages.get(parent.root, parent)
            if in_thread and not root.thread:
                root.thread = f"omt_{number:x}"
            message.root = root.id
            message.thread = root.thread if in_thread or parent.thread else ""
            message.parent = root.id if message.thread else parent.id
        self.messages[message.id] = message
        self.world.changed()
        return message

    def react(self, message: Message, emoji: str, *, by: Person, removed: bool = False) -> None:
        """Have a person mark a message, or (``removed``) take the mark away."""
        event = {
            "message_id": message.id,
            "reaction_type": {"emoji_type": emoji},
            "operator_type": "user",
            "user_id": {"open_id": by.id, "union_id": f"on_{by.id}", "user_id": ""},
            "action_time": str(self.world.tick_ms()),
        }
        self.world.push(f"im.message.reaction.{'deleted' if removed else 'created'}_v1", event, chat=self.id)

    def press(self, message: Message, label: str, *, by: Person, **change: Any) -> Delivery:
        """Have a person press a button, of which Feishu tells once; ``change`` forges parts of it."""
        [button] = [each for each in message.buttons() if each["text"]["content"] == label]
        event = {
            "operator": {"open_id": by.id, "union_id": f"on_{by.id}", "tenant_key": "tenant"},
            "token": f"c-{next(self.world.numbers):x}",
            "action": {"value": button["behaviors"][0]["value"], "tag": "button"},
            "host": "im_message",
            "context": {"open_message_id": message.id, "open_chat_id": self.id},
        }
        self.world.push("card.action.trigger", event | change, chat=self.id)
        delivery = self.world.app.waiting[-1]
        delivery.once = True
        return delivery

    def recall(self, message: Message) -> None:
        """Have its author take a message back."""
        message.deleted = True
        event = {"message_id": message.id, "chat_id": self.id, "recall_time": "1", "recall_type": "message_owner"}
        self.world.push("im.message.recalled_v1", event, chat=self.id)


@dataclass(eq=False)
class App:
    id: str = "cli_9f5343c580712544"
    secret: str = "dskLLdkasdjlasdKKdskLLdkasdjlasd"
    encrypt_key: str = "an encrypt key of the app"
    verification: str = "v-token"
    open_id: str = "ou_bot"
    name: str = "pond"
    status: int = 2
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    events: set[str] = field(default_factory=lambda: {*EVENTS, CALLBACK, *REACTION_EVENTS})
    tokens: dict[str, float] = field(default_factory=dict[str, float])  # until when each is valid
    waiting: list[Delivery] = field(default_factory=list[Delivery])
    arrived: anyio.Event = field(default_factory=anyio.Event)
    url: str = ""  # where events are sent by HTTP; empty: over long connections

    def arrive(self) -> None:
        arrived, self.arrived = self.arrived, anyio.Event()
        arrived.set()


class World(Changing):
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.now = now
        self.numbers = itertools.count(0x5CE6D572455D361)
        self.app = App()
        self.people: dict[str, Person] = {}
        self.chats: dict[str, Chat] = {}
        self.directs: dict[str, Chat] = {}  # of people, by open_id
        self.files: dict[str, tuple[str, bytes]] = {}  # name and content, by key
        self.forms: dict[str, str] = {}  # ``file_type`` of an upload, by key
        self.resources: dict[tuple[str, str], bytes] = {}  # of people's messages: by message and key
        self.uuids: dict[str, tuple[float, Message]] = {}
        self._last_ms = 0

    def tick_ms(self) -> int:
        self._last_ms = max(self._last_ms + 1, int(self.now() * 1_000))
        return self._last_ms

    def person(self, id: str, name: str) -> Person:
        return self.people.setdefault(id, Person(id, name))

    def chat(self, id: str, kind: Literal["p2p", "group"]) -> Chat:
        return self.chats.setdefault(id, Chat(self, id, kind))

    def message(self, id: str) -> Message:
        for chat in self.chats.values():
            if id in chat.messages:
                return chat.messages[id]
        raise Failed(230003, "message not found")

    def push(self, kind: str, event: Any, *, chat: str = "") -> None:
        """Have the platform tell the app of something."""
        if kind not in self.app.events:
            return
        number = next(self.numbers)
        header = {
            "event_id": f"{number:x}",
            "event_type": kind,
            "create_time": str(self.tick_ms()),
            "token": self.app.verification,
            "app_id": self.app.id,
            "tenant_key": "tenant",
        }
        self.push_raw(json.dumps({"schema": "2.0", "header": header, "event": event}).encode(), chat=chat)

    def push_raw(self, body: bytes, *, chat: str = "") -> None:
        self.app.waiting.append(Delivery(chat, body))
        self.app.arrive()
        self.changed()
