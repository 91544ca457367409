"""A memory for the holder of a session's consolidation lock, and the outcome of the holder's writes."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from daemon.memory.memory_records import HistoryEntry, Version

decode_version = msgspec.json.Decoder(Version).decode


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a memory that a prompt contains."""

    text: str
    """MEMORY.md; empty when there is none yet."""
    version: int
    """0: none yet."""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A scope's memory at one moment, opened for one session under its consolidation lock."""

    scope: str
    session: str
    fence: int
    nonce: str
    """Both of the lock; every script is checked by them."""
    text: str
    version: int
    """0: there is no MEMORY.md yet."""
    checksum: str
    """SHA-1 of the text: the same number can be given twice after a failover."""
    upto: int
    """Everything of the session before this index was taken in."""
    mark: str
    """Identity of the last message taken in; empty when that is unknown, or there is none."""
    flushed: int
    """The last cycle of the session that was flushed; -1: none yet."""
    set_backs: int
    """How often ``upto`` was set back."""
    rejected: str
    """A rejected text that the next request carries; empty: none."""
    undigested: int
    """How many entries the scope's MEMORY.md does not hold yet."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a write under a session's consolidation lock."""

    status: Literal["done", "over", "version"]
    """``done``: written, maybe by this very call when it came before; ``over``: done by an earlier one, so not again;
    ``version``: nothing was written, since MEMORY.md is not what was opened any more."""
    opened: Opened
    """The memory as it reads now; the next write takes this."""
    appended: tuple[str, ...] | None = ()
    """Of ``version``: what was appended since; None when something else happened to MEMORY.md."""

    def merged(self, text: str) -> str | None:
        """The new MEMORY.md with the text appended since the first opening; None: call the model again."""
        return None if self.appended is None else joined(text, *self.appended)


class SetBack(msgspec.Struct, frozen=True, kw_only=True):
    """The parts removed from a memory because the session lost their messages."""

    opened: Opened
    """The memory as it reads now."""
    lost: tuple[HistoryEntry, ...]
    """The entries that were marked, newest first."""


def joined(text: str, *added: str) -> str:
    """``text`` with paragraphs appended, as ``append.lua`` does it."""
    for paragraph in added:
        text = f"{text.rstrip(_BLANK)}\n\n{paragraph}" if text.strip(_BLANK) else paragraph
    return text


_BLANK = " \t\n\v\f\r"
"""What Lua takes for blank."""


def opened_from(reply: Sequence[Any], asked: Opened) -> Opened:
    """The memory that ``state()`` of the scripts describes, opened as ``asked``."""
    text, version, checksum, upto, mark, flushed, set_backs, rejected, undigested = reply
    return Opened(
        scope=asked.scope,
        session=asked.session,
        fence=asked.fence,
        nonce=asked.nonce,
        text=text.decode(),
        version=int(version),
        checksum=checksum.decode(),
        upto=int(upto),
        mark=mark.decode(),
        flushed=int(flushed),
        set_backs=int(set_backs),
        rejected=decode_version(rejected).text if rejected else "",
        undigested=int(undigested),
    )


def appended_since(opened: Opened, versions: Sequence[Version]) -> tuple[str, ...] | None:
    """The text appended to ``opened`` since it was opened; None if other changes were made."""
    if opened.version:
        base, *versions = versions or (None,)
        if base is None or (base.version, base.text) != (opened.version, opened.text):
            return None
    elif versions and versions[0].version != 1:
        return None  # so many that the first of them are in the archive
    newer = [version for version in versions if version.kind != "rejected"]
    return tuple(version.added for version in newer) if all(version.kind == "flush" for version in newer) else None
