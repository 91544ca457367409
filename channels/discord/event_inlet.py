"""The way of an event into the intake: events of a channel in order, those of several channels at a time."""

import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.abc
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.discord.api import Api, Request
from channels.discord.api_types import (
    ANSWERED,
    Channel,
    Deleted,
    Guild,
    Interaction,
    Message,
    ReactionChange,
    Rejected,
    is_snowflake,
)
from channels.discord.buttons import PRESSED, answer_to, deferred_answer, first_answer, later_answer, read_press
from channels.discord.channel_directory import ChannelDirectory
from channels.discord.discord_events import REACTIONS, Me, deleted, reaction_of, read, read_command, replied_to
from channels.discord.gateway_session import Progress
from daemon import metrics
from daemon.errors import UNREADABLE, BusUnavailable, ChannelError, brief
from daemon.wording import Language
from daemon.wording import text as say

PENDING_MAX = 1_000
"""Events that are handled or wait for it; then nothing more is read, and Discord waits."""

AWAY_PAUSE_S = 0.5
"""Pause before an event is handed in again that could not be stored, less up to a half of it."""

ANSWER_S = 3.0
"""Time in which Discord expects the answer to an interaction (Interactions, "Receiving and Responding")."""

DEFER_S = 1.5
"""Time after which Discord is told that the answer to an interaction follows, as when a message before it waits."""

LOOK_S = 1.5
"""How long a reply waits for the message that it replies to, if Discord left that out."""

INTERACTION = "INTERACTION_CREATE"

HEARD = frozenset(
    {"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", INTERACTION, *REACTIONS}
)
"""Events that lead to messages for the intake."""

CHANNELS = frozenset({"CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"})
ROLES = frozenset({"GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE"})


class _Head(msgspec.Struct, frozen=True):
    channel_id: str = ""


class QueuedEvent(msgspec.Struct, frozen=True):
    """An event that is handled, mostly behind others."""

    kind: str
    handle: Callable[[], Awaitable[None]]
    handled: Callable[[], None]
    """Called then, also after a failure."""


class OpenInteraction:
    """A slash command or the press of a button, which Discord wants answered."""

    def __init__(self, event: Interaction) -> None:
        self.event = event
        self.handled = anyio.Event()
        self.answer: dict[str, Any] | None = None
        """Once it is handled; None: handling failed."""


class _Where(msgspec.Struct, frozen=True):
    guild_id: str = ""


_head = msgspec.json.Decoder(_Head).decode
_where = msgspec.json.Decoder(_Where).decode
_message = msgspec.json.Decoder(Message).decode
_deleted = msgspec.json.Decoder(Deleted).decode
_reaction = msgspec.json.Decoder(ReactionChange).decode
_interaction = msgspec.json.Decoder(Interaction).decode
_channel = msgspec.json.Decoder(Channel).decode
_guild = msgspec.json.Decoder(Guild).decode
_log = structlog.get_logger()
_T = TypeVar("_T")


class EventInlet:
    """Hands the events of one bot to the intake. Its tasks belong to the task group that it is given."""

    def __init__(
        self, intake: Intake, me: Me, directory: ChannelDirectory, api: Api, *, channel: str, language: Language
    ) -> None:
        self._intake = intake
        self._me = me
        self._directory = directory
        self._api = api
        self._channel = channel
        self._language: Language = language
        self._queues: dict[str, deque[QueuedEvent]] = {}

    async def put(self, tg: anyio.abc.TaskGroup, kind: str, found: bytes, *, sequence: int, progress: Progress) -> None:
        """Take over an event, ``found`` in JSON; returns when there is room for the next."""
        if kind not in HEARD:
            self._learn(kind, found)
            progress.begin(sequence)
            progress.end(sequence)
            return
        progress.begin(sequence)
        handled = partial(progress.end, sequence)
        try:
            chat = _head(found).channel_id
            interaction = OpenInteraction(_interaction(found)) if kind == INTERACTION else None
        except UNREADABLE as error:
            self._note_unreadable(kind, error)
            handled()
            return
        if interaction is None:
            self._queue(tg, chat, QueuedEvent(kind, partial(self._hand_in, kind, found), handled))
        else:
            # A press waits for no message of its channel.
            chat = f"{chat} press" if interaction.event.type == PRESSED else chat
            self._queue(tg, chat, QueuedEvent(kind, partial(self._store, interaction), interaction.handled.set))
            tg.start_soon(self._handle, QueuedEvent(kind, partial(self._answer, interaction), handled))
        await progress.until_pending(PENDING_MAX)

    def _queue(self, tg: anyio.abc.TaskGroup, chat: str, event: QueuedEvent) -> None:
        queue = self._queues.get(chat)
        if queue is None:
            queue = self._queues[chat] = deque()
            tg.start_soon(self._work, chat, queue)
        queue.append(event)

    async def _work(self, chat: str, queue: deque[QueuedEvent]) -> None:
        while queue:
            await self._handle(queue[0])
            queue.popleft()
        del self._queues[chat]

    async def _handle(self, event: QueuedEvent) -> None:
        try:
            await event.handle()
        except UNREADABLE as error:
            self._note_unreadable(event.kind, error)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop those behind it
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()
        event.handled()

    async def _hand_in(self, kind: str, found: bytes) -> None:
        async for arrival in self._read(kind, found):
            await self._kept(partial(self._intake.take, arrival))

    async def _kept(self, hand_in: Callable[[], Awaitable[_T]]) -> _T:
        while True:
            try:
                return await hand_in()
            except BusUnavailable as error:
                # Discord does not repeat an event on the same connection.
                _log.warning("update.waits", channel=self._channel, reason=brief(error))
                await anyio.sleep(AWAY_PAUSE_S * random.uniform(0.5, 1.0))

    async def _read(self, kind: str, found: bytes) -> AsyncIterator[Arrival]:
        if kind in REACTIONS:
            change = _reaction(found)
            place = await self._directory.place(change.channel_id, change.guild_id)
            if (arrival := reaction_of(kind, change, self._me, place)) is not None:
                yield arrival
        elif kind.startswith("MESSAGE_DELETE"):
            gone = _deleted(found)
            place = await self._directory.place(gone.channel_id, gone.guild_id)
            for arrival in deleted(gone, place):
                yield arrival
        else:
            message = _message(found)
            if message.author is not None and message.author.id == self._me.id:
                return
            place = await self._directory.place(message.channel_id, message.guild_id, roles=message.mention_roles)
            message = await self._with_answered(message)
            arrival = read(message, self._me, place, edited=kind == "MESSAGE_UPDATE")
            if arrival is not None:
                yield arrival

    async def _with_answered(self, message: Message) -> Message:
        """``message`` with the one that it replies to, if Discord left that out."""
        answered = replied_to(message)
        if message.referenced_message is not msgspec.UNSET or not is_snowflake(answered):
            return message
        request = Request("GET", f"/channels/{message.channel_id}/messages/{answered}")
        try:
            found = _message(await self._api.call(request, timeout_s=LOOK_S))
        except (ChannelError, *UNREADABLE) as error:
            _log.info("event.incomplete", channel=self._channel, reason=type(error).__name__)
            return message
        return msgspec.structs.replace(message, referenced_message=found)

    async def _store(self, interaction: OpenInteraction) -> None:
        interaction.answer = await self._dealt_with(interaction.event)

    async def _answer(self, interaction: OpenInteraction) -> None:
        """Answer a slash command or a button in time, also behind messages that wait; the result is another message."""
        event = interaction.event
        with anyio.move_on_after(DEFER_S):
            await interaction.handled.wait()
        is_late = not interaction.handled.is_set()
        if is_late:
            await self._call(first_answer(event, deferred_answer(event)))
            await interaction.handled.wait()
        if (answer := interaction.answer) is not None:
            later = later_answer(event, answer)
            is_first = not is_late and await self._call(first_answer(event, answer))
            if is_late or (not is_first and later.method == "PATCH"):  # which can be repeated
                await self._call(later)

    async def _dealt_with(self, event: Interaction) -> dict[str, Any]:
        """The answer once the command is stored."""
        place = await self._directory.place(event.channel_id, event.guild_id)
        if (press := read_press(event, place)) is not None:
            return answer_to(await self._kept(partial(self._intake.press, press)))
        if (arrival := read_command(event, place)) is not None:
            await self._kept(partial(self._intake.take, arrival))
        return answer_to(say("command_received", self._language))

    async def _call(self, answer: Request) -> bool:
        """Answer an interaction; False: a process that ended has answered it, perhaps that the answer follows."""
        try:
            await self._api.call(answer, timeout_s=ANSWER_S)
        except Rejected as no:
            return no.code != ANSWERED  # else too late: Discord shows an error, and the result all the same
        except ChannelError as error:
            _log.warning("command.unanswered", channel=self._channel, reason=type(error).__name__)
        return True

    def _learn(self, kind: str, found: bytes) -> None:
        try:
            if kind == "GUILD_CREATE":
                self._directory.add_guild(_guild(found))
            elif kind in CHANNELS:
                self._directory.add(_channel(found))
            elif kind in ROLES:
                self._directory.forget_roles(_where(found).guild_id)
        except UNREADABLE as error:
            self._note_unreadable(kind, error)

    def _note_unreadable(self, kind: str, error: Exception) -> None:
        metrics.UPDATES.labels(self._channel, "unreadable").inc()
        # Of the error no more than its kind: its text may quote what a person wrote.
        _log.warning("update.unreadable", channel=self._channel, kind=kind[:64], reason=type(error).__name__)
