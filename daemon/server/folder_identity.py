"""The identity of the data folder: a removed folder, or a lost mount, would lose everything that is written later."""

import os

from daemon.server.server_files import Layout

Identity = tuple[int, int]
"""Device and inode of an opened folder."""


def identity_of(layout: Layout) -> Identity | None:
    """The identity of the folder with the server's data; None if it, or the marker in it, is missing. Blocks.

    The marker ``engine.json`` is written before the server's first start: a folder without it was emptied.

    Raises:
        OSError: the file system cannot say.
    """
    try:
        found = os.stat(layout.folder)  # noqa: PTH116 - one system call
        os.stat(layout.engine)  # noqa: PTH116 - as above
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
