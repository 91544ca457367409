"""Files and texts of a person at the command line: a file that is written, and a text from an editor."""

import gzip
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import click

from daemon.cli.output.table_output import tell
from daemon.durable import whole_file
from daemon.errors import InboundError, OutputError

# Writing a file that a person named: the file is complete or does not exist.


async def written(path: Path, pieces: AsyncGenerator[bytes], *, replace: bool) -> int:
    """Write ``pieces`` to ``path`` and return the bytes; ``.gz`` compresses, ``-`` is standard output.

    Raises:
        OutputError: it cannot be written, or is there already and not to be replaced; what was there is unchanged.
    """
    count = 0
    if str(path) == "-":
        async for piece in pieces:
            sys.stdout.buffer.write(piece)
            count += len(piece)
        return count
    with opened(path, replace=replace) as file, _packing(file, path) as target:
        async for piece in pieces:
            target.write(piece)
            count += len(piece)
    return count


@contextmanager
def _packing(file: IO[bytes], path: Path) -> Generator[IO[bytes]]:
    if not path.name.endswith(".gz"):
        yield file
        return
    # Without name and time: the same messages always give the same file.
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packer:
        yield cast("IO[bytes]", packer)


@contextmanager
def opened(path: Path, *, replace: bool) -> Generator[IO[bytes]]:
    """A file to write, see ``whole_file``; errors as for ``written``."""
    path = path.expanduser()
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not replace and _is_there(folder, path.name):
                raise FileExistsError  # before anything is asked for
            with whole_file(folder, path.name, replace=replace) as file:
                yield file
        finally:
            os.close(folder)
    except FileExistsError as error:
        raise OutputError(
            f"{path} already exists. Choose another file name, or add --force to overwrite the file."
        ) from error
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}. Check the folder and its permissions."
        ) from error


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


# A text that a person writes for a command: in an editor, in a file, or on standard input.

MAX_BYTES = 1_000_000
"""As large as MEMORY.md may be."""


def text_of(path: Path) -> str:
    """The text of a file, ``-`` being standard input.

    Raises:
        InboundError: it cannot be read, or is no text.
    """
    try:
        content = _content(path)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InboundError(f"{path} is not UTF-8 (byte {error.start}). Save the file as UTF-8.") from error
    except OSError as error:
        raise InboundError(
            f"{path} cannot be read: {error.strerror}. Check the file's path and permissions."
        ) from error
    if len(content) > MAX_BYTES:
        raise InboundError(f"{path} is larger than {MAX_BYTES:,} bytes. Shorten the text.")
    return text.replace("\r\n", "\n")


def _content(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


@contextmanager
def edited_draft(text: str) -> Generator[str]:
    """The edited ``text`` from a person's editor. If the block fails, the draft is kept and its name printed.

    Raises:
        click.ClickException: there is no editor, or it failed.
        InboundError: what was saved is no text.
    """
    folder = Path(tempfile.mkdtemp(prefix="millpond-"))
    draft = folder / "MEMORY.md"
    draft.write_bytes(text.encode())
    try:
        click.edit(filename=str(draft))
        edited = text_of(draft)
        # Editors end a text in a line feed; that alone is no change.
        yield text if edited.rstrip("\n") == text.rstrip("\n") else edited
    except BaseException:
        tell(f"millpond: your unsaved text is kept in {draft}", err=True)
        raise
    draft.unlink()
    folder.rmdir()
