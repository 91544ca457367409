"""The doctor's checks of Redis and of the data in it."""

import secrets
import time
from typing import Any

from daemon.archive import Archive
from daemon.archive.marker import MARKER, lost, marker_in, noted, permission
from daemon.bus import Bus, LostMessages, read_lost
from daemon.bus.permissions import RIGHTS, missing
from daemon.cli.doctor.doctor_finding import Finding, error, ok, warning
from daemon.clock import SystemClock, age_s
from daemon.errors import ArchiveError
from daemon.heartbeat import ALIVE_S, workers
from daemon.overview import BACKING_OFF, Queues, read_queues
from daemon.permission_check import lacks
from daemon.wording.durations import duration

# The doctor's checks of the archive: whether it can be used, and whether messages may move to it from Redis.

PROBE = b"written by millpond doctor\n"


async def examine_archive(bus: Bus, archive: Archive) -> list[Finding]:
    """All checks. The archive is not recorded as used, because this process may not be one of Millpond's services.

    Raises:
        BusUnavailable: Redis went away.
    """
    storage = archive.storage
    try:
        await _probe(archive)
        findings = [ok("archive", f"files in {storage.where} can be read, written and deleted")]
        findings.append(await _trimming(bus, archive))
        orphans = (await archive.orphans.look(delete=False)).orphans
    except ArchiveError as failure:
        return [error("archive", str(failure))]
    if orphans:
        text = (
            f"unused files in the archive: {len(orphans)}. A consolidation worker deletes unused files within a "
            "few hours"
        )
        findings.append(ok("orphans", text))
    return findings


async def _probe(archive: Archive) -> None:
    name = f"doctor_{secrets.token_hex(6)}"
    await archive.storage.put(name, PROBE)
    try:
        if await archive.storage.get(name) != PROBE:
            raise ArchiveError(
                f"{archive.storage.where} did not return the same bytes that were just written. Check the storage."
            )
    finally:
        await archive.storage.delete(name)


async def _trimming(bus: Bus, archive: Archive) -> Finding:
    marker, known = await marker_in(archive.storage), await noted(bus)
    if marker is None and not known:
        return ok(
            "trimming",
            "no messages have been archived yet; Millpond archives messages before it removes them from Redis",
        )
    if marker is None and (why := lost(archive.storage, known, key=bus.keys.archives)):
        return warning("trimming", why)
    if marker is None:
        places = "; ".join(each.told for each in known.values())
        return warning(
            "trimming",
            f"{archive.storage.where} contains no {MARKER}, but other processes archive to {places}. If this process "
            "used "
            "its own archive, messages would stay in Redis and would not be archived. Set the same archive.url in "
            "all processes.",
        )
    allowed = permission(marker.archive, known, key=bus.keys.archives)
    if not allowed.is_granted:
        return warning("trimming", allowed.why)
    if not marker.database:
        text = f"several Redis databases write to {archive.storage.where}, so unused files are not deleted there"
        return warning("trimming", f"{allowed.why}; {text}")
    return ok("trimming", allowed.why)


PINGS = 5
SLOW_S = 0.02
"""A turn makes some five round trips: slower than this and people begin to feel it."""
OLD_S = 60.0
"""If a message waits longer, no worker answers it, or there are too few workers."""
LOST_NAMED = 5
"""Sessions with lost messages that are named."""
CLOCK_S = 2.0
"""Ages are shown by both clocks; orders and leases never depend on it."""


async def examine(bus: Bus, *, embedded: bool) -> list[Finding]:
    """All checks that need the server.

    Raises:
        BusUnavailable: it went away meanwhile.
    """
    info: dict[str, Any] = await bus.call("INFO")
    queues = await read_queues(bus)
    return [
        await _server(bus, info, embedded=embedded),
        await _permissions(bus),
        _persistence(info),
        _eviction(info),
        await _clock(bus),
        await _workers(bus),
        _backlog(queues),
        _dead(queues),
        *_parked(queues),
        *_lost(await read_lost(bus.call, bus.keys.lost)),
    ]


async def _server(bus: Bus, info: dict[str, Any], *, embedded: bool) -> Finding:
    began = time.perf_counter()
    for _ in range(PINGS):
        await bus.call("ECHO", "")
    each_s = (time.perf_counter() - began) / PINGS
    name = f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info.get('redis_version')}"
    text = f"{'the embedded ' if embedded else ''}{name} responds in {each_s * 1000:.1f} ms"
    if each_s > SLOW_S:
        return warning(
            "server", f"{text}. That is slow. If possible, run Millpond and the Redis server on the same network."
        )
    return ok("server", text)


async def _permissions(bus: Bus) -> Finding:
    found = {role: await missing(bus, role) for role in RIGHTS}
    able = [role for role, rules in found.items() if not rules]
    if len(able) == len(found):
        return ok("permissions", "the Redis user has the permissions for every role")
    if able:
        return ok("permissions", f"the Redis user has the permissions for the {' and '.join(able)} role")
    # The user is meant for the role that it lacks least of.
    nearest = min(found, key=lambda role: len(found[role]))
    return error("permissions", await lacks(bus, [nearest]))


def _persistence(info: dict[str, Any]) -> Finding:
    if not info.get("aof_enabled"):
        return warning(
            "persistence", "persistence is off: accepted messages are lost if the server stops. Set appendonly yes."
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return error("persistence", "the server could not write its append-only file. Check the server's disk and log.")
    return ok("persistence", "the append-only file is on")


def _eviction(info: dict[str, Any]) -> Finding:
    policy = info.get("maxmemory_policy", "unknown")
    # Without a limit nothing is evicted, whatever the policy says.
    if policy == "noeviction" or not info.get("maxmemory", 0):
        return ok("eviction", "the server does not evict keys")
    return error(
        "eviction",
        f"maxmemory-policy is {policy}, so the server may evict messages. Set maxmemory-policy to noeviction.",
    )


async def _clock(bus: Bus) -> Finding:
    before = time.time()
    seconds, micros = await bus.call("TIME")
    apart_s = int(seconds) + int(micros) / 1e6 - (before + time.time()) / 2
    if abs(apart_s) > CLOCK_S:
        return warning(
            "clock", f"the server's clock differs from this machine's by {apart_s:+.1f} s. Synchronize both with NTP."
        )
    return ok("clock", "the server's clock agrees with this machine's clock")


async def _workers(bus: Bus) -> Finding:
    beats = [beat for _, beat in await workers(bus) if age_s(beat.seen, SystemClock()) <= ALIVE_S]
    roles = sorted({beat.role for beat in beats})
    if "agent" not in roles:
        return warning(
            "workers", "no agent worker is running, so no messages are being answered. Start `millpond run`."
        )
    return ok("workers", ", ".join(f"{sum(beat.role == role for beat in beats)} {role}" for role in roles))


def _backlog(queues: Queues) -> Finding:
    total = queues.total
    text = f"pending messages: {total.backlog}; longest wait: {total.oldest_s:g} s"
    if total.oldest_s > OLD_S:
        return warning("backlog", f"{text}. Start more workers, or find the cause with `millpond queue list`.")
    return ok("backlog", text)


def _dead(queues: Queues) -> Finding:
    if not queues.total.dead:
        return ok("dead letters", "none")
    text = (
        f"messages that could not be answered or delivered: {queues.total.dead}. To see the reasons, run "
        "`millpond queue dead list`."
    )
    return warning("dead letters", text)


def _parked(queues: Queues) -> list[Finding]:
    rows = queues.reasons.items()
    return [warning("parked", f"pending conversations: {count}; {reason or BACKING_OFF}") for reason, count in rows]


def _lost(lost: LostMessages | None) -> list[Finding]:
    if lost is None:
        return []
    named = ", ".join(lost.sessions[:LOST_NAMED]) + ("…" if len(lost.sessions) > LOST_NAMED else "")
    text = (
        f"accepted messages that were lost when Redis switched to another master: {lost.count}. The last message was "
        f"lost {duration(lost.since_s, 'en')} ago. Affected sessions: {named}. Ask the senders to send these "
        "messages again. Set redis.min_replicas to prevent further losses."
    )
    return [error("lost messages", text)]
