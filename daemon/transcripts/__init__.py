"""Reads all messages of a session, from Redis and from the archive.

Public: ``Transcripts`` reads, ``search`` searches, ``find`` finds a segment, ``restore`` and ``Branches`` create a
session, ``outline_of`` returns the lengths of messages.
Begin with ``transcripts``.
"""

from daemon.transcripts.outline import Outline, Range, outline_of, ranges_of
from daemon.transcripts.session_branch import Branches
from daemon.transcripts.session_restore import RestoredSession, RestoreSource, restore
from daemon.transcripts.transcript_search import Hit, Index, SearchWords, UnreadMessages, search
from daemon.transcripts.transcripts import NamedTranscript, Piece, Transcripts, find, is_name

__all__ = [
    "Branches",
    "Hit",
    "Index",
    "NamedTranscript",
    "Outline",
    "Piece",
    "Range",
    "RestoreSource",
    "RestoredSession",
    "SearchWords",
    "Transcripts",
    "UnreadMessages",
    "find",
    "is_name",
    "outline_of",
    "ranges_of",
    "restore",
    "search",
]
