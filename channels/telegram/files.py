"""Files of a bot's workspace on their way to Telegram."""

from pathlib import Path, PurePosixPath

from channels.outgoing_files import content_of
from channels.telegram.api import Upload
from daemon.events import Attachment

SEND_MAX_BYTES = 50_000_000
"""Largest file that bots may send (Bot API, "Sending files")."""

PHOTO_MAX_BYTES = 10_000_000
"""Largest photo; a larger one goes as a document."""

PHOTOS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
"""Names of pictures that the platform takes as photos."""

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
    content = await content_of(workspace, attachment, max_bytes=SEND_MAX_BYTES)
    return Upload(field=field_of(attachment), name=attachment.name or "file", content=content)
