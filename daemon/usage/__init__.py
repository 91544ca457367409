"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts, ``Ledger`` writes them, also after an outage, through which ``KeptNotes`` keeps them;
``Limits`` looks whether there is room for a message, ``left_of`` tells what is left of the limits of a day.
"""

from daemon.usage.account import DAY_S, NANO, Amount, By, User, day_of, last_days, second_of
from daemon.usage.book import UsageBook
from daemon.usage.kept import KeptNotes
from daemon.usage.ledger import Ledger
from daemon.usage.left import KINDS, DailyLimit, Left, Whose, currencies_of, daily_limits, left_of
from daemon.usage.limits import Limits, Room, Spent
from daemon.usage.nearest import nearest
from daemon.usage.note import Note
from daemon.usage.warning import is_first_warning

__all__ = [
    "DAY_S",
    "KINDS",
    "NANO",
    "Amount",
    "By",
    "DailyLimit",
    "KeptNotes",
    "Ledger",
    "Left",
    "Limits",
    "Note",
    "Room",
    "Spent",
    "UsageBook",
    "User",
    "Whose",
    "currencies_of",
    "daily_limits",
    "day_of",
    "is_first_warning",
    "last_days",
    "left_of",
    "nearest",
    "second_of",
]
