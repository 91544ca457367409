"""Contains the built-in search engine, a full-text index in SQLite for each memory.

Public: ``BuiltinEngine``.
Begin with ``builtin``. ``ranking`` and ``scoring`` order the results, ``index_feed`` updates an index.
"""

from daemon.recall.index.builtin import BuiltinEngine

__all__ = ["BuiltinEngine"]
