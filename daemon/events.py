"""What travels between processes and what is stored: frozen structs whose JSON reads well in ``redis-cli``.

A new field gets a default and an old one never changes its type, so that old and new processes can run side by side.
"""

from typing import Literal

import msgspec

from daemon.sessionkey import SessionKey

NOTHING = msgspec.Raw(b"")
"""Left out of what is written: a field is omitted when it holds this very object, its default."""

ChatKind = Literal["direct", "group"]
Command = Literal[
    "",
    "stop",
    "status",
    "help",
    "usage",
    "whoami",
    "memory",
    "reminders",
    "remind",
    "new",
    "model",
    "compact",
    "export",
    "forget",
    "link",
    "unlink",
    "pair",
    "ban",
    "unban",
    "pause",
    "resume",
    "approve",
    "deny",
]


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file that came with a message, or goes with one."""

    kind: Literal["image", "document", "audio", "video", "voice"]
    """``voice``: spoken to the bot, to be turned into text."""
    name: str = ""
    url: str = ""
    size_bytes: int = 0
    """0: the platform does not say."""
    path: str = ""
    """Relative to the bot's workspace, without links on the way: of a file that a bot sends, or that was fetched. Of a
    file that came with a message: relative to the files of its scope, where the channel has stored it already."""
    source: str = ""
    """What its channel fetches it by; only the channel knows what it means."""
    sender_id: str = ""
    """The platform's id of the sender, if somebody else's message brings the file along; empty: the message's own."""
    spoken: bool = False
    """A recording of a person who speaks, whatever its kind: a video note."""

    @property
    def is_speech(self) -> bool:
        """Whether it is turned into text."""
        return self.spoken or self.kind in ("voice", "audio")


class Overheard(msgspec.Struct, frozen=True, kw_only=True):
    """Something said in a group that the bot was not asked; it came before what it was asked next."""

    id: str
    sender_id: str
    sender_name: str = ""
    text: str
    at: str
    """When it was said: ISO 8601, UTC."""
    attachments: tuple[Attachment, ...] = ()
    """Files that came with it; ``text`` names them."""
    is_reaction: bool = False
    """Nothing was said: ``text`` is a line of Millpond's on an emoji with which a message of the bot's was marked."""


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """What a message answers to, or the part of it that was marked."""

    text: str
    sender_name: str = ""
    """Empty: the bot itself."""
    sender_id: str = ""
    """The platform's id of whose it was; empty: the bot itself, or nobody knows."""


class Reminding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The occurrence of a reminder that fired."""

    id: str
    """Of the reminder."""
    kind: Literal["text", "prompt"] = "text"
    """``text``: the message is sent as it is; ``prompt``: the bot answers it, as a proactive turn."""
    due: str
    """The time at which it was due: ISO 8601, UTC."""
    zone: str
    """IANA name of the person's time zone."""


class Inbound(msgspec.Struct, frozen=True, kw_only=True, tag="inbound"):
    """A message as every channel hands it in, whatever platform it came from."""

    id: str
    """Unique within its session: the client's own id where it gave one, else made by the channel."""
    bot: str
    """Name of the bot's section in the configuration."""
    channel: str
    """Channel instance: the name of its section in the configuration."""
    chat: str
    thread: str = ""
    chat_kind: ChatKind = "direct"
    sender_id: str
    sender_name: str = ""
    text: str
    command: Command = ""
    """Set for a command: those of ``QUEUED_COMMANDS`` wait for their turn, ``stop`` ends the one that runs, all others
    are answered aside."""
    reply_to: str = ""
    """Id of the message this one answers to, as the platform says it."""
    quote: Quote | None = None
    """What that message says."""
    overheard: tuple[Overheard, ...] = ()
    """Of a group: what was said since the bot was last asked, oldest first."""
    attachments: tuple[Attachment, ...] = ()
    retry_of: str = ""
    """Id of an earlier message whose answer is to be given once more; ``text`` repeats that message."""
    platform_ids: tuple[str, ...] = ()
    """The platform's ids of what this message was made of; the first one is what is deduplicated."""
    delivery: Literal["pull", "push"] = "pull"
    """Whether the channel reads its replies from the log, or has them sent by an outbox."""
    received_at: str
    """When the channel got it: ISO 8601, UTC."""
    reminder: Reminding | None = None
    """Nobody wrote this message now: a reminder of the sender fired."""
    correlation: str
    """One id from here to the reply, in every log line on the way."""

    @property
    def session(self) -> SessionKey:
        """The session that this message belongs to."""
        return SessionKey(channel=self.channel, chat=self.chat, thread=self.thread)


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One message of a session's log.

    Not tracked by the garbage collector, which would look at tens of thousands of them: they hold no other objects.
    """

    time: str
    """When it came (user) or was written (all others): ISO 8601, UTC."""
    turn: int
    """The turn it belongs to, named by the head when that turn began."""
    tokens: int
    """What ``wire`` counts in a prompt; counted once, here."""
    id: str = ""
    """The inbound message's id, on user messages."""
    sender: str = ""
    """Who said it, on user messages."""
    person: str = ""
    """Id of who said it, where several people may: what is theirs is found by it, whatever they are called later."""
    is_reminder: bool = False
    """Nobody wrote this user message: a reminder fired. Its id does not tell, since clients choose theirs."""
    answers: tuple[str, ...] = ()
    """On the last entry of a turn: the ids of the messages it answers."""
    dead: tuple[str, ...] = ()
    """As ``answers``, of messages that could not be answered; they are dead letters now."""
    refused: bool = False
    """The model's server refused them for their content: no model is shown them again."""
    stopped: bool = False
    """A person stopped the turn here; the text is what had come until then."""
    silent: bool = False
    """A proactive turn had nothing to say: no person is shown it."""
    speech: str = ""
    """On an answer to a voice message: path of its recording, relative to the bot's workspace."""
    unpaid: bool = False
    """A limit of the day kept the turn from beginning: no model is shown any of it, and it counts no tokens."""
    own: msgspec.Raw = NOTHING
    """On an answer: fields that only its own model understands, JSON; see ``daemon.model.provider_fields``."""
    own_tokens: int = 0
    """What ``own`` counts; not part of ``tokens``, since other models and later turns are sent without it."""
    wire: msgspec.Raw
    """The message as the model gets it, JSON; joined into a request without decoding."""


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the people of a session chose for it; kept as long as the session."""

    model: str = ""
    """Name of a model of the bot's; empty: the first one."""


NO_OPTIONS = Options()
"""Nobody chose anything."""


class Continuity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a conversation stood when older messages were consolidated: two messages that its history begins with."""

    transcript: str = ""
    """Name of the segment that holds the last range of them."""
    text: str = ""


class SessionGrew(msgspec.Struct, frozen=True, kw_only=True, tag="session-grew"):
    """A log got longer; consolidation may have work.

    Positions only, never text: a late or repeated delivery cannot bring back old content.
    """

    session: str
    """Session key, ``<channel instance>:<chat id>[:<thread>]``, parts percent-encoded."""
    head: int
    """Index one past the last message, counted from the first ever stored."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One possible answer to a question of the bot: a button on platforms that have buttons.

    The question's text names the command too, for all other platforms.
    """

    label: str
    """What stands on the button."""
    command: str
    """The command that a person sends by choosing it, such as ``/link yes @3f9a01bc``; see ``workers.choices``."""
    who: str = ""
    """The platform's id of the only person who may choose it; empty: everybody who may use the command."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, tag="reply"):
    """A turn's answer, or what the bot says before or beside it, on its way to a push channel."""

    id: str
    """``<session>#<turn>``, or ``<session>#<kind>-…`` of what is said aside: unique, the same when it is said again."""
    session: str
    turn: int
    text: str
    correlation: str
    attachments: tuple[Attachment, ...] = ()
    """Files that go with it."""
    reply_to: str = ""
    """In a group, the platform's id of the message that it answers."""
    answers: tuple[str, ...] = ()
    """Ids of the messages that it answers, in a direct chat too."""
    choices: tuple[Choice, ...] = ()
    """The answers to its question, of which a person chooses one."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, tag="notice"):
    """What a bot says aside: shown by pull channels, read by no model."""

    kind: Literal["aside", "parked", "message"]
    """``message``: said by a turn, before its answer."""
    text: str
    time: str
    message_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    choices: tuple[Choice, ...] = ()
    """As in ``Reply``."""


class Live(msgspec.Struct, frozen=True, kw_only=True, tag="delta"):
    """A piece of text that is being written; advisory, the log is what counts."""

    session: str
    turn: int
    fence: int
    """Rises with every claim: only the highest one is shown, and a rise starts the preview afresh."""
    sequence: int
    """Counts the pieces of this turn and fence from 0."""
    offset: int
    """Characters of the text that came before this piece."""
    text: str


class ToolEvent(msgspec.Struct, frozen=True, kw_only=True, tag="tool"):
    """A tool of the running turn began or ended; advisory."""

    session: str
    turn: int
    fence: int
    call: str
    name: str
    state: Literal["started", "done", "failed"]


class Moved(msgspec.Struct, frozen=True, kw_only=True, tag="moved"):
    """A session's positions changed: its log can be read up to ``head``."""

    session: str
    head: int
    cursor: int


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """A nudge for the worker that holds the session: end the turn."""

    session: str
    upto: str
    """Stream id of the stop's own entry in ``in``: everything waiting up to it counts as answered."""
