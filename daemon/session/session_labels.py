"""Labels of sessions in lists: a title, and whether a session is pinned or archived.

The hash ``labels`` has a field ``<session> <name>`` for each label, so each is set on its own. A session key contains
no space.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from daemon.bus import Bus, pairs

TITLE_CHARS = 80
"""Longest title; longer ones are cut at a word."""

Mark = Literal["pinned", "archived"]

_FILE = re.compile(
    r"^\[(?:image|document|audio|video|voice message): ([^\n]*?), [\d.]+ (?:bytes|kB|MB)[^\n]*\]$", re.MULTILINE
)

NAMES = ("title", "pinned", "archived")


class SessionLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The labels of one session."""

    title: str = ""
    pinned_ms: int = 0
    """When the session was pinned, ms since 1970; 0: it is not pinned."""
    archived_ms: int = 0
    """When the session was archived in lists; 0: it is not archived. Its messages stay where they are."""


NO_LABEL = SessionLabel()


class SessionLabels:
    """The labels of one database. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def all(self) -> dict[str, SessionLabel]:
        """Every session with a label."""
        found = pairs(await self._bus.call("HGETALL", self._bus.keys.labels))
        fields: dict[str, dict[str, str]] = {}
        for field, value in found:
            session, _, name = field.decode().partition(" ")
            fields.setdefault(session, {})[name] = value.decode()
        return {session: _label(own) for session, own in fields.items()}

    async def of(self, session: str) -> SessionLabel:
        """The labels of one session."""
        values = await self._bus.call("HMGET", self._bus.keys.labels, *(f"{session} {name}" for name in NAMES))
        return _label({name: value.decode() for name, value in zip(NAMES, values, strict=True) if value})

    async def rename(self, session: str, title: str) -> None:
        """Give a session a title; an empty one removes it."""
        await self._set(session, "title", title_of(title))

    async def suggest(self, session: str, title: str) -> None:
        """Give a session a title, unless it has one."""
        if title := title_of(title):
            await self._bus.call("HSETNX", self._bus.keys.labels, f"{session} title", title)

    async def mark(self, session: str, name: Mark, at_ms: int) -> None:
        """Pin or archive a session since ``at_ms``; 0 undoes it."""
        await self._set(session, name, str(at_ms or ""))

    async def remove(self, session: str, names: Iterable[str] = NAMES) -> None:
        """Remove labels of a session."""
        await self._bus.call("HDEL", self._bus.keys.labels, *(f"{session} {name}" for name in names))

    async def _set(self, session: str, name: str, value: str) -> None:
        if value:
            await self._bus.call("HSET", self._bus.keys.labels, f"{session} {name}", value)
        else:
            await self.remove(session, (name,))


def without_files(text: str) -> str:
    """The text of a message without the lines that describe its files. Pure."""
    return _FILE.sub("", text)


def words_or_files(text: str) -> str:
    """The words of a message, or the names of its files where it has no words. Pure."""
    return without_files(text).strip() or ", ".join(_FILE.findall(text))


def title_of(text: str) -> str:
    """A text as a title: its first words in one line, without the marks of Markdown. Pure."""
    line = " ".join(words_or_files(text).replace("*", "").replace("`", "").split()).lstrip("#> -").strip()
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS]
    # Chinese has no spaces; there a title is cut at a character.
    head = cut.rpartition(" ")[0]
    return f"{head if len(head) > TITLE_CHARS // 2 else cut[:-1]}…"


def _label(fields: dict[str, str]) -> SessionLabel:
    return SessionLabel(
        title=fields.get("title", ""),
        pinned_ms=_number(fields.get("pinned", "")),
        archived_ms=_number(fields.get("archived", "")),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
