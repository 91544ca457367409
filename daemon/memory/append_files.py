"""Files that only grow, such as HISTORY.md and a day's notes: entries separated by blank lines. All functions block."""

import os
from collections.abc import Callable, Sequence

from daemon.durable import plain_file, write_whole


def size_of(folder: int, name: str) -> int | None:
    """Size of a file in bytes; None if it does not exist.

    Raises:
        OSError: it is no plain file.
    """
    try:
        with plain_file(folder, name) as descriptor:
            return os.fstat(descriptor).st_size
    except FileNotFoundError:
        return None


def grow(folder: int, name: str, *, known: int, texts: Sequence[str], everything: Callable[[], Sequence[str]]) -> int:
    """Append the missing entries to a file. Returns its size in bytes.

    Args:
        folder: descriptor of the opened and locked folder.
        name: of the file.
        known: its bytes when it was last written; 0: nobody knows what it holds.
        texts: what came since.
        everything: gives all that the file is to hold, ``texts`` too; asked when it is missing, or shorter than it was.

    Raises:
        OSError: it could not be written.
    """
    size = size_of(folder, name)
    if size is None or size < known:
        content = paragraphs(everything())
        if content or size is not None:
            write_whole(folder, name, content)
        return len(content)
    if not texts:
        return known
    with plain_file(folder, name, change=True) as descriptor:
        unknown = os.pread(descriptor, size, 0) if size != known else None
        _append(descriptor, _missing(texts, unknown, known))
        return os.fstat(descriptor).st_size


def rewrite(folder: int, name: str, texts: Sequence[str]) -> int:
    """Replace the content of a file. Returns its size in bytes.

    Raises:
        OSError: it could not be written.
    """
    content = paragraphs(texts)
    if content or size_of(folder, name) is not None:
        write_whole(folder, name, content)
    return len(content)


def _missing(texts: Sequence[str], content: bytes | None, known: int) -> bytes:
    """What is to be appended; ``content`` is the file's when it is longer than it is known to be."""
    addition = (b"\n" if known else b"") + paragraphs(texts)
    if content is None:
        return addition
    if addition.startswith(content[known:]):
        # Somebody was killed in the middle of writing it: it goes on where it ended.
        return addition[len(content) - known :]
    # Somebody else wrote into it: what stands there already is not put there twice.
    lines = b"\n" + content + b"\n"
    absent = [text for text in texts if b"\n" + text.strip("\n").encode() + b"\n" not in lines]
    if not absent:
        return b""
    return (b"\n" if content.endswith(b"\n") else b"\n\n") + paragraphs(absent)


def _append(descriptor: int, addition: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_END)
    while addition:
        addition = addition[os.write(descriptor, addition) :]
    os.fsync(descriptor)


def paragraphs(texts: Sequence[str]) -> bytes:
    """Entries in the format of their file."""
    return b"\n".join(text.strip("\n").encode() + b"\n" for text in texts)
