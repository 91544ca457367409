"""The contents of a reply's parts: pieces of its text first, then its files, each a part of its own.

A short text is one part with the first file, below which it stands, if the platform can do that.
"""

from collections.abc import Sequence

import anyio.to_thread
import msgspec

from channels.base import Channel
from channels.text import pieces
from daemon.events import Attachment, Reply
from daemon.wording import Language
from daemon.wording import text as say

IN_THREAD_CHARS = 16_000
"""A longer text is cut in a thread: it would hold up everything else for longer than a few milliseconds."""


class PartContent(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into one part."""

    text: str = ""
    document: str = ""
    attachments: tuple[Attachment, ...] = ()
    """One at most: of several, nobody could know which of them arrived."""


class ReplyParts:
    """Makes parts of replies for one channel; the same reply always gives the same."""

    def __init__(self, channel: Channel, *, parts_max: int, language: Language) -> None:
        self._channel = channel
        self._parts_max = parts_max
        self._language: Language = language

    def at_once(self, reply: Reply) -> list[PartContent] | None:
        """The only part of most replies, a text that needs no cutting; None: see ``of``."""
        text = reply.text
        if reply.attachments or len(text) > IN_THREAD_CHARS or not text.strip():
            return None
        return [PartContent(text=text)] if self._channel.length(text) <= self._channel.limits.part_max else None

    async def of(self, reply: Reply) -> list[PartContent]:
        """The parts of a reply; none when there is nothing to be sent."""
        left_out = [file for file in reply.attachments if not self._can_be_sent(file)]
        # A spoken answer is the text once more.
        told = [self._too_large(file) for file in left_out if file.kind != "voice"]
        text = "\n\n".join((reply.text, *told)).lstrip() if told else reply.text
        if len(text) > IN_THREAD_CHARS:
            found = await anyio.to_thread.run_sync(self._pieces, text)
        elif self._channel.length(text) <= self._channel.limits.part_max:
            found = [PartContent(text=text)] if text.strip() else []
        else:
            found = self._pieces(text)
        return self._with_files(found, [file for file in reply.attachments if file not in left_out])

    def _with_files(self, found: list[PartContent], files: Sequence[Attachment]) -> list[PartContent]:
        """``found`` and a part for each file; a short text is the caption of the first file."""
        parts = [PartContent(attachments=(file,)) for file in files]
        limits = self._channel.limits
        # A voice message is the text once more, which was shown while it was written.
        if len(found) == 1 and not found[0].document and files and files[0].kind != "voice":
            text = found[0].text
            if self._channel.length(text) <= limits.caption_max:
                return [PartContent(text=text, attachments=(files[0],)), *parts[1:]]
        return found + parts

    def _pieces(self, text: str) -> list[PartContent]:
        limits = self._channel.limits
        # A text that is too large for a file goes in as many parts as it takes: no part is shorter than a character.
        as_file = len(text.encode()) <= limits.send_max_bytes
        parts_max = self._parts_max if as_file else len(text)
        cut = pieces(text, limits.part_max, self._channel.length, parts_max=parts_max)
        return [PartContent(text=piece.text, document=piece.document) for piece in cut]

    def _can_be_sent(self, file: Attachment) -> bool:
        return 0 < self._channel.limits.send_max_bytes >= file.size_bytes

    def _too_large(self, file: Attachment) -> str:
        megabytes = f"{file.size_bytes / 1_000_000:,.1f}"
        return say("file_too_large", self._language, name=file.name or file.path, megabytes=megabytes)
