"""How long what has failed is left alone. Pure: whoever asks says what time it is."""

from dataclasses import dataclass, field

REST_MIN_S, REST_MAX_S = 60.0, 3_600.0
"""After the first failure, doubling; it costs a try each time, and a program that is missing seldom comes by itself."""


@dataclass
class Rest:
    """Of one thing."""

    reason: str = ""
    """Why it last failed; empty: it works, as far as anybody knows."""
    _failures: int = 0
    _until: float = 0.0
    _told: set[str] = field(default_factory=set[str])

    def is_over(self, now: float) -> bool:
        """Whether it may be tried."""
        return now >= self._until

    def failed(self, reason: str, now: float) -> bool:
        """Note a failure; whether it is another one than were told since it last worked."""
        self.reason = reason
        self._until = now + min(REST_MAX_S, REST_MIN_S * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        is_new = reason not in self._told
        self._told.add(reason)
        return is_new

    def worked(self) -> bool:
        """Note that it works; whether it did not before."""
        had_failed = bool(self._failures)
        self.reason, self._failures, self._until = "", 0, 0.0
        self._told.clear()
        return had_failed
