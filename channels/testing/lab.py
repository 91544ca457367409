"""The simulated platform that the contract tests need: tests look at it, speak on it, and let it fail."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

import anyio

from channels.arrival import Arrival, Press
from channels.base import Channel
from channels.batch import one_by_one
from daemon.sessionkey import SessionKey

RETRY_AFTER_S = 7.0
"""What ``Fault.TOO_MANY`` asks for."""

HANG_S = 120.0
"""Seconds after which whatever a test waits for never comes; ten times what a machine busy with other things needs."""


class Fault(Enum):
    """How a request to the platform goes wrong."""

    TOO_MANY = "the platform rejects requests for RETRY_AFTER_S"
    SERVER_ERROR = "the platform reports an internal error"
    PAGE = "a proxy responds with an error page"
    REJECTED = "the platform rejects the request permanently"
    CUT_BEFORE = "the connection is lost after the request is sent, and the platform does not carry out the request"
    CUT_AFTER = "the connection is lost after the platform has carried out the request"
    HANG = "the platform carries out the request, but sends no response"
    STALL = "the platform carries out the request, but sends only half of the response"


class Feature(Enum):
    """Features that not every platform has."""

    EDITS = "sent messages can be edited"
    REMOVAL = "sent messages can be deleted"
    TYPING = "the bot can be shown as typing"
    REACTIONS = "the bot can react to messages"
    QUOTING = "a message can be a reply to another message"
    DOCUMENTS = "files can be sent"
    CONTENTS = "the adapter reads the content of the files that it sends"
    FILES = "files that people send can be downloaded"
    GROUPS = "people can mention the bot in group chats"
    THREADS = "a chat can have threads, and each thread is a separate conversation"
    ALBUMS = "several files can be sent as one message"
    AMENDING = "people can edit their messages"
    BOTS = "the platform states which senders are bots"
    DELETING = "people can delete their messages, and the platform notifies the bot"
    REACTING = "people can react to the bot's messages, and the platform notifies the bot"
    FINDING = "the adapter can search for messages of the bot (``Finds``)"
    LENDING = "a reply includes the files of the message that it replies to"
    VOICES = "the bot can send voice messages"
    BUTTONS = "questions can have buttons, and the platform states who pressed a button"
    LOOKING_BACK = "the adapter can read earlier messages of a thread (``LooksBack``)"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A message of the bot's, as people see it now."""

    id: str
    text: str
    files: tuple[str, ...] = ()  # their names
    reply_to: str = ""
    is_voice: bool = False
    buttons: tuple[str, ...] = ()  # their labels


Kind = Literal["document", "image", "voice", "audio", "video note"]


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a person does on the platform."""

    text: str = "hello"
    chat: str = ""  # as ``Lab.a_chat`` names it; empty: the lab's ``chat``
    thread: str = ""  # in the lab's ``group``, one that ``Lab.begin_thread`` gave
    answers: str = ""  # id of a message that it answers, of the bot's or of a person's
    sender: str = "1001"
    is_bot: bool = False
    mentioned: bool = True  # in a group
    edits: str = ""  # id of the message of which it is a new version
    deletes: str = ""  # id of the message of the same sender, chat and thread that is taken back; then nothing is said
    reaction: str = ""  # an emoji, with which the sender marks the bot's message ``answers``; then nothing is said
    removed: bool = False  # the mark is taken away
    album: str = ""
    file: bytes | None = None  # something that comes with it
    kind: Kind = "document"
    files: int = 1  # so often


class Lab(ABC):
    """A platform with one bot on it, and the adapter that is tested."""

    channel: Channel
    chat: SessionKey  # A direct chat
    group: SessionKey
    workspace: Path  # where the files lie that the bot sends
    missing: frozenset[Feature] = frozenset()  # what there is not on this platform
    impossible: frozenset[Fault] = frozenset()  # what cannot go wrong on this platform
    recordings: tuple[Kind, ...] = ()  # kinds of recordings that people send
    files_max: int = 1  # files in a message of a person
    _threads = 40

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        """How the next requests that send, change, mark, fetch, find or look back go wrong, one each."""
        self.update_faults: list[Fault] = []
        """The same for the next requests by which the adapter hears of people."""

    @abstractmethod
    def again(self) -> AbstractAsyncContextManager[Channel]:
        """The adapter anew, as after a restart: it knows nothing of the first one."""

    @abstractmethod
    def a_chat(self, number: int) -> str:
        """One of many direct chats, none of them ``chat``."""

    @abstractmethod
    def shown(self, chat: SessionKey) -> list[Shown]:
        """What the bot wrote that people see now, oldest first; of a chat with threads, in that thread or in none."""

    def known_as(self, sender: str) -> str:
        """The platform's id of a person whom ``Said.sender`` names."""
        return sender

    @property
    def typed_in(self) -> SessionKey:
        """The chat in which the bot can be shown as typing."""
        return self.chat

    async def begin_thread(self) -> str:
        """A new thread of the lab's ``group``, as ``Arrival.thread`` names it; nobody has asked the bot there."""
        self._threads += 1
        return str(self._threads)

    def thread_outside(self, message_id: str) -> str:
        """What ``Arrival.thread`` says of a message of the ``group`` that was said in no thread."""
        return ""

    @abstractmethod
    def typings(self, chat: SessionKey) -> int:
        """How often it was shown that an answer is being written."""

    @abstractmethod
    def reaction(self, chat: SessionKey, message_id: str) -> str:
        """How the bot marked a message; empty: not at all."""

    @abstractmethod
    async def say(self, said: Said) -> str:
        """Have somebody say something, or take it back; the message's id, as ``Arrival.id`` is to have it."""

    async def press(self, chat: SessionKey, message_id: str, label: str, *, by: str) -> None:
        """Have somebody press a button of the bot's."""
        raise NotImplementedError

    @abstractmethod
    async def say_nonsense(self) -> None:
        """Have the platform say something in a shape that nobody knows."""

    @abstractmethod
    async def settled(self) -> None:
        """Wait until the platform takes all that was said for dealt with."""

    @abstractmethod
    def unsettled(self) -> bool:
        """Whether there is something that the platform would say again."""

    def fail(self, *faults: Fault) -> None:
        """Let the next requests go wrong, see ``faults``."""
        self.faults += faults

    def fail_updates(self, *faults: Fault) -> None:
        """Let the next requests go wrong, see ``update_faults``."""
        self.update_faults += faults

    def age(self) -> None:  # noqa: B027 - on most platforms nothing changes
        """A day goes by: addresses that the platform signs are not valid any more."""

    @abstractmethod
    def lock_out(self) -> None:
        """From now on the platform does not know the bot's key."""

    @abstractmethod
    async def shut_down(self) -> None:
        """From now on nobody listens at the platform's address."""


@dataclass(eq=False)
class Heard:
    """An ``Intake`` that notes what it is given; the same again changes nothing."""

    before: Callable[[Arrival], object] = lambda _arrival: None
    """Called before something is noted; what it raises, ``take`` raises."""
    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    presses: list[Press] = field(default_factory=list[Press])
    refusal: str = ""  # what those who press a button are told
    _changed: anyio.Event = field(default_factory=anyio.Event)
    gates: dict[str, anyio.Event] = field(
        default_factory=dict[str, anyio.Event]
    )  # by text: what is taken only once the event is set
    held: set[str] = field(default_factory=set[str])  # texts that wait at their gates

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        """See ``Intake``."""
        return await one_by_one(self, arrivals)

    async def take(self, arrival: Arrival) -> None:
        """See ``Intake``."""
        await anyio.lowlevel.checkpoint()
        self.before(arrival)
        if arrival.text in self.gates:
            self.held.add(arrival.text)
            self._tell()
            await self.gates[arrival.text].wait()
        if any(arrival.seen_as == known.seen_as for known in self.arrivals):
            return
        self.arrivals.append(arrival)
        self._tell()

    async def press(self, press: Press) -> str:
        """See ``Intake``."""
        await anyio.lowlevel.checkpoint()
        self.before(press.arrival)
        self.presses.append(press)
        self._tell()
        return self.refusal

    @property
    def texts(self) -> list[str]:
        """What was said, in the order in which it was taken."""
        return [arrival.text for arrival in self.arrivals]

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until ``reached``, which is asked after each arrival and press."""
        with anyio.fail_after(HANG_S):
            while not reached():
                await self._changed.wait()

    async def count(self, number: int) -> None:
        """Wait for so many arrivals."""
        await self.until(lambda: len(self.arrivals) >= number)

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
