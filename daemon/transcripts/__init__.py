"""Transcripts: what was said in a session, from its first message to its last, whatever has left Redis since.

``Transcripts`` joins archive and log; ``search`` looks through it; ``find`` knows a segment by its name; ``restore``
makes a session of it.
"""

from daemon.transcripts.naming import Named, find, is_name
from daemon.transcripts.restoring import Restored, Source, restore
from daemon.transcripts.search import Hit, Needle, Unread, search
from daemon.transcripts.transcripts import Piece, Transcripts

__all__ = [
    "Hit",
    "Named",
    "Needle",
    "Piece",
    "Restored",
    "Source",
    "Transcripts",
    "Unread",
    "find",
    "is_name",
    "restore",
    "search",
]
