"""The time seam: everything that needs the time of a process takes a Clock, so that tests can turn it by hand.

Times that order or expire anything in Redis are the server's (``TIME`` inside the scripts), never one of these.
"""

import datetime as dt
import time
from typing import Protocol


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


def age_s(stamped: str, clock: Clock) -> float:
    """Seconds since ``stamped``, by the clock of this process; 0 for a time that cannot be read."""
    try:
        moment = dt.datetime.fromisoformat(stamped).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, (clock.now() - moment).total_seconds())
