"""A scope's memory in Redis, as those ask for it who write its files in a thread."""

from collections.abc import Sequence
from typing import Protocol

from daemon.memory.opened import Recall
from daemon.memory.records import Note


class Stored(Protocol):
    """The memory of one scope; errors are those of ``Memories``."""

    def current(self) -> Recall:
        """MEMORY.md as it reads now."""
        ...

    def history(self, first: int) -> Sequence[str]:
        """The texts of the history's entries from index ``first`` on."""
        ...

    def notes(self, first: int) -> Sequence[Note]:
        """The notes from index ``first`` on."""
        ...

    def forgets(self) -> int:
        """How often something that the files show was forgotten."""
        ...

    def version_that_reads(self, text: str, *, after: int) -> int:
        """The newest version after ``after`` that reads ``text``; 0: there is none."""
        ...

    def edit(self, text: str, *, of: int) -> Recall:
        """Make ``text`` a person's edit of version ``of``; MEMORY.md as it reads then."""
        ...
