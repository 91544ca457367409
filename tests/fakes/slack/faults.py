"""What goes wrong with Slack in ways of its own, and how often it lets a method be called."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow
from tests.fakes.platform import Buckets


@dataclass(frozen=True)
class Refuse:
    """The answer ``ok: false``; nothing is done, unless ``acted``."""

    error: str = "ratelimited"  # slack's code; for ``ratelimited`` the status is 429
    status: int = 0  # of HTTP; 0: what is usual for the error
    retry_after: int = 1  # seconds, said with ``ratelimited`` only
    acted: bool = False  # ``internal_error`` and ``fatal_error`` may come after something was done
    more: dict[str, Any] = field(default_factory=dict[str, Any])


Fault = Refuse | Page | Garbled | Cut | Hang | Slow
BURST = 4  # messages to one channel at once; the documentation says 1/s and that short bursts are let through
TIERS = {1: 1, 2: 20, 3: 50, 4: 100}  # calls of a method in a workspace, per minute


class Floods(Buckets):
    """How often each method may be called: by its tier, and a channel is posted to once a second."""

    def wait_s(self, method: str, tier: int, whose: str, channel: str) -> int:
        """Take one of what it needs; else whole seconds to wait, and nothing is taken. Tier 0: posting."""
        name = f"{method} {whose} {channel if tier == 0 else ''}"
        return self.take((name, BURST, 1.0) if tier == 0 else (name, TIERS[tier], TIERS[tier] / 60))
