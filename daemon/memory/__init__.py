"""Memory: a bot's knowledge about a scope after messages have left its prompts, and the history of this knowledge.

``Memories`` holds MEMORY.md with all its versions, the history and the daily notes of every scope; workers write to it
under a session's consolidation lock (``Opened``), people name the version that they edit or restore. ``MemoryFiles``
shows it all as files, in which MEMORY.md may be edited. ``census_of`` tells of whom something is remembered,
``changes_of`` what each version changed, ``found_in`` where words stand in it.
"""

from daemon.memory.census import Census, Known, census_of
from daemon.memory.current import Pinned
from daemon.memory.files import MemoryFiles
from daemon.memory.foreign import Foreign, TakenOver
from daemon.memory.home import Home
from daemon.memory.memories import Memories
from daemon.memory.opened import Applied, Opened, Recall, SetBack, joined
from daemon.memory.records import (
    Audit,
    AuditPlace,
    EntryKind,
    HistoryEntry,
    ItemKind,
    Note,
    RequestPlace,
    Version,
    VersionKind,
)
from daemon.memory.searching import Passage, Scored, found_in, passages_of
from daemon.memory.versioned import Changed, changes_of, seen
from daemon.memory.writing import Written, written

__all__ = [
    "Applied",
    "Audit",
    "AuditPlace",
    "Census",
    "Changed",
    "EntryKind",
    "Foreign",
    "HistoryEntry",
    "Home",
    "ItemKind",
    "Known",
    "Memories",
    "MemoryFiles",
    "Note",
    "Opened",
    "Passage",
    "Pinned",
    "Recall",
    "RequestPlace",
    "Scored",
    "SetBack",
    "TakenOver",
    "Version",
    "VersionKind",
    "Written",
    "census_of",
    "changes_of",
    "found_in",
    "joined",
    "passages_of",
    "seen",
    "written",
]
