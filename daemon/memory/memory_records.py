"""The stored records of a scope's memory, one JSON object each. Records are never removed."""

from typing import Literal

import msgspec

EntryKind = Literal["summary", "raw"]

VersionKind = Literal["consolidation", "flush", "edit", "restore", "digest", "link", "forget", "import", "rejected"]
"""How a version came about; a rejected one was never current."""

ItemKind = Literal["name", "number", "date", "address", "quote", "code", "request", "question", "promise"]
"""What a consolidation should keep: facts, and statements of people and the bot.

``request``: a person asked for something to be kept, or stated a rule. ``question``: open, without an answer yet.
"""


class AuditPlace(msgspec.Struct, frozen=True, array_like=True):
    """A passage of a message. It is stored without its words, so that forgetting the message forgets the passage."""

    kind: ItemKind
    index: int
    """Of the message in the session's log."""
    begin: int
    """Offset of the first character in the text of the message."""
    end: int
    """Offset one past the last."""


class RequestPlace(msgspec.Struct, frozen=True, array_like=True):
    """A sentence with which a person asked for something to be kept. It is stored without its words, as above."""

    session: str
    """Whose log the message is in; empty: the sentence is a pinned line or a rule of a version of MEMORY.md."""
    index: int
    """Of the message; number of the version."""
    begin: int
    """Offset of the first character in the text of the message or version."""
    end: int
    """Offset one past the last."""


class Audit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many items of a consolidated range are left where."""

    memory: int = 0
    """In MEMORY.md."""
    history: int = 0
    """Not in MEMORY.md, but in the history entry of the range."""
    recall: int = 0
    """In neither of the two, but found by a search for its own sentence."""
    archive: int = 0
    """In the archived messages alone."""
    unsearched: int = 0
    """In neither MEMORY.md nor the entry; there was no time to search."""
    pinned: int = 0
    """Statements that were added to MEMORY.md word for word."""
    questions: int = 0
    """Questions of the quiz; 0: there was no quiz."""
    correct: int = 0
    """Of these, those that were answered correctly."""
    lost: tuple[AuditPlace, ...] = ()
    """The first of those in the archive alone."""
    requests: tuple[RequestPlace, ...] = ()
    """What people asked to be kept, now and earlier, and MEMORY.md contains: no later summary may drop it silently."""

    @property
    def score(self) -> float | None:
        """The share of items that are not in the archive alone, from 0 to 1; None: there were no items."""
        kept = self.memory + self.history + self.recall
        return kept / (kept + self.archive) if kept + self.archive else None

    @property
    def told(self) -> dict[str, float | None]:
        """The score and the counts, by name."""
        counts = ("memory", "history", "recall", "archive", "unsearched", "pinned", "questions", "correct")
        return {"score": self.score, **{name: getattr(self, name) for name in counts}}


# The scripts read `session`, `first` and `upto` of stored entries, and put `version` in front of a version and `text`
# behind it. Texts stand last, so that what stands before them can be read in a terminal.


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A consolidated range of a session's log."""

    time: str
    """When it was written: ISO 8601, UTC."""
    session: str
    """Whose log it came from; empty: another program wrote it, and it was taken over."""
    first: int
    """Index of its first message in the session's log."""
    upto: int
    """One past the last."""
    kind: EntryKind
    """``raw``: the messages as they were, since no summary could be made."""
    model: str = ""
    """What summarised it."""
    correlation: str = ""
    """Correlation id of what had it consolidated."""
    audit: Audit | None = None
    """What the consolidation kept; None: it was not audited."""
    text: str
    """As it stands in HISTORY.md; begins with ``[YYYY-MM-DD HH:MM]``."""
    lost: bool = False
    """The session lost these messages in a failover after they had been consolidated."""


class Version(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A version of MEMORY.md and its cause."""

    version: int = 0
    """1, 2, 3 …, given when it is stored; rejected ones take a number too."""
    kind: VersionKind
    time: str
    """When it was written: ISO 8601, UTC."""
    id: str = ""
    """Names the call that wrote it, which is known by it when it comes again."""
    session: str = ""
    """Whose log it came from."""
    first: int = 0
    """Of a consolidation: the first message that it worked in."""
    upto: int = 0
    """One past the last."""
    model: str = ""
    reason: str = ""
    """Why so much was left out, in the model's words, why it was rejected, or where it was taken over from."""
    by: str = ""
    """Who edited or restored it."""
    of: int = 0
    """Which version was edited or restored."""
    added: str = ""
    """Of a flush: what was appended to the version before."""
    audit: Audit | None = None
    """Of a consolidation: what it kept, as in the history entry."""
    text: str = ""
    """The whole of it."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note for a day, written by a memory flush."""

    time: str
    """When it was written: ISO 8601, UTC."""
    date: str
    """The day, in the person's time zone: ``YYYY-MM-DD``."""
    session: str
    """Empty: it was taken over from another program."""
    cycle: int
    """The session's cursor at that time."""
    text: str


_encode = msgspec.json.Encoder().encode


def version_parts(version: Version | None) -> tuple[bytes, str]:
    """A version's JSON without number and text, and its text. The scripts combine them."""
    if version is None:
        return b"", ""
    return _encode(msgspec.structs.replace(version, version=0, text="")), version.text
