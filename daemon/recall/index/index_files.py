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
from daemon.scope import folder_of

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
