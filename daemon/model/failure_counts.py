"""How often models failed in the last minutes, counted in Redis for all processes together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from daemon.bus import Bus, load_script, pairs
from daemon.clock import Clock

FAILED = load_script(__file__, "failed.lua")

MINUTES = 15
"""How far back is shown."""

KEPT_S = 1_200
"""How long a minute's counts are kept: for as long as they are shown, and a little for clocks that disagree."""

LAST = "last"
"""The field that holds the newest kind."""


@dataclass(frozen=True, kw_only=True)
class Failures:
    """What went wrong lately."""

    minutes: list[int]
    """Failures in each of the last ``MINUTES`` minutes, the one that runs last."""
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    """Failures in all of them, by the class of the error: ``RateLimited``, ``ModelTimeout`` and so on."""
    last: str = ""
    """The newest kind; empty when there was none."""


async def note_failure(bus: Bus, clock: Clock, error: Exception) -> None:
    """Count one; errors as for ``Bus.call``. It may count twice when Redis was away meanwhile."""
    await bus.run(FAILED, [bus.keys.errors(_minute(clock))], [type(error).__name__, LAST, KEPT_S])


async def read_failures(bus: Bus, clock: Clock) -> Failures:
    """The failures of the last minutes, by this process's clock; errors as for ``Bus.call``."""
    upto = _minute(clock) + 1
    found: dict[int, dict[str, str]] = {minute: {} for minute in range(upto - MINUTES, upto)}

    async def read(minute: int) -> None:
        fields = pairs(await bus.call("HGETALL", bus.keys.errors(minute)))
        found[minute] = {name.decode(): value.decode() for name, value in fields}

    async with anyio.create_task_group() as tg:  # one tick, one pipeline
        for minute in found:
            tg.start_soon(read, minute)
    return _together(list(found.values()))


def _together(minutes: Sequence[dict[str, str]]) -> Failures:
    kinds, last = Counter[str](), ""
    for fields in minutes:
        last = fields.get(LAST, last)
        kinds.update({kind: int(count) for kind, count in fields.items() if kind != LAST})
    each = [sum(int(count) for kind, count in fields.items() if kind != LAST) for fields in minutes]
    return Failures(minutes=each, kinds=dict(kinds), last=last)


def _minute(clock: Clock) -> int:
    return int(clock.now().timestamp() // 60)
