"""Archived messages in the word indexes: a search reads no archive files where an index is complete."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path

from anyio import to_thread

from daemon.bus import Bus
from daemon.recall.index.index_files import existing_file
from daemon.recall.index.index_schema import BUSY_MS, SCHEMA
from daemon.recall.index.index_store import KIND
from daemon.transcripts import Needle


class MessageIndex:
    """Names messages that may match, as ``daemon.transcripts.Index``; it creates and updates no index.

    An index holds no tool calls, and no results of tools that have more than ``TOOL_MAX_CHARS`` characters.
    """

    def __init__(self, bus: Bus, data_dir: Path) -> None:
        """Nothing is asked yet."""
        self._bus = bus
        self._data_dir = data_dir
        self.found = 0
        """Sessions whose archived messages an index contains."""
        self.missed = 0
        """Sessions whose archived messages no index contains."""

    async def candidates(self, session: str, upto: int, needle: Needle) -> Sequence[int] | None:
        """The messages before index ``upto`` that may match, in order; None: no index contains all of them.

        Raises:
            BusUnavailable: Redis is away.
        """
        keys = self._bus.keys
        scope = ((await self._bus.call("HGET", keys.session(session), "scope")) or b"").decode()
        joined, forgets = await self._bus.call("HMGET", keys.memory(scope), "joined", "forgets")
        if joined:
            scope = joined.decode()
            forgets = await self._bus.call("HGET", keys.memory(scope), "forgets")
        look = partial(_candidates, self._data_dir, scope, int(forgets or 0), session, upto, needle)
        found = await to_thread.run_sync(look)
        self.found += found is not None
        self.missed += found is None
        return found


def _candidates(data_dir: Path, scope: str, forgets: int, session: str, upto: int, needle: Needle) -> list[int] | None:
    path = existing_file(data_dir, scope, KIND)
    try:
        if path is None:
            return None
        with closing(sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")  # one state for all that is read
            if not _is_complete(connection, forgets, session, upto):
                return None
            return [index for index, text in _texts(connection, session, upto) if needle.stands_in(text)]
    except (OSError, sqlite3.Error):
        return None  # the archive is read instead


def _is_complete(connection: sqlite3.Connection, forgets: int, session: str, upto: int) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA:
        return False
    found = connection.execute("SELECT value FROM meta WHERE name = 'forgets'").fetchone()
    fed = connection.execute("SELECT upto FROM fed WHERE source = ?", (f"log {session}",)).fetchone()
    gap = f"gap {session} "
    gaps = connection.execute("SELECT 1 FROM fed WHERE substr(source, 1, ?) = ?", (len(gap), gap)).fetchone()
    return found == (forgets,) and fed is not None and fed[0] >= upto and gaps is None


def _texts(connection: sqlite3.Connection, session: str, upto: int) -> Iterator[tuple[int, str]]:
    """Each message's index and its text, whose chunks may have been cut within a word."""
    rows = connection.execute(
        "SELECT first, text FROM chunk WHERE file = (SELECT id FROM file WHERE name = ?) AND first < ? "
        "ORDER BY first, part",
        (f"transcript/{session}", upto),
    )
    for index, chunks in groupby(rows, lambda row: int(row[0])):
        yield index, "".join(text for _, text in chunks)
