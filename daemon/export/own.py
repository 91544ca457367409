"""An export that is left among the scope's own files, to be sent from there: one at a time, the newest."""

import os
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from collections.abc import Generator
from pathlib import Path
from typing import IO

from anyio import to_thread

from daemon.durable import folder_below, whole_file
from daemon.export.contents import EXPORTS, Exported, Sources, export
from daemon.export.package import Package
from daemon.export.subject import subject_of
from daemon.memory.files import bot_of
from daemon.scope import folder_of
from daemon.wording import Language


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A file that was left."""

    name: str
    path: str
    """Below the bot's workspace."""
    size_bytes: int
    told: Exported


async def export_here(sources: Sources, scopes: Sequence[str], *, language: Language) -> Kept:
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
    with _file(workspace, place, name) as file:
        told = await export(sources, subject, Package(file, now=now), language=language)
    size = await to_thread.run_sync(_only, workspace, place, name)
    return Kept(name=name, path="/".join((*place, name)), size_bytes=size, told=told)


@contextmanager
def _file(workspace: Path, place: Sequence[str], name: str) -> Generator[IO[bytes]]:
    with folder_below(workspace, *place, make=True) as folder, whole_file(folder, name, replace=True) as file:
        yield file


def _only(workspace: Path, place: Sequence[str], name: str) -> int:
    """Remove all files but the one called ``name``, whose size this gives."""
    with folder_below(workspace, *place, make=False) as folder:
        for other in os.listdir(folder):
            if other != name:
                with suppress(OSError):
                    os.unlink(other, dir_fd=folder)
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
