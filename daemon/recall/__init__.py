"""Search in the memory of a scope: its history, MEMORY.md, notes and messages.

``Recaller`` is what turns, tools and people ask; an ``Engine`` does the searching.
"""

from daemon.recall.chunk import Chunk, Kind
from daemon.recall.engines import Engines, Sources, engines_of
from daemon.recall.everywhere import Everywhere, Located, Sweep
from daemon.recall.found import Engine, Found, Hit, InPrompt, Mode
from daemon.recall.lost_items import Lost, lost_of, messages_at, passage
from daemon.recall.place import Place, Places, is_session
from daemon.recall.reading import Reader, Said, said_of
from daemon.recall.recall import Asked, Recaller
from daemon.recall.sessions import SessionBook
from daemon.recall.written import NOTHING, found_text

__all__ = [
    "NOTHING",
    "Asked",
    "Chunk",
    "Engine",
    "Engines",
    "Everywhere",
    "Found",
    "Hit",
    "InPrompt",
    "Kind",
    "Located",
    "Lost",
    "Mode",
    "Place",
    "Places",
    "Reader",
    "Recaller",
    "Said",
    "SessionBook",
    "Sources",
    "Sweep",
    "engines_of",
    "found_text",
    "is_session",
    "lost_of",
    "messages_at",
    "passage",
    "said_of",
]
