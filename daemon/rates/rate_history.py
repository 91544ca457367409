"""The history of the last hour or day: the numbers of all processes, added up for each step."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus, pairs
from daemon.clock import Clock
from daemon.errors import UNREADABLE
from daemon.rates.counters import COST, Numbers, added

Period = Literal["hour", "day"]

PERIODS: Mapping[Period, tuple[int, int]] = {"hour": (60, 1), "day": (1_440, 15)}
"""Period → its length and the length of a step, in minutes."""

ANSWERED = ("done", "stopped", "spent")
"""Outcomes of turns that answered their messages."""

FAILED = ("failed", "parked", "dead")
"""Outcomes of attempts that brought no answer: they are tried again, or given up."""

_decode = msgspec.json.Decoder(dict[str, float]).decode


@dataclass(frozen=True, kw_only=True)
class Step:
    """The numbers of a span of time."""

    at: dt.datetime
    """Its beginning."""
    numbers: Numbers

    @property
    def answered(self) -> int:
        """Turns that answered their messages."""
        return sum(self.count(f"turns {outcome}") for outcome in ANSWERED)

    @property
    def failed(self) -> int:
        """Attempts that failed, were parked or were given up."""
        return sum(self.count(f"turns {outcome}") for outcome in FAILED)

    @property
    def cached_share(self) -> float | None:
        """The cached share of the input tokens, 0 to 1; None if no provider reported cached tokens."""
        cacheable = self.count("cacheable")
        return min(1.0, self.count("cached") / cacheable) if cacheable else None

    @property
    def costs(self) -> dict[str, float]:
        """Currency → amount of money."""
        named = ((measure.split(" ", 1), number) for measure, number in self.numbers.items())
        return {name[1]: number for name, number in named if name[0] == COST}

    def count(self, measure: str) -> int:
        """How often something happened; the number of tokens."""
        return round(self.numbers.get(measure, 0))

    def duration(self, measure: str, share: float) -> float | None:
        """The duration in seconds that ``share`` of all did not exceed, as near as the metric's buckets tell.

        None if there were none. Within a bucket, the durations are taken as evenly spread. The last bucket has no end,
        so its beginning is returned.
        """
        buckets = sorted(
            (float(name.partition(" ")[2]), number)
            for name, number in self.numbers.items()
            if name.startswith(f"{measure} ")
        )
        wanted, begin, below = share * max((number for _, number in buckets), default=0), 0.0, 0.0
        for end, number in buckets if wanted else ():
            if number >= wanted:
                return begin if end == float("inf") else begin + (end - begin) * (wanted - below) / (number - below)
            begin, below = end, number
        return None


@dataclass(frozen=True, kw_only=True)
class History:
    """A period up to now."""

    step_s: int
    steps: Sequence[Step]
    """Oldest first; the last one is in progress."""
    total: Step


async def read_history(bus: Bus, clock: Clock, period: Period) -> History:
    """The last hour or day, by this process's clock; errors as for ``Bus.call``."""
    length, step = PERIODS[period]
    upto = (int(clock.now().timestamp() // 60) // step + 1) * step
    first = upto - length
    found = defaultdict[int, list[Numbers]](list)

    # Hour by hour: of ten busy processes, each takes 10 ms of the event loop, on which turns may run.
    for hour in range(first // 60, (upto - 1) // 60 + 1):
        for field, value in pairs(await bus.call("HGETALL", bus.keys.rates(hour))):
            found[(int(field.partition(b" ")[0]) - first) // step].append(_numbers(value))
    steps = [Step(at=_time(first + at * step), numbers=added(found[at])) for at in range(length // step)]
    total = Step(at=_time(first), numbers=added(each.numbers for each in steps))
    return History(step_s=60 * step, steps=steps, total=total)


def _numbers(value: bytes) -> Numbers:
    """The numbers of one process; none if a hand damaged them."""
    try:
        return _decode(value)
    except UNREADABLE:
        return {}


def _time(minute: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(60 * minute, dt.UTC)
