"""Semantic search: vectors of the texts of a scope, beside the keyword index.

The extras ``vectors`` (numpy: with a server's embeddings), ``sentences`` or ``wordllama`` (with weights that they ship,
and no network) are needed for it. Without them ``VectorEngine`` hands everything on to the index of words.
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
