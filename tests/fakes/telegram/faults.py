"""Every way in which the Bot API, or the way to it, goes wrong; and how often it lets something be sent."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow


@dataclass(frozen=True)
class Refuse:
    """The answer ``ok: false`` with any code; nothing is done."""

    code: int = 429
    description: str = ""
    retry_after: int | None = None
    """Seconds; for 429 one by default."""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


Fault = Refuse | Page | Garbled | Cut | Hang | Slow


@dataclass
class _Bucket:
    room: float
    at: float


@dataclass
class Floods:
    """How often something may be sent: a chat once a second, a group 20 times a minute, all of a bot 30 a second.

    A little more than that passes, as the documentation says: short bursts are let through.
    """

    chat_burst: int = 4
    chat_per_s: float = 1.0
    group_burst: int = 21
    group_per_s: float = 20 / 60
    all_burst: int = 33
    all_per_s: float = 30.0
    clock: Callable[[], float] = time.monotonic
    refused: int = 0
    """How often somebody was told to wait."""
    _buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])

    def wait_s(self, bot: str, chat: int) -> int:
        """Take one of everything; else whole seconds to wait, and nothing is taken."""
        whose = f"{bot} {chat}"
        wanted = [(f"{bot}", self.all_burst, self.all_per_s)]
        if chat < 0:
            wanted.append((whose, self.group_burst, self.group_per_s))
        else:
            wanted.append((whose, self.chat_burst, self.chat_per_s))
        buckets = [self._filled(name, burst, per_s) for name, burst, per_s in wanted]
        short = [
            (1 - bucket.room) / per_s for bucket, (_, _, per_s) in zip(buckets, wanted, strict=True) if bucket.room < 1
        ]
        if short:
            self.refused += 1
            return max(1, math.ceil(max(short)))
        for bucket in buckets:
            bucket.room -= 1
        return 0

    def _filled(self, name: str, burst: int, per_s: float) -> _Bucket:
        now = self.clock()
        bucket = self._buckets.setdefault(name, _Bucket(burst, now))
        bucket.room = min(float(burst), bucket.room + (now - bucket.at) * per_s)
        bucket.at = now
        return bucket
