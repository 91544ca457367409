"""Search results as shown to users and models, with neighboring text and without duplicates. All functions block."""

import datetime as dt
import re
import sqlite3
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from msgspec import json

from daemon.recall.chunks import CHUNK_TOKENS, DOCID_CHARS, said, tokens_about
from daemon.recall.evidence import Evidence
from daemon.recall.index.index_files import ONE_OF
from daemon.recall.search_results import SNIPPET_CHARS, TURN_SNIPPET_CHARS, Hit, InPrompt, ResultPlace
from daemon.recall.vectors.keyword_index import Extent, Text

_is_docid = re.compile(f"[0-9a-fA-F]{{{DOCID_CHARS}}}").fullmatch

WIDE_MAX = 7
"""The hits of a turn that are shown with text beside them. All others are shown alone, so that more of them fit. (With
5, or without a limit, a turn shows the evidence for up to 1 percent fewer of the questions of LoCoMo.)"""

LEAST_CHARS = 24
"""Of a neighbour less than this is not worth showing."""

TOKENS_PER_CHAR = 3 * CHUNK_TOKENS / SNIPPET_CHARS
"""A snippet of Chinese has fewer characters than it might: a chunk and those beside it."""

BEFORE, BEHIND = 2, 4
"""Chunks before and behind a message that are looked at: an answer may stand in the message after the next."""

APART = dt.timedelta(hours=6)
"""What was said so long before or after is not shown beside a hit: it is another conversation's, and of another day."""

_CHUNK = "c.id, f.name, c.first, c.part, c.upto, c.kind, c.time, c.speaker, c.docid, c.text, c.form, c.terms"
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
    query: str = "",
) -> tuple[Hit, ...]:
    """The first ``limit`` of the rows as hits, in this order.

    Rows are left out if they are gone, if they repeat a better row, if the prompt already contains them, or if they are
    no evidence for ``query`` (``Evidence``). Text that a better hit shows beside it is not shown again beside another
    hit, which shows more of the text behind it instead. ``Hit.shown_by`` names the better hit.
    """
    found, known = list[Hit](), set[str]()
    shown: dict[int, str] = {}
    most = TURN_SNIPPET_CHARS if prompt else SNIPPET_CHARS
    evidence = Evidence(query, in_turn=prompt is not None)
    for first in range(0, len(scored), limit):
        part = scored[first : first + limit]
        near = _near(connection, [row for row, _ in part], wide_max=2 * WIDE_MAX if prompt else limit)
        for row, score in part:
            record = near.get(row)
            if record is None or record[-1] in known:
                continue
            known.add(record[-1])
            if _is_held(record, prompt) or not evidence.worth(record[-2], record[-1]):
                continue
            docid = f"{record[8]:0{DOCID_CHARS}x}"
            beside = _Beside(connection, near, record, prompt, shown)
            is_wide = prompt is None or len(found) < WIDE_MAX
            snippet = snippet_of(
                _said(record), beside.stands(-1) if is_wide else (), beside.stands(1) if is_wide else (), most=most
            )
            shown_by = shown.get(row, "") if _is_whole(near, row, shown) else ""
            if not (shown_by and prompt):  # a turn leaves out what a better hit shows
                for at in (row, *(at for at, each in beside.seen if each in snippet)):
                    shown.setdefault(at, docid)
            within = min(1.0, max(0.0, score))
            found.append(
                Hit(docid=docid, file=record[1], score=within, snippet=snippet, time=record[6], shown_by=shown_by)
            )
            if len(found) == limit:
                return tuple(found)
    return tuple(found)


def _near(connection: sqlite3.Connection, rows: Sequence[int], *, wide_max: int) -> dict[int, Sequence[Any]]:
    """The rows, those before and behind each, and beside short messages among the first ``wide_max`` some more."""
    near = _fetched(connection, {near for row in rows for near in (row - 1, row, row + 1)})
    short = [row for row in rows[:wide_max] if row in near and _has_room(near[row], near.get(row + 1))]
    return near | _fetched(
        connection, {at for row in short for at in range(row - BEFORE, row + BEHIND + 1)} - near.keys()
    )


def _is_whole(near: dict[int, Sequence[Any]], row: int, shown: Container[int]) -> bool:
    """Whether ``shown`` contains the row and the parts of its message before and behind it."""
    ends = (next(at for at in count(row, step) if at not in shown) for step in (-1, 1))
    return all(at not in near or near[at][1:3] != near[row][1:3] for at in ends)


def _fetched(connection: sqlite3.Connection, rows: Collection[int]) -> dict[int, Sequence[Any]]:
    wanted = json.encode(sorted(rows)).decode()
    return {record[0]: record for record in connection.execute(f"{_SELECT} c.id {ONE_OF}", (wanted,))}


def _has_room(record: Sequence[Any], behind: Sequence[Any] | None) -> bool:
    """Whether more than the chunk behind a message may stand beside it."""
    left = TURN_SNIPPET_CHARS - len(record[9]) - LEAST_CHARS
    return record[5] == "message" and behind is not None and behind[1] == record[1] and len(behind[9]) < left


class _Beside:
    """What stands beside a hit."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        near: dict[int, Sequence[Any]],
        record: Sequence[Any],
        prompt: InPrompt | None,
        shown: Container[int],
    ) -> None:
        self._connection = connection
        self._near = near
        self._record = record
        self._prompt = prompt
        self._shown = shown
        self.seen: list[tuple[int, str]] = []
        """Rows that were wanted so far, with their texts."""

    def stands(self, step: int) -> Iterator[str | None]:
        """Before or behind it, by ``step``, mostly in rows before or behind its own; None: a better hit shows it."""
        row, file, first, part, _, kind, time, *_ = self._record
        there = self._near.get(row + step)
        if there is None or there[1] != file:
            otherwise = _BEHIND if step > 0 else _BEFORE
            there = self._connection.execute(otherwise, (file, first, part, 1)).fetchone()
        for _ in range((BEHIND if step > 0 else BEFORE) if kind == "message" else 1):
            if there is None or there[1] != file or _is_held(there, self._prompt) or _is_apart(time, there[6]):
                return
            row, time, its = there[0], there[6], _said(there)
            self.seen.append((row, its))
            yield None if row in self._shown else its
            there = self._near.get(row + step)


def _is_held(record: Sequence[Any], prompt: InPrompt | None) -> bool:
    if prompt is None or record[1] != prompt.file:
        return False
    return record[2] >= prompt.first and record[2] not in prompt.hidden


def _is_apart(one: str, other: str) -> bool:
    if one[:13] == other[:13]:
        return False  # the same hour
    try:
        return abs(dt.datetime.fromisoformat(one) - dt.datetime.fromisoformat(other)) > APART
    except (ValueError, TypeError):
        return False  # nobody knows when


def places_of(connection: sqlite3.Connection, docids: Sequence[str]) -> dict[str, ResultPlace]:
    """Where chunks stand, by docid; those are left out that there are not."""
    found = dict[str, ResultPlace]()
    for docid in docids:
        number = int(docid, 16) if _is_docid(docid) else -1
        record = connection.execute(f"{_SELECT} c.docid = ?", (number,)).fetchone()
        if record is not None:
            found[docid] = ResultPlace(file=record[1], first=record[2], upto=record[4])
    return found


def snippet_of(its: str, before: Iterable[str | None], behind: Iterable[str | None], *, most: int) -> str:
    """The passage whole, and of those beside it what there is room for.

    First the one behind it, from its beginning, then those before it, then others behind it.

    Args:
        its: what was found, as ``said`` gives it.
        before: what stands there, the nearest first; None: it is shown elsewhere.
        behind: the same; no more is taken than there is room for.
        most: characters of the snippet.
    """
    rest, earlier = iter(behind), iter(before)
    snippet, gap = _longer(_cut(its, most), "", *islice(rest, 1), most=most)
    while most - len(snippet) > LEAST_CHARS and (each := next(earlier, None)):
        longer = f"{_cut_front(each, most - len(snippet) - 1)}\n{snippet}"
        if not _fits(longer, most):
            break
        snippet = longer
    while gap is not None and most - len(snippet) > LEAST_CHARS:
        snippet, gap = _longer(snippet, gap, *islice(rest, 1), most=most)
    return snippet


def _longer(snippet: str, gap: str, *behind: str | None, most: int) -> tuple[str, str | None]:
    """With one more behind ``gap``, and behind what the next one is to stand; None: there is room for none."""
    for each in behind:
        if each is None:
            return snippet, "…\n"
        text = _cut(each, most - len(snippet) - 1 - len(gap))
        longer = f"{snippet}\n{gap}{text}"
        if _is_worth_it(text, each) and _fits(longer, most):
            return longer, "" if text == each else None
    return snippet, None


def _fits(snippet: str, most: int) -> bool:
    return tokens_about(snippet) <= TOKENS_PER_CHAR * most


def _is_worth_it(text: str, whole: str) -> bool:
    return len(text) >= min(LEAST_CHARS, len(whole)) > 0


def _said(record: Sequence[Any]) -> str:
    return said(record[9], speaker=record[7], part=record[3])


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
