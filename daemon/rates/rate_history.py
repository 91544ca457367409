"""The history of the last hour or day: the numbers of all processes, added up for each step."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

import anyio
import msgspec
from prometheus_client import Counter, Histogram

from daemon import metrics
from daemon.bus import Bus, load_script, pairs
from daemon.clock import Clock
from daemon.concurrency import until_tick
from daemon.errors import UNREADABLE, BusError

# The counters of this process that a history shows, read from its metrics.

TURN, WAITED = "turn_s", "waited_s"
"""Measures of durations: ``turn_s 0.5`` is the number of turns that took at most 0.5 s."""

COST = "cost"

Numbers = Mapping[str, float]
"""How much was counted, by measure; see ``mp:rates`` in docs/redis-database.md."""


def counted() -> Numbers:
    """What this process has counted since its start."""
    found = defaultdict[str, float](float)
    for labels, value in _values(metrics.ACCEPTED):
        found["messages"] += value if labels["status"] == "accepted" else 0
    for labels, value in _values(metrics.TURNS):
        found[f"turns {labels['outcome']}"] += value
    for labels, value in _values(metrics.TOKENS):
        found[labels["direction"]] += value
    for labels, value in _values(metrics.COST):
        found[f"{COST} {labels['currency']}"] += value
    for measure, histogram in ((TURN, metrics.TURN_SECONDS), (WAITED, metrics.WAITED_SECONDS)):
        for labels, value in _values(histogram, "_bucket"):
            found[f"{measure} {labels['le']}"] += value
    return found


def grown(numbers: Numbers, before: Numbers) -> Numbers:
    """The growth of each measure; a measure that has not grown is left out."""
    growth = {measure: number - before.get(measure, 0.0) for measure, number in numbers.items()}
    return {measure: number for measure, number in growth.items() if number > 0}


def added(every: Iterable[Numbers]) -> Numbers:
    """The sum of each measure."""
    total = defaultdict[str, float](float)
    for numbers in every:
        for measure, number in numbers.items():
            total[measure] += number
    return total


def _values(metric: Counter | Histogram, suffix: str = "_total") -> Iterator[tuple[dict[str, str], float]]:
    for family in metric.collect():
        for sample in family.samples:
            if sample.name.endswith(suffix):
                yield sample.labels, sample.value


# Records what one process does, minute by minute.

SAVE = load_script(__file__, "save.lua")

EVERY_S = 10.0
"""How often a process saves its numbers. An activity may be counted in the minute before, by as much."""

KEPT_S = 26 * 3_600
"""How long the numbers of an hour are kept: for a day, for the hour itself, and a little for clocks that disagree."""

LAST_S = 1.0
"""Time limit of the last save, when the process ends."""


class RateRecorder:
    """The numbers of one process."""

    def __init__(self, bus: Bus, clock: Clock, process: str) -> None:
        """Counting begins now. ``process`` is the unique name of the process."""
        self._bus, self._clock, self._process = bus, clock, process
        self._begun = counted()
        self._minute: int = _minute_of(clock)
        self._saved: Numbers = {}

    async def save(self) -> None:
        """Save the numbers of the current minute, if they have changed.

        Raises:
            BusUnavailable: Redis is unavailable. The numbers will be part of the next save.
        """
        now, upto = _minute_of(self._clock), counted()
        done = grown(upto, self._begun)
        if done != self._saved:
            key, field = self._bus.keys.rates(self._minute // 60), f"{self._minute} {self._process}"
            await self._bus.run(SAVE, [key], [field, msgspec.json.encode(done), KEPT_S * 1000])
            self._saved = done
        if now != self._minute:
            self._begun, self._minute, self._saved = upto, now, {}


async def record(bus: Bus, clock: Clock, process: str) -> None:
    """Record the numbers of this process until cancelled. During an outage of Redis, they are kept in memory."""
    recorder = RateRecorder(bus, clock, process)
    try:
        while True:
            await anyio.sleep(until_tick(EVERY_S))
            with suppress(BusError):
                await recorder.save()
    finally:
        with anyio.move_on_after(LAST_S, shield=True), suppress(BusError):
            await recorder.save()


def _minute_of(clock: Clock) -> int:
    return int(clock.now().timestamp() // 60)


Period = Literal["hour", "day"]

PERIODS: Mapping[Period, tuple[int, int]] = {"hour": (60, 1), "day": (1_440, 15)}
"""Period → its length and the length of a step, in minutes."""

ANSWERED = ("done", "stopped", "spent")
"""Outcomes of turns that answered their messages."""

FAILED = ("failed", "parked", "dead")
"""Outcomes of attempts that brought no answer: they are tried again, or given up."""

_decode = msgspec.json.Decoder(dict[str, float]).decode


class RateStep(msgspec.Struct, frozen=True, kw_only=True):
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


class RateHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A period up to now."""

    step_s: int
    steps: Sequence[RateStep]
    """Oldest first; the last one is in progress."""
    total: RateStep


async def read_history(bus: Bus, clock: Clock, period: Period) -> RateHistory:
    """The last hour or day, by this process's clock; errors as for ``Bus.call``."""
    length, step = PERIODS[period]
    upto = (int(clock.now().timestamp() // 60) // step + 1) * step
    first = upto - length
    found = defaultdict[int, list[Numbers]](list)

    # Hour by hour: of ten busy processes, each takes 10 ms of the event loop, on which turns may run.
    for hour in range(first // 60, (upto - 1) // 60 + 1):
        for field, value in pairs(await bus.call("HGETALL", bus.keys.rates(hour))):
            found[(int(field.partition(b" ")[0]) - first) // step].append(_numbers(value))
    steps = [RateStep(at=_time(first + at * step), numbers=added(found[at])) for at in range(length // step)]
    total = RateStep(at=_time(first), numbers=added(each.numbers for each in steps))
    return RateHistory(step_s=60 * step, steps=steps, total=total)


def _numbers(value: bytes) -> Numbers:
    """The numbers of one process; none if a hand damaged them."""
    try:
        return _decode(value)
    except UNREADABLE:
        return {}


def _time(minute: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(60 * minute, dt.UTC)
