"""Files of a bot's workspace on their way to a platform."""

import os
import stat
from pathlib import Path, PurePosixPath

import anyio.to_thread

from daemon.durable import folder_below
from daemon.errors import SendRejected
from daemon.events import Attachment

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
                raise _unusable(attachment, "the path is not a regular file")
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise _unusable(attachment, f"the file cannot be read: {error.strerror}") from error
    if not 0 < len(content) <= max_bytes:
        raise _unusable(attachment, f"the file is empty or larger than {max_bytes:,} bytes")
    return content


def _unusable(attachment: Attachment, why: str) -> SendRejected:
    return SendRejected(f"{attachment.path or attachment.name or 'attachment'}: {why}", brief=f"attachment: {why}")
