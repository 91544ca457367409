"""Lists that are counted for ever, logs and those of a scope: what Redis holds of them, then what is in the archive.

In this order: what is archived meanwhile is only listed as Redis holds it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from anyio import to_thread

from daemon.archive import Shelf
from daemon.bus import load_script
from daemon.errors import ArchiveError
from daemon.forget.work import Tier, Work

REPLACE = load_script(__file__, "replace.lua")

PIECE = 500
"""Records that are read and replaced at once."""


@dataclass(frozen=True, slots=True)
class Buried:
    """A record in the place of another."""

    raw: bytes
    hits: tuple[str, ...]
    """What stood in the other."""
    less: int = 0
    """Tokens that it counts less."""
    time: str = ""


Bury = Callable[[bytes], Buried | None]
"""Gives what is to take a record's place; None when it stays. Raises ``msgspec.MsgspecError`` for what is none."""


async def forget_on(work: Work, shelf: Shelf, tier: Tier, bury: Bury, *, archived: Tier) -> None:
    """Find, or replace, the records of ``shelf``; those in the archive count as ``archived``.

    Raises:
        BusUnavailable: Redis is away.
    """
    await _listed(work, shelf, tier, bury)
    await _archived(work, shelf, archived, bury)


async def _listed(work: Work, shelf: Shelf, tier: Tier, bury: Bury) -> None:
    bus, key = work.stores.bus, shelf.list_key(work.stores.bus.keys)
    at = 0
    while True:
        base = int(await bus.call("HGET", shelf.hash_key(bus.keys), shelf.base_field) or 0)
        raws: list[bytes] = await bus.call("LRANGE", key, at, at + PIECE - 1)
        found = await to_thread.run_sync(partial(_buried, raws, bury))
        await _replaced(work, shelf, tier, [(base + at + offset, raws[offset], new) for offset, new in found])
        at += PIECE
        if len(raws) < PIECE:
            return


def _buried(raws: Sequence[bytes], bury: Bury) -> list[tuple[int, Buried]]:
    return [(at, new) for at, raw in enumerate(raws) if (new := bury(raw)) is not None]


async def _replaced(work: Work, shelf: Shelf, tier: Tier, found: Sequence[tuple[int, bytes, Buried]]) -> None:
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


async def _archived(work: Work, shelf: Shelf, tier: Tier, bury: Bury) -> None:
    archive = work.stores.archive
    try:
        for segment in await archive.segments(shelf):
            if segment.kind == shelf.kind:
                raws = await archive.read(segment)
                found = await to_thread.run_sync(partial(_buried, raws, bury))
                for offset, new in found:
                    raws[offset] = new.raw
                    work.found(tier, new.hits, time=new.time)
                if found and not work.looks:
                    await archive.rewrite(segment, raws)
    except ArchiveError as error:
        # What lies elsewhere, or is spoilt, is told; all the rest goes on.
        work.fail(str(error))
