"""The way of an update into the intake, whether it was asked for or brought."""

import weakref
from collections.abc import Sequence

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.telegram.buttons import Buttons
from channels.telegram.group_migration import GroupMigrations
from channels.telegram.updates import Event, Me, Membership, Migrated, Pressed, Reacted, read
from daemon import metrics
from daemon.errors import UNREADABLE, BusUnavailable

_log = structlog.get_logger()


class _Chat(msgspec.Struct, frozen=True):
    id: int = 0


class _Said(msgspec.Struct, frozen=True):
    chat: _Chat = _Chat()


class _Pressed(msgspec.Struct, frozen=True):
    message: _Said | None = None


class _Head(msgspec.Struct, frozen=True):
    """What tells whose an update is."""

    update_id: int
    message: _Said | None = None
    edited_message: _Said | None = None
    my_chat_member: _Said | None = None
    callback_query: _Pressed | None = None
    message_reaction: _Said | None = None


class _Number(msgspec.Struct, frozen=True):
    update_id: int


_read_head = msgspec.json.Decoder(_Head).decode
_read_number = msgspec.json.Decoder(_Number).decode


def number_of(found: msgspec.Raw | bytes) -> int | None:
    """The id of an update; None when it has none."""
    try:
        return _read_number(found).update_id
    except UNREADABLE:
        return None


def chat_of(found: msgspec.Raw | bytes) -> int:
    """The chat that an update is about; 0: none, or it cannot be told."""
    try:
        head = _read_head(found)
    except UNREADABLE:
        return 0
    pressed = head.callback_query.message if head.callback_query else None
    said = head.message or head.edited_message or head.my_chat_member or head.message_reaction or pressed
    return said.chat.id if said else 0


class EventInlet:
    """Hands updates of one bot to the intake: those of a chat one after the other."""

    def __init__(
        self, intake: Intake, me: Me, moved: GroupMigrations, *, channel: str, buttons: Buttons | None = None
    ) -> None:
        """``buttons``: answers those who press them."""
        self._intake = intake
        self._buttons = buttons
        self._me = me
        self._moved = moved
        self._channel = channel
        self._turns: weakref.WeakValueDictionary[int, anyio.Lock] = weakref.WeakValueDictionary()

    async def take(self, found: msgspec.Raw | bytes) -> None:
        """Deal with an update; once this returns, it need not be said again.

        Raises:
            BusUnavailable: it has to be said again.
        """
        if not await self.take_run([found]):
            raise BusUnavailable("the Telegram message was not stored")

    async def take_run(self, found: Sequence[msgspec.Raw | bytes]) -> int:
        """Deal with updates of one chat, oldest first: how many of the first ones are dealt with.

        Fewer than all: the next one has to be said again, with those behind it.
        """
        chat = chat_of(found[0])
        turn = self._turns.get(chat)
        if turn is None:
            turn = self._turns[chat] = anyio.Lock()
        async with turn:
            return await self._take(found)

    async def _take(self, found: Sequence[msgspec.Raw | bytes]) -> int:
        done, run = 0, list[Arrival]()
        try:
            for each in found:
                event = self._read(each)
                if isinstance(event, Arrival):
                    # Whether its chat has moved depends on what came before it, which is told as it is read.
                    run.append(await self._moved.settled(event))
                    continue
                done += await self._hand_in(run)
                if run:
                    return done
                await self._note(event)
                done += 1
            return done + await self._hand_in(run)
        except BusUnavailable:
            return done

    def _read(self, found: msgspec.Raw | bytes) -> Event:
        try:
            return read(found, self._me)
        except UNREADABLE as error:
            self._note_unreadable(found, error)
            return None

    async def _note(self, event: Migrated | Membership | Reacted | Pressed | None) -> None:
        if isinstance(event, Reacted):
            run = [await self._moved.settled(each) for each in event.arrivals]
            if await self._hand_in(run) < len(event.arrivals):
                raise BusUnavailable("the Telegram reaction was not stored")
        elif isinstance(event, Migrated):
            await self._moved.note(event.old, event.new)
        elif isinstance(event, Pressed):
            await self._press(event)
        elif event is not None:
            _log.info("chat.joined", channel=self._channel, status=event.status)

    async def _press(self, event: Pressed) -> None:
        arrival = await self._moved.settled(event.press.arrival)
        text = ""
        try:
            text = await self._intake.press(msgspec.structs.replace(event.press, arrival=arrival))
        except BusUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - as in _hand_in
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()
        if self._buttons is not None:
            await self._buttons.pressed(event, refusal=text)

    async def _hand_in(self, run: list[Arrival]) -> int:
        """Hand them in; what is left in ``run`` has to be said again. How many are dealt with."""
        done = 0
        while run:
            try:
                taken = await self._intake.take_run(run)
            except Exception as error:  # noqa: BLE001 - one bad update must not stop those behind it
                _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
                metrics.UPDATES.labels(self._channel, "failed").inc()
                taken = 1
            if not taken:
                break
            del run[:taken]
            done += taken
        return done

    def _note_unreadable(self, found: msgspec.Raw | bytes, error: Exception) -> None:
        metrics.UPDATES.labels(self._channel, "unreadable").inc()
        number = number_of(found)
        # Of the error no more than its kind: its text may quote what a person wrote.
        _log.warning(
            "update.unreadable", channel=self._channel, message_id=str(number or ""), reason=type(error).__name__
        )
