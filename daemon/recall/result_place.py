"""The place of a search result."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

TRANSCRIPT = "transcript/"
"""How a ``file`` begins that is a session's messages; its key follows."""


def is_session(file: str) -> bool:
    """Whether the place is in the messages of a session."""
    return file.startswith(TRANSCRIPT)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a file, or some messages of a session."""

    file: str
    """As ``Hit.file``."""
    first: int
    """The first line, from 1; of messages the index of the first in the log."""
    upto: int
    """One past the last."""

    @property
    def session(self) -> str:
        """The session of the messages; empty for lines of a file."""
        return self.file.removeprefix(TRANSCRIPT) if is_session(self.file) else ""


class Places(Protocol):
    """Finds the places of search results."""

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, Place]:
        """The place of each of ``docids`` that is in ``scope``, a home; what is gone is left out.

        Raises:
            BusUnavailable: Redis is away.
        """
        ...
