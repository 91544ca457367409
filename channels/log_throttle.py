"""Saying once what happens over and over."""

import anyio

EVERY_S = 60.0
"""How often the same is said."""

KINDS_MAX = 100
"""Kinds that are remembered."""


class LogThrottle:
    """Tells whether it is time to log something: the first time, and then once in ``every_s`` seconds."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._quiet_until: dict[str, float] = {}

    def now(self, kind: str) -> bool:
        """Whether something of this kind is to be said; if so, it counts as said."""
        now = anyio.current_time()
        if now < self._quiet_until.get(kind, 0.0):
            return False
        if len(self._quiet_until) >= KINDS_MAX:
            self._quiet_until.clear()
        self._quiet_until[kind] = now + self._every_s
        return True
