"""What all lookers of one site are shown: computed when one of them wants it and it is old, and once for all."""

import re
import time
from dataclasses import asdict, dataclass
from typing import Any

import anyio

from channels.web.shown import encode
from daemon.overview import System, read_system
from daemon.process import Process

FRESH_S = 2.0
"""How old what is shown may be."""

SHARE = 20
"""Where computing it takes long, it is done no more often than so many times as long: 5 % of a core at most."""

_AGE = re.compile(rb'"(?:seen_s|left_s|oldest_s)":[^,}]*')
"""What changes by itself; whoever looks counts on from where it was."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything at one moment."""

    at: float
    """When it was computed, by the monotonic clock."""
    body: bytes
    """As JSON."""
    number: int
    """Rises when more than ages has changed."""


class Snapshots:
    """The snapshots of one site."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._lock = anyio.Lock()
        self._newest: Snapshot | None = None
        self._shape = b""
        self._rest_s = 0.0

    async def get(self) -> Snapshot:
        """One that is fresh.

        Raises:
            BusUnavailable: Redis is away.
        """
        async with self._lock:
            newest, now = self._newest, time.monotonic()
            if newest is None or now - newest.at >= max(FRESH_S, self._rest_s):
                newest = self._newest = await self._compute(now, newest.number if newest else 0)
                self._rest_s = (time.monotonic() - now) * SHARE
            return newest

    async def _compute(self, now: float, number: int) -> Snapshot:
        process = self._process
        body = encode(form_of(await read_system(process.bus, process.config, process.clock)))
        shape = without_ages(body)
        if shape != self._shape:
            self._shape, number = shape, number + 1
        return Snapshot(at=now, body=body, number=number)


def form_of(system: System) -> dict[str, Any]:
    """What the API shows of it."""
    queues = system.queues
    return {
        "workers": [{"name": one.pop("worker"), **one} for one in map(asdict, system.workers)],
        "leaders": [asdict(leader) for leader in system.leaders],
        "leases": [asdict(lease) for lease in system.leases],
        "queue": {**asdict(queues.total), "in_flight": queues.in_flight, "parked": queues.parked},
        "parked": [asdict(one) for one in system.parked],
        "parked_chats": [asdict(one) for one in system.paused],
        "model_errors": asdict(system.model_errors),
    }


def without_ages(body: bytes) -> bytes:
    """What of a snapshot does not change by itself."""
    return _AGE.sub(b"", body)
