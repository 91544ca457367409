"""Rules for a scope's memory that hold at every moment. Pure."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from daemon.data.backup_records import ScopeTaken, bytes_of, number
from daemon.data.flaw import Flaw, Mend
from daemon.memory.memory_records import HistoryEntry, Note, Version

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
                f"replace the text of MEMORY.md with the text of version {current} again",
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
            text = f"the memory contains {', '.join(taken_in)}, but its history was lost"
            yield _flaw(taken, "memory.history", f"{text}. Restore the memory from a backup.")
    for session, upto in sorted(newest.items()):
        ends = number(taken.fields.get(f"upto:{session}"), -1)
        if 0 <= ends != upto:
            yield _flaw(
                taken,
                "memory.upto",
                f"the memory contains session {session} up to message {ends}, but its history ends before "
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
            why = f"history entry {index} is marked twice to be merged into MEMORY.md"
            yield _flaw(taken, "memory.undigested", why, "undigested", "mark it only once", index, 1)
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
