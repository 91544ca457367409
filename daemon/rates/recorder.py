"""Records what one process does, minute by minute."""

from contextlib import suppress

import anyio
import msgspec

from daemon.bus import Bus, load_script
from daemon.clock import Clock
from daemon.errors import BusError
from daemon.rates.counters import Numbers, counted, grown

SAVE = load_script(__file__, "save.lua")

EVERY_S = 10.0
"""How often a process saves its numbers. An activity may be counted in the minute before, by as much."""

KEPT_S = 26 * 3_600
"""How long the numbers of an hour are kept: for a day, for the hour itself, and a little for clocks that disagree."""

LAST_S = 1.0
"""Time limit of the last save, when the process ends."""


class Recorder:
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
    recorder = Recorder(bus, clock, process)
    try:
        while True:
            await anyio.sleep(EVERY_S)
            with suppress(BusError):
                await recorder.save()
    finally:
        with anyio.move_on_after(LAST_S, shield=True), suppress(BusError):
            await recorder.save()


def _minute_of(clock: Clock) -> int:
    return int(clock.now().timestamp() // 60)
