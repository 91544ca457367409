"""Adds semantic search with vectors to the keyword search.

Public: ``VectorEngine`` searches, ``Embedder`` computes vectors, ``Embedders`` chooses one.
Begin with ``vector_engine`` and ``embedder_choice``. Without the extras ``vectors``, ``sentences`` or ``wordllama``,
only keywords are searched.
"""

from daemon.recall.vectors.embedder import Embedder
from daemon.recall.vectors.embedder_choice import Embedders
from daemon.recall.vectors.keyword_index import Extent, KeywordIndex, Ranking, ScoredRow, Text
from daemon.recall.vectors.vector_engine import VectorEngine
from daemon.recall.vectors.vector_store import file_of

__all__ = [
    "Embedder",
    "Embedders",
    "Extent",
    "KeywordIndex",
    "Ranking",
    "ScoredRow",
    "Text",
    "VectorEngine",
    "file_of",
]
