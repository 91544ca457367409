"""The files of a scope that becomes a part of another one, or its own again. All of it blocks: call it in a thread."""

import errno
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from daemon.durable import DRAFT, folder_below, folder_lock, plain_file, tidy, whole_file, write_whole
from daemon.memory.memory_file import MEMORY, SIDE_CAR, checksum, read_side_car
from daemon.scope import folder_of

FILES = "files"
"""Below a bot's workspace: a folder for each scope."""

LISTS = ".linked"
"""In it: which files came from a scope that was linked, for the day on which they part."""

LINKS = (errno.ELOOP, errno.EINVAL)
"""What is said of a link, or of what is no plain file, where one is refused."""

LIST_MAX_BYTES = 16 * 1024 * 1024
PIECE_BYTES = 256 * 1024
"""So much of two files is compared at once."""

DEPTH_MAX = 64
"""Deepest nesting of folders that is moved; the tools of a turn reach half of it."""

LOCK_WAIT_S = 2.0

_encode = msgspec.json.Encoder().encode


def move_files(workspace: Path, *, member: str, home: str) -> int:
    """Put the files of ``member`` beside those of ``home``; how many there were.

    One whose name is taken gets a number, unless the very same stands there already: people who link and part again
    and again do not have more files each time. Moving what was moved before does nothing.

    Raises:
        OSError: they cannot be moved; what was moved stands there, and the rest goes the next time.
    """
    origin = workspace / FILES / folder_of(member)
    if not origin.is_dir() or origin.is_symlink():
        return 0
    moved: list[str] = []
    with (
        folder_below(workspace, FILES, folder_of(member), make=False) as source,
        folder_below(workspace, FILES, folder_of(home), make=True) as target,
    ):
        try:
            tidy(source, depth=DEPTH_MAX)
            _merge(source, target, "", moved)
        finally:
            if moved:
                _note(workspace, member, moved)
    with suppress(OSError):  # somebody has written into it again: the next time
        origin.rmdir()
    return len(moved)


def _merge(source: int, target: int, path: str, moved: list[str]) -> None:
    for name in sorted(os.listdir(source)):
        if name.endswith(DRAFT):
            continue  # somebody writes it just now
        if _is_folder(source, name):
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=target)
            given = name if _is_folder(target, name) else _free(target, name)
            with suppress(FileExistsError):
                os.mkdir(given, 0o700, dir_fd=target)
            below = _opened(source, name), _opened(target, given)
            try:
                _merge(*below, f"{path}{given}/", moved)
            finally:
                os.close(below[0])
                os.close(below[1])
            with suppress(OSError):
                os.rmdir(name, dir_fd=source)
        else:
            given = next(
                each for each in _names(name) if not _exists(target, each) or _same(source, name, target, each)
            )
            if _exists(target, given):
                os.unlink(name, dir_fd=source)
            else:
                os.rename(name, given, src_dir_fd=source, dst_dir_fd=target)
            moved.append(path + given)
    os.fsync(target)


def _free(folder: int, name: str) -> str:
    return next(each for each in _names(name) if not _exists(folder, each))


def _names(name: str) -> Iterator[str]:
    """``name``, and what it is called where that is taken."""
    yield name
    stem, dot, end = name.rpartition(".")
    stem, end = (stem, dot + end) if stem else (name, "")
    for number in itertools.count(2):
        yield f"{stem} ({number}){end}"


def _same(source: int, name: str, target: int, other: str) -> bool:
    """Whether two plain files hold the same; one that has other names too is the same as none."""
    try:
        with plain_file(source, name) as first, plain_file(target, other) as second:
            found, there = os.fstat(first), os.fstat(second)
            if found.st_size != there.st_size or (found.st_nlink, there.st_nlink) != (1, 1):
                return False
            with open(first, "rb", closefd=False) as one, open(second, "rb", closefd=False) as another:
                return all(
                    one.read(PIECE_BYTES) == another.read(PIECE_BYTES) for _ in range(0, found.st_size, PIECE_BYTES)
                )
    except OSError:
        return False


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _is_folder(folder: int, name: str) -> bool:
    try:
        os.close(_opened(folder, name))
    except OSError:
        return False
    return True


def _opened(folder: int, name: str) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


# Parting


def copy_back(workspace: Path, *, member: str, home: str) -> int:
    """Give ``member`` copies of the files that came from it and are still there; how many.

    ``home`` keeps them too, as it keeps what it remembers. Errors as for ``move_files``.
    """
    copied = 0
    for name in _noted(workspace, member):
        try:
            copied += _copy(workspace, Path(name).parts, source=folder_of(home), target=folder_of(member))
        except (FileNotFoundError, FileExistsError, NotADirectoryError):
            continue  # it is gone, or something is in its place
        except OSError as error:
            if error.errno not in LINKS:
                raise
    (workspace / FILES / LISTS / f"{folder_of(member)}.json").unlink(missing_ok=True)
    return copied


def _copy(workspace: Path, names: tuple[str, ...], *, source: str, target: str) -> bool:
    """Copy a file from one folder into another; no link is followed in either, and none is copied."""
    *parents, last = names
    with folder_below(workspace, FILES, source, *parents, make=False) as here, plain_file(here, last) as found:
        if os.fstat(found).st_nlink != 1:
            return False  # it is somebody else's by another name
        with (
            folder_below(workspace, FILES, target, *parents, make=True) as there,
            whole_file(there, last, replace=False) as file,
            open(found, "rb", closefd=False) as content,
        ):
            shutil.copyfileobj(content, file)
    return True


def _noted(workspace: Path, member: str) -> list[str]:
    try:
        with (
            folder_below(workspace, FILES, LISTS, make=False) as folder,
            plain_file(folder, f"{folder_of(member)}.json") as descriptor,
            open(descriptor, "rb", closefd=False) as file,
        ):
            return msgspec.json.decode(file.read(LIST_MAX_BYTES), type=list[str])
    except (FileNotFoundError, msgspec.MsgspecError):
        return []


def _note(workspace: Path, member: str, moved: list[str]) -> None:
    with folder_below(workspace, FILES, LISTS, make=True) as folder, folder_lock(folder, wait_s=LOCK_WAIT_S):
        names = dict.fromkeys([*_noted(workspace, member), *moved])
        write_whole(folder, f"{folder_of(member)}.json", _encode(list(names)))


# The memory's own


def remove_projection(path: Path) -> bool:
    """Remove the files that show a memory which is another one's by now; False when a person has just edited it.

    Whatever else lies in the folder stays there.

    Raises:
        OSError: it cannot be removed.
    """
    if not path.is_dir():
        return True
    with folder_below(path.parent, path.name, make=False) as folder, folder_lock(folder, wait_s=LOCK_WAIT_S):
        side = read_side_car(folder)
        if _edited(folder, side.memory):
            return False
        for name in (MEMORY, *side.sizes, DRAFT, SIDE_CAR):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
    with suppress(OSError):
        path.rmdir()
    return True


def _edited(folder: int, written: str) -> bool:
    try:
        with plain_file(folder, MEMORY) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return checksum(file.read()) != written
    except FileNotFoundError:
        return False
