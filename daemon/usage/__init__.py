"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts, ``Ledger`` writes them, also after an outage, through which ``KeptNotes`` keeps them;
``Limits`` looks whether there is room for a message, and reserves what a model call may use. A ``Payer`` does so for
each call that costs something. ``left_of`` tells what is left of the limits of a day.
"""

from daemon.usage.account import DAY_S, NANO, Amount, By, User, day_of, last_days, second_of, user_of_scope
from daemon.usage.allowance import KINDS, Allowance, Whose
from daemon.usage.first_warning import is_first_warning
from daemon.usage.near_limits import nearest
from daemon.usage.payer import Payer
from daemon.usage.remaining_limits import DailyLimit, Left, currencies_of, daily_limits, left_of
from daemon.usage.unsent_usage import Ledger
from daemon.usage.usage_book import UsageBook
from daemon.usage.usage_journal import KeptNotes
from daemon.usage.usage_limits import Estimate, LimitReached, Limits, Refusal, Room
from daemon.usage.usage_note import Note

__all__ = [
    "DAY_S",
    "KINDS",
    "NANO",
    "Allowance",
    "Amount",
    "By",
    "DailyLimit",
    "Estimate",
    "KeptNotes",
    "Ledger",
    "Left",
    "LimitReached",
    "Limits",
    "Note",
    "Payer",
    "Refusal",
    "Room",
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
    "user_of_scope",
]
