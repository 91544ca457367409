"""What goes wrong with Slack in ways of its own, and how often it lets a method be called."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow


@dataclass(frozen=True)
class Refuse:
    """The answer ``ok: false``; nothing is done, unless ``acted``."""

    error: str = "ratelimited"
    """Slack's code; for ``ratelimited`` the status is 429."""
    status: int = 0
    """Of HTTP; 0: what is usual for the error."""
    retry_after: int = 1
    """Seconds, said with ``ratelimited`` only."""
    acted: bool = False
    """``internal_error`` and ``fatal_error`` may come after something was done."""
    more: dict[str, Any] = field(default_factory=dict[str, Any])


Fault = Refuse | Page | Garbled | Cut | Hang | Slow

BURST = 4
"""Messages to one channel at once; the documentation says 1/s and that short bursts are let through."""

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}
"""Calls of a method in a workspace, per minute."""


@dataclass
class _Bucket:
    room: float
    at: float


@dataclass
class Floods:
    """How often each method may be called: by its tier, and a channel is posted to once a second."""

    clock: Callable[[], float] = time.monotonic
    refused: int = 0
    """How often somebody was told to wait."""
    _buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])

    def wait_s(self, method: str, tier: int, whose: str, channel: str) -> int:
        """Take one of what it needs; else whole seconds to wait, and nothing is taken. Tier 0: posting."""
        name = f"{method} {whose} {channel if tier == 0 else ''}"
        burst, per_s = (BURST, 1.0) if tier == 0 else (TIERS[tier], TIERS[tier] / 60)
        now = self.clock()
        bucket = self._buckets.setdefault(name, _Bucket(burst, now))
        bucket.room = min(float(burst), bucket.room + (now - bucket.at) * per_s)
        bucket.at = now
        if bucket.room < 1:
            self.refused += 1
            return max(1, math.ceil((1 - bucket.room) / per_s))
        bucket.room -= 1
        return 0
