"""Who is there, what was said and what is shown: the state behind the fake Bot API, and what people do in it.

Nothing in here knows HTTP. All of it is plain functions, so that a test can say ten things between two awaits.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from tests.fakes.platform import Changing
from tests.fakes.telegram.entities import cut_out, found_in, units

Kind = Literal["private", "group", "supergroup", "channel"]
Json = dict[str, Any]

FIRST_GROUP = 4_000_000
SUPERGROUPS = -1_000_000_000_000
DEFAULT_UPDATES = ("message", "edited_message", "channel_post", "my_chat_member", "callback_query", "poll")
"""Some of what is delivered to a bot that never asked for anything in particular; not reactions of people."""


@dataclass(eq=False)
class Person:
    """Somebody with an account; bots are persons too."""

    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    is_bot: bool = False

    def said(self) -> Json:
        optional = {"last_name": self.last_name, "username": self.username}
        shown = {name: value for name, value in optional.items() if value}
        return {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name, **shown}


@dataclass(eq=False)
class File:
    id: str
    kind: str
    data: bytes
    name: str = ""
    mime_type: str = ""
    more: Json = field(default_factory=dict[str, Any])
    claims_bytes: int | None = None  # what its size is said to be; None: what it is

    @property
    def size(self) -> int:
        return len(self.data) if self.claims_bytes is None else self.claims_bytes

    def said(self) -> Json:
        named = {"file_name": self.name} if self.name and self.kind not in {"photo", "voice", "video_note"} else {}
        typed = {"mime_type": self.mime_type} if self.mime_type else {}
        unique = f"u{self.id[:12]}"
        return {"file_id": self.id, "file_unique_id": unique, "file_size": self.size, **named, **typed, **self.more}


@dataclass(eq=False)
class Message:
    """One message of a chat, as it is shown now."""

    chat: "Chat"
    id: int
    by: Person
    text: str = ""  # what a person reads, of a rich message and of a caption too
    entities: list[Json] = field(default_factory=list[Json])
    rich: str = ""  # the Markdown of a rich message
    kinds: tuple[str, ...] = ()  # the types of a rich message's blocks
    thread: int = 0
    reply_to: "Message | None" = None
    file: File | None = None
    more: Json = field(default_factory=dict[str, Any])  # fields of ``Message`` that are said as they are
    previewed: bool = False  # whether the platform was allowed to fetch an address in it, at first or in an edit
    at: float = 0.0
    edits: list[str] = field(default_factory=list[str])  # the texts it had before
    gone: bool = False
    reactions: dict[int, str] = field(default_factory=dict[int, str])  # who marked it with what
    buttons: list[list[Json]] = field(default_factory=list[list[Json]])  # its inline keyboard, row by row

    @property
    def labels(self) -> list[str]:
        return [button["text"] for row in self.buttons for button in row]

    def said(self, *, deep: bool = True) -> Json:
        said: Json = {"message_id": self.id, "from": self.by.said(), "chat": self.chat.said(), "date": int(self.at)}
        if self.thread:
            said |= {"message_thread_id": self.thread, "is_topic_message": True}
        if self.edits:
            said["edit_date"] = int(self.at) + 1
        if self.reply_to is not None and deep:
            said["reply_to_message"] = self.reply_to.said(deep=False)
        if self.file is not None:
            said[self.file.kind] = self._file()
        if self.rich:
            said["rich_message"] = {"blocks": [{"type": "paragraph", "text": self.text}]}
        elif self.text:
            name = "caption" if self.file is not None else "text"
            said[name] = self.text
            if self.entities:
                said["caption_entities" if self.file is not None else "entities"] = self.entities
        keyboard = {"reply_markup": {"inline_keyboard": self.buttons}} if self.buttons else {}
        return said | keyboard | self.more

    def _file(self) -> Any:
        assert self.file is not None
        if self.file.kind != "photo":
            return self.file.said()
        large = {"width": 1280, "height": 960, **self.file.said()}
        small = {**large, "file_id": f"{self.file.id}-s", "width": 90, "height": 67, "file_size": 1_200}
        return [small, large]


@dataclass(eq=False)
class Chat:
    """A conversation; of a private one every bot has its own with a person."""

    world: "World"
    id: int
    kind: Kind
    bots: list["Bot"]
    title: str = ""
    person: Person | None = None
    forum: bool = False
    topics: set[int] = field(default_factory=set[int])
    messages: dict[int, Message] = field(default_factory=dict[int, Message])
    moved_to: int = 0
    closed: str = ""  # why nothing can be sent here, a description of 403
    actions: list[tuple[float, str, int]] = field(default_factory=list[tuple[float, str, int]])
    """When a bot showed what it does here, what, and in which topic."""
    has_administrators: bool = False
    """Whether the bots are administrators of the group."""

    def said(self) -> Json:
        if self.person is not None:
            person = self.person.said()
            return {"id": self.id, "type": self.kind, **{k: v for k, v in person.items() if k not in {"id", "is_bot"}}}
        forum = {"is_forum": True} if self.forum else {}
        return {"id": self.id, "type": self.kind, "title": self.title, **forum}

    def say(
        self,
        text: str = "",
        *,
        by: Person | None = None,
        reply_to: Message | None = None,
        quote: str = "",
        thread: int = 0,
        file: File | None = None,
        entities: list[Json] | None = None,
        tell: bool = True,
        **more: Any,
    ) -> Message:
        """A person says something, and the bots here get an update of it; ``more`` are fields of ``Message``."""
        if quote:
            more["quote"] = {"text": quote, "position": 0, "is_manual": True}
        if thread:
            self.topics.add(thread)
        message = self.put(
            Message(
                chat=self, id=0, by=by or self.person or self.world.somebody, text=text,
                entities=found_in(text) if entities is None else entities, thread=thread, reply_to=reply_to,
                file=file, more=more,
            )
        )  # fmt: skip
        if tell:
            self.tell("message", message)
        return message

    def album(self, files: Sequence[File], *, text: str = "", by: Person | None = None) -> list[Message]:
        """Several files at once: a message each, all of one group, the caption at the first."""
        group = str(self.world.dice.randrange(10**16, 10**17))
        return [self.say("" if at else text, by=by, file=file, media_group_id=group) for at, file in enumerate(files)]

    def edit(self, message: Message, text: str) -> None:
        message.edits.append(message.text)
        message.text, message.entities = text, found_in(text)
        self.tell("edited_message", message)

    def react(self, message: Message, emoji: str, by: Person | None = None) -> None:
        """Mark a message, or (an empty ``emoji``) take the mark away; in a group, only administrators are told."""
        person = by or self.person or self.world.somebody
        old = message.reactions.pop(person.id, "")
        if emoji:
            message.reactions[person.id] = emoji
        body = {"chat": self.said(), "message_id": message.id, "user": person.said(), "date": int(self.world.now())}
        for name, each in (("old_reaction", old), ("new_reaction", emoji)):
            body[name] = [{"type": "emoji", "emoji": each}] if each else []
        for bot in self.bots:
            if self.kind == "private" or self.has_administrators:
                bot.push("message_reaction", body)

    def press(
        self, message: Message, label: str, by: Person | None = None, *, data: str = "", accessible: bool = True
    ) -> str:
        """A person presses a button of a bot's message; the id of the press. ``data``: as a forged app may send it."""
        [bot] = [bot for bot in self.bots if bot.person is message.by]
        found = [button["callback_data"] for row in message.buttons for button in row if button["text"] == label]
        query = str(self.world.dice.randrange(10**17, 10**18))
        self.world.queries[query] = None
        body = {"id": query, "from": (by or self.person or self.world.somebody).said(), "chat_instance": "1"}
        said = message.said() if accessible else {"chat": self.said(), "message_id": message.id, "date": 0}
        bot.push("callback_query", {**body, "message": said, "data": data or found[0]})
        return query

    def tell(self, kind: str, message: Message) -> None:
        for bot in self.bots:
            if message.by is not bot.person and bot.may_see(message):
                bot.push(kind, message.said())

    def put(self, message: Message) -> Message:
        counter = self.bots[0].numbers if self.kind == "private" else self.world.numbers(self.id)
        message.id, message.at = next(counter), self.world.now()
        self.messages[message.id] = message
        self.world.changed()
        return message

    def shown(self, *, by: "Bot | None" = None, thread: int | None = None) -> list[Message]:
        authors = {bot.person for bot in ([by] if by else self.bots)}
        return [
            message
            for _, message in sorted(self.messages.items())
            if message.by in authors and not message.gone and thread in (None, message.thread)
        ]

    def texts(self, *, thread: int | None = None) -> list[str]:
        """What bots say here, in order."""
        return [message.text for message in self.shown(thread=thread)]

    def migrate(self) -> "Chat":
        """A group becomes a supergroup: a new chat with a new id, told in both."""
        assert self.kind == "group"
        new = self.world.chat(self.bots, kind="supergroup", title=self.title)
        self.moved_to = new.id
        self.say(migrate_to_chat_id=new.id)
        new.say(migrate_from_chat_id=self.id)
        return new


@dataclass(eq=False)
class Update:
    id: int
    kind: str
    payload: Json

    def said(self) -> Json:
        return {"update_id": self.id, self.kind: self.payload}


@dataclass
class Hook:
    """Where a bot's updates are sent; nowhere while ``url`` is empty."""

    url: str = ""
    secret: str = ""
    failed: str = ""  # what went wrong last
    tries: int = 0
    generation: int = 0


@dataclass(eq=False)
class Bot:
    world: "World"
    person: Person
    token: str
    privacy: bool = False  # whether it sees in groups only what is meant for it
    updates: list[Update] = field(default_factory=list[Update])  # not confirmed yet, in the order of their ids
    confirmed: list[Update] = field(default_factory=list[Update])
    allowed: tuple[str, ...] = DEFAULT_UPDATES
    hook: Hook = field(default_factory=Hook)
    commands: dict[tuple[str, str], list[Json]] = field(default_factory=dict[tuple[str, str], list[Json]])
    """By scope and language."""
    order: Callable[[list[Update]], list[Update]] = list  # in which order a batch is handed out
    poll: "Poll | None" = None
    arrived: anyio.Event = field(default_factory=anyio.Event)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def direct(self, person: Person) -> Chat:
        return self.world.private(self, person)

    def may_see(self, message: Message) -> bool:
        """Whether the platform tells it: in its privacy mode not everything."""
        if message.chat.kind == "private" or not self.privacy:
            return True
        replied = message.reply_to is not None and message.reply_to.by is self.person
        names = {f"@{self.person.username}".lower()}
        parts = [cut_out(message.text, e["offset"], e["length"]).lower() for e in message.entities]
        service = not message.text and message.file is None
        commands = [part for part in parts if part.startswith("/") and ("@" not in part or part.endswith(min(names)))]
        return service or replied or bool(commands) or not names.isdisjoint(parts)

    def push(self, kind: str, payload: Json, *, update_id: int | None = None) -> Update:
        """Let an update wait for it; any ``kind`` and ``payload``, also such as nobody has seen."""
        number = self.world.next_update(self) if update_id is None else update_id
        update = Update(number, kind, payload)
        if kind in self.allowed or kind not in {"message_reaction", "chat_member", *DEFAULT_UPDATES}:
            self.updates.append(update)
            self._arrive()
        return update

    def again(self, number: int = 1) -> None:
        """Hand out the last confirmed updates a second time, as after a server of Telegram's has failed."""
        self.updates[:0] = self.confirmed[-number:]
        del self.confirmed[-number:]
        self._arrive()

    def confirm_below(self, update_id: int) -> None:
        done = [update for update in self.updates if update.id < update_id]
        self.confirmed += done
        self.updates = [update for update in self.updates if update.id >= update_id]
        if done:
            self.world.changed()

    def _arrive(self) -> None:
        arrived, self.arrived = self.arrived, anyio.Event()
        arrived.set()
        self.world.changed()


@dataclass(eq=False)
class Poll:
    """A ``getUpdates`` that waits."""

    ended: anyio.Event = field(default_factory=anyio.Event)
    reason: str = ""


class World(Changing):
    def __init__(self, seed: int = 20261120) -> None:
        self.dice = random.Random(seed)
        self.now = time.time
        self.bots: dict[str, Bot] = {}
        self.chats: dict[tuple[int, int], Chat] = {}
        """By the bot that sees it and its id."""
        self.files: dict[str, File] = {}
        self.queries: dict[str, str | None] = {}
        """What each person who pressed a button was shown; None while nothing was answered."""
        self._ids = itertools.count(100_001)
        self._groups = itertools.count(FIRST_GROUP)
        self._numbers: dict[int, Any] = {}
        self._updates: dict[int, int] = {}
        super().__init__()
        self.somebody = self.person("Somebody")

    def person(self, first_name: str, *, username: str = "", is_bot: bool = False, id: int = 0) -> Person:
        return Person(id or next(self._ids), first_name, username=username, is_bot=is_bot)

    def bot(self, username: str, *, privacy: bool = False) -> Bot:
        person = self.person(username.removesuffix("_bot").title(), username=username, is_bot=True)
        secret = "".join(self.dice.choices("abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789_-", k=35))
        bot = Bot(self, person, f"{person.id}:{secret}", privacy=privacy)
        self.bots[bot.token] = bot
        return bot

    def private(self, bot: Bot, person: Person) -> Chat:
        found = self.chats.get((bot.person.id, person.id))
        if found is None:
            found = Chat(self, person.id, "private", [bot], person=person)
            self.chats[bot.person.id, person.id] = found
        return found

    def chat(self, bots: Iterable[Bot], *, kind: Kind = "supergroup", title: str = "Lake", forum: bool = False) -> Chat:
        number = next(self._groups)
        chat = Chat(self, -number if kind == "group" else SUPERGROUPS - number, kind, list(bots), title, forum=forum)
        for bot in chat.bots:
            self.chats[bot.person.id, chat.id] = chat
        return chat

    def file(
        self,
        kind: str,
        data: bytes = b"\x89PNG",
        *,
        name: str = "",
        mime_type: str = "",
        claims_bytes: int | None = None,
        **more: Any,
    ) -> File:
        """Something that can be sent: ``photo``, ``document``, ``voice``, ``audio``, ``video``, ``sticker``, …"""
        found = File(f"F{self.dice.randrange(10**20):020}", kind, data, name, mime_type, more, claims_bytes)
        self.files[found.id] = found
        return found

    def numbers(self, chat: int) -> Any:
        return self._numbers.setdefault(chat, itertools.count(1))

    def next_update(self, bot: Bot) -> int:
        """The id of the next update; the first one is anything."""
        number = self._updates.get(bot.person.id, self.dice.randrange(10**8, 9 * 10**8)) + 1
        self._updates[bot.person.id] = number
        return number


def length(text: str) -> int:
    return units(text)
