"""Transcripts: what was said in a session, from its first message to its last, whatever has left Redis since.

``Transcripts`` joins archive and log; ``search`` looks through it; ``find`` knows a segment by its name; ``restore``
and ``Branches`` make a session of it; ``ranges_of`` tells what of it became memory, ``outline_of`` how long each
message is.
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
