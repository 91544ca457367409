"""Rules for a scope's memory, and rules across keys in different slots."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from daemon.bus import Bus, pairs, scan_keys
from daemon.data.backup_records import ScopeTaken, SessionTaken, bytes_of, number
from daemon.data.flaw import Flaw, Mend
from daemon.data.key_names import KeyName
from daemon.data.snapshot import session_of
from daemon.errors import BusError, BusUnavailable
from daemon.memory.memory_records import HistoryEntry, Note, Version

# Rules for a scope's memory that hold at every moment. Pure.

_decode_entry = msgspec.json.Decoder(HistoryEntry).decode
_decode_version = msgspec.json.Decoder(Version).decode
_decode_note = msgspec.json.Decoder(Note).decode

_ERRORS = (msgspec.DecodeError, UnicodeDecodeError)


def flaws_of_scope(taken: ScopeTaken) -> list[Flaw]:
    """Every rule of a scope's memory that is broken."""
    if not taken.fields and not (taken.history or taken.versions or taken.notes):
        return []
    return [*_versions(taken), *_history(taken), *_notes(taken), *_undigested(taken)]


def _flaw(taken: ScopeTaken, rule: str, text: str, action: str = "", what: str = "", *args: str | int) -> Flaw:
    mend = Mend(what=what, action=action, owner=taken.name, args=args) if action else None
    return Flaw(rule=rule, where=taken.name, text=text, mend=mend)


def _text(value: Any) -> str:
    return bytes_of(value).decode("utf-8", "replace")


def _versions(taken: ScopeTaken) -> Iterator[Flaw]:
    """Each has the number of its place, and the current one reads as MEMORY.md."""
    base, current = number(taken.fields.get("versions_base")), number(taken.fields.get("version"))
    text = _text(taken.fields.get("text", ""))
    for at, raw in enumerate(taken.versions, base + 1):
        try:
            version = _decode_version(bytes_of(raw))
        except _ERRORS as error:
            yield _flaw(
                taken,
                "memory.versions",
                f"version {at} of MEMORY.md cannot be read: {error}. Restore the memory from a backup.",
            )
            return
        if version.version != at:
            yield _flaw(
                taken,
                "memory.versions",
                f"version {at} of MEMORY.md has the wrong number {version.version}. Restore the memory from a backup.",
            )
            return
        if at == current and version.text != text:
            why = f"MEMORY.md differs from version {current}: it was changed by hand in Redis"
            yield _flaw(
                taken,
                "memory.text",
                why,
                "text",
                f"restore MEMORY.md to the text of version {current}",
                current,
                base,
            )
            return
    if current > base + len(taken.versions):
        yield _flaw(
            taken,
            "memory.versions",
            f"MEMORY.md is version {current}, but only {base + len(taken.versions)} versions exist. "
            "Restore the memory from a backup.",
        )
    elif current and hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() != taken.fields.get("checksum"):
        yield _flaw(taken, "memory.checksum", "the checksum of MEMORY.md does not match", "checksum", "recompute it")


def _history(taken: ScopeTaken) -> Iterator[Flaw]:
    """Every entry can be read; the newest entry of a session ends where the memory's part of the session ends."""
    base, newest = number(taken.fields.get("history_base")), dict[str, int]()
    for index, raw in enumerate(taken.history, base):
        try:
            entry = _decode_entry(bytes_of(raw))
        except _ERRORS as error:
            yield _flaw(
                taken,
                "memory.history",
                f"history entry {index} cannot be read: {error}. Restore the memory from a backup.",
            )
            return
        if entry.session and not entry.lost:
            newest[entry.session] = max(newest.get(entry.session, 0), entry.upto)
    # What was linked with another memory has entries of both, and positions of one.
    if any(
        field in ("joined", "joining", "receiving", "leaving") or field.startswith("links:") for field in taken.fields
    ):
        return
    if not (taken.history or taken.shelved):
        taken_in = sorted(field.removeprefix("upto:") for field in taken.fields if _is_taken_in(taken, field))
        if taken_in:
            text = f"the memory contains messages of {', '.join(taken_in)}, but its history is missing"
            yield _flaw(taken, "memory.history", f"{text}. Restore the memory from a backup.")
    for session, upto in sorted(newest.items()):
        ends = number(taken.fields.get(f"upto:{session}"), -1)
        if 0 <= ends != upto:
            yield _flaw(
                taken,
                "memory.upto",
                f"the memory contains session {session} up to message {ends}, but the history ends before "
                f"message {upto}. Restore "
                "the memory from a backup.",
            )


def _is_taken_in(taken: ScopeTaken, field: str) -> bool:
    return field.startswith("upto:") and number(taken.fields.get(field)) > 0


def _notes(taken: ScopeTaken) -> Iterator[Flaw]:
    for index, raw in enumerate(taken.notes, number(taken.fields.get("notes_base"))):
        try:
            _decode_note(bytes_of(raw))
        except _ERRORS as error:
            yield _flaw(
                taken, "memory.notes", f"note {index} cannot be read: {error}. Restore the memory from a backup."
            )
            return


def _undigested(taken: ScopeTaken) -> Iterator[Flaw]:
    """Marked entries exist in Redis and are marked once."""
    base = number(taken.fields.get("history_base"))
    ends, seen = base + len(taken.history), set[str]()
    for raw in taken.undigested:
        index = _text(raw)
        if not index.isdecimal() or not base <= int(index) < ends:
            why = (
                f"history entry {index} is marked to be merged into MEMORY.md, but only entries {base} to {ends - 1} "
                "exist"
            )
            yield _flaw(taken, "memory.undigested", why, "undigested", "remove the mark", index, 0)
        elif index in seen:
            why = f"history entry {index} is listed more than once for merging into MEMORY.md"
            yield _flaw(taken, "memory.undigested", why, "undigested", "list it only once", index, 1)
        seen.add(index)


def covered(ranges: Sequence[tuple[int, int]], first: int, upto: int) -> list[tuple[int, int]]:
    """The parts of ``first`` to ``upto`` (exclusive) that are in none of the ranges."""
    gaps, at = list[tuple[int, int]](), first
    for begin, end in sorted(ranges):
        if begin > at and at < upto:
            gaps.append((at, min(begin, upto)))
        at = max(at, end)
    if at < upto:
        gaps.append((at, upto))
    return gaps


# Rules across keys in different slots: a session and its memory, indexes and their entries.

OVER = frozenset({b"done", b"failed"})


class CrossSlotRules:
    """The parts of all sessions and scopes that others must agree with."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._positions: dict[str, tuple[int, int, bool]] = {}
        """Cursor, head, and whether a worker consolidates the session or will."""
        self._waiting: set[tuple[str, str]] = set()
        self._memories: dict[tuple[str, str], int] = {}
        """How far a scope has taken in a session."""
        self._joined: dict[str, str] = {}
        self._moving: set[str] = set()

    def note_session(self, taken: SessionTaken) -> None:
        """Add a session that was read."""
        is_expected = bool(taken.lock.get("nonce")) or "unsettled" in taken.scores
        if taken.fields:
            self._positions[taken.name] = (
                number(taken.fields.get("cursor")),
                number(taken.fields.get("head")),
                is_expected,
            )
        self._waiting |= {(taken.name, each) for each in (*taken.waiting, *taken.asides)}

    def note_scope(self, taken: ScopeTaken) -> None:
        """Add a scope that was read."""
        if taken.fields.get("joining") or taken.fields.get("receiving") or taken.fields.get("leaving"):
            self._moving.add(taken.name)
        if joined := taken.fields.get("joined"):
            self._joined[taken.name] = bytes_of(joined).decode("utf-8", "replace")
            return
        for field, value in taken.fields.items():
            if field.startswith("upto:"):
                self._memories[taken.name, field.removeprefix("upto:")] = number(value)

    def knows(self, session: str) -> bool:
        """Whether the session exists."""
        return session in self._positions

    def stray_in(self, name: KeyName, stream_id: str, words: list[Any]) -> str:
        """The session of an entry of ``in`` that was in none when its session was read; else empty."""
        session = session_of(words) if name.kind == "in" else ""
        return session if session and (session, stream_id) not in self._waiting else ""

    def stray(self, session: str, stream_id: str) -> Flaw:
        """A message that would never be answered."""
        mend = Mend(what="put the message into its session's queue", action="stray", owner=session, args=(stream_id,))
        text = f"message {stream_id} was accepted but is not in a queue, so the message would never be answered"
        return Flaw(rule="in.waiting", where=session, text=text, mend=mend)

    def scopes_of(self, flaws: Iterable[Flaw]) -> set[str]:
        """The scopes that have taken in sessions of which something was found."""
        sessions = {flaw.where for flaw in flaws}
        return {scope for scope, session in self._memories if session in sessions}

    async def flaws(self, bus: Bus) -> list[Flaw]:
        """Current disagreements; some may disappear in a moment."""
        found = list(self._of_memories())
        for look in (self._of_index, self._of_people, self._of_jobs):
            try:
                found += await look(bus)
            except BusUnavailable:
                raise
            except BusError:
                continue  # a key that is compared here has the wrong type: `key.type` reports the key
        return found

    def _of_memories(self) -> Iterator[Flaw]:
        for (scope, session), upto in sorted(self._memories.items()):
            cursor, head, is_expected = self._positions.get(session, (upto, upto, True))
            if upto == cursor or is_expected or scope in self._moving:
                continue
            mend = Mend(
                what="schedule a consolidation now, so that the session and the memory match again",
                action="unsettled",
                owner=session,
            )
            text = (
                f"the session states that {cursor} of {head} messages are consolidated, but the memory already "
                f"contains {upto} messages"
            )
            yield Flaw(rule="session.memory", where=session, text=text, mend=mend)

    async def _of_index(self, bus: Bus) -> list[Flaw]:
        key, found = bus.keys.sessions, list[Flaw]()
        listed = {member.decode("utf-8", "replace") for member in await bus.call("ZRANGE", key, 0, -1)}
        for session in sorted(self._positions.keys() - listed):
            mend = Mend(what="add the session to the session index", action="index", key=key, args=(session,))
            found.append(
                Flaw(
                    rule="sessions.index",
                    where=session,
                    text="the session is missing from the session index",
                    mend=mend,
                )
            )
        for session in sorted(listed - self._positions.keys()):
            if not await bus.call("EXISTS", bus.keys.session(session)):
                mend = Mend(
                    what="remove the session from the session index", action="unindex", key=key, args=(session,)
                )
                text = "the session index lists this session, but the session does not exist"
                found.append(Flaw(rule="sessions.index", where=session, text=text, mend=mend))
        return found

    async def _of_people(self, bus: Bus) -> list[Flaw]:
        listed = {scope.decode("utf-8", "replace") for scope, _ in pairs(await bus.call("HGETALL", bus.keys.people))}
        return [
            Flaw(
                rule="people.index",
                where=scope,
                text=f"this memory was merged into {home}, but the list of linked people does not contain this link. "
                "Link the two people "
                "again.",
            )
            for scope, home in sorted(self._joined.items())
            if scope not in listed and home not in self._moving and scope not in self._moving
        ]

    async def _of_jobs(self, bus: Bus) -> list[Flaw]:
        key, found = bus.keys.jobs, list[Flaw]()
        listed = {member.decode("utf-8", "replace") for member in await bus.call("ZRANGE", key, 0, -1)}
        for job in sorted(listed):
            if not await bus.call("EXISTS", bus.keys.job(job)):
                mend = Mend(
                    what="remove the job from the list of unfinished jobs", action="unjob", key=key, args=(job,)
                )
                found.append(
                    Flaw(
                        rule="jobs.index",
                        where=job,
                        text="the job is in the list of unfinished jobs, but its record does not exist",
                        mend=mend,
                    )
                )
        pattern = bus.keys.job("*").replace("%2A", "*")
        for job in await _names(bus, pattern):
            if job in listed:
                continue
            status = await bus.call("HGET", bus.keys.job(job), "status")
            if status is not None and status not in OVER:
                mend = Mend(what="schedule the job", action="job", key=key, args=(job,))
                found.append(
                    Flaw(
                        rule="jobs.index",
                        where=job,
                        text="the job is unfinished but not scheduled",
                        mend=mend,
                    )
                )
        return found


async def _names(bus: Bus, pattern: str) -> list[str]:
    prefix = pattern.removesuffix("*")
    names = set[str]()
    async for keys in scan_keys(bus, pattern.replace("[", "\\[")):
        names |= {key.decode("utf-8", "replace").removeprefix(prefix) for key in keys}
    return sorted(names)
