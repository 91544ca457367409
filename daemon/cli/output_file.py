"""Writing a file that a person named: the file is complete or does not exist."""

import gzip
import os
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from daemon.durable import whole_file
from daemon.errors import OutputError


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
