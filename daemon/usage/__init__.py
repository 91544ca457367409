"""Counts tokens and costs by day, person, chat and model, and enforces limits.

Public: ``UsageBook`` stores counts, ``UnsentUsage`` writes them and keeps them during an outage, ``Limits`` and
``Payer`` check and reserve, ``left_of`` returns the remaining limits.
Begin with ``usage_limits``.
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
