"""Memory: a bot's knowledge about a scope after messages have left its prompts, and the history of this knowledge.

``Memories`` holds MEMORY.md with all its versions, the history and the daily notes of every scope; workers write to it
under a session's consolidation lock (``Opened``), people name the version that they edit or restore. ``MemoryFiles``
shows it all as files, in which MEMORY.md may be edited. ``census_of`` tells of whom something is remembered,
``changes_of`` what each version changed, ``found_in`` where words stand in it.
"""

from daemon.memory.current_memory import PinnedMemory
from daemon.memory.keyword_search import Passage, ScoredPassage, found_in, passages_of
from daemon.memory.locked_memory import Applied, Opened, Recall, SetBack, joined
from daemon.memory.memories import Memories
from daemon.memory.memory_census import MemoryCensus, MemorySize, census_of
from daemon.memory.memory_files import EditResult, MemoryFiles, written
from daemon.memory.memory_import import ForeignMemory, ImportResult
from daemon.memory.memory_merge import MemoryLocation
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
from daemon.memory.version_changes import VersionChanges, changes_of, seen

__all__ = [
    "Applied",
    "Audit",
    "AuditPlace",
    "EditResult",
    "EntryKind",
    "ForeignMemory",
    "HistoryEntry",
    "ImportResult",
    "ItemKind",
    "Memories",
    "MemoryCensus",
    "MemoryFiles",
    "MemoryLocation",
    "MemorySize",
    "Note",
    "Opened",
    "Passage",
    "PinnedMemory",
    "Recall",
    "RequestPlace",
    "ScoredPassage",
    "SetBack",
    "Version",
    "VersionChanges",
    "VersionKind",
    "census_of",
    "changes_of",
    "found_in",
    "joined",
    "passages_of",
    "seen",
    "written",
]
