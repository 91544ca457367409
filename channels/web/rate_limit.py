"""The requests of each client in a minute, in one process."""

from daemon.clock import Clock

WINDOW_S = 60.0

CLIENTS_MAX = 10_000
"""Clients that are remembered; a megabyte. With more, the one that has been quiet longest may begin anew."""


class RateLimit:
    """A token bucket for each client: a minute's requests at once, and then as many as time gives back."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        """``per_minute``: requests of one client; 0: no limit."""
        self.per_minute = per_minute
        self._clock = clock
        self._spent_until: dict[str, float] = {}
        """By client, the time at which all of its requests will be given back (virtual scheduling, ITU-T I.371)."""

    def wait_s(self, client: str) -> float:
        """Count a request of ``client``. 0 if it is allowed; else seconds until one is, and it is not counted."""
        if not self.per_minute:
            return 0.0
        now = self._clock.monotonic()
        spent_until = max(self._spent_until.pop(client, now), now)
        later = spent_until + WINDOW_S / self.per_minute
        wait_s = max(0.0, later - now - WINDOW_S)
        self._spent_until[client] = spent_until if wait_s else later
        if len(self._spent_until) > CLIENTS_MAX:
            del self._spent_until[next(iter(self._spent_until))]
        return wait_s
