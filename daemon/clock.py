"""The time seam: everything that needs the time of a process takes a Clock, so that tests can turn it by hand.

Times that order or expire anything in Redis are the server's (``TIME`` inside the scripts), never one of these.
"""

import datetime as dt
import time
from typing import Protocol

MINUTE = r"\d{4}-\d\d-\d\d \d\d:\d\d(?: [+-]\d\d:\d\d)?"
"""An expression for a time as ``minute`` writes it."""


class Clock(Protocol):
    """Where a process reads the time."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC, with its zone."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed point; never goes back."""
        ...


class SystemClock:
    """The clocks of the machine."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC, with its zone."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed point; never goes back."""
        return time.monotonic()


def stamp(moment: dt.datetime) -> str:
    """``moment`` as it is stored: ISO 8601 in UTC with milliseconds, ``2026-11-20T09:03:50.123Z``."""
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def minute(moment: dt.datetime, zone: dt.tzinfo) -> str:
    """``moment`` as HISTORY.md shows it in ``zone``: ``YYYY-MM-DD HH:MM``.

    Where the clocks of the zone show a minute twice, when summer time ends, the offset follows: ``+01:00``.
    """
    local = moment.astimezone(zone)
    text = local.isoformat(" ", "minutes")
    is_repeated = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{text[:16]} {text[16:22]}" if is_repeated else text[:16]


def minute_from(text: str, zone: dt.tzinfo) -> dt.datetime:
    """The time that ``minute`` wrote.

    Raises:
        ValueError: the text is no such time.
    """
    day, clock, *offset = text.split(" ")
    moment = dt.datetime.fromisoformat(f"{day}T{clock}{''.join(offset)}")
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def age_s(stamped: str, clock: Clock) -> float:
    """Seconds since ``stamped``, by the clock of this process; 0 for a time that cannot be read."""
    try:
        moment = dt.datetime.fromisoformat(stamped).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, (clock.now() - moment).total_seconds())
