"""The builtin engine: a full-text index in SQLite for each scope, built from stored data and deleted at any time."""

from daemon.recall.index.builtin import BuiltinEngine

__all__ = ["BuiltinEngine"]
