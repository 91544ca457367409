"""The builtin engine: indexes of words in SQLite, one for each scope, fed from what is stored and deleted at will."""

from daemon.recall.index.builtin import BuiltinEngine

__all__ = ["BuiltinEngine"]
