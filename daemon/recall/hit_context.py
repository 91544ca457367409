"""Reads the text around a search result: the exact lines of a memory, or the exact messages of a session."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from daemon.errors import NoSuchVersion
from daemon.events import LogEntry
from daemon.memory import Memories
from daemon.memory.append_files import paragraphs
from daemon.recall.result_place import Place
from daemon.recall.result_text import indented, minute
from daemon.session import SessionReader
from daemon.transcripts import Transcripts

MEMORY = "memory/MEMORY.md"
HISTORY = "memory/HISTORY.md"

MESSAGE_CHARS = 4_000
"""Of one message, what is given; the tool that reads it cuts what is longer as a whole."""


SPEAKER_CHARS = 80
"""Of a name, which may be as long as a platform likes."""


class _Part(msgspec.Struct):
    text: str = ""


class _Wire(msgspec.Struct):
    role: str = ""
    content: str | list[_Part] | None = None

    @property
    def text(self) -> str:
        """What people read of it."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


_decode_wire = msgspec.json.Decoder(_Wire).decode


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message, word for word."""

    session: str
    index: int
    """In the session's log."""
    time: str
    """ISO 8601, UTC."""
    speaker: str
    """Who said it, as the log has it; of the bot's own ``assistant``."""
    text: str

    def written(self) -> str:
        """It, with when it was said by whom."""
        cut = self.text[:MESSAGE_CHARS]
        left = f"\n[… {len(self.text) - len(cut):,} more characters]" if len(cut) < len(self.text) else ""
        lines = indented(cut + left)
        return "\n".join((f"[{minute(self.time)}] {self.speaker} ({self.session}, message {self.index}):", *lines))


class Reader:
    """Reads memories and transcripts of scopes; errors as for ``Memories`` and ``Transcripts``."""

    def __init__(self, memories: Memories, transcripts: Transcripts, sessions: SessionReader) -> None:
        self._memories = memories
        self._transcripts = transcripts
        self._sessions = sessions

    async def said(self, scope: str, place: Place) -> list[Said]:
        """The messages of people and the bot at a place, if they are ``scope``'s."""
        session = place.session
        if not session or not await self._is_of(scope, session):
            return []
        pieces = self._transcripts.pieces(session, place.first, place.upto)
        found = [said_of(session, index, entry) async for piece in pieces for index, entry in piece.entries()]
        return [each for each in found if each is not None]

    async def around(self, scope: str, place: Place, *, context: int) -> tuple[Place, str] | None:
        """What stands at a place and ``context`` lines or messages around it; None: nothing any more."""
        if place.session:
            wide = Place(file=place.file, first=max(0, place.first - context), upto=place.upto + context)
            told = await self.said(scope, wide)
            if not told:
                return None
            upto = max(each.index for each in told) + 1
            return msgspec.structs.replace(wide, upto=upto), "\n\n".join(each.written() for each in told)
        lines = (await self._text(scope, place.file)).splitlines()
        first, upto = max(1, place.first - context), min(len(lines) + 1, place.upto + context)
        text = "\n".join(lines[first - 1 : upto - 1])
        return (Place(file=place.file, first=first, upto=upto), text) if text.strip() else None

    async def _is_of(self, scope: str, session: str) -> bool:
        # Whose it is may have changed since it was found: two people's memories can be parted.
        own = (await self._sessions.state(session)).scope
        return bool(own) and await self._memories.home(own) == scope

    async def _text(self, scope: str, file: str) -> str:
        if file == MEMORY:
            return (await self._memories.current(scope)).text
        if file.startswith(f"{MEMORY}@"):
            return await self._version(scope, file.removeprefix(f"{MEMORY}@"))
        if file == HISTORY:
            return as_file([entry.text for entry in await self._memories.history(scope)])
        day = file.removeprefix("memory/").removesuffix(".md")
        return as_file([note.text for note in await self._memories.notes(scope) if note.date == day])

    async def _version(self, scope: str, number: str) -> str:
        try:
            return (await self._memories.version(scope, int(number))).text if number.isdecimal() else ""
        except NoSuchVersion:
            return ""


def said_of(session: str, index: int, entry: LogEntry) -> Said | None:
    """A message as it was said; None: a tool's result, or without words. Pure."""
    wire = _decode_wire(entry.wire)
    if wire.role not in ("user", "assistant") or not wire.text.strip():
        return None
    speaker = " ".join(entry.sender.split())[:SPEAKER_CHARS] or wire.role
    return Said(session=session, index=index, time=entry.time, speaker=speaker, text=wire.text)


def as_file(texts: Sequence[str]) -> str:
    """Entries as they stand in their file."""
    return paragraphs(texts).decode()
