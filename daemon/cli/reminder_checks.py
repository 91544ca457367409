"""What ``millpond doctor`` finds out about reminders."""

from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, ok, warning

LATE_MS = 60_000
"""From then on a reminder is late: workers look for them every half second."""


async def examine_reminders(bus: Bus) -> list[Finding]:
    """Whether reminders fire in time. Raises BusUnavailable."""
    seconds, _ = await bus.call("TIME")
    late_ms = int(seconds) * 1000 - LATE_MS
    keys = [bus.keys.upcoming(partition) for partition in range(bus.keys.partitions)]
    active = sum([await bus.call("ZCARD", key) for key in keys])
    late = sum([len(await bus.call("ZRANGEBYSCORE", key, "-inf", late_ms)) for key in keys])
    if late:
        text = f"{late:,} of {active:,} active reminders are late. Start a process with the role agent."
        return [warning("reminders", text)]
    return [ok("reminders", f"{active:,} active")]
