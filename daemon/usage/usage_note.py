"""What a piece of work used, as it is noted in the accounts."""

from collections.abc import Mapping
from dataclasses import dataclass

from daemon.usage.account import Amount, User


@dataclass(frozen=True, kw_only=True, eq=False)
class Note:
    """What a piece of work used."""

    name: str
    """Name of the work; Redis adds each name to a day's accounts once."""
    user: User
    day: str
    """``2026-11-20``, the bot's day."""
    second: int = 0
    """Of that day."""
    used: Mapping[str, Amount]
    """By model."""
