"""An open index of a scope. All methods block. One thread at a time uses it; others wait briefly.

Several processes share a file: they all read, and of those who want to feed the same records one does. Whoever feeds
names the place that he has seen, so what another one has fed meanwhile is not fed twice.
"""

import secrets
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import structlog

from daemon.recall.chunks import Chunk
from daemon.recall.evidence import form_of
from daemon.recall.index.context_terms import about
from daemon.recall.index.index_files import (
    BUSY_MS,
    PRAGMAS,
    SCHEMA,
    TABLES,
    IndexBusy,
    IndexDamaged,
    IndexGone,
    IndexUnusable,
    index_file,
    is_there,
)
from daemon.recall.search_terms import indexed

KIND = "words"
"""Of the files."""

WAIT_S = 2.0
"""How long a thread waits for another one of this process that uses the same index."""

OPEN_BUSY_MS = 1_000
"""As ``BUSY_MS``, while an index is opened: what another process has left in its log is taken over then."""

_T = TypeVar("_T")
_log = structlog.get_logger()


class FeedPosition(NamedTuple):
    """The position up to which a source is indexed."""

    upto: int = 0
    """Index one past the last record."""
    last: str = ""
    """What the last one is known by."""


NOWHERE = FeedPosition()


class IndexWrite:
    """A prepared write to an index, which is saved as a whole."""

    def __init__(self, lines: Mapping[str, int]) -> None:
        """``lines``: by file, the line at which its next record begins; 1 for those that are not there."""
        self.chunks: list[Chunk] = []
        self.lines: dict[str, int] = dict(lines)
        self.drops: list[tuple[str, int]] = []
        """Files of which all chunks go that begin at an index or behind it, before others come."""
        self.fed: dict[str, FeedPosition] = {}
        """Other sources that begin."""
        self.statements: list[tuple[str, Sequence[Any]]] = []
        """What else is done, behind that."""

    def line(self, file: str) -> int:
        """Where the next record of ``file`` begins."""
        return self.lines.get(file, 1)


class Index:
    """An open index."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, *, forgets: int) -> None:
        """``connection`` is ours from now on; ``path``: of its file, None: it is in memory."""
        self.path = path
        self.forgets = forgets
        """How often the scope had forgotten something when this index was begun."""
        self._inode = path.stat().st_ino if path else 0
        self._connection = connection
        self._lock = threading.Lock()
        self._is_closed = False
        self._fed: dict[str, FeedPosition] | None = None

    @classmethod
    def open(cls, data_dir: Path, scope: str, *, forgets: int, anew: str = "") -> "Index":
        """The index of a scope, made if there is none that can be used.

        Args:
            data_dir: as of the process.
            scope: a home.
            forgets: how often something of it was forgotten; an index of another number is deleted.
            anew: why it must be made anew, for the log.

        Raises:
            IndexBusy: others keep it for themselves.
            IndexUnusable: the disk does not let it be made or read.
        """
        with _translated(), index_file(data_dir, scope, KIND, anew=bool(anew)) as path:
            if not anew:
                try:
                    return cls._opened(path, forgets)
                except IndexDamaged as error:
                    anew = str(error)
        _log.warning("index.remade", path=str(path), reason=anew)
        with _translated(), index_file(data_dir, scope, KIND, anew=True) as path:
            return cls._opened(path, forgets)

    @classmethod
    def in_memory(cls, *, forgets: int) -> "Index":
        """An index in the memory of the process."""
        return cls._prepared(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False), None, forgets)

    @classmethod
    def _opened(cls, path: Path, forgets: int) -> "Index":
        with _translated():
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            with _translated():
                return cls._prepared(connection, path, forgets)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def _prepared(cls, connection: sqlite3.Connection, path: Path | None, forgets: int) -> "Index":
        connection.executescript(PRAGMAS)
        connection.execute(f"PRAGMA busy_timeout = {OPEN_BUSY_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        if _one(connection, "PRAGMA user_version") == 0 and not _one(connection, "SELECT count(*) FROM sqlite_master"):
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES}")
            connection.execute(
                "INSERT INTO meta VALUES ('forgets', ?), ('removed', 0), ('generation', ?)",
                (forgets, secrets.token_hex(8)),
            )
            connection.execute("COMMIT")
        version = _one(connection, "PRAGMA user_version")
        if version != SCHEMA:
            raise IndexDamaged(f"the index has format {version}, but this version of Millpond uses format {SCHEMA}")
        found = _one(connection, "SELECT value FROM meta WHERE name = 'forgets'")
        if found != forgets:
            raise IndexDamaged("the search index may contain deleted data")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        return cls(connection, path, forgets=forgets)

    def is_there(self) -> bool:
        """Whether its file still lies where it was opened; if not, it was deleted since, and is not to be used."""
        return self.path is None or is_there(self.path, self._inode)

    @contextmanager
    def held(self) -> Generator[sqlite3.Connection]:
        """The connection, for one thread, for the block.

        Raises:
            IndexBusy: another thread, or another process, has had it for too long.
            IndexDamaged: it cannot be read as what it should be.
            IndexUnusable: the disk fails.
        """
        if not self._lock.acquire(timeout=WAIT_S):
            raise IndexBusy("another task of this process is using the search index")
        try:
            with _translated():
                yield self._connection
        finally:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            self._lock.release()

    def interrupt(self) -> None:
        """Have whatever another thread asks of it end; harmless when nothing is asked."""
        with suppress(sqlite3.Error):
            self._connection.interrupt()

    def close(self) -> None:
        """Let go of it; left to the garbage collector when another thread uses it for too long."""
        if self._lock.acquire(timeout=WAIT_S):
            try:
                self._is_closed = True
                with suppress(sqlite3.Error):
                    self._connection.close()
            finally:
                self._lock.release()

    # Feeding

    def _check(self) -> None:
        if self._is_closed:
            raise IndexGone("this process has closed the search index")
        if not self.is_there():
            raise IndexGone("the index was deleted")

    def ask(self, question: Callable[[sqlite3.Connection], _T]) -> _T:
        """What ``question`` gives; errors as for ``held``, and IndexGone: the file was deleted since it was opened."""
        with self.held() as connection:
            self._check()
            connection.execute("BEGIN")  # one state for all that it reads
            return question(connection)

    def fed(self) -> dict[str, FeedPosition]:
        """How far all sources are fed, as far as this process knows: another one may have fed more.

        Errors as for ``held``.
        """
        if self._fed is None:
            with self.held() as connection:
                rows = connection.execute("SELECT source, upto, last FROM fed")
                self._fed = {source: FeedPosition(*rest) for source, *rest in rows}
        return self._fed

    @property
    def known(self) -> dict[str, FeedPosition] | None:
        """What ``fed`` would give, if that does not need the file."""
        return self._fed

    def feed(
        self, source: str, seen: FeedPosition, now: FeedPosition, make: Callable[[sqlite3.Connection, IndexWrite], None]
    ) -> bool:
        """Take records in, as one; False, when another process has fed the source meanwhile: read the places again.

        Args:
            source: as in ``fed``.
            seen: how far it was fed before, ``NOWHERE`` when it was not.
            now: how far it is then; ``NOWHERE``: the source is through.
            make: fills what is to be written; it may read.

        Errors as for ``ask``; a lock that another process has for writing is IndexBusy nearly at once.
        """
        with self.held() as connection:
            known, self._fed = self._fed, None
            self._check()
            if _fed_of(connection, source) != seen:
                return False
            write = IndexWrite(dict(connection.execute("SELECT name, next FROM file WHERE next > 1")))
            make(connection, write)
            rows = [(chunk, its, about(chunk, its)) for chunk in write.chunks for its in (indexed(chunk.text),)]
            connection.execute("BEGIN IMMEDIATE")
            if _fed_of(connection, source) != seen:
                connection.execute("ROLLBACK")
                return False
            for file, first in write.drops:
                drop_chunks(connection, file, first)
            _insert(connection, rows)
            for file, line in write.lines.items():
                connection.execute("UPDATE file SET next = ? WHERE id = ?", (line, file_id(connection, file)))
            for sql, values in write.statements:
                connection.execute(sql, values)
            if now == NOWHERE:
                connection.execute("DELETE FROM fed WHERE source = ?", (source,))
            for each, place in ({source: now} | write.fed).items():
                if place != NOWHERE:
                    connection.execute("INSERT OR REPLACE INTO fed VALUES (?, ?, ?)", (each, *place))
            connection.execute("COMMIT")
            if known is not None:
                self._fed = {**known, source: now, **write.fed}
            return True


def drop_chunks(connection: sqlite3.Connection, file: str, first: int = 0) -> None:
    """Delete the chunks of a file that begin at ``first`` or behind it."""
    rows = connection.execute(
        "SELECT id, terms || ' ' || about FROM chunk WHERE file = ? AND first >= ?", (file_id(connection, file), first)
    ).fetchall()
    # An index that keeps no texts is told what it was given, to the letter.
    connection.executemany("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)", rows)
    connection.executemany("DELETE FROM chunk WHERE id = ?", [row[:1] for row in rows])
    if rows:
        connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'removed'")


def file_id(connection: sqlite3.Connection, name: str) -> int:
    """The number of a file; it is given one when it has none."""
    found = connection.execute("SELECT id FROM file WHERE name = ?", (name,)).fetchone()
    if found is None:
        found = connection.execute("INSERT INTO file (name, next) VALUES (?, 1) RETURNING id", (name,)).fetchone()
    return int(found[0])


def _insert(connection: sqlite3.Connection, rows: Iterable[tuple[Chunk, str, str]]) -> None:
    ids = dict[str, int]()
    for chunk, terms, beside in rows:
        file = ids.get(chunk.file) or ids.setdefault(chunk.file, file_id(connection, chunk.file))
        values = (file, chunk.first, chunk.part, chunk.upto, int(chunk.docid, 16), chunk.kind)
        cursor = connection.execute(
            "INSERT INTO chunk (file, first, part, upto, docid, kind, time, speaker, heading, text, form, terms, about)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *values,
                chunk.time,
                chunk.speaker,
                chunk.heading,
                chunk.text,
                form_of(chunk.text, terms, chunk.speaker),
                terms,
                beside,
            ),
        )
        connection.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (cursor.lastrowid, f"{terms} {beside}"))


def _fed_of(connection: sqlite3.Connection, source: str) -> FeedPosition:
    found = connection.execute("SELECT upto, last FROM fed WHERE source = ?", (source,)).fetchone()
    return FeedPosition(*found) if found else NOWHERE


def _one(connection: sqlite3.Connection, sql: str) -> Any:
    found = connection.execute(sql).fetchone()
    return found[0] if found else None


# What SQLite says (sqlite.org/rescode.html), the low byte of its codes

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT}
_UNUSABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_NOMEM,
}


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        kind = IndexBusy if code in _BUSY else IndexUnusable if code in _UNUSABLE else IndexDamaged
        # SQLite's words quote the words of a search.
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise kind(
            f"the search index cannot be used: {error}", brief=f"the search index cannot be used: {name}"
        ) from error
    except TimeoutError as error:
        raise IndexBusy(f"the search index cannot be used: {error.strerror or error}") from error
    except OSError as error:
        raise IndexUnusable(f"the search index cannot be used: {error.strerror or error}") from error
