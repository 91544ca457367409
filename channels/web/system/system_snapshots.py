"""Snapshots for all viewers of one site: computed on demand if the last one is old, once for all viewers."""

import re
import time
from dataclasses import asdict, dataclass
from typing import Any

import anyio
import structlog

from channels.web.message_view import encode
from daemon.errors import BusError, BusUnavailable
from daemon.overview import System, read_system
from daemon.process import Process

FRESH_S = 2.0
"""Highest age of a snapshot."""

SHARE = 20
"""A snapshot is computed at most once in this many times of its own duration: 5 % of a core at most."""

_AGE = re.compile(rb'"(?:seen_s|left_s|oldest_s)":[^,}]*')
"""Ages, which change all the time; the viewer continues to count them."""

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The system at one moment."""

    at: float
    """When it was computed, by the monotonic clock."""
    body: bytes
    """As JSON."""
    number: int
    """Rises if more than ages have changed."""


class Snapshots:
    """The snapshots of one site."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._lock = anyio.Lock()
        self._newest: Snapshot | None = None
        self._due = 0.0
        """When the next one is computed, by the monotonic clock."""
        self._shape = b""
        self._number = 0

    async def get(self) -> Snapshot:
        """A fresh snapshot.

        Raises:
            BusUnavailable: Redis is unavailable, or was a moment ago, so that not every viewer waits for it.
        """
        async with self._lock:
            now = time.monotonic()
            if now >= self._due:
                self._newest = await self._compute(now)
                ended = time.monotonic()
                self._due = (
                    ended + FRESH_S if self._newest is None else max(now + FRESH_S, ended + SHARE * (ended - now))
                )
            if self._newest is None:
                raise BusUnavailable("Redis does not respond")
            return self._newest

    async def _compute(self, now: float) -> Snapshot | None:
        """None if Redis is unavailable."""
        process = self._process
        system: System | None = None
        try:
            system = await read_system(process.bus, process.config, process.clock)
        except* BusError as away:
            _log.debug("system.unread", reason=repr(away.exceptions[0]))
        if system is None:
            return None
        body = encode(form_of(system))
        shape = without_ages(body)
        if shape != self._shape:
            self._shape, self._number = shape, self._number + 1
        return Snapshot(at=now, body=body, number=self._number)


def form_of(system: System) -> dict[str, Any]:
    """The system in the form of the API."""
    queues = system.queues
    return {
        "workers": [{"name": one.pop("worker"), **one} for one in map(asdict, system.workers)],
        "leaders": [asdict(leader) for leader in system.leaders],
        "leases": [asdict(lease) for lease in system.leases],
        "queue": {**asdict(queues.total), "in_flight": queues.in_flight, "parked": queues.parked},
        "parked": [asdict(one) for one in system.parked],
        "parked_chats": [asdict(one) for one in system.paused],
        "model_errors": asdict(system.model_errors),
        "problems": [asdict(one) for one in system.problems],
    }


def without_ages(body: bytes) -> bytes:
    """A snapshot without its ages."""
    return _AGE.sub(b"", body)
