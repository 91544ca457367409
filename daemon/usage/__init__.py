"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts and tells what is left of limits. ``Ledger`` writes them, also after an outage, through
which ``KeptNotes`` keeps them. ``Limits`` looks whether there is room for a message, and reserves what a model call may
use.
"""

from daemon.usage.account import NANO, Amount, By, User, day_of
from daemon.usage.allowance import Allowance, Quota, Standing, Standings
from daemon.usage.book import RESERVED, UsageBook
from daemon.usage.kept import KeptNotes
from daemon.usage.ledger import Ledger
from daemon.usage.limits import Estimate, LimitReached, Limits, Refusal, Room
from daemon.usage.note import Note

__all__ = [
    "NANO",
    "RESERVED",
    "Allowance",
    "Amount",
    "By",
    "Estimate",
    "KeptNotes",
    "Ledger",
    "LimitReached",
    "Limits",
    "Note",
    "Quota",
    "Refusal",
    "Room",
    "Standing",
    "Standings",
    "UsageBook",
    "User",
    "day_of",
]
