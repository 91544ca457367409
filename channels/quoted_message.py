"""The message that another one answers: its text as a quote, and the files that it lends to the answer. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from channels.arrival import Sender
from daemon.events import Attachment, Quote

QUOTE_MAX_CHARS = 1_000
"""Characters of a quote."""

FILES_MAX = 10
"""Files of a quoted message: an album of Telegram or Discord."""

UNKNOWN = "?"
"""Name of an unknown sender; an empty name would stand for the bot."""


def quote_of(text: str, files: Iterable[Attachment], sender: Sender | None) -> Quote | None:
    """The quote of a message; None: it has neither a text nor files. ``sender`` None: the bot wrote it."""
    said = said_with(files, text, between=" ")[:QUOTE_MAX_CHARS]
    if not said:
        return None
    if sender is None:
        return Quote(text=said)
    return Quote(text=said, sender_name=sender.name or sender.id or UNKNOWN, sender_id=sender.id)


def brought(files: Sequence[Attachment], sender: Sender | None) -> tuple[Attachment, ...]:
    """The files of a quoted message as attachments of its answer. ``sender`` as for ``quote_of``."""
    kept = files[:FILES_MAX]
    if sender is None:
        # Its own spoken answer is in the log as text.
        return tuple([file for file in kept if file.kind != "voice"])
    return tuple([msgspec.structs.replace(file, sender_id=sender.id) for file in kept])


def said_with(files: Iterable[Attachment], text: str, *, between: str = "\n") -> str:
    """A message in words: the names of its files, and its text."""
    return between.join(filter(None, (*map(_named, files), text.strip())))


def _named(file: Attachment) -> str:
    return f"[{file.kind}: {' '.join(file.name.split())}]" if file.name else f"[{file.kind}]"
