"""Reminders: what a person wants to be told, and when. Each occurrence fires once, as a turn of its session."""

from daemon.reminders.local_times import zone_of
from daemon.reminders.remind_command import Commanded, parsed
from daemon.reminders.reminder import Reminder, id_of, reminder_from
from daemon.reminders.reminder_actions import Action, act, add, all_reminders, change, place_in
from daemon.reminders.reminder_plan import (
    Place,
    Wish,
    confirmed,
    following,
    is_late,
    listed,
    place_of,
    planned,
    resumed,
    shown_time,
)
from daemon.reminders.reminder_preferences import Preferences, prefer, preferences_of
from daemon.reminders.reminder_refusal import ReminderRefused
from daemon.reminders.reminder_store import Fired, Overdue, Reminders, Stored, Tenure, member_of

__all__ = [
    "Action",
    "Commanded",
    "Fired",
    "Overdue",
    "Place",
    "Preferences",
    "Reminder",
    "ReminderRefused",
    "Reminders",
    "Stored",
    "Tenure",
    "Wish",
    "act",
    "add",
    "all_reminders",
    "change",
    "confirmed",
    "following",
    "id_of",
    "is_late",
    "listed",
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
