"""The way of an event into the intake, by whatever transport it came."""

import random
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.shapes import nested
from channels.slack.api import Api
from channels.slack.api import connect as connect_api
from channels.slack.api_types import Body, Command, Pressed, lenient
from channels.slack.buttons import Buttons, read_press
from channels.slack.events_endpoint import EventsEndpoint
from channels.slack.mrkdwn import people_in
from channels.slack.slack_events import Me, me_of, people_of, reaction_of, read
from channels.slack.slash_commands import read_command
from channels.slack.socket_mode import Envelopes, SocketMode
from channels.slack.user_directory import UserDirectory
from channels.slack.workspaces import App, app_of, hears_by_http
from daemon import metrics
from daemon.bus import command_of
from daemon.config import SlackConfig
from daemon.errors import BusUnavailable, ChannelError, SendRefused, brief
from daemon.process import Process

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
    of_event: Any = nested(found, "event", "channel") or nested(found, "event", "item", "channel")
    # A press names its channel as an object.
    chat = of_event if "event" in found else found.get("channel_id") or nested(found, "channel", "id")
    return chat if isinstance(chat, str) else ""


class EventInlet:
    """Hands what one bot hears to the intake: what is said in a conversation one after the other."""

    def __init__(  # noqa: PLR0913 - what one bot hears, all by name
        self,
        intake: Intake,
        me: Me,
        people: UserDirectory,
        *,
        channel: str,
        everything: bool,
        now: Callable[[], float],
        hears_reactions: bool = False,
        buttons: Buttons | None = None,
    ) -> None:
        """``everything``: also what is said at the top level of channels to others; ``now``: seconds of the epoch.

        ``buttons``: answers those who press them.
        """
        self._hears_reactions = hears_reactions
        self._buttons = buttons
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

    async def take_press(self, payload: Payload) -> None:
        """As ``take``, for the payload of a pressed button."""
        await self._take(payload, self._pressed)

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
        if (reaction := reaction_of(body, self._me)) is not None:
            if not self._hears_reactions:
                return None
            return reaction_of(body, self._me, await self._people.names([reaction.sender.id]))
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

    async def _pressed(self, found: Mapping[str, Any]) -> None:
        pressed = lenient(Pressed, found)
        names = await self._people.names([pressed.user.id])
        press = read_press(pressed, names=names)
        if press is None:
            return
        refusal = await self._intake.press(press)
        if self._buttons is not None:
            await self._buttons.pressed(pressed, press, refusal=refusal)

    def _is_wanted(self, arrival: Arrival) -> bool:
        """Not what is said in a channel to others: it begins a thread of its own, in which nobody asks the bot."""
        begins_thread = arrival.chat_kind == "group" and arrival.thread == arrival.id
        if self._everything or not begins_thread or arrival.deleted:
            return True
        return arrival.mentioned or bool(command_of(arrival.text))


# Hearing what is said in a workspace, over a socket or by events that Slack brings.

TIMEOUT_S = 10.0
"""How long Slack may take to say who the bot is."""

REST_S = 5.0
"""Pause before Slack is asked once more who the bot is, less up to a half of it."""


async def hear(process: Process, name: str, config: SlackConfig, api: Api, intake: Intake) -> None:
    """Hand in what is said in the workspace of the channel ``name``, until cancelled; what is cut off Slack says again.

    ``api`` has the bot's token.

    Raises:
        ConfigError: it cannot listen where it is configured to.
    """
    me = await _me(api, name)
    people = UserDirectory(api, channel=name)
    inlet = EventInlet(
        intake,
        me,
        people,
        channel=name,
        everything=config.access.groups == "all",
        now=lambda: process.clock.now().timestamp(),
        buttons=Buttons(api, channel=name),
        hears_reactions=config.hear_reactions,
    )
    app = app_of(process, name, config)
    with app.joined(name, me.team, inlet):
        async with anyio.create_task_group() as tg:
            tg.start_soon(people.run)
            await _listen(process, name, config, app)


async def _me(api: Api, name: str) -> Me:
    """Who the bot is; asked until it is known, for without that nobody can tell whose an event is."""
    while True:
        try:
            return me_of(await api.call("auth.test", timeout_s=TIMEOUT_S))
        except (ChannelError, ValueError) as error:
            _log.warning("hearing.waits", channel=name, reason=brief(error))
            told_s = error.retry_after_s if isinstance(error, SendRefused) else None
            await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))


async def _listen(process: Process, name: str, config: SlackConfig, app: App) -> None:
    """Listen for all sections of the app, as long as no other one does."""
    if not hears_by_http(config):
        async with app.turn("socket"):
            await _by_socket(name, config, app)
    elif config.events.url:
        async with app.turn(f"{config.events.host} {config.events.port}"):
            await EventsEndpoint(name, config, app, clock=process.clock).run()
    else:
        await anyio.sleep_forever()  # what is brought to another section's address is handed on to this one


async def _by_socket(name: str, config: SlackConfig, app: App) -> None:
    async with connect_api(config.base_url, config.app_token) as api, anyio.create_task_group() as tg:
        await SocketMode(api, Envelopes(app, tg, channel=name), channel=name).run()
