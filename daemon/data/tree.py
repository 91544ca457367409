"""Copies of files and folders: plain files only, nothing through a link. All of it blocks."""

import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from daemon.data.records import FileTaken
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


def copy_tree(
    source: Path, target: Path, *inside: str, only: str = "", without: str = "", secret: Collection[Path] = ()
) -> Iterator[FileTaken]:
    """Copy what lies in ``source`` to ``inside`` of ``target``; each file as it was copied, once it is durable.

    Args:
        source: a folder; one that is not there is empty.
        target: a backup.
        inside: folders below it.
        only: of the folders right below ``source`` this one alone.
        without: all but this one.
        secret: files that are left out.

    Raises:
        OSError: a file cannot be read, or written. One that is deleted meanwhile is none.
    """
    yield from _copied(source, target, inside, frozenset(path.resolve() for path in secret), (only, without))


def _copied(
    source: Path, target: Path, inside: tuple[str, ...], secret: frozenset[Path], choice: tuple[str, str] = ("", "")
) -> Iterator[FileTaken]:
    try:
        with folder_below(source, make=False) as folder:
            # The side-car of a memory's files says what they hold: they are copied together.
            lock = folder_lock(folder, wait_s=LOCK_WAIT_S)
            with lock:
                names = names_in(folder)
                folders = [name for name in names if _is_folder(folder, name)]
                for name in names:
                    if name in folders or choice[0] or name.endswith(DRAFT) or (source / name).resolve() in secret:
                        continue
                    taken = _copy(folder, name, target, inside)
                    if taken is not None:
                        yield taken
    except FileNotFoundError:
        return
    for name in folders:
        if (choice[0] and name != choice[0]) or (choice[1] and name == choice[1]):
            continue
        yield from _copied(source / name, target, (*inside, name), secret)


def _is_folder(folder: int, name: str) -> bool:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode)


def _copy(folder: int, name: str, target: Path, inside: tuple[str, ...]) -> FileTaken | None:
    """Copy a plain file; None for what is none, or is gone."""
    digest, size = hashlib.sha256(), 0
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        with (
            plain_file(folder, name) as descriptor,
            open(descriptor, "rb", closefd=False) as content,
            folder_below(target, *inside, make=True) as into,
            whole_file(into, name, replace=True) as file,
        ):
            while piece := content.read(PIECE_BYTES):
                digest.update(piece)
                size += len(piece)
                file.write(piece)
    except FileNotFoundError:
        return None
    return FileTaken(path="/".join((*inside, name)), bytes=size, sha256=digest.hexdigest())


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
