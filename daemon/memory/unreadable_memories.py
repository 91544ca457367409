"""The memories of a workspace whose MEMORY.md cannot be read. All functions block."""

import os
from collections.abc import Iterator
from pathlib import Path

from daemon.durable import folder_below
from daemon.memory.memory_file import MEMORY, refusal
from daemon.memory.memory_files import FOLDER

SCOPES_MAX = 10_000
"""Folders of scopes that are looked at."""


def refused_memories(workspace: Path) -> Iterator[tuple[str, str]]:
    """Each such file, as a path from the workspace, with the reason and the remedy."""
    for names in ((FOLDER,), *((FOLDER, scope) for scope in _scopes(workspace))):
        try:
            with folder_below(workspace, *names, make=False) as folder:
                why = refusal(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = f"the file's folder cannot be read: {error.strerror}"
        if why:
            yield "/".join((*names, MEMORY)), why


def _scopes(workspace: Path) -> list[str]:
    try:
        with os.scandir(workspace / FOLDER) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))[:SCOPES_MAX]
    except OSError:
        return []
