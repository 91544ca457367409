"""Files that only grow, HISTORY.md and a day's notes: entries with a blank line between them. All of it blocks."""

import os
from collections.abc import Callable, Sequence

from daemon.durable import plain_file, write_whole


def size_of(folder: int, name: str) -> int | None:
    """Bytes of a file; None when there is none.

    Raises:
        OSError: it is no plain file.
    """
    try:
        with plain_file(folder, name) as descriptor:
            return os.fstat(descriptor).st_size
    except FileNotFoundError:
        return None


def grow(
    folder: int, name: str, *, known: int, texts: Sequence[str], everything: Callable[[], Sequence[str]]
) -> int:
    """Bring a file in step; its size in bytes afterwards.

    Args:
        folder: descriptor of the opened and locked folder.
        name: of the file.
        known: its bytes when it was last written.
        texts: what came since.
        everything: gives all that the file is to hold, ``texts`` too; asked when it is missing, or shorter than it was.

    Raises:
        OSError: it could not be written.
    """
    size = size_of(folder, name)
    if size is None or size < known:
        content = _paragraphs(everything())
        if content or size is not None:
            write_whole(folder, name, content)
        return len(content)
    if not texts:
        return known
    with plain_file(folder, name, change=True) as descriptor, open(descriptor, "rb+", closefd=False) as file:
        _append(file.fileno(), known=known, texts=texts, size=size)
        return os.fstat(descriptor).st_size


def _append(descriptor: int, *, known: int, texts: Sequence[str], size: int) -> None:
    content = b""
    if size != known:
        content = os.pread(descriptor, size, 0)
    addition = (b"\n" if known else b"") + _paragraphs(texts)
    behind = content[known:]
    if addition.startswith(behind):
        # What was cut short in the middle of the last time goes on where it ended.
        addition = addition[len(behind) :]
    else:
        # Somebody else wrote into it, or nobody knows what did: what stands there already is not put there twice.
        addition = _below(content, [text for text in texts if text.strip().encode() not in content])
    os.lseek(descriptor, 0, os.SEEK_END)
    while addition:
        addition = addition[os.write(descriptor, addition) :]
    os.fsync(descriptor)


def _below(content: bytes, texts: Sequence[str]) -> bytes:
    if not texts:
        return b""
    return (b"\n" if content.endswith(b"\n") else b"\n\n") + _paragraphs(texts)


def _paragraphs(texts: Sequence[str]) -> bytes:
    return b"\n".join(text.strip("\n").encode() + b"\n" for text in texts)
