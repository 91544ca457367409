"""Audits of consolidations with the words of the messages, which the audits themselves do not store."""

from collections.abc import Sequence
from dataclasses import dataclass

from daemon.memory import AuditPlace, HistoryEntry
from daemon.recall.reading import said_of
from daemon.transcripts import Transcripts


@dataclass(frozen=True, kw_only=True)
class Lost:
    """An item that the archived messages alone contain."""

    kind: str
    index: int
    """Of its message in the session's log."""
    text: str
    """Empty: the message was forgotten, has expired, or cannot be read."""


async def lost_of(transcripts: Transcripts, entry: HistoryEntry) -> list[Lost]:
    """The items of a history entry that only the archive contains, in order of the messages.

    Raises:
        BusUnavailable: Redis is away.
    """
    places = entry.audit.lost if entry.audit else ()
    texts = {index: await _text(transcripts, entry.session, index) for index in {place.index for place in places}}
    return [_lost(place, texts[place.index]) for place in places]


def _lost(place: AuditPlace, text: str) -> Lost:
    is_whole = place.end <= len(text)
    return Lost(kind=place.kind, index=place.index, text=text[place.begin : place.end] if is_whole else "")


async def _text(transcripts: Transcripts, session: str, index: int) -> str:
    async for piece in transcripts.pieces(session, index, index + 1):
        said: Sequence[str] = [
            each.text for at, entry in piece.entries() if (each := said_of(session, at, entry)) and at == index
        ]
        return said[0] if said else ""
    return ""
