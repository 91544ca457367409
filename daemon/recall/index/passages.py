"""What was found as people and models are shown it: with what stands beside it, and once. All of it blocks."""

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from daemon.recall.chunk import DOCID_CHARS, Chunk
from daemon.recall.found import SNIPPET_CHARS, Hit, InPrompt
from daemon.recall.place import Place
from daemon.recall.vectors.places import Extent, Text

_is_docid = re.compile(f"[0-9a-fA-F]{{{DOCID_CHARS}}}").fullmatch

LEAST_CHARS = 24
"""Of a neighbour less than this is not worth showing."""

_CHUNK = "c.id, f.name, c.first, c.part, c.upto, c.kind, c.time, c.speaker, c.heading, c.text, c.terms"
_FROM = "FROM chunk c JOIN file f ON f.id = c.file"

_SELECT = f"SELECT {_CHUNK} {_FROM} WHERE "
_SAME_FILE = _SELECT + "c.file = (SELECT id FROM file WHERE name = ?) AND "  # noqa: S608 - see above
_BEFORE = f"{_SAME_FILE} (c.first, c.part) < (?, ?) ORDER BY c.first DESC, c.part DESC LIMIT ?"
_BEHIND = f"{_SAME_FILE} (c.first, c.part) > (?, ?) ORDER BY c.first, c.part LIMIT ?"


def hits_of(
    connection: sqlite3.Connection,
    scored: Sequence[tuple[int, float]],
    *,
    limit: int,
    prompt: InPrompt | None = None,
) -> tuple[Hit, ...]:
    """The first ``limit`` of the rows as hits, in this order.

    Those are left out that are gone, that say the same again, and those of ``prompt``.
    """
    found, said = list[Hit](), set[str]()
    for first in range(0, len(scored), limit):
        part = scored[first : first + limit]
        near = _near(connection, [row for row, _ in part])
        for row, score in part:
            record = near.get(row)
            if record is None or record[-1] in said:
                continue
            said.add(record[-1])
            chunk = _chunk_of(record)
            if prompt is not None and chunk.file == prompt.file and chunk.first >= prompt.first:
                continue
            snippet = snippet_of(
                chunk,
                _neighbour(connection, near.get(row - 1), chunk, _BEFORE),
                _neighbour(connection, near.get(row + 1), chunk, _BEHIND),
            )
            within = min(1.0, max(0.0, score))
            found.append(Hit(docid=chunk.docid, file=chunk.file, score=within, snippet=snippet, time=chunk.time))
            if len(found) == limit:
                return tuple(found)
    return tuple(found)


def _near(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Sequence[Any]]:
    """The rows, and those before and behind each."""
    wanted = sorted({near for row in rows for near in (row - 1, row, row + 1)})
    marks = ",".join("?" * len(wanted))
    return {record[0]: record for record in connection.execute(f"{_SELECT} c.id IN ({marks})", wanted)}


def _neighbour(connection: sqlite3.Connection, near: Sequence[Any] | None, chunk: Chunk, otherwise: str) -> list[Chunk]:
    """The chunk beside another one: mostly the one that was taken in before or behind it."""
    if near is not None and near[1] == chunk.file:
        return [_chunk_of(near)]
    place = (chunk.file, chunk.first, chunk.part, 1)
    return [_chunk_of(record) for record in connection.execute(otherwise, place)]


def places_of(connection: sqlite3.Connection, docids: Sequence[str]) -> dict[str, Place]:
    """Where chunks stand, by docid; those are left out that there are not."""
    found = dict[str, Place]()
    for docid in docids:
        number = int(docid, 16) if _is_docid(docid) else -1
        record = connection.execute(f"{_SELECT} c.docid = ?", (number,)).fetchone()
        if record is not None:
            chunk = _chunk_of(record)
            found[docid] = Place(file=chunk.file, first=chunk.first, upto=chunk.upto)
    return found


def _chunk_of(record: Sequence[Any]) -> Chunk:
    _, file, first, part, upto, kind, time, speaker, heading, text, _ = record
    return Chunk(
        kind=kind,
        file=file,
        first=first,
        part=part,
        upto=upto,
        time=time,
        speaker=speaker,
        heading=heading,
        text=text,
    )


def snippet_of(chunk: Chunk, before: Sequence[Chunk], behind: Sequence[Chunk]) -> str:
    """The chunk whole, and of its neighbours what there is room for: of the one behind it its beginning first."""
    middle = _cut(_said(chunk), SNIPPET_CHARS)
    left = SNIPPET_CHARS - len(middle)
    parts = [middle]
    for neighbour in behind:
        text = _cut(_said(neighbour), left - 1)
        if len(text) >= min(LEAST_CHARS, len(_said(neighbour))) > 0:
            parts.append(text)
            left -= len(text) + 1
    for neighbour in before:
        text = _cut_front(_said(neighbour), left - 1)
        if len(text) >= min(LEAST_CHARS, len(_said(neighbour))) > 0:
            parts.insert(0, text)
    return "\n".join(parts)


def _said(chunk: Chunk) -> str:
    return f"{chunk.speaker}: {chunk.text}" if chunk.speaker and not chunk.part else chunk.text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…" if most > 1 else ""


def _cut_front(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[len(text) - most + 1 :].lstrip()}" if most > 1 else ""


# For vectors


def extent_of(connection: sqlite3.Connection) -> Extent:
    """What rows there are."""
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    (last,) = connection.execute("SELECT max(id) FROM chunk").fetchone()
    return Extent(generation=meta["generation"], removed=meta["removed"], last=last or 0)


def texts_after(connection: sqlite3.Connection, after: int, limit: int) -> tuple[Text, ...]:
    """The next ``limit`` rows above ``after``, in order, with their texts."""
    rows = connection.execute("SELECT id, text FROM chunk WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
    return tuple(Text(*row) for row in rows)
