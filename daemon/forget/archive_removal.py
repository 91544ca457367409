"""Lists that are counted for ever, logs and those of a scope: what Redis holds of them, then what is in the archive.

In this order: what is archived meanwhile is only listed as Redis holds it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from anyio import to_thread

from daemon.archive import Segment, Shelf
from daemon.archive.storage import CALLS
from daemon.bus import load_script
from daemon.concurrency import at_once
from daemon.errors import ArchiveError, ArchiveUnavailable
from daemon.forget.forget_context import ForgetContext, Tier

REPLACE = load_script(__file__, "replace.lua")

PIECE = 500
"""Records that are read and replaced at once."""

REWRITTEN, REWRITTEN_BYTES = 64, 8 * 1024 * 1024
"""Segments that are rewritten together, and bytes of their records: the catalogue is written once for all of them."""


class ReplacedRecord(msgspec.Struct, frozen=True):
    """A record in the place of another."""

    raw: bytes
    hits: tuple[str, ...]
    """What stood in the other."""
    less: int = 0
    """Tokens that it counts less."""
    time: str = ""


Bury = Callable[[bytes], ReplacedRecord | None]
"""Gives what is to take a record's place; None when it stays. Raises ``msgspec.MsgspecError`` for what is none."""


async def forget_on(work: ForgetContext, shelf: Shelf, tier: Tier, bury: Bury, *, archived: Tier) -> None:
    """Find, or replace, the records of ``shelf``; those in the archive count as ``archived``.

    Raises:
        BusUnavailable: Redis is away.
    """
    await _listed(work, shelf, tier, bury)
    await _archived(work, shelf, archived, bury)


async def _listed(work: ForgetContext, shelf: Shelf, tier: Tier, bury: Bury) -> None:
    bus, key = work.stores.bus, shelf.list_key(work.stores.bus.keys)
    base, at = await _base(work, shelf), 0
    while True:
        first = max(at, base)
        raws: list[bytes] = await bus.call("LRANGE", key, first - base, first - base + PIECE - 1)
        before, base = base, await _base(work, shelf)
        if base != before:
            continue  # the beginning was trimmed between the two
        found = await to_thread.run_sync(partial(_buried, raws, bury))
        await _replaced(work, shelf, tier, [(first + offset, raws[offset], new) for offset, new in found])
        at = first + PIECE
        if len(raws) < PIECE:
            return


async def records_on(work: ForgetContext, shelf: Shelf) -> list[bytes]:
    """Everything on ``shelf``, as far as it can be read, in order."""
    bus, archive, found = work.stores.bus, work.stores.archive, dict[int, bytes]()
    try:
        segments = await archive.segments(shelf)
        for segment, read in zip(segments, await at_once(segments, archive.read, most=CALLS), strict=True):
            found |= dict(enumerate(read, segment.first))
    except ArchiveUnavailable as error:
        work.wait_for_archive(error)
    except ArchiveError as error:
        work.fail(str(error))
    base = await _base(work, shelf)
    raws: list[bytes] = await bus.call("LRANGE", shelf.list_key(bus.keys), 0, -1)
    found |= dict(enumerate(raws, base))
    return [found[index] for index in sorted(found)]


async def _base(work: ForgetContext, shelf: Shelf) -> int:
    bus = work.stores.bus
    return int(await bus.call("HGET", shelf.hash_key(bus.keys), shelf.base_field) or 0)


def _buried(raws: Sequence[bytes], bury: Bury) -> list[tuple[int, ReplacedRecord]]:
    return [(at, new) for at, raw in enumerate(raws) if (new := bury(raw)) is not None]


async def _replaced(
    work: ForgetContext, shelf: Shelf, tier: Tier, found: Sequence[tuple[int, bytes, ReplacedRecord]]
) -> None:
    if not work.looks and found:
        keys = work.stores.bus.keys
        args = [
            part
            for index, old, new in found
            for part in (index, hashlib.sha1(old, usedforsecurity=False).hexdigest(), new.raw, new.less)
        ]
        await work.stores.bus.run(
            REPLACE, [shelf.hash_key(keys), shelf.list_key(keys)], [shelf.base_field, shelf.kind, *args]
        )
    for _, _, new in found:
        work.found(tier, new.hits, time=new.time)


async def _archived(work: ForgetContext, shelf: Shelf, tier: Tier, bury: Bury) -> None:
    archive = work.stores.archive
    try:
        for part in _parts(await archive.segments(shelf)):
            found = await at_once(part, partial(_archived_in, work, bury), most=CALLS)
            if not work.looks:
                # Before they are counted: what fails here is done again.
                await archive.rewrite({segment: raws for segment, (raws, new) in zip(part, found, strict=True) if new})
            for _, news in found:
                for new in news:
                    work.found(tier, new.hits, time=new.time)
    except ArchiveUnavailable as error:
        work.wait_for_archive(error)
    except ArchiveError as error:
        work.fail(str(error))


async def _archived_in(work: ForgetContext, bury: Bury, segment: Segment) -> tuple[list[bytes], list[ReplacedRecord]]:
    """The records that a segment is to have, and those of them that are new; of an unreadable segment none."""
    try:
        raws = await work.stores.archive.read(segment)
    except ArchiveUnavailable:
        raise
    except ArchiveError as error:
        # What lies elsewhere, or is spoilt, is told; all the rest goes on.
        work.fail(str(error))
        return [], []
    found = await to_thread.run_sync(partial(_buried, raws, bury))
    for offset, new in found:
        raws[offset] = new.raw
    return (raws if found else []), [new for _, new in found]


def _parts(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """``segments`` in parts that are rewritten together."""
    part, size = list[Segment](), 0
    for segment in segments:
        if part and (len(part) == REWRITTEN or size + segment.bytes > REWRITTEN_BYTES):
            yield part
            part, size = [], 0
        part.append(segment)
        size += segment.bytes
    if part:
        yield part
