"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts, ``Ledger`` writes them, also after an outage, through which ``KeptNotes`` keeps them;
``Limits`` looks whether there is room for a message.
"""

from daemon.usage.account import NANO, Amount, By, User, day_of
from daemon.usage.book import UsageBook
from daemon.usage.kept import KeptNotes
from daemon.usage.ledger import Ledger
from daemon.usage.limits import Limits, Room, Spent
from daemon.usage.note import Note

__all__ = [
    "NANO",
    "Amount",
    "By",
    "KeptNotes",
    "Ledger",
    "Limits",
    "Note",
    "Room",
    "Spent",
    "UsageBook",
    "User",
    "day_of",
]
