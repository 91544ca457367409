"""Usage: what bots were used for, by day, person, chat and model, and how much of it they allow.

``UsageBook`` keeps the accounts, ``UnsentUsage`` writes them, also after an outage, through which ``UsageJournal``
keeps them; ``Limits`` looks whether there is room for a message, and reserves what a model call may use. A ``Payer``
does so for each call that costs something. ``left_of`` tells what is left of the limits of a day.
"""

from daemon.usage.account import DAY_S, NANO, Amount, By, UsageNote, User, day_of, last_days, second_of, user_of_scope
from daemon.usage.payer import Payer
from daemon.usage.remaining_limits import DailyLimit, RemainingLimit, currencies_of, daily_limits, left_of, nearest
from daemon.usage.unsent_usage import UnsentUsage, UsageJournal
from daemon.usage.usage_book import UsageBook
from daemon.usage.usage_limits import (
    KINDS,
    Allowance,
    BucketLevel,
    Estimate,
    LimitReached,
    Limits,
    Refusal,
    Whose,
    is_first_warning,
)

__all__ = [
    "DAY_S",
    "KINDS",
    "NANO",
    "Allowance",
    "Amount",
    "BucketLevel",
    "By",
    "DailyLimit",
    "Estimate",
    "LimitReached",
    "Limits",
    "Payer",
    "Refusal",
    "RemainingLimit",
    "UnsentUsage",
    "UsageBook",
    "UsageJournal",
    "UsageNote",
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
