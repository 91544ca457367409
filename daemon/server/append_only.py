"""The append-only files of the server (Redis and Valkey, from 7.0 on), which a manifest lists.

A server without the manifest starts EMPTY beside the files, and a server with a shortened manifest starts without the
newest data. Both say nothing, so the files are compared before every start.
"""

import os
import re
from pathlib import Path

from daemon.durable import folder_below, names_in, plain_file
from daemon.errors import EngineRefused

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"

_is_incremental = re.compile(r"appendonly\.aof\.\d+\.incr\.aof").fullmatch
_named = re.compile(rb"^file (\S+) ", re.MULTILINE)


def check_manifest(folder: Path) -> None:
    """Make sure that the manifest in the server's folder lists every file with commands.

    A new file is listed before its first command, and a file is deleted before its name leaves the manifest. Files
    that a rewrite has not listed yet are copies, and are not looked at.

    Raises:
        EngineRefused: the manifest does not list a file.
        OSError: the folder or its manifest cannot be read.
    """
    try:
        with folder_below(folder, FOLDER, make=False) as opened:
            listed = _listed(opened)
            filled = {name for name in names_in(opened) if _is_incremental(name) and _size(opened, name)}
    except FileNotFoundError:
        return
    if forgotten := sorted(filled - listed):
        path = folder / FOLDER / MANIFEST
        raise EngineRefused(
            f"{path} is missing or damaged: the file does not list {', '.join(forgotten)}, so the server would start "
            "without this data. Restore the manifest, or restore a backup into an empty data directory. Nothing was "
            "opened."
        )


def _listed(folder: int) -> set[str]:
    try:
        with plain_file(folder, MANIFEST) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return {name.decode("utf-8", "replace") for name in _named.findall(file.read())}
    except FileNotFoundError:
        return set()


def _size(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
