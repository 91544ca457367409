"""The time for which a failed operation is not tried again. Pure: the caller passes the time."""

from dataclasses import dataclass, field

REST_MIN_S, REST_MAX_S = 60.0, 3_600.0
"""After the first failure, doubling; it costs a try each time, and a program that is missing seldom comes by itself."""


@dataclass
class Rest:
    """The back-off of one operation."""

    reason: str = ""
    """Why it last failed; empty: it works, as far as anybody knows."""
    _failures: int = 0
    _until: float = 0.0
    _told: set[str] = field(default_factory=set[str])

    def is_over(self, now: float) -> bool:
        """Whether the operation may be tried."""
        return now >= self._until

    def failed(self, reason: str, now: float) -> bool:
        """Record a failure. Returns whether its reason is new since the last success."""
        self.reason = reason
        self._until = now + min(REST_MAX_S, REST_MIN_S * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        is_new = reason not in self._told
        self._told.add(reason)
        return is_new

    def worked(self) -> bool:
        """Record a success. Returns whether the operation failed before."""
        had_failed = bool(self._failures)
        self.reason, self._failures, self._until = "", 0, 0.0
        self._told.clear()
        return had_failed
