"""What became of the older messages of a session: the ranges that were consolidated, and where each went."""

from dataclasses import dataclass

from daemon.archive import Archive, Segment
from daemon.memory import HistoryEntry, Memories


@dataclass(frozen=True, kw_only=True)
class Range:
    """Messages that were consolidated or archived together."""

    first: int
    upto: int
    """One past the last."""
    index: int | None
    """Of the entry in the history of the session's memory; None: nobody has come to write it, or it was set back."""
    entry: HistoryEntry | None
    segment: Segment | None
    """What holds them in the archive."""


async def ranges_of(memories: Memories, archive: Archive, session: str, scope: str) -> list[Range]:
    """The ranges of a session, whose scope is ``scope``, in order of the messages; lost ones too.

    Raises:
        ArchiveError: what Redis lists as archived cannot be read.
        BusUnavailable: Redis is away.
    """
    history = await memories.history(await memories.home(scope)) if scope else []
    segments = await archive.segments(session)
    files = {(segment.first, segment.upto): segment for segment in segments}
    found: list[Range] = []
    for index, entry in enumerate(history):
        if entry.session == session:
            segment = None if entry.lost else files.pop((entry.first, entry.upto), None)
            found.append(Range(first=entry.first, upto=entry.upto, index=index, entry=entry, segment=segment))
    # Whoever archived these has not come to write their entry, or the memory was set back.
    found += [
        Range(first=segment.first, upto=segment.upto, index=None, entry=None, segment=segment)
        for segment in files.values()
    ]
    return sorted(found, key=lambda each: (each.first, each.upto))
