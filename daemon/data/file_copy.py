"""Copies of files and folders: plain files only, nothing through a link. All of it blocks."""

import base64
import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from daemon.data.backup_records import FileTaken
from daemon.durable import (
    DRAFT,
    folder_below,
    folder_lock,
    names_in,
    plain_file,
    private_folder,
    whole_file,
)

LOCK_WAIT_S = 5.0
"""How long a folder of a memory is waited for that somebody brings in step."""

PIECE_BYTES = 1024 * 1024

_T = TypeVar("_T")


NAME_MAX_BYTES = 255
"""The longest name of a file on the file systems of Linux and macOS."""


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that cannot be read."""

    path: str
    """As in ``FileTaken``."""
    reason: str


def copy_tree(
    source: Path, target: Path, *inside: str, only: str = "", without: str = "", secret: Collection[Path] = ()
) -> Iterator[FileTaken | Unreadable]:
    """Copy the plain files of ``source`` to the folder ``inside`` of ``target``, one by one.

    A name that is not UTF-8 is escaped, and a file that cannot be read does not end the copy. The copies are durable
    only after ``sync_all``.

    Args:
        source: a folder; one that is not there is empty.
        target: a backup.
        inside: folders below it.
        only: of the folders right below ``source`` this one alone.
        without: all but this one.
        secret: files that are left out.

    Raises:
        OSError: a file cannot be written.
    """
    secrets = frozenset(path.resolve() for path in secret)
    yield from _copied(source, target, _Place(inside, inside), secrets, (only, without))


class _Place(msgspec.Struct, frozen=True):
    """A folder of a backup: its names there, and the original ones."""

    inside: tuple[str, ...]
    original: tuple[str, ...]

    def below(self, name: str, names: Collection[str]) -> "_Place":
        """A file or folder in it; ``names`` are all names of that folder."""
        return _Place((*self.inside, escaped(name, names)), (*self.original, name))

    @property
    def path(self) -> str:
        return "/".join(self.inside)


def escaped(name: str, names: Collection[str]) -> str:
    """A name that is valid UTF-8, and differs from all other ``names`` of its folder."""
    if not any(_is_odd(sign) for sign in name):
        return name
    readable = "".join(f"%{ord(sign) & 0xFF:02X}" if _is_odd(sign) or sign == "%" else sign for sign in name)
    if len(readable.encode()) > NAME_MAX_BYTES or readable in names:
        readable = f"{readable[:50]}~{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return readable


def _is_odd(sign: str) -> bool:
    """Whether ``os.fsdecode`` made the sign of a byte that is not UTF-8."""
    return "\udc80" <= sign <= "\udcff"


class _SourceError(Exception):
    """A file or folder of the source cannot be read; the rest can be copied."""


def _opened(stack: ExitStack, source: AbstractContextManager[_T]) -> _T:
    try:
        return stack.enter_context(source)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _SourceError(error.strerror or str(error)) from error


def _copied(
    source: Path, target: Path, place: _Place, secret: frozenset[Path], choice: tuple[str, str] = ("", "")
) -> Iterator[FileTaken | Unreadable]:
    only, without = choice
    try:
        with ExitStack() as stack:
            folder = _opened(stack, folder_below(source, make=False))
            # The side-car of a memory's files describes them: all are copied under one lock.
            _opened(stack, folder_lock(folder, wait_s=LOCK_WAIT_S))
            names, resolved = names_in(folder), source.resolve()
            folders = [name for name in names if _is_folder(folder, name)]
            for name in sorted(set(names) - set(folders)):
                if not only and not name.endswith(DRAFT) and resolved / name not in secret:
                    taken = _copy(folder, name, target, place.below(name, names))
                    if taken is not None:
                        yield taken
    except FileNotFoundError:
        return
    except _SourceError as error:
        yield Unreadable(path=place.path, reason=str(error))
        return
    for name in folders:
        if name != without and only in ("", name):
            yield from _copied(source / name, target, place.below(name, names), secret)


def _is_folder(folder: int, name: str) -> bool:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode)


def _copy(folder: int, name: str, target: Path, place: _Place) -> FileTaken | Unreadable | None:
    """Copy a plain file; None if it is not a plain file, or no longer exists."""
    digest, size = hashlib.sha256(), 0
    *folders, escaped_name = place.inside
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        with ExitStack() as stack:
            content = stack.enter_context(open(_opened(stack, plain_file(folder, name)), "rb", closefd=False))
            into = stack.enter_context(folder_below(target, *folders, make=True, syncs=False))
            file = stack.enter_context(whole_file(into, escaped_name, replace=True, syncs=False))
            while piece := _read(content):
                digest.update(piece)
                size += len(piece)
                file.write(piece)
    except FileNotFoundError:
        return None
    except _SourceError as error:
        return Unreadable(path=place.path, reason=str(error))
    original = "" if place.inside == place.original else "/".join(place.original)
    return FileTaken(
        path=place.path,
        bytes=size,
        sha256=digest.hexdigest(),
        original=base64.b64encode(os.fsencode(original)).decode(),
    )


def _read(content: BinaryIO) -> bytes:
    try:
        return content.read(PIECE_BYTES)
    except OSError as error:
        raise _SourceError(error.strerror or str(error)) from error


def sha256_of(path: Path) -> str:
    """Of a file's content; empty when there is no such file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def put_file(source: Path, target: Path) -> None:
    """Copy a file to where it is restored, in the place of any of that name; it is durable when this returns.

    Raises:
        OSError: it cannot be read, or written.
    """
    private_folder(target.parent)
    with (
        folder_below(target.parent, make=False) as folder,
        source.open("rb") as content,
        whole_file(folder, target.name, replace=True) as file,
    ):
        shutil.copyfileobj(content, file, PIECE_BYTES)
