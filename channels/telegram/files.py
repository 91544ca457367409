"""Files of a bot's workspace on their way to Telegram."""

import os
import stat
from pathlib import Path, PurePosixPath

import anyio.to_thread

from channels.telegram.api import Upload
from daemon.durable import folder_below
from daemon.errors import SendRejected
from daemon.events import Attachment

SEND_MAX_BYTES = 50_000_000
"""Largest file that bots may send (Bot API, "Sending files")."""

PHOTO_MAX_BYTES = 10_000_000
"""Largest photo; a larger one goes as a document."""

PHOTOS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
"""Names of pictures that the platform takes as photos."""

READS = anyio.CapacityLimiter(4)
"""Files that are read at a time: each may take 50 MB."""

METHODS = {
    "photo": "sendPhoto",
    "document": "sendDocument",
    "audio": "sendAudio",
    "video": "sendVideo",
    "voice": "sendVoice",
}
"""The parameter that a file is, and the method that sends it."""


def field_of(attachment: Attachment) -> str:
    """The parameter that a file is sent as."""
    if attachment.kind == "image":
        fine = PurePosixPath(attachment.name.lower()).suffix in PHOTOS and attachment.size_bytes <= PHOTO_MAX_BYTES
        return "photo" if fine else "document"
    return attachment.kind


async def upload_of(workspace: Path, attachment: Attachment) -> Upload:
    """A file with its content.

    Raises:
        SendRejected: it is gone, empty, too large, or no file.
    """
    content = await anyio.to_thread.run_sync(_read, workspace, attachment, limiter=READS)
    return Upload(field=field_of(attachment), name=attachment.name or "file", content=content)


def _read(workspace: Path, attachment: Attachment) -> bytes:
    names = PurePosixPath(attachment.path).parts
    if not names or ".." in names or names[0] == "/":
        raise SendRejected(f"{attachment.name or 'a file'} has no path in the workspace")
    try:
        # Without O_NONBLOCK opening a pipe waits for its other end, for ever.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with folder_below(workspace, *names[:-1], make=False) as folder:
            descriptor = os.open(names[-1], flags, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SendRejected(f"{attachment.path} is no file")
            content = file.read(SEND_MAX_BYTES + 1)
    except OSError as error:
        raise SendRejected(f"{attachment.path} cannot be read: {error.strerror}") from error
    if not 0 < len(content) <= SEND_MAX_BYTES:
        raise SendRejected(f"{attachment.path} is empty or larger than {SEND_MAX_BYTES:,} bytes")
    return content
