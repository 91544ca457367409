"""The way of an event into the intake, by whatever transport it came."""

import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.slack.api_types import Body, Command, lenient
from channels.slack.mrkdwn import people_in
from channels.slack.slack_events import Me, people_of, read
from channels.slack.slash_commands import read_command
from channels.slack.user_directory import People
from daemon import metrics
from daemon.bus import command_of
from daemon.errors import BusUnavailable

Payload = Mapping[str, Any] | msgspec.Raw | bytes
"""The body of an event, ``{"type": "event_callback", "event": {…}, …}``, or the fields of a slash command."""

_log = structlog.get_logger()


def payload_of(found: Payload) -> Mapping[str, Any]:
    """The fields of ``found``.

    Raises:
        ValueError: it is no JSON object, or no UTF-8.
        RecursionError: it is nested beyond reason.
    """
    if isinstance(found, (bytes, msgspec.Raw)):
        return msgspec.json.decode(found, type=dict[str, Any])
    return found


def chat_of(found: Mapping[str, Any]) -> str:
    """The conversation that a payload is about; empty: none, or it cannot be told."""
    event = found.get("event")
    chat = event.get("channel") if isinstance(event, Mapping) else found.get("channel_id")  # pyright: ignore
    return chat if isinstance(chat, str) else ""


class Inlet:
    """Hands what one bot hears to the intake: what is said in a conversation one after the other."""

    def __init__(
        self, intake: Intake, me: Me, people: People, *, channel: str, everything: bool, now: Callable[[], float]
    ) -> None:
        """``everything``: also what is said at the top level of channels to others; ``now``: seconds of the epoch."""
        self._intake = intake
        self._me = me
        self._people = people
        self._channel = channel
        self._everything = everything
        self._now = now
        self._turns: weakref.WeakValueDictionary[str, anyio.Lock] = weakref.WeakValueDictionary()

    async def take(self, payload: Payload) -> None:
        """Deal with an event, in its body; once this returns, it need not be said again.

        Raises:
            BusUnavailable: it has to be said again.
        """
        await self._take(payload, self._said)

    async def take_command(self, payload: Payload) -> None:
        """As ``take``, for the fields of a slash command."""
        await self._take(payload, self._commanded)

    async def _take(self, payload: Payload, read: Callable[[Mapping[str, Any]], Awaitable[Arrival | None]]) -> None:
        try:
            found = payload_of(payload)
            async with self._turn(chat_of(found)):
                arrival = await read(found)
                if arrival is not None:
                    await self._intake.take(arrival)
        except BusUnavailable:
            raise
        except (ValueError, RecursionError) as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            # No more than its kind: its text may quote what a person wrote.
            _log.warning("update.unreadable", channel=self._channel, reason=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop those behind it
            _log.exception("update.failed", channel=self._channel, reason=type(error).__name__)
            metrics.UPDATES.labels(self._channel, "failed").inc()

    def _turn(self, chat: str) -> anyio.Lock:
        turn = self._turns.get(chat)
        if turn is None:
            turn = self._turns[chat] = anyio.Lock()
        return turn

    async def _said(self, found: Mapping[str, Any]) -> Arrival | None:
        body = lenient(Body, found)
        arrival = read(body, self._me, everything=self._everything)
        if arrival is None or not self._is_wanted(arrival):
            return None
        # What is left out needs no names; looking them up may take a while.
        names = await self._people.names(people_of(body.event))
        return read(body, self._me, names, everything=self._everything)

    async def _commanded(self, found: Mapping[str, Any]) -> Arrival | None:
        fields = lenient(Command, found)
        names = await self._people.names([fields.user_id, *people_in(fields.text)])
        return read_command(fields, at=self._now(), names=names)

    def _is_wanted(self, arrival: Arrival) -> bool:
        """Not what is said in a channel to others: it begins a thread of its own, in which nobody asks the bot."""
        begins_thread = arrival.chat_kind == "group" and arrival.thread == arrival.id
        if self._everything or not begins_thread or arrival.deleted:
            return True
        return arrival.mentioned or bool(command_of(arrival.text))
