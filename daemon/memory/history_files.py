"""HISTORY.md and the files of single days, which only grow, synchronized with Redis. All functions block."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from daemon.memory.append_files import grow, rewrite
from daemon.memory.memory_file import MEMORY
from daemon.memory.sidecar import SIDE_CAR, SideCar, Told, checksum
from daemon.memory.stored_memory import Stored

HISTORY = "HISTORY.md"

_is_day = re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch
"""What a note's day looks like; its file is called by it, so nothing else may stand there."""


def is_shown(name: str) -> bool:
    """Whether a file with this name shows data of Redis."""
    return name in (MEMORY, HISTORY, SIDE_CAR) or bool(_is_day(name.removesuffix(".md")))


_Entry = TypeVar("_Entry")


def history_written(folder: int, side: SideCar, stored: Stored) -> SideCar:
    """The sidecar after HISTORY.md was synchronized.

    Raises:
        OSError: it could not be written.
    """
    told, texts = _since(side.history, stored.history, str)
    known = side.sizes.get(HISTORY, 0) if told.count else 0
    count = told.count + len(texts)
    # Not what has come meanwhile: that is the next look's.
    size = grow(folder, HISTORY, known=known, texts=texts, everything=lambda: stored.history(0)[:count])
    return _with_sizes(side, {HISTORY: size}, history=told.and_then(texts))


def days_written(folder: int, side: SideCar, stored: Stored) -> SideCar:
    """The sidecar after the files of all days were synchronized. Errors as for ``history_written``."""
    told, notes = _since(side.notes, stored.notes, lambda note: note.text)
    days: dict[str, list[str]] = {day: [] for name in side.sizes if _is_day(day := name.removesuffix(".md"))}
    for note in notes:
        if _is_day(note.date):
            days.setdefault(note.date, []).append(note.text)
    sizes, count = dict[str, int](), told.count + len(notes)
    for day, texts in days.items():
        known = side.sizes.get(f"{day}.md", 0) if told.count else 0
        sizes[f"{day}.md"] = grow(folder, f"{day}.md", known=known, texts=texts, everything=_all_of(day, stored, count))
    return _with_sizes(side, sizes, notes=told.and_then([note.text for note in notes]))


def written_anew(folder: int, side: SideCar, stored: Stored) -> SideCar:
    """The sidecar after HISTORY.md and all days were rewritten, because a part of them was forgotten.

    Errors as for ``history_written``.
    """
    forgets = stored.forgets()
    if forgets == side.forgets:
        return side
    history, notes = stored.history(0), stored.notes(0)
    sizes = {HISTORY: rewrite(folder, HISTORY, history)}
    for day in {name.removesuffix(".md") for name in side.sizes} | {note.date for note in notes}:
        if _is_day(day):
            sizes[f"{day}.md"] = rewrite(folder, f"{day}.md", [note.text for note in notes if note.date == day])
    told = {"history": Told().and_then(history), "notes": Told().and_then([note.text for note in notes])}
    return msgspec.structs.replace(_with_sizes(side, sizes, **told), forgets=forgets)


def _since(
    told: Told, ask: Callable[[int], Sequence[_Entry]], text_of: Callable[[_Entry], str]
) -> tuple[Told, Sequence[_Entry]]:
    """What the files hold, and what came since; when Redis has lost what they hold, nothing, and all there is."""
    if told.count:
        last, *since = ask(told.count - 1) or (None,)
        if last is not None and checksum(text_of(last).encode()) == told.last:
            return told, since
    return Told(), ask(0)


def _all_of(day: str, stored: Stored, count: int) -> Callable[[], Sequence[str]]:
    return lambda: [note.text for note in stored.notes(0)[:count] if note.date == day]


def _with_sizes(side: SideCar, sizes: dict[str, int], **told: Told) -> SideCar:
    sizes = side.sizes | {name: size for name, size in sizes.items() if size}
    return msgspec.structs.replace(side, sizes=sizes, **told)
