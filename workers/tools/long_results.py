"""Results that are too long for the log: saved in a file that the model can read, with only both ends in the log."""

import os
import re
from contextlib import suppress

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools.file_text import changing
from workers.tools.tool_result import Result, ends_of, valid
from workers.tools.tool_sandbox import Folders
from workers.tools.tool_threads import in_thread

RESULT_MAX_CHARS = 20_000
"""Longest result that goes into the log; some 5,000 tokens, a tenth of the default budget."""

KEPT_MAX_CHARS = 32_000_000
"""Longest result that is saved as a whole."""

KEPT_MAX = 50
"""Saved results per scope; older ones are deleted."""

FOLDER = "results"

_RESULT = re.compile(r"turn-\d+-call-[\w-]*\.txt")


async def fitted(result: Result, folders: Folders, name: str, *, kept: bool) -> Result:
    """``result`` if it is short enough, otherwise its two ends; with ``kept``, the whole is saved as ``name``."""
    if len(result.text) <= RESULT_MAX_CHARS:
        return Result(text=valid(result.text), images=result.images, failed=result.failed)
    where = f"{FOLDER}/{name}.txt"
    return await in_thread(lambda: _cut(result, folders, where if kept else ""))


def _cut(result: Result, folders: Folders, where: str) -> Result:
    text = valid(result.text[:KEPT_MAX_CHARS])
    total = len(result.text)
    left_out = f"[... {total - int(RESULT_MAX_CHARS * 0.9):,} of {total:,} characters left out"
    if where:
        try:
            _keep(folders, where, text)
            left_out += f"; the whole result is in the file {where}"
        except ToolError as error:
            left_out += f"; the whole result could not be saved: {error}"
    return Result(text=ends_of(text, RESULT_MAX_CHARS, f"{left_out} ...]"), images=result.images, failed=result.failed)


def _keep(folders: Folders, where: str, text: str) -> None:
    place = folders.place(where)
    with changing(folders, place, make=True) as folder:
        write_whole(folder, place.names[-1], text.encode())
        _make_room(folder)


def _make_room(folder: int) -> None:
    """Remove the oldest results beyond ``KEPT_MAX``. Files that the bot wrote into the folder stay."""
    found: list[tuple[float, str]] = []
    for name in filter(_RESULT.fullmatch, os.listdir(folder)):
        with suppress(OSError):
            found.append((os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime, name))
    for _, name in sorted(found)[:-KEPT_MAX]:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
