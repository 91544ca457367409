"""The results of a search, the same for all engines."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, Protocol

import msgspec

from daemon.errors import NoSuchVersion
from daemon.events import LogEntry
from daemon.memory import Memories
from daemon.memory.file_sync import paragraphs
from daemon.model import RUNTIME_CONTEXT
from daemon.session import SessionReader
from daemon.transcripts import Transcripts

# The place of a search result.

TRANSCRIPT = "transcript/"
"""How a ``file`` begins that is a session's messages; its key follows."""


def is_session(file: str) -> bool:
    """Whether the place is in the messages of a session."""
    return file.startswith(TRANSCRIPT)


class ResultPlace(msgspec.Struct, frozen=True, kw_only=True):
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


class ResultPlaces(Protocol):
    """Finds the places of search results."""

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, ResultPlace]:
        """The place of each of ``docids`` that is in ``scope``, a home; what is gone is left out.

        Raises:
            BusUnavailable: Redis is away.
        """
        ...


Mode = Literal["search", "vsearch", "query"]
"""By words, by meaning, by both."""

SNIPPET_CHARS = 500
"""Longest snippet of a search (SPEC 6)."""

TURN_SNIPPET_CHARS = 800
"""Longest snippet in a turn, which cannot ask for more. Five such snippets show all of the evidence for 80.8 percent of
302 questions of LoCoMo. With 500 characters the share is 77.2 percent, and the text is 20 percent shorter."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was found."""

    docid: str
    """What ``memory_get`` is asked for it by; the same as long as the place is there."""
    file: str
    """Where it stands, as tools name it: ``memory/HISTORY.md``, ``transcript/<session>``, ..."""
    score: float
    """0 to 1; of a search by words relative to the best hit."""
    snippet: str
    """At most ``SNIPPET_CHARS``, in a turn at most ``TURN_SNIPPET_CHARS``."""
    time: str = ""
    """When it was said or written: ISO 8601, UTC; empty: unknown."""
    shown_by: str = ""
    """The docid of a better hit whose snippet contains this one and the parts of the message beside it."""


class InPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of a session that the prompt of the searching turn contains. None of them is a hit."""

    file: str
    """As ``Hit.file``."""
    first: int
    """The index of the first; it holds all from there on."""
    hidden: frozenset[int] = frozenset()
    """Indexes of those that it holds only in part, which may be hits."""
    min_score: float = 0.0
    """Hits of less, of what the best one scores, are wanted by nobody; some may be given."""


class SearchResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results, best first."""

    hits: tuple[Hit, ...] = ()
    note: str = ""
    """What people should know about how it was looked for; empty: nothing."""


class Engine(Protocol):
    """Searches the memory of one scope."""

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """The ``limit`` best hits in ``scope``, a home, for a message or question.

        ``prompt``: a turn waits. What was taken in already is searched, and what is newer is taken in beside turns.

        Raises:
            BusUnavailable: Redis is away.
        """
        ...


# Search results as text for users and models. Pure.

NOTHING = "No relevant memories found."
"""What a search says that has found nothing (SPEC 6)."""

_MARK = re.compile(re.escape(RUNTIME_CONTEXT), re.IGNORECASE)


def hit_text(hit: Hit) -> str:
    """A hit: its name, its place and its score, and the snippet indented below (SPEC 6).

    No line of a snippet is empty or begins at the margin, so that none can pass for something that is no snippet.
    """
    snippet = f"[{minute(hit.time)}] {hit.snippet}" if hit.time and hit.time[:10] not in hit.snippet else hit.snippet
    return "\n".join((f"- **[{hit.docid}]** ({hit.file}) [{hit.score:.2f}]", *indented(snippet)))


def indented(text: str) -> list[str]:
    """The lines of a text, each indented, blank ones left out."""
    # What begins the block that Millpond writes in front of a message must not stand where people's words do.
    unmarked = _MARK.sub(lambda mark: f"({mark[0].strip('[]')})", text)
    return [f"  {line.strip()}" for line in unmarked.splitlines() if line.strip()]


def hits_text(hits: Sequence[Hit]) -> str:
    """Several of them, a blank line between."""
    return "\n\n".join(map(hit_text, hits))


def found_text(found: SearchResults) -> str:
    """What a search answers to whoever asked for it."""
    return "\n\n".join(filter(None, (found.note, hits_text(found.hits) or NOTHING)))


def minute(time: str) -> str:
    """``YYYY-MM-DD HH:MM`` of an ISO 8601 time, UTC."""
    return time[:16].replace("T", " ")


# Checks whether a result is already part of a prompt. Pure.

HELD_SHARE = 0.8
"""Of a snippet, what must stand there: what is cut off at its ends, and who said it when, is written otherwise."""

PIECE_BYTES = 8
"""Shorter pieces stand anywhere: eight Latin letters, three Chinese characters."""

SHORT_CHARS, SHORT_KEPT = 1_000, 8_192
"""Of texts of at most so many characters so many are kept as they are compared: a prompt holds mostly the same ones."""

_WORDS = re.compile(r"[^\W_]+")
_APART = re.compile(r"[\n\r.!?;:\[\]。！？；：…]+")
"""Where a snippet is taken apart: at sentences, and behind what stands in front of a message."""
_SPEAKER = re.compile(r"^(?:[^\s:]+ ){0,2}[^\s:]+: ", re.MULTILINE)
"""What stands before a message in a snippet, and elsewhere in a prompt if at all."""
_LETTER = re.compile(r"[^\W\d_]")


class PromptOverlap:
    """The letters and digits of a prompt, so that formatting does not matter."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(map(_bare_again, texts))

    def holds(self, snippet: str) -> bool:
        """Whether the prompt contains nearly all of ``snippet``, in any order."""
        pieces = [_bare(piece) for piece in _APART.split(_SPEAKER.sub("", snippet))]
        sizes = {
            piece: size for piece in pieces if (size := len(piece.encode())) >= PIECE_BYTES and _LETTER.search(piece)
        }
        may_miss = (1 - HELD_SHARE) * sum(sizes.values())
        for piece, size in sizes.items():
            if piece not in self._text:
                may_miss -= size
                if may_miss < 0:
                    return False
        return bool(sizes)


def _bare_again(text: str) -> str:
    return _bare_short(text) if len(text) <= SHORT_CHARS else _bare(text)


@lru_cache(maxsize=SHORT_KEPT)
def _bare_short(text: str) -> str:
    return _bare(text)


def _bare(text: str) -> str:
    return "".join(_WORDS.findall(text.casefold()))


# Reads the text around a search result: the exact lines of a memory, or the exact messages of a session.

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


class QuotedMessage(msgspec.Struct, frozen=True, kw_only=True):
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


class HitReader:
    """Reads memories and transcripts of scopes; errors as for ``Memories`` and ``Transcripts``."""

    def __init__(self, memories: Memories, transcripts: Transcripts, sessions: SessionReader) -> None:
        self._memories = memories
        self._transcripts = transcripts
        self._sessions = sessions

    async def said(self, scope: str, place: ResultPlace) -> list[QuotedMessage]:
        """The messages of people and the bot at a place, if they are ``scope``'s."""
        session = place.session
        if not session or not await self._is_of(scope, session):
            return []
        pieces = self._transcripts.pieces(session, place.first, place.upto)
        found = [said_of(session, index, entry) async for piece in pieces for index, entry in piece.entries()]
        return [each for each in found if each is not None]

    async def around(self, scope: str, place: ResultPlace, *, context: int) -> tuple[ResultPlace, str] | None:
        """What stands at a place and ``context`` lines or messages around it; None: nothing any more."""
        if place.session:
            wide = ResultPlace(file=place.file, first=max(0, place.first - context), upto=place.upto + context)
            told = await self.said(scope, wide)
            if not told:
                return None
            upto = max(each.index for each in told) + 1
            return msgspec.structs.replace(wide, upto=upto), "\n\n".join(each.written() for each in told)
        lines = (await self._text(scope, place.file)).splitlines()
        first, upto = max(1, place.first - context), min(len(lines) + 1, place.upto + context)
        text = "\n".join(lines[first - 1 : upto - 1])
        return (ResultPlace(file=place.file, first=first, upto=upto), text) if text.strip() else None

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


def said_of(session: str, index: int, entry: LogEntry) -> QuotedMessage | None:
    """A message as it was said; None: a tool's result, or without words. Pure."""
    wire = _decode_wire(entry.wire)
    if wire.role not in ("user", "assistant") or not wire.text.strip():
        return None
    speaker = " ".join(entry.sender.split())[:SPEAKER_CHARS] or wire.role
    return QuotedMessage(session=session, index=index, time=entry.time, speaker=speaker, text=wire.text)


def as_file(texts: Sequence[str]) -> str:
    """Entries as they stand in their file."""
    return paragraphs(texts).decode()
