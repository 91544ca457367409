"""Converts a scope's records to rows of its index. Pure, except for reads of the index.

Lines are counted as they stand in the files that tools read (``daemon.memory.file_sync``).
"""

import datetime as dt
import hashlib
import re
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from daemon.memory import HistoryEntry, Note, Version
from daemon.recall.chunks import (
    FORGOTTEN,
    HISTORY_FILE,
    MEMORY_FILE,
    Chunk,
    history_chunks,
    lines_of,
    memory_chunks,
    message_chunks,
    note_chunks,
)
from daemon.recall.index.index_store import IndexWrite

TOOL_MAX_CHARS = 2_000
"""A longer result of a tool is a file or a page, and nothing that was said."""

OWN_TOOLS = frozenset({"memory_search", "memory_get", "conversation_search"})
"""What they give is a copy of what is found already."""

_is_day = re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch
_is_title = re.compile(r"#{1,6}\s+\S").match


def mark_of(record: bytes | str) -> str:
    """The identity of a record."""
    raw = record if isinstance(record, bytes) else record.encode(errors="replace")
    return hashlib.sha256(raw).hexdigest()[:16]


# History and notes


decode_entry = msgspec.json.Decoder(HistoryEntry).decode
decode_note = msgspec.json.Decoder(Note).decode
decode_version = msgspec.json.Decoder(Version).decode


def add_history(write: IndexWrite, records: Sequence[bytes], zone: dt.tzinfo) -> None:
    """Entries of the history, in order."""
    line = write.line(HISTORY_FILE)
    for entry in map(decode_entry, records):
        if not entry.lost:  # what the session has lost it may have said otherwise since
            write.chunks += _without_tombs(history_chunks(entry.text, line=line, time=entry.time, zone=zone))
        line += lines_of(entry.text)
    write.lines[HISTORY_FILE] = line


def add_notes(write: IndexWrite, records: Sequence[bytes], zone: dt.tzinfo) -> None:
    """Daily notes, in order."""
    for note in map(decode_note, records):
        if not _is_day(note.date):
            continue  # it is shown in no file
        file = f"memory/{note.date}.md"
        line = write.line(file)
        write.chunks += _without_tombs(note_chunks(note.text, date=note.date, line=line, time=note.time, zone=zone))
        write.lines[file] = line + lines_of(note.text)


def _without_tombs(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.text.replace(FORGOTTEN, "").strip(" -*\n")]


# MEMORY.md


def add_versions(connection: sqlite3.Connection, write: IndexWrite, records: Sequence[bytes]) -> None:
    """Versions of MEMORY.md, in order: the newest as it reads, of older ones the lines that none after them holds.

    These stand under ``memory/MEMORY.md@<version>``, at the numbers that they had there.
    """
    versions = [version for version in map(decode_version, records) if version.kind != "rejected"]
    if not versions:
        return
    kept: dict[int, tuple[str, str]] = {
        number: (time, text)
        for number, time, text in connection.execute("SELECT number, time, text FROM version ORDER BY number")
    }
    gone: dict[str, int] = dict(connection.execute("SELECT line, number FROM gone"))
    changed, current = set[int](), max(kept, default=0)
    for version in versions:
        lines = _lines(version.text)
        for line in lines & gone.keys():
            changed.add(gone.pop(line))  # it has come back
        if current:
            for line in _lines(kept[current][1]) - lines:
                gone[line] = current
            changed.add(current)
        current = version.version
        kept[current] = (version.time, version.text)
    _write_versions(write, kept, gone, changed, current)


def _write_versions(
    write: IndexWrite, kept: dict[int, tuple[str, str]], gone: dict[str, int], changed: set[int], current: int
) -> None:
    write.drops.append((MEMORY_FILE, 0))
    write.statements.append(("DELETE FROM gone", ()))
    for line, number in gone.items():
        write.statements.append(("INSERT INTO gone VALUES (?, ?)", (line, number)))
    for number in sorted(changed):
        time, text = kept[number]
        file = f"{MEMORY_FILE}@{number}"
        text, numbers = _blanked(text, {line for line, where in gone.items() if where == number})
        write.drops.append((file, 0))
        write.statements.append(("DELETE FROM version WHERE number = ?", (number,)))
        if numbers:
            write.statements.append(("INSERT INTO version VALUES (?, ?, ?)", (number, time, text)))
            write.chunks += [
                chunk
                for chunk in _without_tombs(memory_chunks(text, file=file, time=time))
                if not numbers.isdisjoint(range(chunk.first, chunk.upto))
            ]
    time, text = kept[current]
    write.statements.append(("INSERT OR REPLACE INTO version VALUES (?, ?, ?)", (current, time, text)))
    write.chunks += _without_tombs(memory_chunks(text, time=time))


def _lines(text: str) -> set[str]:
    """Lines that say something; headings are the places where they do."""
    return {line.strip() for line in text.split("\n") if line.strip() and not _is_title(line)}


def _blanked(text: str, kept: set[str]) -> tuple[str, set[int]]:
    """``text`` with nothing in its lines but headings and what is ``kept``, and the numbers of these."""
    lines, numbers = list[str](), set[int]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() in kept:
            numbers.add(number)
        lines.append(line if number in numbers or _is_title(line) else "")
    return "\n".join(lines), numbers


# Messages


class _Function(msgspec.Struct):
    name: str = ""


class _Call(msgspec.Struct):
    id: str = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Part(msgspec.Struct):
    text: str = ""


class _Wire(msgspec.Struct):
    role: str = ""
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str = ""


class _Entry(msgspec.Struct):
    time: str = ""
    turn: int = -1
    sender: str = ""
    refused: bool = False
    wire: _Wire = msgspec.field(default_factory=_Wire)


_decode_entry: Any = msgspec.json.Decoder(_Entry).decode


def add_messages(write: IndexWrite, session: str, first: int, records: Sequence[bytes], *, known: int = 0) -> None:
    """Messages of a session's log that follow on each other, the first of them index ``first``; ``known`` are in it.

    Turns that the model's server refused are left out, since a prompt with what is found of them would be refused, too.
    """
    entries = {index: entry for index, raw in enumerate(records, first) if (entry := _entry_of(raw))}
    refused = {entry.turn for entry in entries.values() if entry.refused}
    own = set[str]()
    for index, entry in entries.items():
        wire = entry.wire
        own |= {call.id for call in wire.tool_calls or () if call.function.name in OWN_TOOLS}
        text = _text_of(wire)
        if index < first + known:
            continue
        if wire.role == "tool" and (len(text) > TOOL_MAX_CHARS or wire.tool_call_id in own):
            continue
        if entry.turn in refused or not text or text == FORGOTTEN or wire.role not in ("user", "assistant", "tool"):
            continue
        speaker = entry.sender or wire.role
        chunks = message_chunks(text, session=session, index=index, time=entry.time, speaker=speaker)
        write.chunks += _without_tombs(chunks)


def _entry_of(raw: bytes) -> _Entry | None:
    try:
        entry: _Entry = _decode_entry(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # a hand has spoilt it
    return entry


def _text_of(wire: _Wire) -> str:
    content = wire.content or ""
    parts = [content] if isinstance(content, str) else [part.text for part in content]
    return "\n".join(part for part in parts if part.strip())
