"""An export that is left among the scope's own files, to be sent from there: one at a time, the newest."""

import os
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO

import anyio
import msgspec
from anyio import to_thread

from daemon.durable import DRAFT, folder_below, names_in, whole_file
from daemon.export.export_contents import EXPORTS, ExportResult, Sources, export
from daemon.export.export_subject import subject_of
from daemon.export.zip_writer import ZipWriter
from daemon.memory.memory_files import bot_of
from daemon.scope import folder_of
from daemon.wording import Language

DRAFT_S = 3_600.0
"""What was begun so long ago is written no more."""


class KeptExport(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was left."""

    name: str
    path: str
    """Below the bot's workspace."""
    size_bytes: int
    told: ExportResult


async def export_here(sources: Sources, scopes: Sequence[str], *, language: Language) -> KeptExport:
    """Export ``scopes`` into the folder of the first one's own files; an older export there is removed.

    Raises:
        BusUnavailable: Redis is away.
        ConfigError: the bot is not configured here.
        OSError: the file cannot be written.
    """
    home, now = scopes[0], sources.clock.now()
    workspace = sources.workspace_of(bot_of(home))
    place = ("files", folder_of(home), EXPORTS)
    name = f"export-{now:%Y-%m-%d-%H%M%S}.zip"
    subject = await subject_of(sources.bus, scopes)
    async with _file(workspace, place, name) as file:
        told = await export(sources, subject, ZipWriter(file, now=now), language=language)
    size = await to_thread.run_sync(_only, workspace, place, name)
    return KeptExport(name=name, path="/".join((*place, name)), size_bytes=size, told=told)


@asynccontextmanager
async def _file(workspace: Path, place: Sequence[str], name: str) -> AsyncGenerator[IO[bytes]]:
    """``whole_file`` below the workspace; it opens and ends in a thread, for it waits for the disk."""
    held = _whole(workspace, place, name)
    file = await to_thread.run_sync(held.__enter__)
    try:
        yield file
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(held.__exit__, type(error), error, error.__traceback__)
        raise
    await to_thread.run_sync(held.__exit__, None, None, None)


@contextmanager
def _whole(workspace: Path, place: Sequence[str], name: str) -> Generator[IO[bytes]]:
    with folder_below(workspace, *place, make=True) as folder, whole_file(folder, name, replace=True) as file:
        yield file


def _only(workspace: Path, place: Sequence[str], name: str) -> int:
    """Remove older exports, and what killed processes left of theirs; the size of the one called ``name``."""
    with folder_below(workspace, *place, make=False) as folder:
        for other in names_in(folder):
            with suppress(OSError):
                state = os.stat(other, dir_fd=folder, follow_symlinks=False)
                # Another conversation of the same scope may be writing one just now.
                if other != name and not (other.endswith(DRAFT) and state.st_mtime > time.time() - DRAFT_S):
                    os.unlink(other, dir_fd=folder)
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
