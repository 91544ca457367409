"""Files of a scope without what is to be forgotten; what is no text goes as a whole. All of it blocks."""

import bz2
import gzip
import json
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from daemon.durable import DRAFT, folder_below, folder_lock, names_in, plain_file, remove_tree, tidy, write_whole
from daemon.forget.tombstone import Wanted
from daemon.inbox import MARK

FILE_MAX_BYTES = 256 * 1024 * 1024
"""Of a file, or of what is packed in one, that is looked through."""

DEPTH_MAX = 64
"""Deepest nesting of folders that is looked through: twice as deep as the tools of a turn reach."""

LOCK_WAIT_S = 10.0

_UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)


@dataclass
class Looked:
    """What was found in files."""

    hits: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """One for each file."""
    failed: list[str] = field(default_factory=list[str])


def forget_files(
    root: Path, names: tuple[str, ...], wanted: Wanted, *, looks: bool, apart: Callable[[str], bool] | None = None
) -> Looked:
    """Everything in the folder ``names`` below ``root``; links are not followed.

    Args:
        root: a bot's workspace.
        names: of the folder; one that is not there holds nothing.
        wanted: what is to be forgotten.
        looks: nothing is changed.
        apart: whether a file of that name is brought in step by others; given, folders inside are others' too.
    """
    looked = Looked()
    try:
        if not looks and apart is None:
            with folder_below(root, *names, make=False) as folder:
                tidy(folder, depth=DEPTH_MAX)
        _folder(root, names, wanted, looks=looks, apart=apart, looked=looked)
    except FileNotFoundError:
        pass
    except OSError as error:
        looked.failed.append(f"{root.joinpath(*names)} cannot be searched: {error.strerror or 'unusable'}")
    return looked


def remove_draft(root: Path, names: tuple[str, ...]) -> None:
    """Delete what a writer that was killed has left in a folder.

    Raises:
        OSError: the folder cannot be used.
    """
    with (
        suppress(FileNotFoundError),
        folder_below(root, *names, make=False) as folder,
        folder_lock(folder, wait_s=LOCK_WAIT_S),
    ):
        os.unlink(DRAFT, dir_fd=folder)


def remove_folder(root: Path, names: tuple[str, ...], *, looks: bool) -> int:
    """Remove the folder ``names`` with everything in it; how many files were there.

    Raises:
        OSError: a part of it could not be removed.
    """
    path = root.joinpath(*names)
    if path.is_symlink() or not path.is_dir():
        return 0
    with folder_below(root, *names[:-1], make=False) as folder:
        # A command of the tool exec may have taken away the permissions, and nested folders without an end.
        return _count(path) if looks else remove_tree(folder, names[-1])


def _count(path: Path) -> int:
    count = 0
    for folder, folders, files in os.walk(path):
        count += sum(not Path(folder, name).is_symlink() for name in files)
        if len(Path(folder).parts) - len(path.parts) >= DEPTH_MAX:
            folders.clear()
    return count


def remove_marked(root: Path, names: tuple[str, ...], is_theirs: Callable[[str], bool], *, looks: bool) -> int:
    """Remove the files of a folder in whose names a mark stands that ``is_theirs``, see ``mark_of``; how many.

    Raises:
        OSError: the folder cannot be used.
    """
    count = 0
    with (
        suppress(FileNotFoundError),
        folder_below(root, *names, make=False) as folder,
        folder_lock(folder, wait_s=LOCK_WAIT_S),
    ):
        for name in names_in(folder):
            if any(map(is_theirs, MARK.findall(name))):
                count += 1
                if not looks:
                    os.unlink(name, dir_fd=folder)
        if count and not looks:
            os.fsync(folder)
    return count


def _folder(
    root: Path,
    names: tuple[str, ...],
    wanted: Wanted,
    *,
    looks: bool,
    apart: Callable[[str], bool] | None,
    looked: Looked,
) -> None:
    inside = list[str]()
    with folder_below(root, *names, make=False) as folder, folder_lock(folder, wait_s=LOCK_WAIT_S):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - of a descriptor
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                inside.append(name)
            elif name == DRAFT and not looks:
                os.unlink(name, dir_fd=folder)  # of a writer that was killed
            elif stat.S_ISREG(mode) and not (apart and apart(name)):
                _file(folder, name, root.joinpath(*names, name), wanted, looks=looks, looked=looked)
    for name in inside if apart is None and len(names) < DEPTH_MAX else ():
        _folder(root, (*names, name), wanted, looks=looks, apart=None, looked=looked)


def _file(folder: int, name: str, path: Path, wanted: Wanted, *, looks: bool, looked: Looked) -> None:
    with plain_file(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as file:
        content = file.read(FILE_MAX_BYTES + 1)
    if len(content) > FILE_MAX_BYTES:
        looked.failed.append(
            f"{path} is too large to be searched. Examine the file yourself, and delete it if necessary."
        )
        return
    hits = wanted.hits(name.replace("_", " ")) or wanted.hits(name)
    left = b"" if hits else None
    if not hits:
        hits, left = left_of(content, wanted)
    if not hits:
        return
    looked.hits.append(tuple(hits))
    if looks:
        return
    if left:
        write_whole(folder, name, left)
    else:
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)


def left_of(content: bytes, wanted: Wanted) -> tuple[list[str], bytes | None]:
    """What of a file's content is to be forgotten, and the content without it; empty: nothing of it can stay."""
    text = _text(content)
    if text is None:
        hits = [hit for inner in _packed(content) for hit in wanted.hits(inner)]
        return hits, b""
    hits = list(wanted.hits(text))
    # In JSON letters can be written as numbers, which no search for words finds.
    escaped = [hit for inner in _unescaped(text) for hit in wanted.hits(inner)] if "\\u" in text else []
    if escaped and not hits:
        return escaped, b""
    left = wanted.redacted(text)
    return hits, left.encode() if left.strip() else b""


def _text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _unescaped(text: str) -> Iterator[str]:
    for line in [text, *text.splitlines()]:
        try:
            yield json.dumps(json.loads(line), ensure_ascii=False)
        except (ValueError, RecursionError):
            continue


def _packed(content: bytes, depth: int = 3) -> Iterator[str]:
    """Every text that may stand in a file that is none."""
    for codec in ("utf-8", "utf-16-le", "utf-16-be", "gb18030"):
        yield content.decode(codec, errors="replace")
    for inner in _unpacked(content) if depth else ():
        text = _text(inner)
        yield from (text,) if text is not None else _packed(inner, depth - 1)


def _unpacked(content: bytes) -> Iterator[bytes]:
    readers: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
    for magic, opened in readers.items():
        if content.startswith(magic):
            try:
                with opened(BytesIO(content)) as file:
                    yield file.read(FILE_MAX_BYTES)
            except _UNREADABLE:
                return
    if content.startswith(b"PK"):
        try:
            with zipfile.ZipFile(BytesIO(content)) as archive:
                for member in archive.infolist():
                    yield member.filename.encode()
                    with archive.open(member) as file:
                        yield file.read(FILE_MAX_BYTES)
        except _UNREADABLE:
            return


def forget_typed(path: Path, wanted: Wanted | None, *, looks: bool) -> list[tuple[str, ...]]:
    """What was typed into a terminal, as its history keeps it: entries that hold it go; None: all go.

    Raises:
        OSError: the file cannot be used.
    """
    try:
        content = path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return []
    kept, found = list[str](), list[tuple[str, ...]]()
    for entry in _entries(content):
        typed = "\n".join(line[1:] for line in entry.splitlines() if line.startswith("+"))
        hits = [typed] if wanted is None and typed else wanted.hits(typed) if wanted else []
        (found.append(tuple(hits)) if hits else kept.append(entry))
    if found and not looks:
        with folder_below(path.parent, make=False) as folder, folder_lock(folder, wait_s=LOCK_WAIT_S):
            write_whole(folder, path.name, "".join(kept).encode())
    return found


def _entries(content: str) -> Iterator[str]:
    """As prompt_toolkit writes them: a comment with the time, then each line behind a plus."""
    entry = ""
    for line in content.splitlines(keepends=True):
        if line.startswith("#") and "+" in entry:
            yield entry
            entry = ""
        entry += line
    if entry:
        yield entry
