"""Passages of messages whose places an audit stores, with their words, which no audit stores."""

from collections.abc import Collection

import msgspec

from daemon.memory import HistoryEntry
from daemon.recall.chunks import FORGOTTEN
from daemon.recall.search_results import QuotedMessage, said_of
from daemon.transcripts import Transcripts


class LostItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that the archived messages alone contain."""

    kind: str
    index: int
    """Of its message in the session's log."""
    text: str
    """Empty: the message was forgotten, has expired, or cannot be read."""


async def lost_of(transcripts: Transcripts, entry: HistoryEntry) -> list[LostItem]:
    """The items of a history entry that only the archive contains, in order of the messages.

    Raises:
        BusUnavailable: Redis is away.
    """
    places = entry.audit.lost if entry.audit else ()
    said = await messages_at(transcripts, entry.session, {place.index for place in places})
    return [
        LostItem(kind=place.kind, index=place.index, text=passage(said.get(place.index), place.begin, place.end))
        for place in places
    ]


async def messages_at(
    transcripts: Transcripts, session: str, indexes: Collection[int]
) -> dict[int, QuotedMessage | None]:
    """The messages of a session at these indexes that are stored; None: it cannot be read now. Errors as above."""
    found: dict[int, QuotedMessage | None] = {}
    for index in sorted(indexes):
        async for piece in transcripts.pieces(session, index, index + 1):
            found |= dict.fromkeys(range(piece.first, piece.upto)) if piece.reason else {}
            found |= {at: said for at, entry in piece.entries() if (said := said_of(session, at, entry))}
    return found


def passage(said: QuotedMessage | None, begin: int, end: int) -> str:
    """A passage of a message; empty if the message was forgotten or does not have so many characters. Pure."""
    return said.text[begin:end] if said and said.text != FORGOTTEN and end <= len(said.text) else ""
