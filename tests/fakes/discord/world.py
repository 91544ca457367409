"""What there is on the fake Discord: bots, people, servers with channels and threads, messages, and sessions."""

import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fakes.platform import Changing

if TYPE_CHECKING:
    from tests.fakes.discord.sockets import Socket

EPOCH_MS = 1_420_070_400_000
TEXT_CHANNEL, DIRECT, THREAD, FORUM = 0, 1, 11, 15
SAID, REPLY, STARTER = 0, 19, 21
GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 0, 1 << 9, 1 << 12, 1 << 15
GUILD_REACTIONS, DIRECT_REACTIONS = 1 << 10, 1 << 13
CONTENT_FLAG = 1 << 19  # of an app: it may have the content of messages, being in few servers
NONCE_S = 300.0  # how long a nonce is known

Json = dict[str, Any]


@dataclass(eq=False)
class Person:
    id: str
    name: str
    is_bot: bool = False

    def said(self) -> Json:
        return {"id": self.id, "username": self.name.lower().replace(" ", "_"), "global_name": self.name} | (
            {"bot": True} if self.is_bot else {}
        )

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(eq=False)
class File:
    id: str
    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    key: str = field(default_factory=lambda: secrets.token_hex(4))  # of the address that is good just now


@dataclass(eq=False)
class Message:
    id: str
    chat: "Chat"
    by: Person
    text: str
    kind: int = SAID
    files: list[File] = field(default_factory=list[File])
    reply_to: "Message | None" = None
    nonce: str = ""
    flags: int = 0
    edited: str = ""
    gone: bool = False
    reactions: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    more: Json = field(default_factory=dict[str, Any])
    at: float = 0.0
    rows: list[Json] = field(default_factory=list[Json])  # its buttons

    @property
    def labels(self) -> list[str]:
        return [button["label"] for row in self.rows for button in row["components"]]

    def said(self, base: str, *, deep: bool = True) -> Json:
        people = [each for each in self.chat.world.people.values() if each.mention in self.text]
        found: Json = {
            "id": self.id,
            "channel_id": self.chat.id,
            "type": self.kind,
            "author": self.by.said(),
            "content": self.text,
            "edited_timestamp": self.edited or None,
            "mentions": [each.said() for each in people],
            "mention_roles": [],
            "attachments": [self._file(file, base) for file in self.files],
            "embeds": [],
            "flags": self.flags,
            "components": self.rows,
            **self.more,
        }
        if self.nonce and self.chat.world.now() - self.at < NONCE_S:
            found["nonce"] = self.nonce
        if self.reply_to is not None and deep:
            answered = self.reply_to
            found["message_reference"] = {"type": 0, "message_id": answered.id, "channel_id": answered.chat.id}
            if not self.chat.world.hides_answered:
                found["referenced_message"] = None if answered.gone else answered.said(base, deep=False)
        return found

    def _file(self, file: File, base: str) -> Json:
        url = f"{base}/attachments/{self.chat.id}/{file.id}/{file.name}?hm={file.key}"
        kind = {"id": file.id, "filename": file.name, "size": len(file.data), "url": url}
        return kind | ({"content_type": file.content_type} if file.content_type else {})


@dataclass(eq=False)
class Chat:
    world: "World"
    id: str
    guild: "Guild | None" = None
    kind: int = DIRECT
    name: str = ""
    parent: "Chat | None" = None
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    typings: int = 0
    is_closed: bool = False  # nobody may write here
    is_gone: bool = False
    is_archived: bool = False  # a thread that somebody closed: a new message opens it
    is_locked: bool = False  # by a moderator, so that the bot cannot open it
    hides_history: bool = False  # from the bot
    takes_no_voice: bool = False  # from the bot

    def described(self) -> Json:
        found: Json = {"id": self.id, "type": self.kind, "name": self.name or None}
        return found | ({"parent_id": self.parent.id} if self.parent else {})

    def shown(self) -> list[Message]:
        ours = {bot.person for bot in self.world.bots.values()}
        return [each for each in self.messages.values() if each.by in ours and not each.gone]

    def texts(self) -> list[str]:
        return [each.text for each in self.shown()]

    def say(self, text: str, *, by: Person, reply_to: Message | None = None, files: Any = (), **more: Any) -> Message:
        """Have a person write something, which bots are told."""
        kind = REPLY if reply_to else SAID
        message = self.world.add(self, by, text, kind=kind, reply_to=reply_to, files=list(files), more=more)
        self.world.tell("MESSAGE_CREATE", message)
        return message

    def edit(self, message: Message, text: str) -> None:
        message.text = text
        message.edited = f"2026-11-20T12:00:{next(self.world.numbers) % 60:02}.{next(self.world.numbers):06}+00:00"
        self.world.tell("MESSAGE_UPDATE", message)

    def delete(self, message: Message) -> None:
        message.gone = True
        event: Json = {"id": message.id, "channel_id": self.id}
        self.world.emit("MESSAGE_DELETE", event | self.where(), guild=self.guild)

    def react(self, message: Message, emoji: str, *, by: Person, removed: bool = False) -> None:
        """Mark a message, or (``removed``) take the mark away."""
        people = message.reactions.setdefault(emoji, set())
        (people.discard if removed else people.add)(by.id)
        event: Json = {"user_id": by.id, "channel_id": self.id, "message_id": message.id, **self.where()}
        event |= {"emoji": {"id": None, "name": emoji}, "burst": False, "type": 0}
        if not removed:
            event |= {"message_author_id": message.by.id}
            event |= {"member": {"user": by.said(), "nick": None, "roles": []}} if self.guild else {}
        self.tell_reaction(f"MESSAGE_REACTION_{'REMOVE' if removed else 'ADD'}", event)

    def tell_reaction(self, kind: str, event: Json) -> None:
        self.world.emit(kind, event, guild=self.guild, intent=GUILD_REACTIONS if self.guild else DIRECT_REACTIONS)

    def where(self) -> Json:
        return {"guild_id": self.guild.id} if self.guild else {}


@dataclass(eq=False)
class Guild:
    id: str
    name: str
    chats: list[Chat] = field(default_factory=list[Chat])
    roles: list[Json] = field(default_factory=list[Json])

    def said(self) -> Json:
        channels = [each.described() for each in self.chats if each.kind != THREAD]
        threads = [each.described() for each in self.chats if each.kind == THREAD]
        return {"id": self.id, "name": self.name, "channels": channels, "threads": threads, "roles": self.roles}


@dataclass(eq=False)
class Event:
    number: int
    kind: str
    content: Json | bytes


@dataclass(eq=False)
class Session:
    id: str
    intents: int
    shard: tuple[int, int] = (0, 1)
    """Its number, and that of all."""
    number: int = 0
    acknowledged: int = 0
    events: list[Event] = field(default_factory=list[Event])
    socket: "Socket | None" = None

    def has(self, guild: str) -> bool:
        """Whether it gets the events of a server, or of direct messages."""
        return (int(guild or 0) >> 22) % self.shard[1] == self.shard[0]

    def add(self, kind: str, content: Json | bytes) -> Event:
        self.number += 1
        event = Event(self.number, kind, content)
        self.events.append(event)
        if self.socket is not None:
            self.socket.outbox.append(event)
            self.socket.wake()
        return event


@dataclass(eq=False)
class Bot:
    person: Person
    token: str
    app_id: str
    flags: int = CONTENT_FLAG
    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    starts_left: int = 1_000
    refusals: int = 0
    """New sessions that are still refused."""
    commands: list[Json] = field(default_factory=list[Json])
    answers: list[Json] = field(default_factory=list[Json])
    """What was said to slash commands."""


@dataclass(eq=False)
class Interaction:
    id: str
    token: str
    message: Message | None = None  # with the button that was pressed
    answered: int = 0  # the type of the answer

    def change(self, found: Json) -> Json:
        """Change the message with the button, or the answer that stands for one to come."""
        assert (self.message is None) == ("content" in found), found
        if self.message is not None:
            self.message.rows = found["components"]
        return found

    def follow_up(self, found: Json) -> Json:
        assert found["content"] and found["flags"] == 1 << 6, found
        return found


class World(Changing):
    def __init__(self) -> None:
        super().__init__()
        self.now: Callable[[], float] = time.time
        self.numbers = itertools.count(1)
        self.people: dict[str, Person] = {}
        self.bots: dict[str, Bot] = {}
        """By token."""
        self.guilds: dict[str, Guild] = {}
        self.chats: dict[str, Chat] = {}
        self.directs: dict[str, Chat] = {}
        """By person."""
        self.files: dict[str, File] = {}
        self.interactions: dict[str, Interaction] = {}
        self.greetings: list[int] = []
        """Opcodes, without content, with which the next connections begin in place of a greeting."""
        self.silent_logins = 0
        """Logins that get no answer."""
        self.refused_resumes = 0
        """Resumes that are refused for now."""
        self.heartbeats: list[Any] = []
        """Intervals, in milliseconds, with which the next connections are greeted."""
        self.shards = 1
        """The recommended number of connections."""
        self.shards_min = 1
        """Fewer are rejected."""
        self.hides_answered = False
        """Whether messages leave out the one that they reply to."""
        self.base_url = ""
        self.on_event: Callable[[Event], object] = lambda _event: None
        """Called when an event was sent on a connection."""
        self._last = 0

    def id(self) -> str:
        self._last = max((round(self.now() * 1_000) - EPOCH_MS) << 22, self._last + 1)
        return str(self._last)

    def person(self, name: str, *, id: str = "", is_bot: bool = False) -> Person:
        made = Person(id or self.id(), name, is_bot)
        self.people[made.id] = made
        return made

    def bot(self, name: str) -> Bot:
        person = self.person(name, is_bot=True)
        secret = secrets.token_hex(16)
        bot = Bot(person, f"MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.{secret}", person.id)
        self.bots[bot.token] = bot
        return bot

    def direct(self, person: Person) -> Chat:
        """The only direct channel with a person."""
        if person.id not in self.directs:
            self.directs[person.id] = self._chat(Chat(self, self.id(), kind=DIRECT))
        return self.directs[person.id]

    def guild(self, name: str, *, id: str = "") -> Guild:
        guild = Guild(id or self.id(), name)
        self.guilds[guild.id] = guild
        return guild

    def channel(self, guild: Guild, name: str, *, kind: int = TEXT_CHANNEL) -> Chat:
        chat = self._chat(Chat(self, self.id(), guild, kind, name))
        self.emit("CHANNEL_CREATE", chat.described() | chat.where(), guild=guild)
        return chat

    def thread(self, parent: Chat, name: str = "thread", *, told: bool = True) -> Chat:
        thread = self._chat(Chat(self, self.id(), parent.guild, THREAD, name, parent))
        if told:
            self.emit("THREAD_CREATE", thread.described() | thread.where(), guild=parent.guild)
        return thread

    def _chat(self, chat: Chat) -> Chat:
        self.chats[chat.id] = chat
        if chat.guild is not None:
            chat.guild.chats.append(chat)
        return chat

    def file(self, data: bytes, name: str = "said.bin", content_type: str = "") -> File:
        file = File(self.id(), name, data, content_type)
        self.files[file.id] = file
        return file

    def add(self, chat: Chat, by: Person, text: str, **more: Any) -> Message:
        message = Message(self.id(), chat, by, text, at=self.now(), **more)
        chat.messages[message.id] = message
        return message

    def command(self, chat: Chat, name: str, text: str = "", *, by: Person) -> str:
        """Have a person use a slash command; its ID."""
        options = [{"name": "text", "type": 3, "value": text}] if text else []
        return self._interact(chat, by, {"type": 2, "data": {"name": name, "type": 1, "options": options}})

    def press(self, message: Message, label: str, *, by: Person) -> str:
        """Have a person press a button; the ID of the interaction."""
        [value] = [each["custom_id"] for row in message.rows for each in row["components"] if each["label"] == label]
        data = {"custom_id": value, "component_type": 2}
        event_id = self._interact(message.chat, by, {"type": 3, "data": data, "message": message.said("")})
        self.interactions[event_id].message = message
        return event_id

    def _interact(self, chat: Chat, by: Person, more: Json) -> str:
        event_id, token = self.id(), secrets.token_hex(8)
        self.interactions[event_id] = Interaction(event_id, token)
        who: Json = {"member": {"user": by.said(), "nick": None}} if chat.guild else {"user": by.said()}
        event: Json = {"id": event_id, "token": token, "channel_id": chat.id, **chat.where(), **who}
        for bot in self.bots.values():
            event["application_id"] = bot.app_id
        self.emit("INTERACTION_CREATE", event | more, intent=0)
        return event_id

    # Events

    def tell(self, kind: str, message: Message) -> None:
        chat = message.chat
        event = message.said(self.base_url) | chat.where()
        if chat.guild is not None and not message.more.get("webhook_id"):
            event["member"] = {"nick": None, "roles": []}
        self.emit(kind, event, guild=chat.guild, author=message.by)

    def emit(
        self, kind: str, event: Json, *, guild: Guild | None = None, author: Person | None = None, intent: int = -1
    ) -> None:
        """Send an event to every session that asked for it."""
        messages = GUILD_MESSAGES if guild else DIRECT_MESSAGES
        wanted = intent if intent >= 0 else messages if kind.startswith("MESSAGE") else GUILDS
        for bot in self.bots.values():
            for session in bot.sessions.values():
                where = guild.id if guild else str(event.get("guild_id", ""))
                if session.has(where) and (not wanted or session.intents & wanted):
                    session.add(kind, self._seen_by(bot, session, event, author) if author else event)
        self.changed()

    def _seen_by(self, bot: Bot, session: Session, event: Json, author: Person) -> Json:
        named = any(each["id"] == bot.person.id for each in event["mentions"])
        if "guild_id" not in event or session.intents & MESSAGE_CONTENT or named or author is bot.person:
            return event
        return event | {"content": "", "attachments": [], "embeds": []}
