"""The files of a scope's own, read piece by piece; links are not followed. All of it blocks but for ``pieces_of``."""

import errno
import os
import stat
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from anyio import to_thread

from daemon.durable import folder_below, names_in, plain_file

PIECE_BYTES = 1024 * 1024

DEPTH_MAX = 64
"""Folders inside each other; tools make half as many."""

Names = tuple[str, ...]


async def files_below(root: Path, names: Sequence[str], *, but: str) -> list[Names]:
    """The plain files in folder ``names`` of ``root``, named from there on, without those below its entry ``but``."""
    return await to_thread.run_sync(lambda: [found for found in _walk(root, tuple(names), ()) if found[0] != but])


def _walk(root: Path, folder: Names, below: Names) -> Iterator[Names]:
    if len(below) > DEPTH_MAX:
        return
    folders: list[str] = []
    with suppress(FileNotFoundError, NotADirectoryError), folder_below(root, *folder, *below, make=False) as opened:
        for name in names_in(opened):
            with suppress(FileNotFoundError):
                mode = os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode
                if stat.S_ISREG(mode):
                    yield (*below, name)
                elif stat.S_ISDIR(mode):
                    folders.append(name)
    for name in folders:
        yield from _walk(root, folder, (*below, name))


async def pieces_of(root: Path, names: Names) -> AsyncGenerator[bytes]:
    """The content of a plain file below ``root``; at least one piece.

    Raises:
        OSError: it cannot be read, or is no plain file any more.
    """
    at = 0
    while piece := await to_thread.run_sync(_piece, root, names, at):
        yield piece
        at += len(piece)
    if not at:
        yield b""


def _piece(root: Path, names: Names, at: int) -> bytes:
    with folder_below(root, *names[:-1], make=False) as folder, plain_file(folder, names[-1]) as descriptor:
        # Tools give no file two names; one that has them may be another scope's, and is not read by tools either.
        if os.fstat(descriptor).st_nlink > 1:
            raise OSError(errno.EMLINK, "the file has further names (hard links)", names[-1])
        return os.pread(descriptor, PIECE_BYTES, at)
