"""What a bot remembers of a scope: MEMORY.md with all its versions, the history, the notes, what sessions left."""

import hashlib
from collections.abc import Callable, Collection
from functools import partial

import msgspec

from daemon.archive import Shelf
from daemon.bus import load_script, pairs
from daemon.clock import stamp
from daemon.errors import VersionMoved
from daemon.events import Continuity
from daemon.forget.archive_removal import ReplacedRecord, forget_on, records_on
from daemon.forget.forget_context import ForgetContext, Tier
from daemon.forget.log_removal import forget_unlisted
from daemon.forget.text_matcher import SentenceMatcher, group_of, units_of
from daemon.forget.tombstone import EVERYTHING, Wanted, continued, forgotten
from daemon.memory import HistoryEntry, Note, Version

SWAP = load_script(__file__, "swap.lua")
ANEW = load_script(__file__, "anew.lua")
CURRENT = load_script(__file__, "current.lua", with_parts=("../../memory/lua/memory.part.lua",))

TRIES = 10
"""How often MEMORY.md is written while others change it."""

_Record = HistoryEntry | Note | Version

_encode = msgspec.json.Encoder().encode
_KINDS: dict[str, tuple[Tier, type[_Record]]] = {
    "history": ("history", HistoryEntry),
    "notes": ("notes", Note),
    "versions": ("versions", Version),
}


async def forget_memory(work: ForgetContext, scope: str) -> None:
    """What stands in the memory of ``scope``; MEMORY.md becomes a new version, older ones stay without it.

    Raises:
        BusUnavailable: Redis is away.
        VersionMoved: others changed it all the time.
    """
    await _forget_current(work, scope, work.wanted)
    await _forget_lists(work, scope, lambda _: work.wanted)
    await _forget_marks(work, scope)


async def forget_part(work: ForgetContext, scope: str, session: str) -> None:
    """What the memory of ``scope`` has of one session alone: its entries and notes, and lines that came from it."""
    lines = SentenceMatcher(await _lines_of(work, scope, session))

    def wanted_of(record: _Record) -> Wanted:
        return lines if isinstance(record, Version) else EVERYTHING if record.session == session else _NOTHING

    await _forget_current(work, scope, lines)
    await _forget_lists(work, scope, wanted_of)
    await _forget_marks(work, scope, session=session)


async def _forget_current(work: ForgetContext, scope: str, wanted: Wanted) -> None:
    bus, keys = work.stores.bus, work.stores.bus.keys
    for _ in range(TRIES):
        found = await bus.call("HMGET", keys.memory(scope), "text", "version", "checksum")
        text, version, checksum = (value.decode() if value else "" for value in found)
        hits = wanted.hits(text)
        if not hits:
            return
        if work.looks:
            break
        record = _encode(Version(kind="forget", time=stamp(work.stores.clock.now())))
        args = [version, checksum, record, wanted.redacted(text)]
        if await bus.run(CURRENT, [keys.memory(scope), keys.versions(scope)], args) == b"done":
            break
    else:
        raise VersionMoved(f"MEMORY.md of {scope} keeps changing. This memory's data will be deleted later.")
    for hit in hits:
        work.found("memory", [hit])


async def _forget_lists(work: ForgetContext, scope: str, wanted_of: Callable[[_Record], Wanted]) -> None:
    for kind, (tier, record) in _KINDS.items():
        shelf, bury = Shelf(kind=kind, owner=scope), partial(_buried, record, wanted_of)  # type: ignore[arg-type]  # each kind with its own record
        try:
            await forget_on(work, shelf, tier, bury, archived=tier)
        except msgspec.MsgspecError as error:
            work.fail(f"{kind} of {scope}: a record cannot be read ({error})")
        await forget_unlisted(work, shelf, bury)
    if not work.looks:
        await _digest_nothing(work, scope)
        # Whatever was found: the files may show what a killed predecessor has removed.
        await work.stores.bus.run(ANEW, [work.stores.bus.keys.memory(scope)], [])


async def _digest_nothing(work: ForgetContext, scope: str) -> None:
    """Of an entry of which nothing is left MEMORY.md is to learn nothing."""
    bus, key = work.stores.bus, work.stores.bus.keys.undigested(scope)
    base = int(await bus.call("HGET", bus.keys.memory(scope), "history_base") or 0)
    for index in await bus.call("LRANGE", key, 0, -1):
        raw = await bus.call("LINDEX", bus.keys.history(scope), int(index) - base) if int(index) >= base else None
        if raw and forgotten(msgspec.json.decode(raw, type=HistoryEntry), EVERYTHING) is None:
            await bus.call("LREM", key, 0, index)


def _buried(kind: type[_Record], wanted_of: Callable[[_Record], Wanted], raw: bytes) -> ReplacedRecord | None:
    record = msgspec.json.decode(raw, type=kind)
    wanted = wanted_of(record)
    new = forgotten(record, wanted)
    if new is None:
        return None
    hits = [
        hit
        for text in (record.text, getattr(record, "added", ""), getattr(record, "reason", ""))
        for hit in wanted.hits(text)
    ]
    return ReplacedRecord(raw=_encode(new), hits=tuple(hits), time=record.time)


class _Mark(msgspec.Struct, omit_defaults=True):
    """As consolidation writes it."""

    last: str = ""
    continuity: Continuity | None = None
    flushed: bool = True


async def _forget_marks(work: ForgetContext, scope: str, *, session: str = "") -> None:
    """What sessions left behind when they were consolidated, kept until their cursors have followed."""
    bus, wanted = work.stores.bus, EVERYTHING if session else work.wanted
    for field, raw in pairs(await bus.call("HGETALL", bus.keys.memory(scope))):
        name = field.decode()
        if not name.startswith("mark:") or (session and name != f"mark:{session}"):
            continue
        try:
            mark = msgspec.json.decode(raw, type=_Mark)
        except msgspec.MsgspecError:
            continue  # counts as none
        after = continued(mark.continuity, wanted) if mark.continuity else None
        if mark.continuity and after:
            work.found("continuity", wanted.hits(mark.continuity.text))
            if not work.looks:
                sha = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
                await bus.run(
                    SWAP,
                    [bus.keys.memory(scope)],
                    [name, sha, _encode(msgspec.structs.replace(mark, continuity=after))],
                )


async def _lines_of(work: ForgetContext, scope: str, session: str) -> Collection[str]:
    """Groups of the units that came into MEMORY.md with what was consolidated of a session."""
    found, before = set[str](), set[str]()
    for raw in await records_on(work, Shelf.of("versions", scope)):
        version = msgspec.json.decode(raw, type=Version)
        units = {group_of(unit) for unit in units_of(version.text)}
        if version.session == session:
            found |= units - before
        before = units if version.kind != "rejected" else before
    return found


class _Nothing:
    def hits(self, text: str) -> list[str]:
        return []

    def redacted(self, text: str) -> str:
        return text


_NOTHING = _Nothing()
