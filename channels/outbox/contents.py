"""What the parts of a reply hold: pieces of its text first, then its files, each a part of its own."""

import anyio
import msgspec

from channels.base import Channel
from channels.text import pieces
from daemon.events import Attachment, Reply
from daemon.wording import Language
from daemon.wording import text as say

IN_THREAD_CHARS = 16_000
"""A longer text is cut in a thread: it would hold up everything else for longer than a few milliseconds."""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into one part."""

    text: str = ""
    document: str = ""
    attachments: tuple[Attachment, ...] = ()
    """One at most: of several, nobody could know which of them arrived."""


class Contents:
    """Makes parts of replies for one channel; the same reply always gives the same."""

    def __init__(self, channel: Channel, *, parts_max: int, language: Language) -> None:
        self._channel = channel
        self._parts_max = parts_max
        self._language: Language = language

    async def of(self, reply: Reply) -> list[Content]:
        """The parts of a reply; none when there is nothing to be sent."""
        text, longest = reply.text, self._channel.limits.part_max
        files = reply.attachments
        if files:
            most = self._channel.limits.send_max_bytes
            files = tuple(file for file in reply.attachments if file.size_bytes <= most)
            text = "\n\n".join((text, *self._left_out(reply))).strip() if len(files) < len(reply.attachments) else text
        if len(text) > IN_THREAD_CHARS:
            found = await anyio.to_thread.run_sync(self._pieces, text)
        elif self._channel.length(text) <= longest:
            found = [Content(text=text)] if text.strip() else []
        else:
            found = self._pieces(text)
        if files:
            found += [Content(attachments=(file,)) for file in files]
        return found

    def _pieces(self, text: str) -> list[Content]:
        limits = self._channel.limits
        # A text that is too large for a file goes in as many parts as it takes: no part is shorter than a character.
        as_file = len(text.encode()) <= limits.send_max_bytes
        parts_max = self._parts_max if as_file else len(text)
        cut = pieces(text, limits.part_max, self._channel.length, parts_max=parts_max)
        return [Content(text=piece.text, document=piece.document) for piece in cut]

    def _left_out(self, reply: Reply) -> list[str]:
        most = self._channel.limits.send_max_bytes
        return [
            say("file_too_large", self._language, name=file.name or file.path, megabytes=_megabytes(file.size_bytes))
            for file in reply.attachments
            if file.size_bytes > most
        ]


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:,.1f}"
