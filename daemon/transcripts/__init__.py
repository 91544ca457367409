"""Transcripts: what was said in a session, from its first message to its last, whatever has left Redis since.

``Transcripts`` joins archive and log; ``search`` looks through it; ``find`` knows a segment by its name; ``restore``
and ``Branches`` make a session of it; ``ranges_of`` tells what of it became memory, ``outline_of`` how long each
message is.
"""

from daemon.transcripts.consolidated_ranges import Range, ranges_of
from daemon.transcripts.outline import Outline, outline_of
from daemon.transcripts.session_branch import Branches
from daemon.transcripts.session_restore import Restored, Source, restore
from daemon.transcripts.transcript_names import Named, find, is_name
from daemon.transcripts.transcript_search import Hit, Index, Needle, Unread, search
from daemon.transcripts.transcripts import Piece, Transcripts

__all__ = [
    "Branches",
    "Hit",
    "Index",
    "Named",
    "Needle",
    "Outline",
    "Piece",
    "Range",
    "Restored",
    "Source",
    "Transcripts",
    "Unread",
    "find",
    "is_name",
    "outline_of",
    "ranges_of",
    "restore",
    "search",
]
