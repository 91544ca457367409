"""Actions on reminders, for people, models and operators: adding, changing, pausing, resuming and deleting them."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any, Literal

import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.bus import Bus, scan
from daemon.config import ChannelConfig, PushConfig
from daemon.reminders.recurrence import repetition_in
from daemon.reminders.reminder import Reminder, ReminderRefused, id_of
from daemon.reminders.reminder_plan import ReminderPlace, ReminderRequest, checked_text, planned, resumed
from daemon.reminders.reminder_store import Reminders, StoredReminder
from daemon.sessionkey import SessionKey

Action = Literal["pause", "resume", "delete"]


async def place_in(bus: Bus, config: ChannelConfig, session: str) -> ReminderPlace | None:
    """The place of reminders in ``session``, a chat of the channel ``config``; None: the session has no messages."""
    key = SessionKey.parse(session)
    scope = ((await bus.call("HGET", bus.keys.session(session), "scope")) or b"").decode()
    if not scope:
        return None
    kind, *whose = scope.split(":")[1:]
    return ReminderPlace(
        bot=config.bot,
        channel=key.channel,
        chat=key.chat,
        thread=key.thread,
        chat_kind="group" if kind == "group" else "direct",
        delivery="push" if isinstance(config, PushConfig) else "pull",
        sender_id=SessionKey.parse(":".join(whose)).chat if kind == "person" else key.chat,
        scope=scope,
    )


async def add(
    reminders: Reminders, wish: ReminderRequest, place: ReminderPlace, *, asked_as: str, at_most: int
) -> Reminder:
    """Set the reminder of ``wish``, once for ``asked_as``; ``at_most``: so many a chat may have.

    Raises:
        ReminderRefused: it cannot be kept.
        BusUnavailable: Redis is away; the same may be asked again.
    """
    session = str(SessionKey(channel=place.channel, chat=place.chat, thread=place.thread))
    reminder_id, now = id_of(session, asked_as), await reminders.now()
    reminder = await to_thread.run_sync(partial(planned, wish, place, reminder_id=reminder_id, now=now))
    created = await reminders.create(reminder, asked_as=asked_as, at_most=at_most)
    if created == "full":
        raise ReminderRefused("remind_full", most=at_most)
    if created == "foreign":
        raise ReminderRefused("remind_chat_gone", session=session)
    if created == "taken":
        raise ReminderRefused("remind_moved", id=reminder_id)
    return reminder


async def change(reminders: Reminders, stored: StoredReminder, **changes: Any) -> Reminder:
    """The reminder after ``changes``, fields of a ``ReminderRequest``. A field that is left out stays; a paused one
    stays paused.

    Raises:
        ReminderRefused: it cannot be kept, or somebody else changed it at the same time.
        BusUnavailable: Redis is away; the same may be asked again.
    """
    old = stored.reminder
    if old is None:
        raise ReminderRefused("remind_no_id", id=stored.id)
    if changes.keys() <= {"text", "kind"}:
        text = checked_text(changes.get("text", old.text))
        new = msgspec.structs.replace(old, text=text, kind=changes.get("kind", old.kind))
    else:
        place = ReminderPlace(**{name: getattr(old, name) for name in ReminderPlace.__struct_fields__})
        kept = ReminderRequest(
            text=old.text,
            when=old.local,
            kind=old.kind,
            rule=old.rule,
            until=old.until,
            count=old.left,
            zone=old.zone,
        )
        if changes.get("rule") == "":  # once from now on
            kept = replace(kept, until="", count=0)
        elif "rule" not in changes and repetition_in(changes.get("when", "")):
            kept = replace(kept, rule="")  # the new time names another one
        wish, now = replace(kept, **changes), await reminders.now()
        new = await to_thread.run_sync(partial(planned, wish, place, reminder_id=old.id, now=now))
        new = msgspec.structs.replace(new, paused=old.paused, held=old.held if old.paused else "")
    if not await reminders.change(stored, new):
        raise ReminderRefused("remind_moved", id=stored.id)
    return new


async def act(reminders: Reminders, action: Action, stored: StoredReminder, *, asked_as: str = "") -> Reminder | None:
    """The reminder after ``action``; None: it is deleted, also when it was to be resumed and its time has passed.

    ``asked_as``: as for ``Reminders.change``.

    Raises:
        ReminderRefused: somebody else changed it at the same time.
        BusUnavailable: Redis is away; the same may be asked again.
    """
    reminder, after = stored.reminder, None
    if reminder is not None and action == "pause":
        after = msgspec.structs.replace(reminder, paused=True)
    elif reminder is not None and action == "resume":
        after = await to_thread.run_sync(partial(resumed, reminder, await reminders.now()))
    if not await reminders.change(stored, after, asked_as=asked_as):
        raise ReminderRefused("remind_moved", id=stored.id)
    return after


async def all_reminders(bus: Bus, reminders: Reminders) -> AsyncGenerator[StoredReminder]:
    """The reminders of all sessions, in no order of sessions; those that cannot be read too. Raises BusUnavailable."""
    async for sessions in scan(bus, "reminders"):
        for session in sessions:
            for stored in await reminders.of(session):
                yield stored
