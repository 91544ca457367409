"""Passages of a few lines, the units of search results.

A chunk never reaches beyond its entry, note, section or message. What is longer than ``CHUNK_TOKENS`` is cut at the
ends of lines, else of sentences, else of clauses, else of words. The neighbours of a chunk are those before and behind
it in the order of ``file``, ``first`` and ``part``.
"""

import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import msgspec

from daemon.clock import MINUTE, minute_from, stamp

# A passage of a few lines, the unit of search results.

Kind = Literal["history", "memory", "note", "message"]

DOCID_CHARS = 8
"""Hexadecimal digits: enough that of 10,000 chunks two seldom share them."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a few lines from one place."""

    kind: Kind
    file: str
    """As ``Hit.file``."""
    first: int
    """The first line, from 1; of messages the index of the first in the log."""
    upto: int
    """One past the last."""
    part: int = 0
    """Which part of the first line or message it begins with, when that is cut."""
    text: str
    time: str = ""
    """ISO 8601, UTC; empty: unknown."""
    speaker: str = ""
    heading: str = ""

    @property
    def docid(self) -> str:
        """The ID of the passage, which stays the same while the place exists."""
        place = f"{self.file}:{self.first}:{self.part}"
        return hashlib.sha256(place.encode()).hexdigest()[:DOCID_CHARS]


def said(text: str, *, speaker: str, part: int) -> str:
    """The text of a passage with its speaker before it, unless the passage is a later part of a message."""
    return f"{speaker}: {text}" if speaker and not part else text


# Splits a memory into passages of a few lines, the units of search results. Pure.

CHUNK_TOKENS = 80
"""As ``tokens_about`` counts."""

HISTORY_FILE, MEMORY_FILE = "memory/HISTORY.md", "memory/MEMORY.md"

SPEAKER_MAX_CHARS = 80

FORGOTTEN = "[forgotten]"
"""What stands where something was removed (``daemon.forget.text_matcher``)."""

_SENTENCES = re.compile(
    r".+?(?:[.!?…]{1,9}[\"')\]”’]{0,3}(?=\s)|[。！？；]{1,9}[”’」』）]{0,3}|\Z)\s*", re.DOTALL
).findall
_CLAUSES = re.compile(r".+?(?:[,;:](?=\s)|[，、：；]|\Z)\s*", re.DOTALL).findall
_WORDS = re.compile(r"\s*\S+\s*|\s+").findall
_PIECES = re.compile(rf".{{1,{CHUNK_TOKENS // 2}}}", re.DOTALL).findall
"""The last resort; so few characters are within the limit whatever they are."""

_HEAD = re.compile(
    rf"\[(?P<time>{MINUTE}|\?)\]\s*"
    r"(?:\[RAW\] \d+ messages?\s*|(?P<speaker>USER|ASSISTANT|TOOL|SYSTEM)(?: \[tools: [^\]\n]*\])?:\s*)?"
)
_is_title = re.compile(r"(#{1,6})\s+(?=\S)").match
_FENCE = re.compile(r"\s*(```|~~~)")


class _Piece(NamedTuple):
    """A part of a line that is no longer than a chunk."""

    line: int
    part: int
    text: str


def tokens_about(text: str) -> float:
    """The approximate tokens of a text: 0.25 for each English letter, and 1 for each Chinese character."""
    if text.isascii():
        return len(text) / 4
    wide = (len(text.encode(errors="replace")) - len(text)) / 2
    return wide + max(0.0, len(text) - wide) / 4


def lines_of(text: str) -> int:
    """The number of lines of an entry or note in its file, including the blank line after it."""
    return text.strip("\n").count("\n") + 2


def history_chunks(text: str, *, line: int, time: str = "", zone: dt.tzinfo = dt.UTC) -> list[Chunk]:
    """The passages of an entry of HISTORY.md.

    Args:
        text: as it stands there; the times of lines that begin with one are taken from there.
        line: where it begins, from 1.
        time: ISO 8601, UTC; of lines without a time before them.
        zone: in which the times of the text are meant.
    """
    return list(_timed("history", HISTORY_FILE, text, line=line, time=time, zone=zone))


def note_chunks(text: str, *, date: str, line: int, time: str = "", zone: dt.tzinfo = dt.UTC) -> list[Chunk]:
    """The passages of a note of the day ``date``, ``YYYY-MM-DD``; other arguments as for ``history_chunks``."""
    return list(_timed("note", f"memory/{date}.md", text, line=line, time=time, zone=zone))


def memory_chunks(text: str, *, file: str = MEMORY_FILE, time: str = "") -> list[Chunk]:
    """The sections of a MEMORY.md. A passage's heading is that of its section, after the headings above it."""
    found, titles, section = list[Chunk](), list[tuple[int, str]](), list[tuple[int, str]]()
    fenced, under = False, 0

    def end_section() -> None:
        blank = Chunk(kind="memory", file=file, first=0, upto=0, text="", time=time, heading=_path(titles))
        # A heading with nothing below it says something too.
        alone = under and not any(text.strip() for _, text in section)
        found.extend(_grouped(blank, [(under, titles[-1][1])] if alone else section))
        section.clear()

    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= bool(_FENCE.match(line))
        if not fenced and (title := _is_title(line)):
            end_section()
            level, name = len(title[1]), line[title.end() :].strip().rstrip("#").rstrip()
            titles, under = [*(above for above in titles if above[0] < level), (level, name)], number
        else:
            section.append((number, line))
    end_section()
    return found


def message_chunks(text: str, *, session: str, index: int, time: str = "", speaker: str = "") -> list[Chunk]:
    """The passages of a message of a log. ``index`` is its place there, ``time`` its arrival, ISO 8601, UTC."""
    blank = Chunk(
        kind="message",
        file=f"transcript/{session}",
        first=index,
        upto=index + 1,
        text="",
        time=time,
        speaker=speaker[:SPEAKER_MAX_CHARS],
    )
    chunks = _grouped(blank, enumerate(text.split("\n")))
    return [msgspec.structs.replace(chunk, first=index, upto=index + 1, part=at) for at, chunk in enumerate(chunks)]


def _timed(kind: Kind, file: str, text: str, *, line: int, time: str, zone: dt.tzinfo) -> Iterator[Chunk]:
    blank = Chunk(kind=kind, file=file, first=0, upto=0, text="", time=time)
    said = list[tuple[int, str]]()
    for number, content in enumerate(text.strip("\n").split("\n"), line):
        if head := _HEAD.match(content):
            yield from _grouped(blank, said)
            said = [(number, content[head.end() :])]
            blank = msgspec.structs.replace(
                blank, time=_moment(head["time"], zone) or blank.time, speaker=(head["speaker"] or "").lower()
            )
        else:
            said.append((number, content))
    yield from _grouped(blank, said)


def _moment(minute: str, zone: dt.tzinfo) -> str:
    try:
        return stamp(minute_from(minute, zone))
    except (ValueError, OverflowError):
        return ""


def _path(titles: Iterable[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in titles)


def _grouped(blank: Chunk, lines: Iterable[tuple[int, str]]) -> Iterator[Chunk]:
    """Numbered lines as chunks like ``blank``, each as long as the limit allows."""
    group, tokens = list[_Piece](), 0.0
    for number, line in lines:
        for part, text in enumerate(_cut(line)):
            count = tokens_about(text) + bool(group)
            if group and tokens + count > CHUNK_TOKENS:
                yield from _chunk(blank, group)
                group, tokens = [], 0.0
            group.append(_Piece(number, part, text))
            tokens += count
    yield from _chunk(blank, group)


def _chunk(blank: Chunk, group: list[_Piece]) -> Iterator[Chunk]:
    text = "".join(f"\n{piece.text}" if not piece.part and at else piece.text for at, piece in enumerate(group))
    if not text.strip():
        return
    # Blank lines at the ends are nobody's; the place is where something stands.
    while not group[0].text.strip():
        group = group[1:]
    while not group[-1].text.strip():
        group = group[:-1]
    first = group[0]
    yield msgspec.structs.replace(blank, first=first.line, upto=group[-1].line + 1, part=first.part, text=text.strip())


def _cut(line: str) -> list[str]:
    """A line as pieces that are no longer than a chunk; what is short enough stays whole."""
    pieces = [line]
    for cut in (_SENTENCES, _CLAUSES, _WORDS, _PIECES):
        if all(tokens_about(piece) <= CHUNK_TOKENS for piece in pieces):
            break
        pieces = [part for piece in pieces for part in (cut(piece) if tokens_about(piece) > CHUNK_TOKENS else (piece,))]
    return pieces
