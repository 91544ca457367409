"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts and tells what is left of limits. ``Ledger`` writes them, also after an outage, through
which ``KeptNotes`` keeps them. ``Limits`` looks whether there is room for a message, and reserves what a model call may
use. A ``Payer`` does so for each call that costs something.
"""

from daemon.usage.account import NANO, Amount, By, User, day_of, user_of_scope
from daemon.usage.allowance import Allowance, Quota, Standing, Standings
from daemon.usage.book import UsageBook
from daemon.usage.kept import KeptNotes
from daemon.usage.ledger import Ledger
from daemon.usage.limits import Estimate, LimitReached, Limits, Refusal, Room
from daemon.usage.note import Note
from daemon.usage.payer import Payer

__all__ = [
    "NANO",
    "Allowance",
    "Amount",
    "By",
    "Estimate",
    "KeptNotes",
    "Ledger",
    "LimitReached",
    "Limits",
    "Note",
    "Payer",
    "Quota",
    "Refusal",
    "Room",
    "Standing",
    "Standings",
    "UsageBook",
    "User",
    "day_of",
    "user_of_scope",
]
