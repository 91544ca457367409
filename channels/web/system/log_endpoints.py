"""``/api/logs/…``: the lines of Millpond's log files that contain a correlation ID, a message ID or a session key.

Log lines contain no message text. A process that was started without a terminal writes its log to standard error, which
cannot be read here.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.request_params import json_response, limit_of, segments_of
from channels.web.site import Site
from daemon.concurrency import Threads
from daemon.durable import folder_below, plain_file
from daemon.errors import UNREADABLE
from daemon.log import FILE_KEEP

FILES = ("millpond.log", *(f"millpond.log.{number}" for number in range(1, FILE_KEEP + 1)))
"""Log files, the newest first: ``daemon.log`` writes and rotates them."""

NAME_CHARS = 500
"""Longest name that is searched for."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class LogEndpoints:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._root = site.process.data_dir
        self._threads = Threads(1)

    async def read(self, request: Request) -> Response:
        """The newest lines, oldest first, and the names of the searched files."""
        name, limit = unquote(segments_of(request, 4)[3]), limit_of(request)
        if not name or len(name) > NAME_CHARS:
            raise HTTPException(400, f"The ID must have 1 to {NAME_CHARS} characters.")
        files, lines = await self._threads.run(search, self._root, name, limit)
        return json_response({"files": files, "lines": lines})


def search(root: Path, name: str, limit: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The paths of the log files of a data directory, and their newest lines with the value ``name``, oldest first."""
    # As it stands in a line: what is decoded is next to nothing.
    quoted, files, found = msgspec.json.encode(name), list[str](), list[dict[str, Any]]()
    for file, content in _contents(root):
        files.append(str(root / "logs" / file))
        lines = (line for line in reversed(content.splitlines()) if quoted in line)
        found += islice(_decoded(lines), limit - len(found))
    return files, found[::-1]


def _contents(root: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with folder_below(root, "logs", make=False) as folder:
            for file in FILES:
                with plain_file(folder, file) as descriptor:
                    yield file, os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    except OSError:  # there is no such file, or it may not be read
        return


def _decoded(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield _decode(line)
        except UNREADABLE:  # the last line of a killed process may be incomplete
            continue
