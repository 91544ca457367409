"""Deleting what is older than the configuration keeps it; done twice it deletes nothing more."""

import datetime as dt

from daemon.archive import Archive
from daemon.bus import Bus, scan, scan_keys
from daemon.clock import Clock, stamp
from daemon.config import RetentionConfig
from daemon.data.key_names import TTL_S, name_of

EVERY_S = 3_600.0

DAY_MS = 86_400_000


async def retain(bus: Bus, archive: Archive, config: RetentionConfig, clock: Clock) -> int:
    """How many dead letters, parts, accounts and segments were deleted; once an hour in all processes together.

    Raises:
        ArchiveError: the archive cannot be used.
        BusUnavailable: Redis is away.
    """
    if not await bus.call("SET", bus.keys.retaining, "1", "NX", "PX", round(EVERY_S * 1000)):
        return 0
    return (
        await _streams(bus, config)
        + await _usage(bus, config, clock)
        + await _transcripts(bus, archive, config.transcripts_days, clock)
    )


async def _streams(bus: Bus, config: RetentionConfig) -> int:
    """Entries are as old as their ids say, by the server's clock."""
    seconds, _ = await bus.call("TIME")
    count = 0
    for partition in range(bus.keys.partitions):
        kept = {bus.keys.dead(partition): config.dead_days, bus.keys.unknown(partition): config.unknown_days}
        for key, days in kept.items():
            if days:
                count += int(await bus.call("XTRIM", key, "MINID", int(seconds) * 1000 - days * DAY_MS))
    return count


async def _usage(bus: Bus, config: RetentionConfig, clock: Clock) -> int:
    if config.usage_days * 86_400.0 >= TTL_S["usage"]:
        return 0
    oldest, count = (clock.now() - dt.timedelta(days=config.usage_days)).date().isoformat(), 0
    async for keys in scan_keys(bus, f"{bus.keys.prefix}:usage:*"):
        for key in keys:
            name = name_of(bus.keys.prefix, key)
            day = name.rest.partition("}")[0].lstrip("{") if name else ""
            if day and day < oldest:
                count += int(await bus.call("UNLINK", key))
    return count


async def _transcripts(bus: Bus, archive: Archive, days: int, clock: Clock) -> int:
    if not days:
        return 0
    before, count = stamp(clock.now() - dt.timedelta(days=days)), 0
    async for sessions in scan(bus, "segments"):
        for session in sessions:
            count += await archive.expire(session, before=before)
    return count
