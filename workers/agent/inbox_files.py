"""Stores the files of messages among the files of their scope. All functions block."""

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools import Folders
from workers.tools.file_text import changing, whole


def kept(folders: Folders, path: str, max_bytes: int) -> bytes | None:
    """The content of a file that was put there before; None: it was not, or it is no file of ours."""
    place = folders.place(path)
    try:
        with folders.opened(place) as descriptor:
            return whole(descriptor, place, max_bytes)
    except ToolError:
        return None


def keep(folders: Folders, path: str, content: bytes) -> None:
    """Put a file there.

    Raises:
        ToolError: nothing can be written there.
    """
    place = folders.place(path)
    with changing(folders, place, make=True) as folder:
        write_whole(folder, place.names[-1], content)
