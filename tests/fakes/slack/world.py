"""Who is there, what was said and what is shown: the state behind the fake Slack, and what people do in it.

Nothing in here knows HTTP. All of it is plain functions, so that a test can say ten things between two awaits.
"""

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.platform import Changing
from tests.fakes.slack.apps import App, Bot
from tests.fakes.slack.texts import as_mrkdwn

Kind = Literal["channel", "group", "im", "mpim"]
"""As ``channel_type`` of an event: public, private, direct, direct with several."""
Json = dict[str, Any]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SLACKBOT = "USLACKBOT"
STREAM_LIVES_S = 300.0
"""How long a text can be written bit by bit, however much is added; not documented, people have measured it."""


@dataclass(eq=False)
class Person:
    """Somebody with an account in a workspace; bots are persons too."""

    team: "Team"
    id: str
    name: str  # the handle
    real_name: str = ""
    display_name: str = ""
    is_bot: bool = False
    bot_id: str = ""
    app_id: str = ""
    deleted: bool = False

    def said(self) -> Json:
        profile = {
            "real_name": self.real_name,
            "real_name_normalized": self.real_name,
            "display_name": self.display_name,
            "display_name_normalized": self.display_name,
            **({"bot_id": self.bot_id, "api_app_id": self.app_id} if self.is_bot else {}),
        }
        flags = {"is_bot": self.is_bot, "is_app_user": False, "deleted": self.deleted, "tz": "Europe/Berlin"}
        who = {"id": self.id, "team_id": self.team.id, "name": self.name, "real_name": self.real_name}
        return {**who, **flags, "profile": profile, "updated": 1_790_000_000}


@dataclass(eq=False)
class File:
    id: str
    name: str
    data: bytes
    mimetype: str = "application/octet-stream"
    by: Person | None = None
    title: str = ""
    subtype: str = ""
    claims_bytes: int | None = None  # what its size is said to be; None: what it is
    uploaded: bool = True
    shared: list["Message"] = field(default_factory=list["Message"])
    more: Json = field(default_factory=dict[str, Any])
    base: str = ""  # where it can be had

    @property
    def size(self) -> int:
        return len(self.data) if self.claims_bytes is None else self.claims_bytes

    def said(self) -> Json:
        team = self.by.team.id if self.by else "T"
        url = f"{self.base}/files-pri/{team}-{self.id}"
        name = self.name or "file"
        urls = {"url_private": f"{url}/{name}", "url_private_download": f"{url}/download/{name}"}
        kind = name.rpartition(".")[2] if "." in name else "binary"
        who = {"user": self.by.id, "user_team": team} if self.by else {}
        shares: dict[str, dict[str, list[Json]]] = {}
        for message in self.shared:
            where = shares.setdefault("public" if message.channel.kind == "channel" else "private", {})
            thread = {"thread_ts": message.thread} if message.thread else {}
            where.setdefault(message.channel.id, []).append({"ts": message.ts, **thread})
        more = {"subtype": self.subtype} if self.subtype else {}
        return {
            "id": self.id, "name": name, "title": self.title or name, "mimetype": self.mimetype, "filetype": kind,
            "size": self.size, "mode": "hosted", "is_external": False, "file_access": "visible", "shares": shares,
            **who, **urls, **more, **self.more,
        }  # fmt: skip


@dataclass(eq=False)
class Message:
    """One message of a channel, as it is shown now."""

    channel: "Channel"
    ts: str
    by: Person
    text: str = ""  # what was given: people's as Slack escapes it, a bot's as it wrote it
    form: Literal["mrkdwn", "markdown"] = "mrkdwn"
    thread: str = ""  # ``thread_ts``, of a reply only
    files: list[File] = field(default_factory=list[File])
    subtype: str = ""
    more: Json = field(default_factory=dict[str, Any])  # fields that are said as they are
    metadata: Json | None = None
    edited: Json | None = None
    edits: list[str] = field(default_factory=list[str])  # the texts it had before
    streaming: bool = False
    """It is being written; made False, Slack has ended that, as it does after ``World.stream_lives_s``."""
    stopped_by_user: bool = False  # it was a person who ended it
    gone: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])  # by name: who marked it so
    buttons: list[Json] = field(default_factory=list[Json])  # the elements of its ``actions`` block

    @property
    def labels(self) -> list[str]:
        return [button["text"]["text"] for button in self.buttons]

    @property
    def at(self) -> float:
        return float(self.ts)

    @property
    def replies(self) -> list["Message"]:
        """What stands in its thread, oldest first."""
        return [each for each in self.channel.threads.get(self.ts, []) if not each.gone]

    def said(self, *, metadata: bool = False) -> Json:
        """As ``message``, in events and in what is read."""
        said: Json = {"type": "message", "user": self.by.id, "ts": self.ts, "team": self.channel.team.id}
        if self.gone:  # a root with replies leaves a stone behind
            said |= {"subtype": "tombstone", "user": SLACKBOT, "text": "This message was deleted.", "hidden": True}
            return said | self._threaded()
        said["text"] = self.text if self.form == "mrkdwn" else as_mrkdwn(self.text)
        if self.text:
            said["blocks"] = [_block(self)]
            if self.buttons:
                said["blocks"].append({"type": "actions", "block_id": "b1", "elements": self.buttons})
        if self.by.is_bot:
            profile = {"id": self.by.bot_id, "app_id": self.by.app_id, "name": self.by.name, "team_id": said["team"]}
            said |= {"bot_id": self.by.bot_id, "app_id": self.by.app_id, "bot_profile": profile}
        else:
            said["client_msg_id"] = f"00000000-0000-4000-8000-{self.ts.replace('.', '')[-12:]}"
        if self.subtype:
            said["subtype"] = self.subtype
        if self.files:
            said |= {"files": [file.said() for file in self.files], "upload": False}
        if self.edited:
            said["edited"] = self.edited
        if metadata and self.metadata:
            said["metadata"] = self.metadata
        if self.reactions:
            said["reactions"] = [
                {"name": name, "users": who, "count": len(who)} for name, who in self.reactions.items()
            ]
        return said | self._threaded() | self.more

    def _threaded(self) -> Json:
        if self.thread:
            root = self.channel.messages.get(self.thread)
            return {"thread_ts": self.thread} | ({"parent_user_id": root.by.id} if root else {})
        replies = self.replies
        if not replies:
            return {}
        users = list(dict.fromkeys(each.by.id for each in replies))
        counts = {"reply_count": len(replies), "reply_users_count": len(users), "latest_reply": replies[-1].ts}
        return {"thread_ts": self.ts, **counts, "reply_users": users}


@dataclass(eq=False)
class Channel:
    world: "World"
    team: "Team"
    id: str
    kind: Kind
    name: str = ""
    members: list[Person] = field(default_factory=list[Person])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])  # by ``ts``
    threads: dict[str, list[Message]] = field(default_factory=dict[str, list[Message]])
    """By the ``ts`` of the first message: the others, oldest first."""
    archived: bool = False
    keeps_metadata: bool = True
    statuses: list[tuple[float, str, str]] = field(default_factory=list[tuple[float, str, str]])
    """When a bot showed what it does here, in which thread, and what; empty: nothing any more."""
    whispers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # shown to one person: to whom, what

    # What people do

    def press(self, message: Message, label: str, *, by: Person) -> None:
        """Somebody presses a button of a bot's message."""
        [bot] = [bot for bot in self.bots() if bot.person is message.by]
        [button] = [button for button in message.buttons if button["text"]["text"] == label]
        user = {"id": by.id, "username": by.name, "name": by.name, "team_id": self.team.id}
        payload = {
            "type": "block_actions", "team": {"id": self.team.id, "domain": "acme"}, "user": user,
            "api_app_id": bot.app.id, "trigger_id": self.world.id("Tr"), "channel": {"id": self.id, "name": self.name},
            "container": {"type": "message", "message_ts": message.ts, "channel_id": self.id},
            "message": message.said(), "actions": [{**button, "block_id": "b1", "action_ts": self.world.next_ts()}],
        }  # fmt: skip
        bot.app.bring("interactive", payload, repeats=False)

    def say(
        self,
        text: str = "",
        *,
        by: Person | None = None,
        thread: str = "",
        files: Sequence[File] = (),
        subtype: str = "",
        ts: str = "",
        **more: Any,
    ) -> Message:
        """Somebody says something, by default the first person here; ``<@U…>`` in the text is a mention."""
        who = by or next(person for person in self.members if not person.is_bot)
        subtype = subtype or ("file_share" if files else "")
        new = Message(self, ts, who, text, thread=thread, files=list(files), subtype=subtype, more=more)
        return self.put(new)

    def put(self, message: Message) -> Message:
        message.ts = message.ts or self.world.next_ts()
        self.messages[message.ts] = message
        if message.thread:
            self.threads.setdefault(message.thread, []).append(message)
        for file in message.files:
            file.by = file.by or message.by
            file.shared.append(message)
        for bot in self.bots():
            event = message.said() | self._where() | {"event_ts": message.ts}
            bot.tell(self._type(), event)
            if bot.person.id in mentioned(message.text) and self.kind != "im" and message.by is not bot.person:
                bot.tell("app_mention", _mention(event))
        self.world.changed()
        return message

    def edit(self, message: Message, text: str) -> None:
        before = message.said()
        message.edits.append(message.text)
        message.text = text
        message.edited = {"user": message.by.id, "ts": self.world.next_ts()}
        self.tell_changed(message, before)

    def unfurl(self, message: Message, **attachment: Any) -> None:
        """Slack shows what a link in it leads to: the message changes, and nobody has edited it."""
        before = message.said()
        message.more["attachments"] = [attachment or {"from_url": "https://example.com", "title": "Example"}]
        self.tell_changed(message, before)

    def delete(self, message: Message) -> None:
        before = message.said()
        message.gone = True
        if message.replies:
            self.tell_changed(message, before)
            return
        ts = self.world.next_ts()
        event = {"type": "message", "subtype": "message_deleted", "previous_message": before, "hidden": True}
        for bot in self.bots():
            bot.tell(self._type(), event | self._where() | {"deleted_ts": message.ts, "ts": ts, "event_ts": ts})
        self.world.changed()

    def tell_changed(self, message: Message, before: Json) -> None:
        ts = self.world.next_ts()
        event = {"type": "message", "subtype": "message_changed", "message": message.said(), "hidden": True}
        event |= {"previous_message": before, **self._where(), "ts": ts, "event_ts": ts}
        for bot in self.bots():
            bot.tell(self._type(), event)
        self.world.changed()

    def react(self, message: Message, name: str, *, by: Person, removed: bool = False) -> None:
        """Have a person mark a message, or (``removed``) take the mark away."""
        who = message.reactions.setdefault(name, [])
        (who.remove if removed else who.append)(by.id)
        ts = self.world.next_ts()
        item = {"type": "message", "channel": self.id, "ts": message.ts}
        event = {"user": by.id, "reaction": name, "item": item, "item_user": message.by.id, "event_ts": ts}
        kind = "reaction_removed" if removed else "reaction_added"
        for bot in self.bots():
            bot.tell(kind, {"type": kind, **event})
        self.world.changed()

    # What is seen

    def bots(self) -> list[Bot]:
        return [bot for bot in self.team.bots if bot.person in self.members]

    def shown(self, *, by: Bot | None = None, thread: str | None = None) -> list[Message]:
        """What stands here now, of bots or of one of them; of all threads, or of one, or ("") of none."""
        authors = {bot.person for bot in ([by] if by else self.bots())}
        found = [
            message
            for message in self.messages.values()
            if message.by in authors and not message.gone and thread in (None, message.thread)
        ]
        return sorted(found, key=lambda message: message.at)

    def texts(self, *, thread: str | None = None) -> list[str]:
        """What bots say here, in order."""
        return [message.text for message in self.shown(thread=thread)]

    def said(self, who: Person | None = None) -> Json:
        kinds = {"is_channel": "channel", "is_group": "group", "is_im": "im", "is_mpim": "mpim"}
        shown: Json = {"id": self.id, **{name: self.kind == kind for name, kind in kinds.items()}}
        shown |= {"is_private": self.kind != "channel", "is_archived": self.archived, "is_member": who in self.members}
        if self.kind == "im":
            other = next((person for person in self.members if person is not who), None)
            return shown | {"user": other.id if other else ""}
        return shown | {"name": self.name, "context_team_id": self.team.id}

    def _type(self) -> str:
        return {"channel": "message.channels", "group": "message.groups"}.get(self.kind, f"message.{self.kind}")

    def _where(self) -> Json:
        return {"channel": self.id, "channel_type": self.kind}


@dataclass(eq=False)
class Team:
    world: "World"
    id: str
    name: str
    domain: str
    people: dict[str, Person] = field(default_factory=dict[str, Person])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    bots: list[Bot] = field(default_factory=list[Bot])

    def person(self, real_name: str, *, id: str = "", is_bot: bool = False, display_name: str = "") -> Person:
        name = real_name.lower().replace(" ", ".")
        person = Person(self, id or self.world.id("U"), name, real_name, display_name, is_bot)
        if is_bot:
            person.bot_id, person.app_id = self.world.id("B"), self.world.id("A")
        self.people[person.id] = person
        return person

    def channel(self, *members: Person, name: str = "lake", kind: Kind = "channel", id: str = "") -> Channel:
        """A channel with these; by default with all of the workspace."""
        letter = {"channel": "C", "group": "C", "im": "D", "mpim": "G"}[kind]
        channel = Channel(self.world, self, id or self.world.id(letter), kind, name, list(members))
        if not members:
            channel.members = list(self.people.values())
        self.channels[channel.id] = channel
        return channel

    def direct(self, *members: Person) -> Channel:
        same = (each for each in self.channels.values() if each.kind == "im" and set(each.members) == set(members))
        return next(same, None) or self.channel(*members, name="", kind="im")


class World(Changing):
    def __init__(self, seed: int = 20261122) -> None:
        self.dice = random.Random(seed)
        self.now = time.time
        self.teams: dict[str, Team] = {}
        self.apps: dict[str, App] = {}
        self.files: dict[str, File] = {}
        self.stream_lives_s = STREAM_LIVES_S
        self.base = ""
        """Where files can be had."""
        self._last = 0
        super().__init__()

    def id(self, letter: str) -> str:
        return letter + "0" + "".join(self.dice.choices(LETTERS, k=9))

    def next_ts(self) -> str:
        """A ``ts``; later than all before."""
        self._last = max(self._last + 1, int(self.now() * 1e6))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06}"

    def team(self, name: str = "Acme") -> Team:
        team = Team(self, self.id("T"), name, name.lower())
        self.teams[team.id] = team
        return team

    def app(self, name: str = "millpond", *, scopes: Iterable[str] | None = None) -> App:
        """An app as somebody makes it from a manifest, installed nowhere yet."""
        secret = "".join(self.dice.choices("0123456789abcdef", k=64))
        id = self.id("A")
        app = App(self, id, name, f"xapp-1-{id}-{self.dice.randrange(10**12)}-{secret}", secret[:32])
        if scopes is not None:
            app.scopes = set(scopes)
        self.apps[app.id] = app
        return app

    def file(self, data: bytes = b"\x89PNG", *, name: str = "said.bin", mimetype: str = "", **more: Any) -> File:
        kind = mimetype or "application/octet-stream"
        file = File(self.id("F"), name, data, kind, base=self.base, **more)
        self.files[file.id] = file
        return file

    def bots(self) -> list[Bot]:
        return [bot for team in self.teams.values() for bot in team.bots]

    def bot(self, token: str) -> Bot | None:
        return next((bot for bot in self.bots() if bot.token == token), None)


def mentioned(text: str) -> set[str]:
    return {part.split("|")[0].split(">")[0] for part in text.split("<@")[1:]}


def _mention(event: Json) -> Json:
    """The second event of a message that names a bot; it says no kind of the channel."""
    return {name: value for name, value in event.items() if name != "channel_type"} | {"type": "app_mention"}


def _block(message: Message) -> Json:
    if message.form == "markdown":
        return {"type": "markdown", "block_id": "m1", "text": message.text}
    element = {"type": "rich_text_section", "elements": [{"type": "text", "text": message.text}]}
    return {"type": "rich_text", "block_id": "r1", "elements": [element]}
