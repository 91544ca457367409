"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts, ``Limits`` looks whether there is room for a message.
"""

from daemon.usage.account import NANO, Amount, By, User, day_of
from daemon.usage.book import UsageBook
from daemon.usage.limits import Limits, Room, Spent

__all__ = ["NANO", "Amount", "By", "Limits", "Room", "Spent", "UsageBook", "User", "day_of"]
