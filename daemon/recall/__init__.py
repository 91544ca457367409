"""Search in the memory of a scope: its history, MEMORY.md, notes and messages.

``Recaller`` is what turns, tools and people ask; an ``Engine`` does the searching.
"""

from daemon.recall.chunk import Chunk, Kind
from daemon.recall.engines import Engines, Sources, engines_of
from daemon.recall.global_search import Everywhere, Located, Sweep
from daemon.recall.hit_context import Reader, Said, said_of
from daemon.recall.lost_items import Lost, lost_of, messages_at, passage
from daemon.recall.recall import Asked, Recaller
from daemon.recall.result_place import Place, Places, is_session
from daemon.recall.result_text import NOTHING, found_text
from daemon.recall.search_results import Engine, Found, Hit, InPrompt, Mode
from daemon.recall.session_book import SessionBook

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
