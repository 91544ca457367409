"""The vectors of a scope, in an SQLite file beside its keyword index. All methods block.

The file is as disposable as the index, and no less to be forgotten: it holds what texts mean. One that is damaged, of
another form, or of another embedder is made anew.

* ``state``: one row, a ``State`` as JSON.
* ``rows``: a row of the index, the hash of its text, the vector.
* ``known``: hash and vector of what the index held before it was made anew, until all its rows have come again.

The journal is one that is rolled back, and not one that is written ahead: with it SQLite itself refuses to write into a
file that somebody has deleted, and beside it no file lasts whose deletion could go wrong.
"""

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec
import structlog
from msgspec.structs import replace

from daemon.durable import FILE_MODE, folder_below
from daemon.errors import brief
from daemon.recall.vectors.keyword_index import Extent
from daemon.scope import folder_of

FOLDER = "search"
NAME = "vectors.sqlite3"
FORM = 1
"""Of the tables; a file of another one is made anew."""
BUSY_S = 0.5
"""Longest wait for another process that writes."""
PAGE_BYTES = 16_384
"""Of the file: a vector of 1,536 numbers has 6,144 bytes, and one that fits no page is scattered over several."""
HASH_BYTES = 16
BLOCK = 4_096
"""Rows read at once: 4 MB of 256 numbers each."""

_TABLES = (
    "CREATE TABLE state (state TEXT NOT NULL)",
    "CREATE TABLE rows (row INTEGER PRIMARY KEY, hash BLOB NOT NULL, vector BLOB NOT NULL)",
    "CREATE INDEX rows_hash ON rows (hash)",
    "CREATE TABLE known (hash BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID",
)
_LOOK_UP = "SELECT vector FROM known WHERE hash = ?1 UNION ALL SELECT vector FROM rows WHERE hash = ?1 LIMIT 1"

_log = structlog.get_logger()


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a file is, and how far it is fed."""

    nonce: str
    """By which it is told from another file that has, or had, its name."""
    maker: str = ""
    """``Embedder.name`` of what made the vectors."""
    dims: int = 0
    """Numbers in each; 0: there are none yet."""
    generation: str = ""
    """With ``removed`` the ``Extent`` of the index when the pass began that is under way or was the last one."""
    removed: int = 0
    upto: int = 0
    """The last row of the index that this pass has come to."""
    changes: int = 0
    """How often a row was taken out or got another text; without that there are only more of them."""
    fed_until: float = 0.0
    """Until when a process has the feeding for itself: seconds since 1970."""


_decode = msgspec.json.Decoder(State).decode


class Row(NamedTuple):
    """A row of the index with its vector."""

    row: int
    hash: bytes
    vector: bytes
    """Float32, in this machine's order of bytes."""


class Gone(Exception):
    """The file is another one than it was: what belonged into it may have been forgotten since."""


def file_of(data_dir: Path, scope: str) -> Path:
    """Where the vectors of ``scope`` are kept: in the folder of its indexes, which goes whole when it forgets."""
    return data_dir / FOLDER / folder_of(scope) / NAME


def hash_of(text: str) -> bytes:
    """What a text's vector is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


class VectorStore:
    """One open file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def state(self) -> State:
        """What stands in the file."""
        found = self._connection.execute("SELECT state FROM state").fetchone()
        try:
            return _decode(found[0])
        except (TypeError, msgspec.MsgspecError) as error:
            raise sqlite3.DatabaseError("the stored state of the search vectors cannot be read") from error

    def anew(self, maker: str) -> None:
        """Empty it for the vectors of ``maker``."""
        with self._writing() as state:
            self._connection.execute("DELETE FROM rows")
            self._connection.execute("DELETE FROM known")
            self._save(State(nonce=state.nonce, maker=maker, changes=state.changes + 1, fed_until=state.fed_until))

    def begin(self, extent: Extent, *, same: bool) -> None:
        """Begin a pass over the rows of an index; ``same``: what is known of its rows still holds but for a few."""
        with self._writing() as state:
            if not same:
                self._connection.execute("INSERT OR IGNORE INTO known SELECT hash, vector FROM rows")
                self._connection.execute("DELETE FROM rows")
            changes = state.changes + (not same)
            self._save(
                replace(state, generation=extent.generation, removed=extent.removed, upto=0, changes=changes),
            )

    def known(self, hashes: Iterable[bytes]) -> dict[bytes, bytes]:
        """The vectors of those texts that have one already."""
        found = ((key, self._connection.execute(_LOOK_UP, (key,)).fetchone()) for key in hashes)
        return {key: row[0] for key, row in found if row is not None}

    def put(self, rows: Sequence[Row], *, after: int, dims: int) -> None:
        """The next rows of the pass, all that there are above ``after``, in order."""
        upto = rows[-1].row
        with self._writing() as state:
            between = dict(
                self._connection.execute("SELECT row, hash FROM rows WHERE row > ? AND row <= ?", (after, upto))
            )
            texts = {row.row: row.hash for row in rows}
            stale = [(row,) for row, key in between.items() if texts.get(row) != key]
            new = [row for row in rows if between.get(row.row) != row.hash]
            self._connection.executemany("DELETE FROM rows WHERE row = ?", stale)
            self._connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", new)
            self._save(replace(state, upto=upto, dims=dims, changes=state.changes + bool(stale)))

    def finish(self, after: int, last: int) -> None:
        """The pass has come to the end: above ``after`` no row has a text, and ``last`` is the highest one.

        Others may feed from now on.
        """
        with self._writing() as state:
            gone = self._connection.execute("DELETE FROM rows WHERE row > ?", (after,)).rowcount
            self._connection.execute("DELETE FROM known")
            self._save(replace(state, upto=max(after, last), changes=state.changes + bool(gone), fed_until=0.0))

    def claim(self, now_s: float, until_s: float) -> bool:
        """Whether this process may feed until then; nobody else does meanwhile."""
        with self._writing() as state:
            # A clock that was set back must not keep everybody out.
            free = not now_s < state.fed_until <= until_s
            if free:
                self._save(replace(state, fed_until=until_s))
            return free

    def extend(self, until_s: float) -> None:
        """Go on feeding, or with a time in the past let others do it."""
        with self._writing() as state:
            self._save(replace(state, fed_until=until_s))

    def blocks(self, after: int) -> Iterator[tuple[list[int], bytes]]:
        """All rows above ``after``, in order: their numbers and, end to end, their vectors."""
        while block := self._connection.execute(
            "SELECT row, vector FROM rows WHERE row > ? ORDER BY row LIMIT ?", (after, BLOCK)
        ).fetchall():
            rows = [row for row, _ in block]
            yield rows, b"".join(vector for _, vector in block)
            after = rows[-1]

    def size(self) -> int:
        """How many rows there are."""
        (count,) = self._connection.execute("SELECT count(*) FROM rows").fetchone()
        return int(count)

    @contextmanager
    def _writing(self) -> Generator[State]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.state()
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def _save(self, state: State) -> None:
        self._connection.execute("UPDATE state SET state = ?", (msgspec.json.encode(state).decode(),))


@contextmanager
def opened(path: Path, maker: str, *, nonce: str = "", make: bool = False) -> Generator[VectorStore]:
    """The file at ``path`` for vectors of ``maker``; one that is damaged is deleted, and made anew the next time.

    Raises:
        Gone: there is no file, and none is to be made; it was deleted; or it is another one than that of ``nonce``.
        sqlite3.Error: it is locked, damaged, or the disk is full or read-only.
        OSError: likewise.
    """
    if not path.exists():
        if not make:
            raise Gone
        _create(path)
    try:
        with closing(_usable(path)) as connection:
            store = VectorStore(connection)
            state = store.state()
            if nonce and state.nonce != nonce:
                raise Gone
            if state.maker != maker:
                store.anew(maker)
            yield store
    except sqlite3.DatabaseError as error:
        if not path.exists() or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED:
            raise Gone from error
        if is_damage(error):
            _log.warning("vectors.rebuilt", path=str(path), reason=brief(error))
            remove(path)
        raise


def is_damage(error: sqlite3.Error) -> bool:
    """Whether it is the file that is wrong, and not the moment."""
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    # Ours have no code, and tables that are missing have a general one.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in codes


def remove(path: Path) -> None:
    """Delete a file of vectors, its journal first: alone it would be rolled back into the next file of that name."""
    for each in (path.with_name(f"{path.name}-journal"), path):
        with suppress(FileNotFoundError):
            each.unlink()


def _create(path: Path) -> None:
    """An empty file that nobody else may read, as SQLite would let them."""
    root, folder = path.parents[2], path.parent.name
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    with folder_below(root, FOLDER, folder, make=True) as below, suppress(FileExistsError):
        os.close(os.open(path.name, flags, FILE_MODE, dir_fd=below))


def _usable(path: Path) -> sqlite3.Connection:
    # Never made by SQLite: whoever forgets may delete it at any moment.
    address = f"file:{quote(str(path))}?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    # A power cut may cost the file, which is made anew; a process that is killed costs nothing. Waiting for the disk
    # at each step would cost a search more than all else.
    connection.execute("PRAGMA synchronous = OFF")
    form = _form(connection)
    if form == FORM:
        return
    if form:
        raise sqlite3.DatabaseError(f"the vector tables have format {form}, but format {FORM} is required")
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("BEGIN IMMEDIATE")
    if not _form(connection):  # else another process was quicker
        for statement in _TABLES:
            connection.execute(statement)
        state = State(nonce=secrets.token_hex(8))
        connection.execute("INSERT INTO state VALUES (?)", (msgspec.json.encode(state).decode(),))
        connection.execute(f"PRAGMA user_version = {FORM}")
    connection.commit()


def _form(connection: sqlite3.Connection) -> int:
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    return int(form)
