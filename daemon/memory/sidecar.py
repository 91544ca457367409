"""A record of the text that Millpond last wrote into a memory's files. It identifies later edits by users."""

import hashlib
from collections.abc import Sequence

import msgspec

from daemon.durable import plain_file, write_whole
from daemon.errors import UNREADABLE

SIDE_CAR = ".millpond.json"
MAX_BYTES = 4 * 1024 * 1024
"""A larger one is none of ours."""


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a list in Redis that the files contain."""

    count: int = 0
    last: str = ""
    """SHA-256 of the last text; another one in its place shows that Redis lost what it had."""

    def and_then(self, texts: Sequence[str]) -> "Told":
        """The state after ``texts`` were added."""
        if not texts:
            return self
        return Told(count=self.count + len(texts), last=checksum(texts[-1].encode()))


class SideCar(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a folder's files after the last synchronization."""

    version: int = 0
    """The one that MEMORY.md held."""
    text: str = ""
    """SHA-256 of that version: the same number can be given twice after a failover."""
    memory: str = ""
    """SHA-256 of MEMORY.md itself, which may differ in how its lines end; empty: it was never written."""
    history: Told = Told()
    notes: Told = Told()
    forgets: int = 0
    """How often something that the files show had been forgotten by then."""
    sizes: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Bytes of HISTORY.md and of each day's file."""


def checksum(content: bytes) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(content).hexdigest()


def read_side_car(folder: int) -> SideCar:
    """The content of a folder's sidecar; empty if it is missing or corrupted.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with plain_file(folder, SIDE_CAR) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return msgspec.json.decode(file.read(MAX_BYTES), type=SideCar)
    except (FileNotFoundError, *UNREADABLE):
        return SideCar()


def write_side_car(folder: int, side_car: SideCar) -> None:
    """Write ``side_car`` to the folder.

    Raises:
        OSError: it was not written.
    """
    write_whole(folder, SIDE_CAR, msgspec.json.format(msgspec.json.encode(side_car), indent=1) + b"\n")
