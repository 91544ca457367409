"""The way of an update into the intake, whether it was asked for or brought."""

import weakref

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.telegram.moved import Moved
from channels.telegram.updates import Me, Membership, Migrated, read
from daemon import metrics
from daemon.errors import BusUnavailable

_log = structlog.get_logger()


class _Chat(msgspec.Struct, frozen=True):
    id: int = 0


class _Said(msgspec.Struct, frozen=True):
    chat: _Chat = _Chat()


class _Head(msgspec.Struct, frozen=True):
    """What tells whose an update is."""

    update_id: int
    message: _Said | None = None
    edited_message: _Said | None = None
    my_chat_member: _Said | None = None


class _Number(msgspec.Struct, frozen=True):
    update_id: int


_read_head = msgspec.json.Decoder(_Head).decode
_read_number = msgspec.json.Decoder(_Number).decode


def number_of(found: msgspec.Raw | bytes) -> int | None:
    """The id of an update; None when it has none."""
    try:
        return _read_number(found).update_id
    except msgspec.DecodeError:
        return None


def chat_of(found: msgspec.Raw | bytes) -> int:
    """The chat that an update is about; 0: none, or it cannot be told."""
    try:
        head = _read_head(found)
    except msgspec.DecodeError:
        return 0
    said = head.message or head.edited_message or head.my_chat_member
    return said.chat.id if said else 0


class Inlet:
    """Hands updates of one bot to the intake: those of a chat one after the other."""

    def __init__(self, intake: Intake, me: Me, moved: Moved, *, channel: str) -> None:
        self._intake = intake
        self._me = me
        self._moved = moved
        self._channel = channel
        self._turns: weakref.WeakValueDictionary[int, anyio.Lock] = weakref.WeakValueDictionary()

    async def take(self, found: msgspec.Raw | bytes) -> None:
        """Deal with an update; once this returns, it need not be said again.

        Raises:
            BusUnavailable: it has to be said again.
        """
        chat = chat_of(found)
        turn = self._turns.get(chat)
        if turn is None:
            turn = self._turns[chat] = anyio.Lock()
        async with turn:
            await self._take(found)

    async def _take(self, found: msgspec.Raw | bytes) -> None:
        try:
            event = read(found, self._me)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            self._note_unreadable(found, error)
            return
        if isinstance(event, Migrated):
            await self._moved.note(event.old, event.new)
        elif isinstance(event, Membership):
            _log.info("chat.joined", channel=self._channel, status=event.status)
        elif event is not None:
            await self._hand_in(found, event)

    async def _hand_in(self, found: msgspec.Raw | bytes, event: Arrival) -> None:
        try:
            await self._intake.take(await self._moved.settled(event))
        except BusUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one bad update must not stop those behind it
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()

    def _note_unreadable(self, found: msgspec.Raw | bytes, error: Exception) -> None:
        metrics.UPDATES.labels(self._channel, "unreadable").inc()
        number = number_of(found)
        # Of the error no more than its kind: its text may quote what a person wrote.
        _log.warning(
            "update.unreadable", channel=self._channel, message_id=str(number or ""), reason=type(error).__name__
        )
