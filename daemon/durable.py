"""Files that are there whole or not at all, also when the machine stops, in folders that are never reached by a link.

All of it blocks: call it in a thread. Errors are those of the system (``OSError``), for the caller to translate.
"""

import ctypes
import errno
import fcntl
import os
import secrets
import stat
import sys
import time
from collections.abc import Generator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""What a person said to a bot is nobody else's to read."""

OTHERS = 0o077
"""What a mode lets others do."""

LOCK_LOOK_S = 0.01
"""How often is looked whether a lock was given back."""

DRAFT = ".millpond.draft"
"""What is being written has this name until it is whole; the lock of its folder makes it one writer's.

Nobody gives a file of his own such a name: what is left of a killed writer is deleted.
"""

NAME_MAX_BYTES = 255
"""Longest name that file systems accept."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK opening a pipe waits for its other end, for ever.
_OLD = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def private_folder(folder: Path) -> None:
    """Have ``folder``; each part of the path that is missing is made for this user alone, whatever the umask is.

    Raises:
        OSError: it cannot be made, or is no folder.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


@contextmanager
def folder_below(root: Path, *names: str, make: bool, syncs: bool = True) -> Generator[int]:
    """A descriptor of the folder ``names`` below ``root``, each opened by itself; ``make`` makes those missing.

    Without ``syncs`` a new folder is durable only after ``sync_all``.
    """
    if make:
        private_folder(root)
    # The root itself is the administrator's and may be a link.
    here = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for name in names:
            following = _inside(here, name, make=make, syncs=syncs)
            os.close(here)
            here = following
        yield here
    finally:
        os.close(here)


def _inside(folder: int, name: str, *, make: bool, syncs: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=folder)
            if syncs:
                os.fsync(folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def names_in(folder: int) -> list[str]:
    """The names of all that lies in an opened folder, sorted."""
    return sorted(os.listdir(folder))


@contextmanager
def folder_lock(folder: int, *, wait_s: float) -> Generator[None]:
    """Hold the flock of an opened folder, against other processes and other threads alike.

    Raises:
        TimeoutError: somebody else has held it for ``wait_s``.
    """
    until = time.monotonic() + wait_s
    while not _locked(folder):
        if time.monotonic() >= until:
            raise TimeoutError(errno.ETIMEDOUT, "another process keeps changing this folder. Try again.")
        time.sleep(LOCK_LOOK_S)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def _locked(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_whole(folder: int, name: str, content: bytes) -> None:
    """Put a file into an opened and locked folder, in the place of any of that name, even a link."""
    with suppress(FileNotFoundError):
        os.unlink(DRAFT, dir_fd=folder)  # of a writer that was killed
    descriptor = os.open(DRAFT, _NEW, FILE_MODE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(DRAFT, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(DRAFT, dir_fd=folder)
        raise
    os.fsync(folder)


@contextmanager
def whole_file(folder: int, name: str, *, replace: bool, syncs: bool = True) -> Generator[BinaryIO]:
    """A file to be written piece by piece in an opened folder; it has its name only once the block has ended well.

    Without ``syncs`` it is durable only after ``sync_all``.

    Raises:
        FileExistsError: there is one of that name already, and it is not to be replaced.
    """
    draft = f".{secrets.token_hex(8)}{DRAFT}"
    descriptor = os.open(draft, _NEW, FILE_MODE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if syncs:
                os.fsync(descriptor)
        if replace:
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            # A link is refused where a file is in the way; to rename would take its place.
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.unlink(draft, dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
    if syncs:
        os.fsync(folder)


def sync_all(folder: Path) -> None:
    """Make all files and folders below ``folder`` durable; on Linux by one call for the whole file system.

    Raises:
        OSError: the disk has lost something that was written.
    """
    if sys.platform == "linux" and (syncfs := getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)):
        descriptor = os.open(folder, _FOLDER)
        try:
            if syncfs(descriptor):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
        finally:
            os.close(descriptor)
        return
    for here, _, names in os.walk(folder):
        for path in (*(Path(here, name) for name in names), Path(here)):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


# Folders in which programs of other people ran: as deep as they like, without permissions, with names of any bytes.


def remove_tree(folder: int, name: str) -> int:
    """Remove the folder ``name`` of an opened folder with all that lies below it; the number of files without links.

    However deep it is: what lies below a folder moves up before the folder is removed. Links are not followed.

    Raises:
        OSError: a part of it cannot be removed.
    """
    count = 0
    with _usable(folder, name) as top:
        while names := os.listdir(top):  # noqa: PTH208 - of a descriptor
            for each in names:
                if not _is_folder(top, each):
                    count += _unlinked(top, each)
                    continue
                with _usable(top, each) as inside:
                    count += _moved_up(inside, top)
                os.rmdir(each, dir_fd=top)
    os.rmdir(name, dir_fd=folder)
    return count


def _moved_up(folder: int, top: int) -> int:
    """Move the folders of an opened folder to ``top`` and remove its files; how many files."""
    count = 0
    for name in os.listdir(folder):
        if not _is_folder(folder, name):
            count += _unlinked(folder, name)
            continue
        with _usable(folder, name):  # a folder that cannot be written cannot be moved
            os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
    return count


def tidy(folder: int, *, depth: int) -> int:
    """Make all that lies in an opened folder readable for this user; how many folders were removed.

    Folders that are nested deeper than ``depth`` are removed. Names that are no UTF-8 get one that is.

    Raises:
        OSError: a part of it cannot be changed.
    """
    count = 0
    for name in os.listdir(folder):
        with suppress(FileNotFoundError, NotADirectoryError):  # somebody else changed it meanwhile
            if not _is_folder(folder, name):
                _permit(folder, name, os.R_OK | os.W_OK)
            elif depth == 0:
                remove_tree(folder, name)
                count += 1
                continue
            else:
                with _usable(folder, name) as inside:
                    count += tidy(inside, depth=depth - 1)
            if not _is_utf8(name):
                os.rename(name, _utf8(name, {*os.listdir(folder)}), src_dir_fd=folder, dst_dir_fd=folder)
    return count


def _is_utf8(name: str) -> bool:
    return os.fsencode(name).decode("utf-8", "replace") == name


def _utf8(name: str, taken: Set[str]) -> str:
    """A name for one that is no UTF-8, beside those that are ``taken``."""
    free = os.fsencode(name).decode("utf-8", "replace")
    while free in taken:
        free = f"{secrets.token_hex(2)} {free}"
    # A replaced byte has three bytes in UTF-8.
    return free if len(free.encode()) <= NAME_MAX_BYTES else secrets.token_hex(8)


def _is_folder(folder: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _unlinked(folder: int, name: str) -> int:
    is_link = stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    os.unlink(name, dir_fd=folder)
    return 0 if is_link else 1


@contextmanager
def _usable(folder: int, name: str) -> Generator[int]:
    """A descriptor of a folder that this user may read and change."""
    _permit(folder, name, os.R_OK | os.W_OK | os.X_OK)
    opened = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


def _permit(folder: int, name: str, wanted: int) -> None:
    """Let this user use a plain file or a folder as ``wanted``; a link is not followed."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    given = stat.S_IMODE(mode) & 0o777 | wanted << 6  # nobody else is to run a program as this user
    if stat.S_IMODE(mode) == given or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return
    if sys.platform != "linux":
        os.chmod(name, given, dir_fd=folder)
        return
    # By its descriptor: a link that was put in its place meanwhile is not followed.
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{descriptor}").chmod(given)
    finally:
        os.close(descriptor)


@contextmanager
def plain_file(folder: int, name: str, *, change: bool = False) -> Generator[int]:
    """A descriptor of a plain file in an opened folder, for reading, or with ``change`` for both.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is a link, a folder, a pipe or a device, or may not be opened.
    """
    # Before opening too: to open a device can do something to it.
    _only_plain(os.stat(name, dir_fd=folder, follow_symlinks=False), name)
    descriptor = os.open(name, _OLD | (os.O_RDWR if change else os.O_RDONLY), dir_fd=folder)
    try:
        _only_plain(os.fstat(descriptor), name)
        yield descriptor
    finally:
        os.close(descriptor)


_KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}


def _only_plain(found: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a device")
        raise OSError(errno.EINVAL, f"the path is {kind}, not a regular file", name)
