"""Reminders as people and models ask for them: the commands ``/reminders`` and ``/remind``, and the tool ``remind``."""

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.access import may
from daemon.config import BotConfig
from daemon.errors import LeaseLost, ToolError
from daemon.events import Inbound
from daemon.people import sessions_of
from daemon.process import Process
from daemon.reminders import (
    Action,
    RemindCommand,
    Reminder,
    ReminderPlace,
    ReminderRefused,
    ReminderRequest,
    Reminders,
    StoredReminder,
    Tenure,
    act,
    change,
    confirmed,
    id_of,
    is_late,
    listed,
    parsed,
    place_of,
    planned,
    prefer,
    preferences_of,
    resumed,
    shown_time,
    zone_of,
)
from daemon.reminders.reminder import moment_of
from daemon.scope import scope_of
from daemon.session import Claim
from daemon.sessionkey import SessionKey
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.reminder_delays import quiet_until
from workers.tools import ToolContext

LISTED_MAX = 30
"""Reminders that one answer lists."""

ID_TRIES = 3
"""Ids that are tried: another reminder of the chat may have the first one."""

_WISHES = {
    "text": "text",
    "kind": "kind",
    "at": "when",
    "repeat": "rule",
    "until": "until",
    "count": "count",
    "time_zone": "zone",
}
"""Arguments of the tool that change a reminder, and the fields of a ``ReminderRequest`` that they are."""

MUST_MAY = frozenset({"set", "change", "pause", "resume", "delete"})
"""What members of a group may not ask for, unless the configuration lets them."""


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for a reminder."""

    bot: BotConfig
    name: str
    """Names the call or the command: repeated, it sets no second one."""
    language: Language
    tenure: Tenure | None = None
    now: dt.datetime | None = None
    """When it was asked; None: now."""


def reminder_text(inbound: Inbound, now: dt.datetime, language: Language) -> str:
    """What is sent for a reminder with a fixed text; when it is late, it says so."""
    reminder = inbound.reminder
    if reminder is None or not is_late(reminder.due, now):
        return inbound.text
    return say("remind_late", language, time=shown_time(reminder.due, reminder.zone), text=inbound.text)


class ReminderDesk:
    """Carries out what is asked. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._bus = process.bus
        self._reminders = Reminders(process.bus, process.config.queue)

    # The tool

    async def called(
        self, claim: Claim, said: Sequence[Inbound], context: ToolContext, arguments: Mapping[str, Any]
    ) -> str:
        """The result of a call of the tool, in the turn of ``claim`` that answers ``said``.

        Raises:
            ToolError: it cannot be done.
            LeaseLost: somebody else holds the session.
        """
        action, inbound = str(arguments["action"]), said[-1]
        bot = self._process.bot(inbound.bot)
        try:
            if action in ("set", "change") and any(each.reminder for each in said):
                raise ReminderRefused("remind_proactive")
            is_direct = bool(arguments.get("direct")) and inbound.chat_kind == "group"
            if action in MUST_MAY and not is_direct:
                for each in said:
                    _check_may(bot, each)
            if action == "set":
                return await self._set_by_tool(claim, inbound, bot, context, arguments, is_direct=is_direct)
            if action == "list":
                return await self._list(claim.session, "en")
            stored = await self._stored(claim.session, str(arguments.get("id", "")))
            if action == "change":
                return await self._change(stored, arguments, bot)
            return await self._changed(action, stored, "en")
        except ReminderRefused as error:
            raise ToolError(str(error)) from error

    async def _set_by_tool(
        self,
        claim: Claim,
        inbound: Inbound,
        bot: BotConfig,
        context: ToolContext,
        arguments: Mapping[str, Any],
        *,
        is_direct: bool,
    ) -> str:
        zone = str(arguments.get("time_zone") or await self._zone(inbound, bot))
        place = place_of(inbound, claim.begun.scope)
        if is_direct:
            place = await self._direct(inbound, bot)
        tenure = Tenure(session=claim.session, nonce=claim.nonce, turn=claim.begun.head)
        name = f"{claim.session}-{claim.begun.head}-{context.call}"
        return await self._set(_wish(arguments, zone), place, _Asked(bot=bot, name=name, language="en", tenure=tenure))

    async def _change(self, stored: StoredReminder, arguments: Mapping[str, Any], bot: BotConfig) -> str:
        wishes = {_WISHES[name]: value for name, value in arguments.items() if name in _WISHES and value}
        new = await change(self._reminders, stored, **wishes)
        return _confirmed(new, bot, "en", str(wishes.get("when", "")))

    # The commands

    async def list_said(self, inbound: Inbound, bot: BotConfig) -> str:
        """The answer to ``/reminders``."""
        return await self._list(str(inbound.session), bot.language)

    async def remind_said(self, inbound: Inbound, bot: BotConfig, *, text: str, scope: str, at: str) -> str:
        """The answer to ``/remind``; ``text``: the words after it, ``scope``: the chat's, ``at``: its stream id.

        Any number of workers may work out the same command: what it sets is named by the command's place.
        """
        zone = await self._zone(inbound, bot)
        command = parsed(text, zone=zone)
        try:
            if command.action in MUST_MAY:
                _check_may(bot, inbound)
            if command.wish is not None:
                now = moment_of(int(at.partition("-")[0]))
                place = place_of(inbound, scope)
                return await self._set(command.wish, place, _Asked(bot=bot, name=at, language=bot.language, now=now))
            if command.action in ("zone", "stop", "start"):
                return await self._prefer(command, inbound, bot)
            if command.action:
                return await self._change_said(str(inbound.session), command, bot.language, at=at)
        except ReminderRefused as error:
            hint = [say("remind_words", bot.language)] if error.key == "remind_when" else []
            return "\n".join([error.said(bot.language), *hint])
        return say("remind_usage", bot.language, zone=zone)

    async def _prefer(self, command: RemindCommand, inbound: Inbound, bot: BotConfig) -> str:
        person = _person(inbound)
        chosen = await preferences_of(self._bus, inbound.bot, person)
        if command.action == "zone":
            if not command.argument:
                return say("remind_usage", bot.language, zone=chosen.zone or bot.time_zone)
            zone = zone_of(command.argument).key
            await prefer(self._bus, inbound.bot, person, msgspec.structs.replace(chosen, zone=zone))
            return say("remind_zone_set", bot.language, zone=zone)
        stopped = inbound.received_at if command.action == "stop" else ""
        await prefer(self._bus, inbound.bot, person, msgspec.structs.replace(chosen, stopped=stopped))
        if stopped:
            return say("remind_off", bot.language)
        now = await self._reminders.now()
        for stored in await self._reminders.of(str(inbound.session)):
            if (reminder := stored.reminder) is not None and reminder.held == "stopped":
                # One for once whose time has passed fires now, and says that it is late.
                overdue = msgspec.structs.replace(reminder, paused=False, held="")
                after = await to_thread.run_sync(resumed, reminder, now)
                await self._reminders.change(stored, after or overdue)
        return say("remind_on", bot.language)

    # Both

    async def _list(self, session: str, language: Language) -> str:
        found = [stored.reminder for stored in await self._reminders.of(session) if stored.reminder is not None]
        if not found:
            return say("reminders_none", language)
        lines = [listed(reminder, language) for reminder in found[:LISTED_MAX]]
        if len(found) > LISTED_MAX:
            lines.append(say("reminders_more", language, count=len(found) - LISTED_MAX))
        return say("reminders", language, lines="\n".join(lines))

    async def _set(self, wish: ReminderRequest, place: ReminderPlace, asked: _Asked) -> str:
        person = str(SessionKey(channel=place.channel, chat=place.sender_id))
        if (await preferences_of(self._bus, place.bot, person)).stopped:
            raise ReminderRefused("remind_stopped")
        session = str(SessionKey(channel=place.channel, chat=place.chat, thread=place.thread))
        now, most = asked.now or await self._reminders.now(), asked.bot.reminders.chat_max
        for number in range(ID_TRIES):
            reminder_id = id_of(session, asked.name, str(number))
            known = await self._reminders.get(session, reminder_id)
            if known is not None and known.reminder is not None and known.reminder.text == wish.text.strip():
                return _confirmed(known.reminder, asked.bot, asked.language, wish.when)  # by this very call
            reminder = await to_thread.run_sync(partial(planned, wish, place, reminder_id=reminder_id, now=now))
            await self._check_tenure(asked.tenure, session)
            created = await self._reminders.create(reminder, asked_as=asked.name, at_most=most, tenure=asked.tenure)
            if created in ("created", "again"):
                return _confirmed(reminder, asked.bot, asked.language, wish.when)
            if created == "stale":
                raise LeaseLost(f"session {session} is now held by another worker. No reminder was set.")
            if created == "full":
                raise ReminderRefused("remind_full", most=most)
            if created == "foreign":
                raise ReminderRefused("remind_chat_gone", session=session)
        raise ReminderRefused("remind_moved", id="?")

    async def _check_tenure(self, tenure: Tenure | None, session: str) -> None:
        """The best there is when both sessions lie in different slots: one script cannot look at them."""
        keys = self._bus.keys
        if tenure is None or keys.partition(tenure.session) == keys.partition(session):
            return
        nonce = await self._bus.call("HGET", keys.session(tenure.session), "nonce")
        if nonce != tenure.nonce.encode():
            raise LeaseLost(f"session {tenure.session} is now held by another worker. No reminder was set.")

    async def _change_said(self, session: str, command: RemindCommand, language: Language, *, at: str) -> str:
        """The answer to a command that changes a reminder; all workers that carry it out give the same one."""
        for _ in range(ID_TRIES):
            try:
                stored = await self._stored(session, command.argument)
                return await self._changed(command.action, stored, language, asked_as=at)
            except ReminderRefused as error:
                if error.key == "remind_no_id" and await self._reminders.deleted_by(session, at):
                    return _said_of(command.action, command.argument.strip().lower(), None, language)
                if error.key != "remind_moved":
                    raise
        raise ReminderRefused("remind_moved", id=command.argument[:20])

    async def _changed(self, action: str, stored: StoredReminder, language: Language, *, asked_as: str = "") -> str:
        after = await act(self._reminders, msgspec.convert(action, Action), stored, asked_as=asked_as)
        return _said_of(action, stored.id, after, language)

    async def _stored(self, session: str, reminder_id: str) -> StoredReminder:
        stored = await self._reminders.get(session, reminder_id.strip().lower())
        if stored is None or stored.reminder is None:
            raise ReminderRefused("remind_no_id", id=reminder_id[:20] or "?")
        return stored

    async def _zone(self, inbound: Inbound, bot: BotConfig) -> str:
        return (await preferences_of(self._bus, inbound.bot, _person(inbound))).zone or bot.time_zone

    async def _direct(self, inbound: Inbound, bot: BotConfig) -> ReminderPlace:
        """The person's direct chat on the same channel: the one named like the person, or the newest one."""
        direct = msgspec.structs.replace(inbound, chat_kind="direct", chat=inbound.sender_id, thread="")
        scope = scope_of(direct, bot)
        if await self._bus.call("HGET", self._bus.keys.session(str(direct.session)), "scope") == scope.encode():
            return place_of(direct, scope)
        found = [SessionKey.parse(name) for name in await sessions_of(self._bus, {scope})]
        chats = [key for key in found if key.channel == inbound.channel]
        if not chats or bot.memory.scope not in ("auto", "person"):
            raise ReminderRefused("remind_no_chat")
        score = self._bus.keys.sessions
        active = [float(await self._bus.call("ZSCORE", score, str(key)) or 0) for key in chats]
        key = chats[active.index(max(active))]
        return replace(place_of(direct, scope), chat=key.chat, thread=key.thread)


def _said_of(action: str, reminder_id: str, after: Reminder | None, language: Language) -> str:
    if after is None and action == "resume":
        return say("remind_over", language, id=reminder_id)
    time = shown_time(after.due, after.zone) if after else ""
    return say(f"remind_done_{action}", language, id=reminder_id, time=time)


def _wish(arguments: Mapping[str, Any], zone: str) -> ReminderRequest:
    return ReminderRequest(
        text=str(arguments.get("text", "")),
        when=str(arguments.get("at", "")),
        kind="prompt" if arguments.get("kind") == "prompt" else "text",
        rule=str(arguments.get("repeat", "")),
        until=str(arguments.get("until", "")),
        count=int(arguments.get("count", 0)),
        zone=zone,
    )


def _check_may(bot: BotConfig, inbound: Inbound) -> None:
    if inbound.chat_kind == "group" and not may(bot, inbound, "remind"):
        raise ReminderRefused("remind_group")


def _person(inbound: Inbound) -> str:
    return str(SessionKey(channel=inbound.channel, chat=inbound.sender_id))


def _confirmed(reminder: Reminder, bot: BotConfig, language: Language, when: str) -> str:
    text, hours = confirmed(reminder, language, when=when), bot.reminders.quiet_hours
    if not quiet_until(hours, dt.datetime.fromisoformat(reminder.due), zone_of(reminder.zone)):
        return text
    time = shown_time(reminder.due, reminder.zone)
    return f"{text}\n{say('remind_quiet', language, time=time, hours=hours)}"
