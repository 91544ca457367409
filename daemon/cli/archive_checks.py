"""The doctor's checks of the archive: whether it can be used, and whether messages may move to it from Redis."""

import secrets

from daemon.archive import Archive
from daemon.archive.marker import MARKER, lost, marker_in, noted, permission
from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, error, ok, warning
from daemon.errors import ArchiveError

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
            f"{len(orphans)} files in the archive are no longer used. A consolidation worker deletes these files "
            "within hours"
        )
        findings.append(ok("orphans", text))
    return findings


async def _probe(archive: Archive) -> None:
    name = f"doctor_{secrets.token_hex(6)}"
    await archive.storage.put(name, PROBE)
    try:
        if await archive.storage.get(name) != PROBE:
            raise ArchiveError(
                f"{archive.storage.where} returned bytes that differ from the bytes that were just written. "
                "Check the storage."
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
