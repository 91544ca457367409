"""A scope's memory in Redis, for code that writes its files in a thread."""

from collections.abc import Sequence
from typing import Protocol

from daemon.memory.locked_memory import Recall
from daemon.memory.memory_records import Note


class Stored(Protocol):
    """The memory of one scope; errors are those of ``Memories``."""

    def current(self) -> Recall:
        """The current MEMORY.md."""
        ...

    def history(self, first: int) -> Sequence[str]:
        """The texts of the history's entries from index ``first`` on."""
        ...

    def notes(self, first: int) -> Sequence[Note]:
        """The notes from index ``first`` on."""
        ...

    def forgets(self) -> int:
        """Number of deletions in the data that the files show."""
        ...

    def version_that_reads(self, text: str, *, after: int) -> int:
        """The newest version after ``after`` with the text ``text``; 0 if none exists."""
        ...

    def edit(self, text: str, *, of: int) -> Recall:
        """Store ``text`` as a user's edit of version ``of``. Returns the new MEMORY.md."""
        ...
