"""Going through folders and the folders in them, as far as the limits allow."""

from collections.abc import Iterator

from daemon.errors import ToolError
from workers.tools.folders import DEPTH_MAX, READ_ONLY, Entry, Folders, Place

FILES_MAX = 10_000
"""Entries that one call looks at."""


class Cut(Exception):
    """There is more than one call may look at."""


def walk(folders: Folders, place: Place, *, deep: bool = True) -> Iterator[tuple[Place, Entry]]:
    """Every entry below a folder with its place, folders before what is in them.

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
                continue  # what cannot be reached: the name means another place
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
    except ToolError:  # gone meanwhile, or not to be read
        return []
