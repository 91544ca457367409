"""Files of push channels: those of messages are downloaded, those of replies are read from a bot's workspace."""

import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

import anyio.to_thread

from channels.push import connect
from daemon.config import PushConfig, WebConfig
from daemon.durable import folder_below
from daemon.errors import SendRejected
from daemon.events import Attachment
from daemon.process import Process

# Downloading the files of a push channel's messages, in the process that answers them.


class Fetch(Protocol):
    """Gives the content of a file."""

    async def __call__(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """See ``channels.base.Channel.fetch``; also raises SendRejected for one that is larger than is fetched."""
        ...


@asynccontextmanager
async def fetching(process: Process, channel: str) -> AsyncGenerator[Fetch]:
    """Fetches files of a channel instance, for the length of the block.

    Raises:
        SendRejected: this process's configuration has no such channel, or one that fetches nothing.
    """
    config = process.config.channels.get(channel)
    if isinstance(config, WebConfig):
        yield _uploaded
        return
    if not isinstance(config, PushConfig):
        raise SendRejected(
            f"the files come from channel {channel[:80]!r}, which is not in this process's configuration"
        )
    async with connect(process, channel, config) as adapter:

        async def fetch(attachment: Attachment, *, timeout_s: float) -> bytes:
            content = await adapter.fetch(attachment, timeout_s=timeout_s)
            if len(content) > adapter.limits.fetch_max_bytes:
                raise SendRejected("the file is too large to be downloaded")
            return content

        yield fetch


async def _uploaded(attachment: Attachment, *, timeout_s: float) -> bytes:
    """A file of the page is stored before its message, so that nothing is left to fetch."""
    raise SendRejected("the uploaded file is not in this worker's workspace")


# Files of a bot's workspace on their way to a platform.

READS = anyio.CapacityLimiter(4)
"""Files that are read at a time: each may take as many bytes as a platform lets through."""


async def content_of(workspace: Path, attachment: Attachment, *, max_bytes: int) -> bytes:
    """The content of a file that a bot sends.

    Raises:
        SendRejected: it is gone, empty, larger than ``max_bytes``, or no file.
    """
    return await anyio.to_thread.run_sync(_read, workspace, attachment, max_bytes, limiter=READS)


def _read(workspace: Path, attachment: Attachment, max_bytes: int) -> bytes:
    names = PurePosixPath(attachment.path).parts
    if not names or ".." in names or names[0] == "/":
        raise _unusable(attachment, "the file is not inside the workspace")
    try:
        # Without O_NONBLOCK opening a pipe waits for its other end, for ever.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with folder_below(workspace, *names[:-1], make=False) as folder:
            descriptor = os.open(names[-1], flags, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unusable(attachment, "the path does not refer to a regular file")
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise _unusable(attachment, f"the file cannot be read: {error.strerror}") from error
    if not 0 < len(content) <= max_bytes:
        raise _unusable(attachment, f"the file is empty or larger than {max_bytes:,} bytes")
    return content


def _unusable(attachment: Attachment, why: str) -> SendRejected:
    return SendRejected(f"{attachment.path or attachment.name or 'attachment'}: {why}", brief=f"attachment: {why}")
