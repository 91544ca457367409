"""A passage of a few lines, the unit of search results."""

import hashlib
from typing import Literal

import msgspec

Kind = Literal["history", "memory", "note", "message"]

DOCID_CHARS = 8
"""Hexadecimal digits: enough that of 10,000 chunks two seldom share them."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a few lines from one place."""

    kind: Kind
    file: str
    """As ``Hit.file``."""
    first: int
    """The first line, from 1; of messages the index of the first in the log."""
    upto: int
    """One past the last."""
    part: int = 0
    """Which part of the first line or message it begins with, when that is cut."""
    text: str
    time: str = ""
    """ISO 8601, UTC; empty: unknown."""
    speaker: str = ""
    heading: str = ""

    @property
    def docid(self) -> str:
        """The ID of the passage, which stays the same while the place exists."""
        place = f"{self.file}:{self.first}:{self.part}"
        return hashlib.sha256(place.encode()).hexdigest()[:DOCID_CHARS]
