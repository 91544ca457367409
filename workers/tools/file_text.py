"""Reading opened files, by lines or as a whole, and changing files one at a time."""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper

from daemon.durable import folder_lock
from daemon.errors import ToolError
from workers.tools.tool_sandbox import Folders, Place, translated

WRITE_MAX_BYTES = 1_000_000
"""Largest file that a tool writes or changes."""

LOCK_WAIT_S = 5.0
"""Longest wait for another change in the same folder."""

SNIFFED_BYTES = 8_192
"""Bytes that are checked to see whether a file is text."""


def is_text(descriptor: int) -> bool:
    """Whether a file looks like text: its beginning has no NUL. Seeks back to the beginning."""
    head = os.read(descriptor, SNIFFED_BYTES)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return b"\0" not in head


def pieces(descriptor: int, max_chars: int) -> Iterator[str]:
    """A text's lines with their ends, long ones in pieces of ``max_chars``; invalid UTF-8 is replaced.

    Read as they are asked for, so that a file of any size takes no memory; the descriptor stays open.
    """
    with open(descriptor, "rb", closefd=False) as file, TextIOWrapper(file, "utf-8", "replace", newline="\n") as text:
        while piece := text.readline(max_chars):
            yield piece


def whole(descriptor: int, place: Place, max_bytes: int) -> bytes:
    """The whole file.

    Raises:
        ToolError: it is larger than ``max_bytes``.
    """
    with translated(place), open(descriptor, "rb", closefd=False) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        size = os.fstat(descriptor).st_size
        raise ToolError(f"{place.path} has {size:,} bytes. Only files of at most {max_bytes:,} bytes can be read.")
    return content


@contextmanager
def changing(folders: Folders, place: Place, *, make: bool) -> Generator[int]:
    """The folder that holds a file, locked against other changes in it, in this process or another.

    Raises:
        ToolError: nothing may be written there, or the lock was not to be had.
    """
    with folders.changing(place, make=make) as folder, ExitStack() as held:
        try:
            held.enter_context(folder_lock(folder, wait_s=LOCK_WAIT_S))
        except TimeoutError as error:
            raise ToolError(f"{place.path} is being changed by another call. Try again.") from error
        yield folder
