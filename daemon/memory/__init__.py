"""Stores the memory of each person or group: MEMORY.md with its versions, history and notes.

Public: ``Memories`` reads and edits, ``Opened`` writes under a consolidation lock, ``MemoryFiles`` keeps files that
people may edit, ``census_of`` lists all memories.
Begin with ``memories``. ``file_sync`` takes in edits of MEMORY.md, ``memory_merge`` joins memories.
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
