"""The way of an event into the intake, by whatever transport it came."""

import random
import weakref
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.feishu.api import Api
from channels.feishu.api_types import Body, Item, MissingScope, Rejected
from channels.feishu.buttons import Buttons, answer_to, read_press
from channels.feishu.card_streams import CardStreams
from channels.feishu.feishu_events import (
    FORWARD,
    REACTIONS,
    RECALLED,
    SAID,
    Me,
    answered_by,
    marked_in,
    me_of,
    people_of,
    reaction_of,
    read,
    recalled,
)
from channels.feishu.user_directory import UserDirectory
from channels.log_throttle import LogThrottle
from channels.shapes import lenient, nested, objects_in
from daemon import metrics
from daemon.config import FeishuConfig
from daemon.errors import BusUnavailable, ChannelError, SendRefused, brief
from daemon.process import Process
from daemon.setup.platforms.feishu_scopes import CALLBACK

OUTDATED = (
    "Feishu sent an event of version 1.0, which Millpond cannot read. In the developer console, remove the events of "
    "version 1.0, and add im.message.receive_v1"
)
"""Bodies of this version have a ``uuid`` and no ``header`` (open.feishu.cn, "Event structure")."""

LOOK_S = 1.5
"""How long a message waits for the one that it answers, or for those that it forwards. With the names in it, that is
less than an event may take."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_log = structlog.get_logger()


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """An event that need not be said again."""

    answer: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """The answer for Feishu."""
    then: Callable[[], Awaitable[None]] | None = None
    """To be done once Feishu has the answer; does not raise."""


Take = Callable[[bytes], Awaitable[Taken | None]]
"""Takes an event, as JSON; None: Feishu has to say it again."""


class EventInlet:
    """Hands what one bot hears to the intake: what is said in a chat one after the other."""

    def __init__(
        self,
        intake: Intake,
        me: Me,
        api: Api,
        buttons: Buttons,
        *,
        channel: str,
        hears_reactions: bool = False,
    ) -> None:
        """``hears_reactions``: else they are not even looked up."""
        self._hears_reactions = hears_reactions
        self._intake = intake
        self._me = me
        self.people = UserDirectory(api, channel=channel)
        """To be run."""
        self._api = api
        self._buttons = buttons
        self._channel = channel
        self._turns: weakref.WeakValueDictionary[str, anyio.Lock] = weakref.WeakValueDictionary()
        self._seldom = LogThrottle()

    async def take(self, payload: bytes) -> Taken | None:
        """Deal with an event; see ``Take``."""
        try:
            found = _decode(payload)
            async with self._turn(chat_of(found)):
                body = lenient(Body, found)
                if body.header and body.header.event_type == CALLBACK:
                    return await self._pressed(body)
                arrival = await self._arrival(body)
                if arrival is not None:
                    await self._intake.take(arrival)
        except (BusUnavailable, SendRefused) as error:
            if self._seldom.now("waits"):  # what waits is tried again and again
                _log.warning("event.waits", channel=self._channel, reason=brief(error))
            return None
        except (ValueError, RecursionError) as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            # No more than its kind: its text may quote what a person wrote.
            _log.warning("update.unreadable", channel=self._channel, reason=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop those behind it
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()
        return Taken()

    def _turn(self, chat: str) -> anyio.Lock:
        turn = self._turns.get(chat)
        if turn is None:
            turn = self._turns[chat] = anyio.Lock()
        return turn

    async def _arrival(self, body: Body) -> Arrival | None:
        kind = body.header.event_type if body.header else ""
        if self._is_foreign(body):
            return None
        if kind == RECALLED and body.event is not None and recalled(body, self._me, None) is not None:
            return recalled(body, self._me, await self._lost(body.event.message_id))
        if kind in REACTIONS:
            return await self._reaction(body) if self._hears_reactions else None
        if kind != SAID:
            _log.debug("event.ignored", channel=self._channel, kind=kind[:64])
            return None
        message = body.event.message if body.event else None
        if message is None or read(body, self._me) is None:
            return None
        is_forward = message.message_type == FORWARD
        found = await self._items(message.message_id if is_forward else answered_by(message))
        original, forwarded = None if is_forward else next(iter(found), None), found[1:]
        names = await self.people.names(people_of(body, original, *forwarded))
        return read(body, self._me, names, original, forwarded)

    async def _pressed(self, body: Body) -> Taken:
        if self._is_foreign(body) or (press := read_press(body)) is None:
            return Taken()
        press = read_press(body, await self.people.names([press.arrival.sender.id])) or press
        refusal = await self._intake.press(press)
        return Taken(
            answer=answer_to(refusal), then=None if refusal else partial(self._buttons.remove, press.arrival.id)
        )

    def _is_foreign(self, body: Body) -> bool:
        """Whether an event is for another app."""
        header = body.header
        is_foreign = header is None or header.app_id not in ("", self._me.app_id)
        if is_foreign:
            metrics.UPDATES.labels(self._channel, "foreign").inc()
        if header is None and self._seldom.now("outdated"):
            _log.warning("event.outdated", channel=self._channel, reason=OUTDATED)
        return is_foreign

    async def _reaction(self, body: Body) -> Arrival | None:
        if not (message_id := marked_in(body)):
            return None
        # The event tells neither whose message it is nor in which chat.
        item = await self._lost(message_id)
        if (reaction := reaction_of(body, self._me, item)) is None:
            return None
        return reaction_of(body, self._me, item, await self.people.names([reaction.sender.id]))

    async def _items(self, message_id: str) -> tuple[Item, ...]:
        """A message, and behind it those that it forwards; empty: there is none, or it cannot be had."""
        if not message_id:
            return ()
        try:
            return await _items_of(self._api, message_id, timeout_s=LOOK_S)
        except ChannelError as error:
            if self._seldom.now("answered"):
                _log.warning("event.incomplete", channel=self._channel, reason=brief(error))
            return ()

    async def _lost(self, message_id: str) -> Item | None:
        """What Feishu still tells of a message that was taken back: its thread. Raises: SendRefused."""
        try:
            return await message_of(self._api, message_id, timeout_s=LOOK_S)
        except (Rejected, MissingScope):  # no waiting would help, and it would hold up the messages of the chat
            return None


async def message_of(api: Api, message_id: str, *, timeout_s: float) -> Item | None:
    """A message; None: there is none. Errors as for ``Api.call``, but nothing is in doubt."""
    return next(iter(await _items_of(api, message_id, timeout_s=timeout_s)), None)


async def _items_of(api: Api, message_id: str, *, timeout_s: float) -> tuple[Item, ...]:
    answer = await api.call("GET", f"/im/v1/messages/{message_id}", timeout_s=timeout_s)
    return tuple([lenient(Item, each) for each in objects_in(nested(answer, "data", "items"))])


def chat_of(found: dict[str, Any]) -> str:
    """The chat that an event is about; empty: none, or it cannot be told. A press waits for no message of its chat."""
    chat = nested(found, "event", "message", "chat_id") or nested(found, "event", "chat_id")
    chat = chat or nested(found, "event", "message_id")  # of a mark, the message alone is told
    chat = chat or nested(found, "event", "context", "open_message_id")
    return chat if isinstance(chat, str) else ""


# Hearing what is said: over a long connection, or by events that Feishu sends by HTTP.

TIMEOUT_S = 10.0
"""How long Feishu may take to say who the bot is."""

REST_S = 5.0
"""Pause before Feishu is asked once more who the bot is, less up to a half of it."""


async def hear(process: Process, name: str, config: FeishuConfig, api: Api, intake: Intake) -> None:
    """Hand in what is said to the app of the channel ``name``, until cancelled; what is cut off Feishu says again.

    Raises:
        ConfigError: it cannot listen where it is configured to.
    """
    me = await _me(api, name)
    buttons = Buttons(api, CardStreams(api, process.clock, channel=name), channel=name)
    inlet = EventInlet(intake, me, api, buttons, channel=name, hears_reactions=config.hear_reactions)
    async with anyio.create_task_group() as tg:
        tg.start_soon(inlet.people.run)
        if config.events.url:
            # Imported here: it needs cryptography, and few have an address of their own.
            from channels.feishu.events_endpoint import EventsEndpoint  # noqa: PLC0415

            await EventsEndpoint(name, config, inlet.take, clock=process.clock).run()
        else:
            from channels.feishu.long_connection import LongConnection  # noqa: PLC0415 - it needs aiohttp

            await LongConnection(api, inlet.take, tg, channel=name).run()


async def _me(api: Api, name: str) -> Me:
    """Who the bot is; asked until it is known, for without that nobody can tell whether it is meant."""
    while True:
        try:
            return me_of(await api.call("GET", "/bot/v3/info", timeout_s=TIMEOUT_S), api.app_id)
        except (ChannelError, ValueError) as error:
            _log.warning("hearing.waits", channel=name, reason=brief(error))
            told_s = error.retry_after_s if isinstance(error, SendRefused) else None
            await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))
