"""One file of a message, and its description for the model. Pure."""

from dataclasses import dataclass

from daemon.events import Attachment, Inbound
from daemon.inbox import path_of
from workers.agent.pictures import picture
from workers.agent.user_messages import line_of, one_line, own, unbracketed

INLINE_MAX_CHARS = 20_000
"""Longest text that is included in the message itself, for a bot without a tool to read files."""

REASON_MAX_CHARS = 200


@dataclass(kw_only=True)
class Taken:
    """A file, and its outcome."""

    inbound: Inbound
    number: int
    told: str = ""
    """The line about it in the message; empty while it is not processed."""
    picture: bytes = b""
    """The part of a message that shows it, JSON; empty if it is not a picture."""

    @property
    def file(self) -> Attachment:
        """The attachment as the channel describes it."""
        return self.inbound.attachments[self.number]

    @property
    def path(self) -> str:
        """Its path among the files of its scope."""
        return self.file.path or path_of(self.inbound, self.number)

    def fail(self, reason: object) -> None:
        """Describe why it is missing."""
        self.told = self._line(self.file.size_bytes, f": {unbracketed(one_line(str(reason), REASON_MAX_CHARS))}")

    def heard(self, text: str) -> None:
        """Include the transcription of a voice message."""
        self.told = f"[voice message] {own(text)}" if text else line_of(self.file, ": contains no speech")

    def tell(self, content: bytes, *, saved: bool, can_read: bool, more: str = "") -> None:
        """Tell of a file that is there.

        Args:
            content: of the file.
            saved: whether it is kept among the scope's files.
            can_read: whether the bot has a tool that reads them; if not, a short text stands in the message.
            more: what else there is to tell.
        """
        if self.file.kind == "image":
            self.picture = picture(content)
        where = f", saved as {self.path}" if saved and can_read else ""
        self.told = self._line(len(content), f"{where}{more}")
        text = "" if can_read or self.file.kind != "document" else _text_in(content)
        if text:
            self.told += f"\n{own(text)}"

    def _line(self, size_bytes: int, more: str) -> str:
        size = f", {_shown_size(size_bytes)}" if size_bytes else ""
        return line_of(self.file, f"{size}{more}")


def _text_in(content: bytes) -> str:
    """A short text; empty for other content."""
    if len(content) > 4 * INLINE_MAX_CHARS or b"\0" in content:
        return ""
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return ""
    return text if len(text) <= INLINE_MAX_CHARS else ""


def _shown_size(size_bytes: int) -> str:
    if size_bytes < 1_000:
        return f"{size_bytes} bytes"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1_000:.0f} kB"
    return f"{size_bytes / 1_000_000:.1f} MB"
