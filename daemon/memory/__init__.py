"""Memory: what a bot knows of a scope after the messages are gone from its prompts, with everything that led to it.

``Memories`` holds MEMORY.md with all its versions, the history and the daily notes of every scope; workers write to it
under a session's consolidation lock (``Opened``), people name the version that they edit or restore. ``MemoryFiles``
shows it all as files, in which MEMORY.md may be edited.
"""

from daemon.memory.files import MemoryFiles
from daemon.memory.foreign import Foreign, TakenOver
from daemon.memory.home import Home
from daemon.memory.memories import Memories
from daemon.memory.opened import Applied, Opened, Recall, SetBack, joined
from daemon.memory.records import EntryKind, HistoryEntry, Note, Version, VersionKind

__all__ = [
    "Applied",
    "EntryKind",
    "Foreign",
    "HistoryEntry",
    "Home",
    "Memories",
    "MemoryFiles",
    "Note",
    "Opened",
    "Recall",
    "SetBack",
    "TakenOver",
    "Version",
    "VersionKind",
    "joined",
]
