"""The way of an event into the intake, by whatever transport it came."""

import weakref
from typing import Any

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.feishu.api import Api
from channels.feishu.api_types import Body, Item
from channels.feishu.feishu_events import RECALLED, SAID, Me, answered_by, people_of, read, recalled
from channels.feishu.user_directory import People
from channels.log_throttle import Seldom
from channels.shapes import lenient, nested, objects_in
from daemon import metrics
from daemon.errors import BusUnavailable, ChannelError, SendRefused, brief

LOOK_S = 2.0
"""How long a message waits for the one that it answers: less than Feishu waits for a response (3 s)."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_log = structlog.get_logger()


class Inlet:
    """Hands what one bot hears to the intake: what is said in a chat one after the other."""

    def __init__(self, intake: Intake, me: Me, people: People, api: Api, *, channel: str) -> None:
        self._intake = intake
        self._me = me
        self._people = people
        self._api = api
        self._channel = channel
        self._turns: weakref.WeakValueDictionary[str, anyio.Lock] = weakref.WeakValueDictionary()
        self._seldom = Seldom()

    async def take(self, payload: bytes) -> bool:
        """Deal with an event, as JSON: whether it need not be said again."""
        try:
            found = _decode(payload)
            async with self._turn(chat_of(found)):
                arrival = await self._arrival(lenient(Body, found))
                if arrival is not None:
                    await self._intake.take(arrival)
        except (BusUnavailable, SendRefused) as error:
            if self._seldom.now("waits"):  # what waits is tried again and again
                _log.warning("event.waits", channel=self._channel, reason=brief(error))
            return False
        except (ValueError, RecursionError) as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            # No more than its kind: its text may quote what a person wrote.
            _log.warning("update.unreadable", channel=self._channel, reason=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop those behind it
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()
        return True

    def _turn(self, chat: str) -> anyio.Lock:
        turn = self._turns.get(chat)
        if turn is None:
            turn = self._turns[chat] = anyio.Lock()
        return turn

    async def _arrival(self, body: Body) -> Arrival | None:
        header = body.header
        kind = header.event_type if header else ""
        if header is None or (header.app_id and header.app_id != self._me.app_id):
            metrics.UPDATES.labels(self._channel, "foreign").inc()
            return None
        if kind == RECALLED and body.event is not None:
            return recalled(body, self._me, await self._lost(body.event.message_id))
        if kind != SAID:
            _log.debug("event.ignored", channel=self._channel, kind=kind[:64])
            return None
        if read(body, self._me) is None:
            return None
        original = await self._answered(body)
        names = await self._people.names(people_of(body, original))
        return read(body, self._me, names, original)

    async def _answered(self, body: Body) -> Item | None:
        """The message that one answers; None: it answers none, or it cannot be had."""
        message = body.event.message if body.event else None
        answers = answered_by(message) if message else ""
        if not answers:
            return None
        try:
            return await message_of(self._api, answers, timeout_s=LOOK_S)
        except ChannelError as error:
            if self._seldom.now("answered"):
                _log.warning("event.incomplete", channel=self._channel, reason=brief(error))
            return None

    async def _lost(self, message_id: str) -> Item | None:
        """What Feishu still tells of a message that was taken back: its thread. Raises: SendRefused."""
        try:
            return await message_of(self._api, message_id, timeout_s=LOOK_S)
        except SendRefused:
            raise
        except ChannelError:
            return None


async def message_of(api: Api, message_id: str, *, timeout_s: float) -> Item | None:
    """A message; None: there is none. Errors as for ``Api.call``, but nothing is in doubt."""
    answer = await api.call("GET", f"/im/v1/messages/{message_id}", timeout_s=timeout_s)
    items = objects_in(nested(answer, "data", "items"))
    return lenient(Item, items[0]) if items else None


def chat_of(found: dict[str, Any]) -> str:
    """The chat that an event is about; empty: none, or it cannot be told."""
    chat = nested(found, "event", "message", "chat_id") or nested(found, "event", "chat_id")
    return chat if isinstance(chat, str) else ""
