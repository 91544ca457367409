"""Every way in which the Bot API, or the way to it, goes wrong; and how often it lets something be sent."""

import fnmatch
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from daemon.testing import Gate


@dataclass(frozen=True)
class Refuse:
    """The answer ``ok: false`` with any code; nothing is done."""

    code: int = 429
    description: str = ""
    retry_after: int | None = None
    """Seconds; for 429 one by default."""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Page:
    """A page of something that stands in front of the Bot API, instead of its answer."""

    code: int = 502
    acted: bool = False
    body: bytes = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


@dataclass(frozen=True)
class Garbled:
    """Done, and answered with 200 and these bytes."""

    body: bytes = b'{"ok":true,"result":'
    acted: bool = True


@dataclass(frozen=True)
class Cut:
    """The connection is cut instead of an answer, by a reset or in the middle of it."""

    acted: bool = True
    half: bool = False
    """After half of the answer."""


@dataclass(frozen=True)
class Hang:
    """No answer until the client goes."""

    acted: bool = True


@dataclass(frozen=True)
class Slow:
    """Done at once, answered late."""

    delay_s: float = 0.0
    gate: Gate | None = None
    """Answered when it is opened."""
    acted_first: bool = True


Fault = Refuse | Page | Garbled | Cut | Hang | Slow
Decide = Callable[[Any], Fault | None]
"""From a ``Call`` to what goes wrong with it."""


class Faults:
    """What is to go wrong, by method; in the order in which it was asked for."""

    def __init__(self) -> None:
        self._plans: list[tuple[str, Decide]] = []

    def on(self, methods: str, *script: Fault | None, always: Fault | None = None) -> None:
        """Let each call of ``methods`` (``sendMessage``, ``send*``) meet the next of ``script``, then ``always``."""
        plan: Iterator[Fault | None] = itertools.chain(script, itertools.repeat(always))
        self._plans.append((methods, lambda _call: next(plan)))

    def when(self, methods: str, decide: Decide) -> None:
        """Let ``decide`` say what each call of ``methods`` meets."""
        self._plans.append((methods, decide))

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self._plans.clear()

    def decide(self, call: Any) -> Fault | None:
        """What this one meets."""
        found = (decide(call) for methods, decide in self._plans if fnmatch.fnmatchcase(call.method, methods))
        return next((fault for fault in found if fault is not None), None)


def every(number: int, faults: Iterable[Fault]) -> Decide:
    """Each ``number``-th call meets one of ``faults``, in turn."""
    turn, calls = itertools.cycle(faults), itertools.count(1)
    return lambda _call: next(turn) if number and next(calls) % number == 0 else None


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
