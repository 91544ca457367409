"""Shelves: what can be archived, the log of a session and the lists of a scope's memory, each with its own indexes."""

from typing import Literal

import msgspec

from daemon.bus import Keys
from daemon.scope import folder_of

ScopeKind = Literal["history", "versions", "notes"]
ShelfKind = Literal["log", ScopeKind]

_WORDS: dict[ShelfKind, str] = {"log": "transcript", "history": "history", "versions": "versions", "notes": "notes"}
"""What the names of the files begin with."""

FOLDER = "transcripts"
"""Of the local archive, below the data directory: a folder for each session and scope."""

SCOPE_FOLDER = "scope="
"""What the folders of scopes begin with; ``folder_of`` leaves no ``=`` in the name of a session's."""


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """A list in Redis of which what is old lies in the archive: index ``base`` is the first that Redis still holds."""

    kind: ShelfKind
    owner: str
    """Session key, or scope."""

    @classmethod
    def log(cls, session: str) -> "Shelf":
        """The log of a session."""
        return cls(kind="log", owner=session)

    @classmethod
    def of(cls, kind: ScopeKind, scope: str) -> "Shelf":
        """A list of a scope's memory; all three share a folder and the list of their segments."""
        return cls(kind=kind, owner=scope)

    @property
    def is_log(self) -> bool:
        """Whether it is a session's."""
        return self.kind == "log"

    @property
    def label(self) -> str:
        """It for people."""
        return f"session {self.owner}" if self.is_log else f"{self.kind} of scope {self.owner}"

    @property
    def folder(self) -> str:
        """The folder of its files."""
        return folder_of(self.owner) if self.is_log else f"{SCOPE_FOLDER}{folder_of(self.owner)}"

    @property
    def word(self) -> str:
        """What the names of its files begin with."""
        return _WORDS[self.kind]

    @property
    def base_field(self) -> str:
        """The field of its hash that holds the index of the first that Redis still holds."""
        return "base" if self.is_log else f"{self.kind}_base"

    def hash_key(self, keys: Keys) -> str:
        """The hash with its base."""
        return keys.session(self.owner) if self.is_log else keys.memory(self.owner)

    def list_key(self, keys: Keys) -> str:
        """The list itself."""
        by_kind = {"log": keys.log, "history": keys.history, "versions": keys.versions, "notes": keys.notes}
        return by_kind[self.kind](self.owner)

    def segments_key(self, keys: Keys) -> str:
        """The list of its segments."""
        return keys.segments(self.owner) if self.is_log else keys.shelved(self.owner)

    def clearing_key(self, keys: Keys) -> str:
        """A key that is there while its files are deleted that nothing lists."""
        return keys.clearing(self.owner)

    def guard_key(self, keys: Keys) -> str:
        """A key that says how far may be trimmed besides its hash: of a scope what is undigested."""
        return keys.segments(self.owner) if self.is_log else keys.undigested(self.owner)
