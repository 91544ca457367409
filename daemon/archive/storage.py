"""Where the archive's files lie: a folder of this machine, or an object store."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

CALLS = 8
"""Files that are read or written at a time: an object store takes 20 to 100 ms for each."""

STORAGE_LIMIT_S = 30.0
"""How long is waited for a disk or a store; one that hangs must not hold a lock for ever."""

FILE_MAX_BYTES = 1024 * 1024 * 1024
"""Read of a file whose length nobody knows; no segment comes near it."""

Kind = Literal["local", "object"]


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as its storage lists it."""

    name: str
    """``<folder>/<file>``."""
    modified_s: float
    """When it was written last, seconds since 1970, by the storage's clock."""
    size: int
    """Bytes, as it lies there."""


class Storage(Protocol):
    """Files that are there whole or not at all, by names ``<folder>/<file>``, or ``<file>`` at the root.

    Every method raises ``ArchiveError`` when the storage cannot be used, and tells where it is and what to do.
    """

    @property
    def kind(self) -> Kind:
        """Whether it lies on this machine."""
        ...

    @property
    def where(self) -> str:
        """Its place for people: a folder, or an address with stars in the place of secrets."""
        ...

    async def create(self, name: str, content: bytes) -> bool:
        """Put a file there unless there is one of that name; it is durable when this returns. False: there is one."""
        ...

    async def put(self, name: str, content: bytes) -> None:
        """Put a file there, in the place of any other of that name; it is durable when this returns."""
        ...

    async def get(self, name: str, *, max_bytes: int = FILE_MAX_BYTES) -> bytes:
        """A file's content.

        Raises:
            ArchiveMissing: there is none.
            ArchiveError: it cannot be read, or is larger than ``max_bytes``.
        """
        ...

    async def list(self, folder: str) -> Sequence[StoredFile]:
        """The files of a folder, by name; none when there is no such folder."""
        ...

    async def folders(self) -> Sequence[str]:
        """The folders there are, by name."""
        ...

    async def delete(self, *names: str) -> None:
        """Delete files, as far as they exist."""
        ...
