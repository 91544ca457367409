"""Stores reminders, and calculates when they fire.

Public: ``Reminders`` stores, ``planned`` and ``following`` compute times, ``act`` changes a reminder, ``parsed`` reads
a command.
Begin with ``reminder_plan``, then ``recurrence`` (repetitions and time zones). Agent workers fire
(``workers.agent.reminder_sweep``).
"""

from daemon.reminders.recurrence import load_phrases, zone_of
from daemon.reminders.reminder import (
    Preferences,
    Reminder,
    ReminderRefused,
    id_of,
    prefer,
    preferences_of,
    reminder_from,
)
from daemon.reminders.reminder_actions import Action, act, add, all_reminders, change, place_in
from daemon.reminders.reminder_plan import (
    RemindCommand,
    ReminderPlace,
    ReminderRequest,
    confirmed,
    following,
    is_late,
    listed,
    parsed,
    place_of,
    planned,
    resumed,
    shown_time,
)
from daemon.reminders.reminder_store import Fired, OverdueReminders, Reminders, StoredReminder, Tenure, member_of

__all__ = [
    "Action",
    "Fired",
    "OverdueReminders",
    "Preferences",
    "RemindCommand",
    "Reminder",
    "ReminderPlace",
    "ReminderRefused",
    "ReminderRequest",
    "Reminders",
    "StoredReminder",
    "Tenure",
    "act",
    "add",
    "all_reminders",
    "change",
    "confirmed",
    "following",
    "id_of",
    "is_late",
    "listed",
    "load_phrases",
    "member_of",
    "parsed",
    "place_in",
    "place_of",
    "planned",
    "prefer",
    "preferences_of",
    "reminder_from",
    "resumed",
    "shown_time",
    "zone_of",
]
