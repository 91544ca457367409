"""Joining and separating memories: the writes of one job. Each write may be repeated, or arrive late.

A memory that is joined with another one keeps what it had, for the day on which they part, and takes no more writes:
everything goes to the other, its home. Before that it is frozen (``joining``) while all that it holds is taken over.
The home only remembers by which job (``receiving``), and how much it has of each (``links:<scope>``).
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from daemon.bus import Bus, Script, load_script, pairs
from daemon.errors import JobLost, MemoryMoving
from daemon.memory.locked_memory import Recall
from daemon.memory.memory_records import Version
from daemon.memory.scope_lists import ScopeLists

# The location of the memory of a scope: its own, or the memory that it was joined with.

HOME = load_script(__file__, "home.lua")

HOPS_MAX = 8
"""Memories that point to each other: one as a rule, two for the moment in which a third joins."""


class MemoryLocation(msgspec.Struct, frozen=True, kw_only=True):
    """The location of the memory of a scope, for a turn."""

    scope: str
    is_bare: bool
    """Nothing was ever taken into it: no history, no note, no version, no link."""


async def home_for_turn(bus: Bus, scope: str) -> MemoryLocation:
    """Like ``home_of``, in one call, and whether the memory has any content."""
    keys = bus.keys
    joined, there = await bus.run(HOME, [keys.memory(scope), keys.history(scope), keys.notes(scope)], [])
    if joined:
        return MemoryLocation(scope=await home_of(bus, joined.decode()), is_bare=False)
    return MemoryLocation(scope=scope, is_bare=not there)


async def home_of(bus: Bus, scope: str) -> str:
    """The scope whose memory, files and tools ``scope`` uses: itself unless it was merged into another one.

    Raises:
        BusUnavailable: Redis is away.
    """
    for _ in range(HOPS_MAX):
        joined: bytes | None = await bus.call("HGET", bus.keys.memory(scope), "joined")
        if not joined:
            break
        scope = joined.decode()
    return scope


def moving(scope: str) -> MemoryMoving:
    """The error for writing a memory that is being merged."""
    return MemoryMoving(f"the memory of {scope} is being merged with another memory. Try again in a moment.")


_PART = ("memory.part.lua",)
MARK = load_script(__file__, "join_mark.lua")
UNMARK = load_script(__file__, "join_unmark.lua")
TAKE = load_script(__file__, "join_take.lua")
TEXT = load_script(__file__, "join_text.lua", with_parts=_PART)
SESSIONS = load_script(__file__, "join_sessions.lua")
SWITCH = load_script(__file__, "join_switch.lua")
END = load_script(__file__, "join_end.lua")
POINT = load_script(__file__, "join_point.lua")
GIVE = load_script(__file__, "part_give.lua")
PART = load_script(__file__, "part_switch.lua")

PIECE = 200
"""Records that one script takes over: about a millisecond."""

Kind = Literal["history", "notes"]
Mark = Literal["joining", "receiving"]

_encode = msgspec.json.Encoder().encode


class MergedMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of another memory that a home contains: its field ``links:<scope>``, as the scripts write it."""

    job: str = ""
    history: int = 0
    notes: int = 0
    text: int | None = None
    """The version that holds both MEMORY.md."""
    sessions: bool = False


class MergeMark(msgspec.Struct, frozen=True, kw_only=True):
    """The result of setting a mark."""

    status: Literal["marked", "over", "joined", "busy"]
    """``over``: the job has done its work there; ``joined``: it is part of ``by``; ``busy``: the job ``by`` has it."""
    by: str = ""


class MemoryMerge:
    """One job's writes. All methods raise BusUnavailable if Redis is unavailable, and JobLost if the job has ended."""

    def __init__(self, bus: Bus, lists: ScopeLists, *, job: str) -> None:
        self._bus = bus
        self._lists = lists
        self._job = job

    async def mark(self, scope: str, what: Mark) -> MergeMark:
        """Reserve a memory for this job; ``joining``: also block all other writers."""
        key = self._bus.keys.memory(scope)
        status, by = b"moved", list[bytes]()
        while status == b"moved":
            joins = await self._bus.call("HGET", key, "joins") or b"0"
            status, *by = await self._bus.run(MARK, [key], [what, self._job, joins])
        return msgspec.convert({"status": status.decode(), "by": by[0].decode() if by else ""}, MergeMark)

    async def unmark(self, scope: str, what: Mark) -> None:
        """Release a memory that was not changed."""
        await self._bus.run(UNMARK, [self._bus.keys.memory(scope)], [what, self._job])

    # Joining

    async def take_records(self, kind: Kind, *, into: str, member: str) -> int:
        """Append the history or notes of the frozen ``member`` to those of ``into``; returns their number.

        What came from there before, and was given back, is not put there twice.
        """
        taken = await self._taken(into, member)
        at = taken.history if kind == "history" else taken.notes
        known = {_identity(record) for record in await self._lists.all(kind, into, 0)} if at == 0 else set[bytes]()
        owed = await self._undigested(member) if kind == "history" else set[int]()
        records = await self._lists.all(kind, member, at)
        for first in range(0, len(records), PIECE):
            piece = list(enumerate(records[first : first + PIECE], at + first))
            fresh = [
                part
                for index, record in piece
                if _identity(record) not in known
                for part in ("1" if index in owed else "", record)
            ]
            await self._run(TAKE, into, kind, [member, kind, at + first, at + first + len(piece), *fresh])
        return at + len(records)

    async def take_text(self, *, into: str, member: str, current: Recall, checksum: str, version: Version) -> bool:
        """Make ``version.text`` the MEMORY.md of both; False if ``current`` of ``into`` has changed."""
        changes = version.text != current.text
        record = _encode(msgspec.structs.replace(version, text="", id=self._job)) if changes else b""
        keys = self._bus.keys
        status: bytes = await self._bus.run(
            TEXT,
            [keys.memory(into), keys.versions(into)],
            [self._job, member, current.version, checksum, record, version.text],
        )
        self._check(status, into)
        return status == b"done"

    async def take_sessions(self, *, into: str, member: str) -> list[str]:
        """Continue the sessions of ``member`` in ``into``. Returns the names of the fields."""
        fields = await self.fields_of_sessions(member)
        parts = [part for name, value in fields.items() for part in (name, _elsewhere(name, value))]
        await self._plain(SESSIONS, into, [member, *parts])
        return list(fields)

    async def switch(self, *, into: str, member: str, fields: Sequence[str]) -> None:
        """Make the memory of ``into`` the memory of ``member``."""
        await self._plain(SWITCH, member, [into, *fields])

    async def end(self, scope: str, *, remove: Sequence[str] = (), parts_of: str = "") -> None:
        """End the job for the remaining memory, which now also has the parts of ``parts_of``."""
        found = pairs(await self._bus.call("HGETALL", self._bus.keys.memory(parts_of))) if parts_of else []
        links = [part for name, value in found if name.startswith(b"links:") for part in (name, value)]
        await self._plain(END, scope, [len(remove), *remove, *links])

    async def point(self, scope: str, *, away_from: str, to: str) -> None:
        """Record that a part of ``away_from`` now belongs to ``to``, into which ``away_from`` was merged."""
        await self._bus.run(POINT, [self._bus.keys.memory(scope)], [away_from, to, await self._joined_by(scope)])

    # Parting

    async def give_records(self, kind: Kind, *, home: str, member: str, sessions: frozenset[str]) -> int:
        """Append the entries of ``sessions`` that only ``home`` has to those of ``member``; returns their number."""
        known = {_identity(record) for record in await self._lists.all(kind, member, 0)}
        joined_by = await self._joined_by(member)
        at, given = await self._given(member, kind), 0
        records = await self._lists.all(kind, home, at)
        for first in range(0, max(len(records), 1), PIECE):
            piece = records[first : first + PIECE]
            own = [record for record in piece if _session(record) in sessions and _identity(record) not in known]
            parts = [part for record in own for part in ("1" if kind == "history" else "", record)]
            await self._run(GIVE, member, kind, [joined_by, kind, at + first, at + first + len(piece), *parts])
            given += len(own)
        return given

    async def part(self, *, member: str, fields: dict[str, bytes]) -> None:
        """Separate the memory of ``member``; it continues with its sessions as given by ``fields``."""
        parts = [part for name, value in fields.items() for part in (name, _elsewhere(name, value))]
        await self._plain(PART, member, [await self._joined_by(member), *parts])

    # What there is

    async def fields_of_sessions(self, scope: str, sessions: frozenset[str] | None = None) -> dict[str, bytes]:
        """The memory's fields of each session, or of the named ones: ``<field>:<session>``."""
        found = pairs(await self._bus.call("HGETALL", self._bus.keys.memory(scope)))
        fields = {name.decode(): value for name, value in found}
        return {
            name: value
            for name, value in fields.items()
            if (parts := name.partition(":"))[1] and parts[0] != "links" and (sessions is None or parts[2] in sessions)
        }

    async def _joined_by(self, scope: str) -> bytes:
        """The job that has made the memory a part of another one."""
        found: bytes | None = await self._bus.call("HGET", self._bus.keys.memory(scope), "joined_by")
        return found or b""

    async def _taken(self, into: str, member: str) -> MergedMemory:
        found = await self._bus.call("HGET", self._bus.keys.memory(into), f"links:{member}")
        taken = msgspec.json.decode(found, type=MergedMemory) if found else MergedMemory()
        return taken if taken.job == self._job else MergedMemory()

    async def _given(self, member: str, kind: Kind) -> int:
        found = await self._bus.call("HGET", self._bus.keys.memory(member), "leaving")
        taken = msgspec.json.decode(found, type=MergedMemory) if found else MergedMemory()
        return (taken.history if kind == "history" else taken.notes) if taken.job == self._job else 0

    async def _undigested(self, scope: str) -> set[int]:
        return {int(index) for index in await self._bus.call("LRANGE", self._bus.keys.undigested(scope), 0, -1)}

    async def _run(self, script: Script, scope: str, kind: Kind, args: Sequence[str | int | bytes]) -> None:
        keys = self._bus.keys
        records = keys.history(scope) if kind == "history" else keys.notes(scope)
        self._check(
            await self._bus.run(script, [keys.memory(scope), records, keys.undigested(scope)], [self._job, *args]),
            scope,
        )

    async def _plain(self, script: Script, scope: str, args: Sequence[str | int | bytes]) -> None:
        self._check(await self._bus.run(script, [self._bus.keys.memory(scope)], [self._job, *args]), scope)

    def _check(self, status: bytes, scope: str) -> None:
        if status == b"stale":
            raise JobLost(f"job {self._job} for the memory of {scope} has already ended. Nothing more was written.")


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of a record, without its text, which may be deleted in one memory and not in another."""

    session: str
    time: str
    first: int = 0
    upto: int = 0
    cycle: int = 0
    date: str = ""


_decode_named = msgspec.json.Decoder(_Named).decode


def _identity(record: bytes) -> bytes:
    """The same for a history entry or note in any memory, even if its messages were lost."""
    return _encode(_decode_named(record))


def _session(record: bytes) -> str:
    return _decode_named(record).session


def _elsewhere(name: str, value: bytes) -> bytes:
    """The value of a session's field in another memory, where positions in the old lists have no meaning."""
    if name.startswith("pinned:"):
        return b"0"
    return value.partition(b" ")[0] if name.startswith("set_back:") else value
