"""The files of indexes, and how they are created and deleted. All functions block.

A scope's indexes lie in a folder of its own, ``<data directory>/search/<folder of the scope>/``, one file of each kind,
``<kind>-<generation>.sqlite3``, and what SQLite keeps beside it. Whoever makes or deletes one holds the folder's lock.
A generation's name never comes again: SQLite deletes by name when it closes a file, and would take away what belongs to
a younger file of the same name. So a process that still has a deleted file open harms nothing, and notices
(``is_there``).
"""

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from daemon.durable import FILE_MODE, folder_below, folder_lock, names_in
from daemon.errors import MillpondError
from daemon.recall.search_terms import TOKENIZER
from daemon.scope import folder_of

# Exceptions of search indexes.


class SearchError(MillpondError):
    """A search index cannot be used. Its contents can be rebuilt from Redis and the archive."""


class IndexBusy(SearchError):
    """Another process or task is using the index exclusively."""


class IndexDamaged(SearchError):
    """An index is damaged and must be deleted and rebuilt."""


class IndexGone(SearchError):
    """An index was deleted while this process had it open. Open it again."""


class IndexUnusable(SearchError):
    """An index cannot be read or written, because the disk is full, read-only or broken."""


# The schema of the index of a scope. The index is a copy, and is deleted if it is wrong.

SCHEMA = 6
"""Number of this form, ``PRAGMA user_version``; raise it when the form changes, or what becomes of words and texts."""

CACHE_KIB = 128
"""Pages that a connection keeps in memory; a hundred scopes are open at a time, and the system caches the file too."""

WAL_MAX_BYTES = 4 * 1024 * 1024
"""What the write-ahead log is cut to once it has been taken over into the file."""

BUSY_MS = 100
"""How long a statement waits for another process; who feeds is not waited for, so this is for moments only."""

PRAGMAS = f"""
PRAGMA busy_timeout = {BUSY_MS};
PRAGMA cache_size = -{CACHE_KIB};
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = ON;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = {WAL_MAX_BYTES};
"""
"""Of every connection. What is deleted is overwritten, and what is sorted is never written into temporary files."""

ONE_OF = "IN (SELECT value FROM json_each(?))"
"""One of the numbers of a JSON list. With a mark for each, every count of them is a statement of its own, of which a
connection keeps 128, each of 23 kB: a hundred scopes would hold 290 MB for searches that find now more, now less."""

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

-- How far each source is fed: 'history', 'notes', 'versions' and 'log <session>', to one past the last record that was
-- taken in, and what that is known by, so that it is noticed when Redis was set back. Also 'gap <session> <first>':
-- messages that could not be read when it was their turn, up to 'upto'; and 'scope <scope>': whose messages there are.
CREATE TABLE fed (source TEXT PRIMARY KEY, upto INTEGER NOT NULL, last TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  next INTEGER NOT NULL  -- line at which the next record begins
);

CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL,
  first INTEGER NOT NULL, part INTEGER NOT NULL, upto INTEGER NOT NULL,
  docid INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time TEXT NOT NULL,
  speaker TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  form TEXT NOT NULL,  -- 'evidence.Form'
  terms TEXT NOT NULL,  -- of the text, as 'words.indexed' gives them
  about TEXT NOT NULL  -- of who said it, when, below which heading, and classes of its words
);
CREATE INDEX chunk_place ON chunk (file, first, part);
CREATE INDEX chunk_docid ON chunk (docid);
CREATE INDEX chunk_time ON chunk (time);

-- The current MEMORY.md, and older versions of which lines are kept that no newer one holds; all other lines of these
-- are empty, but for headings.
CREATE TABLE version (number INTEGER PRIMARY KEY, time TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE gone (line TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;

-- Which chunks hold a term. No more: places within a text are not asked for, and what FTS5 calls a rank takes 50 times
-- as long as counting what was found, see 'ranking.py'.
CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', detail = none, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE term USING fts5vocab (words, row);

PRAGMA user_version = {SCHEMA};
"""


FOLDER = "search"
"""Below the data directory."""

ENDING = ".sqlite3"

LOCK_WAIT_S = 2.0
"""How long another process may go on opening or deleting one; it takes milliseconds."""

DELETE_WAIT_S = 10.0
"""The same, for whoever forgets: he has the time."""

TRIES = 3
"""How often a folder is opened that others delete."""


@contextmanager
def index_file(data_dir: Path, scope: str, kind: str, *, anew: bool = False) -> Generator[Path]:
    """The one file of a kind of index of a scope, empty when it is new; nobody else opens or deletes any in the block.

    Args:
        data_dir: as of the process.
        scope: whose.
        kind: ``words``, or what others call theirs; letters only.
        anew: delete what there is first.

    Raises:
        OSError: the folder cannot be used, or somebody else has held its lock for too long.
    """
    names = (FOLDER, folder_of(scope))
    for tries_left in reversed(range(TRIES)):
        with folder_below(data_dir, *names, make=True) as folder, folder_lock(folder, wait_s=LOCK_WAIT_S):
            found = _files(folder, kind)
            for name in found if anew else found[1:]:
                _delete(folder, name)
            try:
                name = found[0] if found and not anew else _made(folder, kind)
            except FileNotFoundError:
                # Somebody has deleted the folder between our opening and our locking it.
                if not tries_left:
                    raise
                continue
            yield data_dir.joinpath(*names, name)
            return


def existing_file(data_dir: Path, scope: str, kind: str) -> Path | None:
    """The file of a kind of index of a scope; None: there is none."""
    names = (FOLDER, folder_of(scope))
    try:
        with folder_below(data_dir, *names, make=False) as folder:
            found = _files(folder, kind)
    except OSError:
        return None
    return data_dir.joinpath(*names, found[0]) if found else None


def delete_indexes(data_dir: Path, scope: str) -> None:
    """Delete all indexes of a scope, of every kind, with the folder that they lie in.

    Raises:
        OSError: they could not be deleted, or somebody else has held their folder's lock for too long.
    """
    name = folder_of(scope)
    with suppress(FileNotFoundError), folder_below(data_dir, FOLDER, make=False) as search:
        with folder_below(data_dir, FOLDER, name, make=False) as folder, folder_lock(folder, wait_s=DELETE_WAIT_S):
            for each in names_in(folder):
                with suppress(FileNotFoundError):
                    os.unlink(each, dir_fd=folder)
            os.fsync(folder)
            with suppress(OSError):
                os.rmdir(name, dir_fd=search)
        os.fsync(search)


def is_there(path: Path, inode: int) -> bool:
    """Whether the file that was opened under ``path`` is still the one that lies there."""
    try:
        return path.stat().st_ino == inode
    except OSError:
        return False


def _files(folder: int, kind: str) -> list[str]:
    return [name for name in names_in(folder) if name.startswith(f"{kind}-") and name.endswith(ENDING)]


def _made(folder: int, kind: str) -> str:
    name = f"{kind}-{secrets.token_hex(8)}{ENDING}"
    # SQLite gives what it keeps beside a file the same rights.
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE, dir_fd=folder))
    return name


def _delete(folder: int, name: str) -> None:
    for each in (name, f"{name}-wal", f"{name}-shm", f"{name}-journal"):
        with suppress(FileNotFoundError):
            os.unlink(each, dir_fd=folder)
