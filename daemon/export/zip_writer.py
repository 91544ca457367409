"""Writing an export: names of entries, the files of a scope, and a zip file entry by entry."""

import datetime as dt
import errno
import os
import re
import stat
import zipfile
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from anyio import to_thread

from daemon.durable import folder_below, names_in, plain_file

# Names of folders and files in an export: for people to read, safe on every file system, no two the same. Pure.

MOST_CHARS = 60

# What is no letter, digit or one of these separates words, or may not stand in a name somewhere.
_OTHERS = re.compile(r"[^\w.~-]+")


def names_of(keys: Sequence[str]) -> dict[str, str]:
    """A name for each of the session keys or scopes: its number, and what can be read of it, as ``1_web_王峰``."""
    return {key: f"{number}_{_readable(key)}" for number, key in enumerate(keys, 1)}


def _readable(key: str) -> str:
    # A part may have been encoded once more inside a scope.
    return _OTHERS.sub("_", unquote(unquote(key)))[:MOST_CHARS]


# The files of a scope's own, read piece by piece; links are not followed. All of it blocks but for ``pieces_of``.

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
            raise OSError(errno.EMLINK, "the file has more than one hard link", names[-1])
        return os.pread(descriptor, PIECE_BYTES, at)


# A zip file that is written entry by entry, with no more of it in memory than a piece.

LEVEL = 6
"""Of the compression, as for transcripts."""

FILE_MODE = 0o600
"""What a person said to a bot is nobody else's to read, unpacked either."""


class ZipWriter:
    """Writes entries one after the other; every write is done in a thread."""

    def __init__(self, file: IO[bytes], *, now: dt.datetime) -> None:
        """``now`` is the time that entries are given."""
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)
        self._time = (now.year, now.month, now.day, now.hour, now.minute, now.second)

    async def add(self, name: str, pieces: AsyncIterable[bytes]) -> int:
        """Write an entry of ``pieces``; how many bytes it has. Nothing is written when there are none.

        A write that has begun is waited for, also by whoever is cancelled: the file is still open.

        Raises:
            OSError: the file cannot be written.
        """
        entry, size = None, 0
        try:
            async for piece in pieces:
                if entry is None:
                    entry = await to_thread.run_sync(self._opened, name)
                await to_thread.run_sync(entry.write, piece)
                size += len(piece)
        finally:
            if entry is not None:
                entry.close()
        return size

    async def add_text(self, name: str, text: str) -> int:
        """As ``add``, of a text."""

        async def whole() -> AsyncIterator[bytes]:
            if text:
                yield text.encode("utf-8", "replace")

        return await self.add(name, whole())

    async def close(self) -> None:
        """Write the list of all entries; without it there is no zip file."""
        await to_thread.run_sync(self._zip.close)

    def abandon(self) -> None:
        """Leave the file as it is: it is not to be used."""
        # Else it would be written to once more when this is collected, long after the file was closed.
        self._zip.fp = None

    def _opened(self, name: str) -> IO[bytes]:
        # A name that is no text (of a file that somebody put there) is spelled out.
        safe = name.encode("utf-8", "backslashreplace").decode()
        found = zipfile.ZipInfo(safe, date_time=self._time)
        found.compress_type = zipfile.ZIP_DEFLATED
        found.external_attr = FILE_MODE << 16
        return self._zip.open(found, "w", force_zip64=True)
