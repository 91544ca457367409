"""Searches memories: MEMORY.md, history, notes and messages.

Public: ``Recaller`` searches for turns, tools and people, ``Engine`` is the interface of search engines,
``GlobalSearch`` searches all scopes.
Begin with ``recall`` and ``engines``. ``search_terms`` and ``periods`` read a query.
"""

from daemon.recall.chunks import Chunk, Kind
from daemon.recall.engines import Engines, Sources, engines_of
from daemon.recall.global_search import GlobalResults, GlobalSearch, LocatedHit
from daemon.recall.lost_items import LostItem, lost_of, messages_at, passage
from daemon.recall.recall import Recaller, RecallQuery
from daemon.recall.search_results import (
    NOTHING,
    Engine,
    Hit,
    HitReader,
    InPrompt,
    Mode,
    QuotedMessage,
    ResultPlace,
    ResultPlaces,
    SearchResults,
    found_text,
    is_session,
    said_of,
)
from daemon.recall.session_book import SessionBook

__all__ = [
    "NOTHING",
    "Chunk",
    "Engine",
    "Engines",
    "GlobalResults",
    "GlobalSearch",
    "Hit",
    "HitReader",
    "InPrompt",
    "Kind",
    "LocatedHit",
    "LostItem",
    "Mode",
    "QuotedMessage",
    "RecallQuery",
    "Recaller",
    "ResultPlace",
    "ResultPlaces",
    "SearchResults",
    "SessionBook",
    "Sources",
    "engines_of",
    "found_text",
    "is_session",
    "lost_of",
    "messages_at",
    "passage",
    "said_of",
]
