"""Memory: a bot's knowledge about a scope after messages have left its prompts, and the history of this knowledge.

``Memories`` holds MEMORY.md with all its versions, the history and the daily notes of every scope; workers write to it
under a session's consolidation lock (``Opened``), people name the version that they edit or restore. ``MemoryFiles``
shows it all as files, in which MEMORY.md may be edited. ``census_of`` tells of whom something is remembered,
``changes_of`` what each version changed, ``found_in`` where words stand in it.
"""

from daemon.memory.current_memory import Pinned
from daemon.memory.keyword_search import Passage, Scored, found_in, passages_of
from daemon.memory.locked_memory import Applied, Opened, Recall, SetBack, joined
from daemon.memory.memories import Memories
from daemon.memory.memory_census import Census, Known, census_of
from daemon.memory.memory_files import MemoryFiles
from daemon.memory.memory_import import Foreign, TakenOver
from daemon.memory.memory_location import Home
from daemon.memory.memory_records import (
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
from daemon.memory.synced_edits import Written, written
from daemon.memory.version_changes import Changed, changes_of, seen

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
