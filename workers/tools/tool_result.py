"""The result of a tool: a text and pictures, cut to the limit of the log."""

import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools.file_access import FileAccess, changing

HEAD_SHARE, TAIL_SHARE = 0.7, 0.2
"""Shares of the beginning and the end that are shown of a result that is too long."""

FAILED = "Error: "
"""Prefix of the result of a failed call."""

Content = str | Sequence[Mapping[str, Any]]
"""The content of a message in the chat completions API: a text, or a list of parts."""


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """A picture for the model."""

    media_type: str
    """For example ``image/png``."""
    data: bytes


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call for the model."""

    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False
    """Whether the call failed; the text then begins with ``FAILED``."""

    def content(self) -> Content:
        """The content of the tool message."""
        if not self.images:
            return self.text
        return [{"type": "text", "text": self.text}, *map(_image_part, self.images)]


def failure(reason: object) -> ToolResult:
    """The result of a failed call. ``reason`` says what failed and what to do."""
    return ToolResult(text=f"{FAILED}{valid(str(reason))}", failed=True)


def valid(text: str) -> str:
    """``text`` with invalid Unicode replaced, such as lone surrogates from undecodable bytes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def ends_of(text: str, max_chars: int, marker: str) -> str:
    """The beginning and the end of ``text`` around ``marker``."""
    head, tail = int(max_chars * HEAD_SHARE), int(max_chars * TAIL_SHARE)
    return f"{text[:head]}\n{marker}\n{text[len(text) - tail :]}"


def _image_part(image: Image) -> Mapping[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


# Threads for the blocking work of tools: a limited number, so that other work keeps its threads.

THREADS = 8
"""Calls at a time that are waited for. An abandoned call is not counted: a hanging file or pattern of one bot must not
block the tools of others."""

_T = TypeVar("_T")
_limiter: RunVar[CapacityLimiter] = RunVar("millpond-tool-threads")


async def in_thread(work: Callable[[], _T]) -> _T:
    """The result of ``work``. On cancellation the thread continues unattended, since a thread cannot be stopped."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)


# Results that are too long for the log: saved in a file that the model can read, with only both ends in the log.

RESULT_MAX_CHARS = 20_000
"""Longest result that goes into the log; some 5,000 tokens, a tenth of the default budget."""

KEPT_MAX_CHARS = 32_000_000
"""Longest result that is saved as a whole."""

KEPT_MAX = 50
"""Saved results per scope; older ones are deleted."""

FOLDER = "results"

_RESULT = re.compile(r"turn-\d+-call-[\w-]*\.txt")


async def fitted(result: ToolResult, folders: FileAccess, name: str, *, kept: bool) -> ToolResult:
    """``result`` if it is short enough, otherwise its two ends; with ``kept``, the whole is saved as ``name``."""
    if len(result.text) <= RESULT_MAX_CHARS:
        return ToolResult(text=valid(result.text), images=result.images, failed=result.failed)
    where = f"{FOLDER}/{name}.txt"
    return await in_thread(lambda: _cut(result, folders, where if kept else ""))


def _cut(result: ToolResult, folders: FileAccess, where: str) -> ToolResult:
    text = valid(result.text[:KEPT_MAX_CHARS])
    total = len(result.text)
    left_out = f"[... {total - int(RESULT_MAX_CHARS * 0.9):,} of {total:,} characters left out"
    if where:
        try:
            _keep(folders, where, text)
            left_out += f"; the whole result is in the file {where}"
        except ToolError as error:
            left_out += f"; the whole result could not be saved: {error}"
    return ToolResult(
        text=ends_of(text, RESULT_MAX_CHARS, f"{left_out} ...]"), images=result.images, failed=result.failed
    )


def _keep(folders: FileAccess, where: str, text: str) -> None:
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
