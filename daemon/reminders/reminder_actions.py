"""What is done with a reminder that is kept: pausing, resuming and deleting it, for people, models and operators."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Literal

import msgspec
from anyio import to_thread

from daemon.bus import Bus, scan
from daemon.reminders.reminder import Reminder
from daemon.reminders.reminder_plan import resumed
from daemon.reminders.reminder_refusal import ReminderRefused
from daemon.reminders.reminder_store import Reminders, Stored

Action = Literal["pause", "resume", "delete"]


async def act(reminders: Reminders, action: Action, stored: Stored) -> Reminder | None:
    """The reminder after ``action``; None: it is deleted, also when it was to be resumed and its time has passed.

    Raises:
        ReminderRefused: somebody else changed it at the same time.
        BusUnavailable: Redis is away; the same may be asked again.
    """
    reminder, after = stored.reminder, None
    if reminder is not None and action == "pause":
        after = msgspec.structs.replace(reminder, paused=True)
    elif reminder is not None and action == "resume":
        after = await to_thread.run_sync(partial(resumed, reminder, await reminders.now()))
    if not await reminders.change(stored, after):
        raise ReminderRefused("remind_moved", id=stored.id)
    return after


async def all_reminders(bus: Bus, reminders: Reminders) -> AsyncGenerator[Stored]:
    """The reminders of all sessions, in no order of sessions; those that cannot be read too. Raises BusUnavailable."""
    async for sessions in scan(bus, "reminders"):
        for session in sessions:
            for stored in await reminders.of(session):
                yield stored
