"""Walking through folders and their subfolders, up to the limits."""

from collections.abc import Iterator

from daemon.errors import ToolError
from workers.tools.tool_sandbox import DEPTH_MAX, READ_ONLY, Entry, Folders, Place

FILES_MAX = 10_000
"""Most entries that one call visits."""


class Cut(Exception):
    """The folders have more entries than one call may visit."""


def walk(folders: Folders, place: Place, *, deep: bool = True) -> Iterator[tuple[Place, Entry]]:
    """Every entry below a folder with its place, each folder before its content.

    Raises:
        ToolError: ``place`` is no folder that can be read.
        Cut: ``FILES_MAX`` entries were given, and there are more.
    """
    count = 0
    waiting = [(place, folders.entries(place))]
    while waiting:
        here, entries = waiting.pop()
        for entry in entries:
            if not here.names and here.writable and entry.name in READ_ONLY:
                continue  # not reachable: the name refers to another place
            count += 1
            if count > FILES_MAX:
                raise Cut
            below = here.below(entry.name)
            yield below, entry
            if entry.folder and deep and len(below.names) < DEPTH_MAX:
                waiting.append((below, _inside(folders, below)))


def _inside(folders: Folders, place: Place) -> list[Entry]:
    try:
        return folders.entries(place)
    except ToolError:  # deleted in the meantime, or not readable
        return []
